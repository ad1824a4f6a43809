//! The tasks that the user left running. Each is followed in the background, until it ends or a turn
//! waits for it. Its result reaches a conversation only through such a turn. `entry` is one task,
//! `cancelling` asks its server to cancel it.

mod cancelling;
mod entry;

use super::cx::EngineCx;
use super::jobs::JobResult;
use super::turn_driver::FinishedCall;
use crate::domain::id::IdGenerator;
use crate::domain::{
    Advice, CallId, LeftTaskId, LeftTaskState, Notice, TaskCancellation, ToolCall, ToolOutcome,
    ToolProgress, ToolState,
};
use crate::protocol::Event;
use crate::store::{LeftTaskStore, LoadedLeftTasks};
use entry::{Follower, LeftTaskEntry};
use futures::future::{BoxFuture, FutureExt};
use futures::stream::{FuturesUnordered, StreamExt};
use jiff::Timestamp;
use std::future::pending;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Maximum number of tasks, because each of them is polled.
const TASKS_MAX: usize = 50;
/// The first id of the calls that follow tasks. Turns number their own calls from 1.
const FIRST_CALL_ID: u64 = 1 << 32;

pub(super) enum LeftTaskEvent {
    /// A follower ended. Its task may be followed by another one already.
    FollowerEnded(FinishedCall),
    /// What became of a request to cancel this task.
    CancelAnswered(LeftTaskId, TaskCancellation),
}

/// A task to follow: the call as it was made, but with the id of its follower.
pub(super) struct TaskToFollow {
    pub(super) call: ToolCall,
    pub(super) cancel: CancellationToken,
    /// Nothing about the task may be written to disk.
    pub(super) is_private: bool,
}

pub(super) struct LeftTasks {
    entries: Vec<LeftTaskEntry>,
    ids: IdGenerator,
    call_ids: IdGenerator,
    running: FuturesUnordered<BoxFuture<'static, LeftTaskEvent>>,
}

impl Default for LeftTasks {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            ids: IdGenerator::default(),
            call_ids: IdGenerator::starting_at(FIRST_CALL_ID),
            running: FuturesUnordered::new(),
        }
    }
}

impl LeftTasks {
    /// Loads the tasks that earlier runs left. A one-shot run has no list of them.
    pub(super) fn start_loading(cx: &mut EngineCx) {
        if cx.options.no_save || cx.options.is_one_shot {
            return;
        }
        let store = LeftTaskStore::new(cx.home.left_tasks());
        cx.jobs
            .spawn_blocking(move || JobResult::LeftTasksLoaded(store.load(TASKS_MAX)));
    }

    /// Returns the ids, so that the caller can follow the tasks.
    pub(super) fn add_loaded(
        &mut self,
        loaded: LoadedLeftTasks,
        cx: &mut EngineCx,
    ) -> Vec<LeftTaskId> {
        let mut added = Vec::new();
        for task in loaded.tasks {
            let id = LeftTaskId(self.ids.next_id());
            let mut entry = LeftTaskEntry::new(id, task.call, task.left_at, Some(task.file));
            // The earlier run may have ended before the server answered. Cancelling again asks again.
            entry.cancellation = task.is_cancelling.then_some(TaskCancellation::Requested);
            self.entries.push(entry);
            added.push(id);
        }
        if let Some(notice) = loaded_notice(added.len(), loaded.unread_count) {
            cx.notice(notice);
        }
        if !added.is_empty() {
            self.report(cx);
        }
        added
    }

    pub(super) fn full_notice(&self) -> Option<Notice> {
        (self.entries.len() >= TASKS_MAX).then(|| {
            Notice::warning(format!("{TASKS_MAX} tasks are already in the list."))
                .with_advice("Use or forget one of them first.")
                .with_advice(Advice::ShowLeftTasks)
        })
    }

