//! One task that the user left running.

use crate::domain::{
    Advice, Arguments, CallId, LeftTask, LeftTaskId, LeftTaskState, Notice, TaskCancellation,
    ToolCall, ToolOutcome,
};
use crate::engine::cx::EngineCx;
use crate::engine::jobs::JobResult;
use crate::engine::result_images::ResultImages;
use crate::engine::turn_driver::FinishedCall;
use crate::store::LeftTaskFile;
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Results up to this size, without images, are kept. Others are requested again when a turn waits
/// for them.
const RESULT_BYTES_MAX: usize = 1 << 20;
/// Maximum length of an error in the task list, in characters.
const REASON_CHARS_MAX: usize = 300;

#[derive(Debug)]
pub struct LeftTaskEntry {
    pub id: LeftTaskId,
    /// The call as it was made, in the state that [`ToolCall::has_open_task`] describes.
    pub call: ToolCall,
    /// The call's arguments, shared with the front end.
    arguments: Arc<Arguments>,
    /// The file of the task; `None` if the conversation in which it was left is not saved.
    pub file: Option<Arc<LeftTaskFile>>,
    left_at: Timestamp,
    pub state: LeftTaskState,
    pub follower: Option<Follower>,
    /// How the task ended, if that could be kept.
    pub result: Option<FinishedCall>,
    /// The call of the running turn that waits for the task.
    pub awaited_by: Option<CallId>,
    /// The user's request to cancel the task, while it may still run.
    pub cancellation: Option<TaskCancellation>,
    /// The server has reported the state of the task in this run.
    has_server_reported: bool,
}

/// Follows a task in the background. Dropping it stops the following, not the task.
#[derive(Debug)]
pub struct Follower {
    call: CallId,
    _stop: DropGuard,
}

impl Follower {
    pub fn new(call: CallId, cancel: CancellationToken) -> Self {
        let _stop = cancel.drop_guard();
        Self { call, _stop }
    }
}

impl LeftTaskEntry {
    pub fn new(
        id: LeftTaskId,
        call: ToolCall,
        left_at: Timestamp,
        file: Option<Arc<LeftTaskFile>>,
    ) -> Self {
        Self {
            id,
            arguments: Arc::new(call.arguments.clone()),
            call,
            file,
            left_at,
            state: LeftTaskState::Running { status: None },
            follower: None,
            result: None,
            awaited_by: None,
            cancellation: None,
            has_server_reported: false,
        }
    }

    /// The beginning of a sentence, such as ``Task `work` of server `humble` ``.
    pub fn label(&self) -> String {
        format!("Task `{}` of server `{}`", self.call.tool, self.call.server)
    }

    pub fn is_followed_by(&self, call: CallId) -> bool {
        let follower = self.follower.as_ref();
        follower.is_some_and(|follower| follower.call == call)
    }

    /// Whether a turn is about to wait for this task with `call`.
    pub fn awaits(&self, call: &ToolCall) -> bool {
        self.state == LeftTaskState::Awaited && self.awaited_by.is_none() && self.is_task_of(call)
    }

    /// Whether `call` and this entry are about the same task.
    pub fn is_task_of(&self, call: &ToolCall) -> bool {
        let id = |call: &ToolCall| call.task.as_ref().map(|task| task.task.clone());
        self.call.server == call.server && id(call).is_some() && id(&self.call) == id(call)
    }

    /// Stores a status that the server reported. Returns whether it is new.
    pub fn set_status(&mut self, status: Option<&str>) -> bool {
        self.has_server_reported = true;
        let state = LeftTaskState::Running {
            status: status.map(str::to_owned),
        };
        let is_new = self.state != state;
        self.state = state;
        is_new
    }

    /// Whether this is the end that the user has asked the server for: the task has no result.
    pub fn is_cancelled_by(&self, finished: &FinishedCall) -> bool {
        self.cancellation == Some(TaskCancellation::Requested)
            && matches!(finished.outcome, ToolOutcome::Failed { .. })
    }

    /// The notice that the task has ended as the user wanted.
    pub fn cancelled_notice(&self, finished: &FinishedCall) -> Notice {
        let notice = Notice::info(format!("{} has ended.", self.label()));
        match &finished.outcome {
            ToolOutcome::Failed { text, .. } => notice.with_reason(short_reason(text)),
            _ => notice,
        }
    }

    /// Handles the end of the follower. Returns a notice that the task has ended or is no longer
    /// followed.
    pub fn end_following(&mut self, finished: FinishedCall) -> Option<Notice> {
        self.follower = None;
        let label = self.label();
        let (state, notice) = match &finished.outcome {
            ToolOutcome::Succeeded { .. } => (
                LeftTaskState::Succeeded,
                Notice::info(format!("{label} has a result.")).with_advice(Advice::UseLeftTask),
            ),
            ToolOutcome::Failed { text, .. } => (
                LeftTaskState::Failed {
                    why: short_reason(text),
                },
                Notice::warning(format!("{label} failed.")).with_advice(Advice::ShowLeftTasks),
            ),
            outcome => {
                let why = match outcome {
                    ToolOutcome::Unreachable { why, .. } => why.clone(),
                    ToolOutcome::TimedOut { .. } => "It had no result within a day.".to_owned(),
                    _ => "It was interrupted.".to_owned(),
                };
                let text = format!("{label} is no longer followed.");
                let notice = Notice::warning(text).with_reason(why.clone());
                self.state = LeftTaskState::NotFollowed { why };
                // Until the server has reported the task in this run, only the task list shows this.
                return self
                    .has_server_reported
                    .then(|| notice.with_advice(Advice::ShowLeftTasks));
            }
        };
        self.state = state;
        self.cancellation = None;
        self.result = Some(finished).filter(may_be_kept);
        Some(notice)
    }

    /// Stores whether the task is being cancelled, so that the list still shows it after a crash.
    pub fn save_cancellation(&self, cx: &mut EngineCx) {
        let is_cancelling = self.cancellation == Some(TaskCancellation::Requested);
        let Some(file) = &self.file else { return };
        if !file.set_cancelling(is_cancelling) {
            return;
        }
        let (file, call, left_at) = (Arc::clone(file), self.call.clone(), self.left_at);
        cx.jobs.spawn_blocking(move || {
            file.save_cancelling(&call, left_at);
            JobResult::Nothing
        });
    }

    /// The turn that waited for the task has stopped waiting.
    pub fn end_waiting(&mut self) {
        self.awaited_by = None;
        self.state = LeftTaskState::Running { status: None };
    }

    pub fn snapshot(&self, now: Timestamp) -> LeftTask {
        let age = now.duration_since(self.left_at);
        LeftTask {
            id: self.id,
            server: self.call.server.clone(),
            tool: self.call.tool.clone(),
            arguments: Arc::clone(&self.arguments),
            is_saved: self.file.is_some(),
            // The clock may have been set back.
            age: Duration::try_from(age).unwrap_or_default(),
            state: self.state.clone(),
            cancellation: self.cancellation.clone(),
        }
    }
}

fn short_reason(text: &str) -> String {
    text.chars().take(REASON_CHARS_MAX).collect()
}

fn may_be_kept(finished: &FinishedCall) -> bool {
    let bytes = match &finished.outcome {
        ToolOutcome::Succeeded { text, .. } | ToolOutcome::Failed { text, .. } => text.len(),
        _ => 0,
    };
    bytes <= RESULT_BYTES_MAX
        && ResultImages {
            saved_files: Vec::new(),
            user_text: String::new(),
            ..finished.images.clone()
        } == ResultImages::default()
}
