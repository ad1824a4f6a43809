//! Tasks that the user left running: the turn continues without the call, which goes on until its server
//! reports an end or the program quits. Its result is offered as files of the next message.

use super::Actor;
use crate::attachments::attach_resource;
use crate::domain::attachment::ReadAttachment;
use crate::domain::{Advice, CallId, Notice, ToolCall, ToolOutcome, ToolState};
use crate::engine::context::truncate_result;
use crate::engine::cx::EngineCx;
use crate::engine::jobs::JobResult;
use crate::engine::result_images::ResultImages;
use crate::engine::turn::TurnInput;
use crate::engine::turn_driver::FinishedCall;
use crate::protocol::Event;
use crate::store::remove_left_tasks;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::collections::HashMap;
use tokio_util::sync::CancellationToken;

/// Maximum length of an error in a notice, in characters.
const REASON_CHARS_MAX: usize = 300;

/// The calls that still run, each with the token that cancels it.
pub(super) type LeftTasks = HashMap<CallId, (ToolCall, CancellationToken)>;

/// Removes the tasks that earlier versions stored to follow them in later runs.
pub(super) fn remove_stored(cx: &mut EngineCx) {
    if cx.options.no_save || cx.options.is_one_shot {
        return;
    }
    let folder = cx.home.left_tasks();
    cx.jobs.spawn_blocking(move || {
        let text = match remove_left_tasks(&folder) {
            0 => return JobResult::Nothing,
            1 => "A task that you left running in an earlier version is forgotten.".to_owned(),
            count => {
                format!("{count} tasks that you left running in an earlier version are forgotten.")
            }
        };
        let why = "A task now ends with the program in which you left it.";
        JobResult::notice(Notice::info(text).with_reason(why))
    });
}

impl Actor {
    /// Lets the turn stop waiting for a running call, whose task goes on.
    pub(super) fn leave_call(&mut self, id: CallId) {
        let Some(turn) = &mut self.turn else { return };
        let mut calls = turn.transcript.running_calls();
        let Some(call) = calls.find(|call| call.id == id).cloned() else {
            return;
        };
        drop(calls);
        if call.task.is_none() {
            let notice = Notice::info("The server does not run this call as a task.");
            return self
                .cx
                .notice(notice.with_advice("The call cannot be left, only cancelled."));
        }
        let Some((cancel, elapsed)) = turn.driver.leave(id) else {
            return;
        };
        tracing::info!(call = %id, "the user left the call running");
        self.hub.leave_task(id);
        let what = format!("{} continues in the background.", label(&call));
        let advice = "Its result will be attached to your message. Quitting cancels it.";
        self.cx.notice(Notice::info(what).with_advice(advice));
        self.left_tasks.insert(id, (call, cancel));
        self.feed(TurnInput::LeaveCall { call: id, elapsed });
    }

    /// Reports the end of a left task, and offers its result. Returns any other call.
    pub(super) fn take_left_task(&mut self, finished: FinishedCall) -> Option<FinishedCall> {
        let Some((mut call, _)) = self.left_tasks.remove(&finished.call) else {
            return Some(finished);
        };
        let FinishedCall {
            outcome, images, ..
        } = finished;
        self.cx.jobs.spawn_blocking(move || {
            let files = result_files(&call, &outcome, &images);
            let notice = end_notice(&call, &outcome, !files.is_empty());
            call.state = ToolState::Done(outcome);
            call.saved_files = images.saved_files.into();
            call.user_text = truncate_result(&images.user_text).into();
            let call = Box::new(call);
            let ended = Event::LeftTaskEnded { call, files };
            JobResult::Events(vec![ended, Event::NoticePosted(notice)])
        });
        None
    }

    /// Cancels the tasks at their servers. The front end prints the failure once the screen is gone.
    pub(super) fn cancel_left_tasks(&mut self) {
        let names = self.left_tasks.drain().map(|(_, (call, cancel))| {
            cancel.cancel();
            format!("`{}` of server `{}`", call.tool, call.server)
        });
        let names: Vec<String> = names.collect();
        let what = match names.len() {
            0 => return,
            1 => "a task that you left running".to_owned(),
            count => format!("{count} tasks that you left running"),
        };
        let text = format!("Quitting cancels {what}: {}.", names.join(", "));
        self.cx.notice(Notice::failure(text));
    }
}

/// The beginning of a sentence.
fn label(call: &ToolCall) -> String {
    format!("Task `{}` of server `{}`", call.tool, call.server)
}

/// The text and the images of a result. One that cannot be attached, such as an empty text, is left out.
fn result_files(
    call: &ToolCall,
    outcome: &ToolOutcome,
    images: &ResultImages,
) -> Vec<ReadAttachment> {
    let ToolOutcome::Succeeded { text, .. } = outcome else {
        return Vec::new();
    };
    let name = format!("{}:{}", call.server, call.tool);
    let images = images.images.iter();
    let images = images.filter_map(|image| BASE64_STANDARD.decode(&*image.base64).ok());
    let contents = std::iter::once(truncate_result(text).into_owned().into_bytes()).chain(images);
    contents
        .filter_map(|bytes| attach_resource(&name, bytes).ok())
        .collect()
}

fn end_notice(call: &ToolCall, outcome: &ToolOutcome, is_attached: bool) -> Notice {
    let label = label(call);
    let (what, why) = match outcome {
        ToolOutcome::Succeeded { .. } if is_attached => {
            let notice = Notice::info(format!("{label} has a result."));
            return notice.with_advice(Advice::UseResult);
        }
        ToolOutcome::Succeeded { .. } => {
            return Notice::info(format!("{label} has ended, without a result to attach."));
        }
        ToolOutcome::Failed { text, .. } => ("failed", text.as_str()),
        ToolOutcome::Unreachable { why, .. } => ("is no longer followed", why.as_str()),
        ToolOutcome::TimedOut { .. } => ("was cancelled", "It had no result within a day."),
        _ => ("is no longer followed", "It was interrupted."),
    };
    let why: String = why.chars().take(REASON_CHARS_MAX).collect();
    Notice::warning(format!("{label} {what}.")).with_reason(why)
}