    /// Stored unless `is_private`.
    pub(super) fn add(
        &mut self,
        mut call: ToolCall,
        is_private: bool,
        cx: &mut EngineCx,
    ) -> LeftTaskId {
        call.state = ToolState::Done(ToolOutcome::Interrupted);
        let (id, left_at) = (LeftTaskId(self.ids.next_id()), Timestamp::now());
        let store = LeftTaskStore::new(cx.home.left_tasks());
        let file = (!is_private).then(|| Arc::new(store.new_file(left_at)));
        if let Some(file) = file.clone() {
            let call = call.clone();
            cx.jobs.spawn_blocking(move || {
                let written = file.write(&call, left_at);
                let failure = written.err().map(|error| {
                    Event::NoticePosted(Notice::warning(format!(
                        "The task is followed only until the program ends: {error}."
                    )))
                });
                JobResult::Events(failure.into_iter().collect())
            });
        }
        let entry = LeftTaskEntry::new(id, call, left_at, file);
        let what = format!("{} continues in the background.", entry.label());
        let mut notice = Notice::info(what);
        if is_private {
            notice = notice.with_reason("It is not saved, and is lost when the program ends.");
        }
        cx.notice(notice.with_advice(Advice::ShowLeftTasks));
        self.entries.push(entry);
        self.report(cx);
        id
    }

    /// Marks a task as followed and returns it. `None` if it is unknown, is already followed or
    /// awaited, or has ended.
    pub(super) fn start_following(&mut self, id: LeftTaskId) -> Option<TaskToFollow> {
        let call_id = CallId(self.call_ids.next_id());
        let entry = self.entries.iter_mut().find(|entry| entry.id == id)?;
        let is_idle = matches!(
            entry.state,
            LeftTaskState::Running { .. } | LeftTaskState::NotFollowed { .. }
        ) && entry.follower.is_none();
        if !is_idle {
            return None;
        }
        let cancel = CancellationToken::new();
        entry.state = LeftTaskState::Running { status: None };
        entry.follower = Some(Follower::new(call_id, cancel.clone()));
        let mut call = entry.call.clone();
        call.id = call_id;
        Some(TaskToFollow {
            call,
            cancel,
            is_private: entry.file.is_none(),
        })
    }

    pub(super) fn add_follower(&mut self, follower: BoxFuture<'static, FinishedCall>) {
        let ended = follower.map(LeftTaskEvent::FollowerEnded);
        self.running.push(ended.boxed());
    }

    /// Cancel-safe.
    pub(super) async fn next_event(&mut self) -> LeftTaskEvent {
        match self.running.next().await {
            Some(event) => event,
            None => pending().await,
        }
    }

    /// Returns a task that must be followed anew, so that its state is requested at once.
    pub(super) fn handle_event(
        &mut self,
        event: LeftTaskEvent,
        cx: &mut EngineCx,
    ) -> Option<LeftTaskId> {
        match event {
            LeftTaskEvent::FollowerEnded(finished) => {
                self.handle_follower_end(finished, cx);
                None
            }
            LeftTaskEvent::CancelAnswered(id, answer) => {
                self.handle_cancel_answer(id, answer, cx).then_some(id)
            }
        }
    }

    fn handle_follower_end(&mut self, finished: FinishedCall, cx: &mut EngineCx) {
        let mut entries = self.entries.iter_mut();
        let Some(entry) = entries.find(|entry| entry.is_followed_by(finished.call)) else {
            return;
        };
        if entry.is_cancelled_by(&finished) {
            cx.notice(entry.cancelled_notice(&finished));
            let id = entry.id;
            self.remove(id, cx);
            return;
        }
        if let Some(notice) = entry.end_following(finished) {
            cx.notice(notice);
        }
        entry.save_cancellation(cx);
        self.report(cx);
    }

    /// Stores the newest status of a followed task. Returns whether `call` belongs to a follower,
    /// even to one that has ended.
    pub(super) fn handle_progress(
        &mut self,
        call: CallId,
        progress: &ToolProgress,
        cx: &mut EngineCx,
    ) -> bool {
        let mut entries = self.entries.iter_mut();
        if let Some(entry) = entries.find(|entry| entry.is_followed_by(call))
            && entry.set_status(progress.message.as_deref())
        {
            self.report(cx);
        }
        call.0 >= FIRST_CALL_ID
    }

    /// Lets a turn wait for a task. Returns the call that the turn resumes.
    ///
    /// # Errors
    /// If the task is no longer listed.
    pub(super) fn begin_waiting(
        &mut self,
        id: LeftTaskId,
        cx: &mut EngineCx,
    ) -> Result<ToolCall, Notice> {
        let entry = self.entries.iter_mut().find(|entry| entry.id == id);
        let Some(entry) = entry else {
            return Err(Notice::failure("That task is no longer listed."));
        };
        // The turn follows the task instead.
        entry.follower = None;
        entry.state = LeftTaskState::Awaited;
        let call = entry.call.clone();
        self.report(cx);
        Ok(call)
    }

