//! Cancels tasks. A server may refuse, or go on after it has agreed, so a task stays in the list until
//! its end is known.

use super::{LeftTaskEvent, LeftTasks};
use crate::domain::{LeftTaskId, LeftTaskState, Notice, TaskCancellation, ToolCall};
use crate::engine::cx::EngineCx;
use futures::future::{BoxFuture, FutureExt};

impl LeftTasks {
    /// Marks a task as being cancelled. Returns the call that it belongs to, so that its server can
    /// be asked; `None` if there is nothing to cancel. A task that has ended is removed.
    pub(in crate::engine) fn begin_cancelling(
        &mut self,
        id: LeftTaskId,
        cx: &mut EngineCx,
    ) -> Option<ToolCall> {
        let entry = self.entries.iter_mut().find(|entry| entry.id == id)?;
        if entry.state.has_ended() || entry.state == LeftTaskState::Awaited {
            self.remove(id, cx);
            return None;
        }
        entry.cancellation = Some(TaskCancellation::Requested);
        entry.save_cancellation(cx);
        let call = entry.call.clone();
        self.report(cx);
        Some(call)
    }

    /// Waits for the server's answer to a cancellation.
    pub(in crate::engine) fn await_cancellation(
        &mut self,
        id: LeftTaskId,
        answer: BoxFuture<'static, TaskCancellation>,
    ) {
        let answered = answer.map(move |answer| LeftTaskEvent::CancelAnswered(id, answer));
        self.running.push(answered.boxed());
    }

    /// Records whether the server agreed to cancel a task that is still listed. The task goes on
    /// being followed, because the server may ignore what it agreed to. Returns whether it agreed.
    pub(super) fn handle_cancel_answer(
        &mut self,
        id: LeftTaskId,
        answer: TaskCancellation,
        cx: &mut EngineCx,
    ) -> bool {
        let mut entries = self.entries.iter_mut();
        let Some(entry) = entries.find(|entry| entry.id == id && !entry.state.has_ended()) else {
            return false;
        };
        let label = entry.label();
        let has_agreed = answer == TaskCancellation::Requested;
        cx.notice(match &answer {
            TaskCancellation::Requested => Notice::info(format!("{label} is being cancelled."))
                .with_reason("The server may ignore the request."),
            TaskCancellation::Refused { why } | TaskCancellation::Unanswered { why } => {
                Notice::warning(format!("{label} could not be cancelled: {why}."))
                    .with_reason("It may still run.")
            }
        });
        entry.cancellation = Some(answer);
        entry.save_cancellation(cx);
        if has_agreed {
            entry.follower = None;
        }
        self.report(cx);
        has_agreed
    }
}
