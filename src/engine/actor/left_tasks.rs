//! Connects the tasks that the user left running to turns and servers.

use super::Actor;
use super::tool_calls::{CallExecutor, TaskFollower};
use crate::domain::{CallId, LeftTaskId, Notice, Prompt, ToolCall};
use crate::engine::left_tasks::LeftTaskEvent;
use crate::engine::turn::TurnInput;
use crate::engine::turn_driver::FinishedCall;
use crate::protocol::LeftTaskCommand;
use crate::store::LoadedLeftTasks;

impl Actor {
    pub(super) fn route_left_task_command(&mut self, command: &LeftTaskCommand) {
        match *command {
            LeftTaskCommand::Leave(call) => self.leave_call(call),
            LeftTaskCommand::List => self.left_tasks.report(&mut self.cx),
            LeftTaskCommand::Follow(task) => self.follow_left_task(task),
            LeftTaskCommand::Cancel(task) => self.cancel_left_task(task),
            LeftTaskCommand::Remove(task) => self.left_tasks.remove(task, &mut self.cx),
        }
    }

    /// Lets the turn stop waiting for a running call, whose task goes on.
    fn leave_call(&mut self, id: CallId) {
        let running = self.turn.as_ref().and_then(|turn| {
            let mut calls = turn.transcript.running_calls();
            let call = calls.find(|call| call.id == id)?.clone();
            Some((call, turn.driver.run_time(id)?))
        });
        let Some((call, elapsed)) = running else {
            return;
        };
        if call.task.is_none() {
            let notice = Notice::info("The server does not run this call as a task.");
            return self
                .cx
                .notice(notice.with_advice("The call cannot be left, only cancelled."));
        }
        let leave = TurnInput::LeaveCall { call: id, elapsed };
        if self.left_tasks.is_awaited_by(id) {
            // The task is in the list already.
            return self.feed(leave);
        }
        if let Some(notice) = self.left_tasks.full_notice() {
            return self.cx.notice(notice);
        }
        tracing::info!(call = %id, "the user left the call running");
        let is_private = self.persist.is_private() || self.cx.options.no_save;
        let task = self.left_tasks.add(call, is_private, &mut self.cx);
        self.hub.keep_task(id);
        self.feed(leave);
        self.follow_left_task(task);
    }

    pub(super) fn add_left_tasks(&mut self, loaded: LoadedLeftTasks) {
        for task in self.left_tasks.add_loaded(loaded, &mut self.cx) {
            self.follow_left_task(task);
        }
    }

    /// Follows a task in the background, unless it is followed already or has ended.
    fn follow_left_task(&mut self, id: LeftTaskId) {
        let Some(task) = self.left_tasks.start_following(id) else {
            return;
        };
        let executor = CallExecutor::new(&self.cx, task.is_private);
        let follower = TaskFollower {
            call: task.call,
            is_left: true,
        };
        let ended = follower.start(executor, &self.hub, task.cancel);
        self.left_tasks.add_follower(ended);
        self.left_tasks.report(&mut self.cx);
    }

    fn cancel_left_task(&mut self, id: LeftTaskId) {
        let Some(call) = self.left_tasks.begin_cancelling(id, &mut self.cx) else {
            return;
        };
        if let Some(task) = &call.task {
            let answer = self.hub.cancel_task(&call.server, task.task.clone());
            self.left_tasks.await_cancellation(id, answer);
        }
        // Whether it has ended is known only from its state.
        self.follow_left_task(id);
    }

    pub(super) fn handle_left_task_event(&mut self, event: LeftTaskEvent) {
        if let Some(task) = self.left_tasks.handle_event(event, &mut self.cx) {
            self.follow_left_task(task);
        }
    }

    /// Takes the calls that a prompt resumes, and marks their left tasks as awaited; empty for most
    /// prompts. The error says why the turn cannot start.
    pub(super) fn take_resumed_calls(&mut self, prompt: &Prompt) -> Result<Vec<ToolCall>, Notice> {
        match prompt.left_task {
            Some(task) => {
                let call = self.left_tasks.begin_waiting(task, &mut self.cx)?;
                Ok(vec![call])
            }
            None => {
                let calls = self.recovery.take_calls(self.conversation.seq(), prompt);
                for call in &calls {
                    self.left_tasks.begin_waiting_for_call(call, &mut self.cx);
                }
                Ok(calls)
            }
        }
    }

    /// Handles the end of a call that may have waited for a task.
    pub(super) fn handle_awaited_task(&mut self, finished: &FinishedCall) {
        let (call, outcome, cx) = (finished.call, &finished.outcome, &mut self.cx);
        if let Some(task) = self.left_tasks.handle_awaited(call, outcome, cx) {
            self.follow_left_task(task);
        }
    }

    pub(super) fn handle_left_tasks_of_ended_turn(&mut self) {
        for task in self.left_tasks.handle_turn_end(&mut self.cx) {
            self.follow_left_task(task);
        }
    }
}