    /// Lets the turn that resumes this call of an earlier run wait for its task, if the user had left
    /// it. The program may have ended while a turn waited for the task, which then is in the journal
    /// and in the list.
    pub(super) fn begin_waiting_for_call(&mut self, call: &ToolCall, cx: &mut EngineCx) {
        let mut entries = self.entries.iter();
        let listed = entries.find(|entry| entry.is_task_of(call));
        if let Some(id) = listed.map(|entry| entry.id) {
            // It is listed, so this cannot fail.
            let _ = self.begin_waiting(id, cx);
        }
    }

    /// Records that `call` waits for an awaited task, and returns the task's result if it has already
    /// arrived, or else `Some(None)`. `None` if `call` resumes no awaited task.
    pub(super) fn assign_call(&mut self, call: &ToolCall) -> Option<Option<FinishedCall>> {
        let mut awaited = self.entries.iter_mut();
        let entry = awaited.find(|entry| entry.awaits(call))?;
        entry.awaited_by = Some(call.id);
        let result = entry.result.take();
        Some(result.map(|result| FinishedCall {
            call: call.id,
            ..result
        }))
    }

    pub(super) fn is_awaited_by(&self, call: CallId) -> bool {
        let mut entries = self.entries.iter();
        entries.any(|entry| entry.awaited_by == Some(call))
    }

    /// Handles the end of a call. If it waited for a task, a task with a result is removed; the id of
    /// any other is returned, so that it is followed again.
    pub(super) fn handle_awaited(
        &mut self,
        call: CallId,
        outcome: &ToolOutcome,
        cx: &mut EngineCx,
    ) -> Option<LeftTaskId> {
        let mut entries = self.entries.iter();
        let index = entries.position(|entry| entry.awaited_by == Some(call))?;
        if let ToolOutcome::Succeeded { .. } | ToolOutcome::Failed { .. } = outcome {
            let entry = self.entries.remove(index);
            remove_file(&entry, cx);
            self.report(cx);
            return None;
        }
        let entry = &mut self.entries[index];
        entry.end_waiting();
        let id = entry.id;
        self.report(cx);
        Some(id)
    }

    /// Returns the tasks that the ended turn waited for, to be followed again.
    pub(super) fn handle_turn_end(&mut self, cx: &mut EngineCx) -> Vec<LeftTaskId> {
        let awaited = self.entries.iter_mut();
        let awaited = awaited.filter(|entry| entry.state == LeftTaskState::Awaited);
        let ids: Vec<LeftTaskId> = awaited
            .map(|entry| {
                entry.end_waiting();
                entry.id
            })
            .collect();
        if !ids.is_empty() {
            self.report(cx);
        }
        ids
    }

    /// Removes a task from the list, unless a turn waits for it.
    pub(super) fn remove(&mut self, id: LeftTaskId, cx: &mut EngineCx) {
        let mut entries = self.entries.iter();
        let Some(index) = entries.position(|entry| entry.id == id) else {
            return;
        };
        if self.entries[index].state == LeftTaskState::Awaited {
            cx.notice(Notice::info("A turn is waiting for this task.").with_advice(Advice::Stop));
            return;
        }
        let entry = self.entries.remove(index);
        remove_file(&entry, cx);
        self.report(cx);
    }

    pub(super) fn report(&self, cx: &mut EngineCx) {
        let now = Timestamp::now();
        let tasks = self.entries.iter().map(|entry| entry.snapshot(now));
        let list = Arc::new(tasks.collect());
        cx.outbox.push(Event::LeftTasksListed(list));
    }
}

fn loaded_notice(loaded: usize, unread: usize) -> Option<Notice> {
    let text = match loaded {
        0 if unread == 0 => return None,
        0 => "No task that you left running in an earlier run could be read.".to_owned(),
        1 => "A task that you left running in an earlier run is still listed.".to_owned(),
        count => format!("{count} tasks that you left running in earlier runs are still listed."),
    };
    let notice = Notice::info(text);
    let notice = match unread {
        0 => notice,
        1 => notice.with_reason("The file of an older one was not read: too many are left."),
        count => notice.with_reason(format!(
            "The files of {count} older ones were not read: too many are left."
        )),
    };
    Some(match loaded {
        0 => notice,
        _ => notice.with_advice(Advice::ShowLeftTasks),
    })
}

fn remove_file(entry: &LeftTaskEntry, cx: &mut EngineCx) {
    if let Some(file) = entry.file.clone() {
        cx.jobs.spawn_blocking(move || {
            file.remove();
            JobResult::Nothing
        });
    }
}
