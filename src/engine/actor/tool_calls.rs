//! Runs the approved calls of the conversation's turn, and waits for tasks of an earlier run.

use super::Actor;
use crate::attachments::save_result_media;
use crate::domain::{CallId, CallTask, ServerId, ToolCall, ToolOutcome};
use crate::engine::approval::ApprovedCall;
use crate::engine::cx::EngineCx;
use crate::engine::failures;
use crate::engine::result_images::ResultImages;
use crate::engine::turn_driver::FinishedCall;
use crate::mcp::{CallResult, Hub, McpCall};
use futures::future::{BoxFuture, FutureExt, ready};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

impl Actor {
    pub(super) fn run_call(&mut self, call: &ApprovedCall) {
        if self.answer_tool_search(call) {
            return;
        }
        self.record_tool_use(call);
        let Some(turn) = &mut self.turn else { return };
        let id = call.id();
        // The turn has already checked that the tool is unchanged. If it is missing after all,
        // the call must not run.
        let Some(tool) = self.toolset.get(call.server(), call.tool()) else {
            return turn.driver.run(id, |_| async move {
                let why = "the tool is no longer offered".to_owned();
                without_result(id, ToolOutcome::NotRun { why })
            });
        };
        tracing::info!(server = %call.server(), tool = %call.tool(), "tool call");
        let request = McpCall {
            id,
            server: call.server().clone(),
            tool: call.tool().to_owned(),
            arguments: call.arguments().clone(),
            pin: Some(tool.tool.pin.clone()),
            task: None,
        };
        self.start_call(request);
    }

    /// Waits for the task of a call of an earlier run.
    pub(super) fn follow_task(&mut self, call: ToolCall) {
        let (id, is_private) = (call.id, self.persist.is_private());
        let Some(turn) = &mut self.turn else { return };
        let hub = &self.hub;
        let executor = CallExecutor::new(&self.cx, is_private);
        turn.driver
            .run(id, |cancel| follow(call, executor, hub, cancel));
    }

    pub(super) fn running_calls(&self, server: Option<&ServerId>) -> Vec<CallId> {
        let turn = self.turn.iter();
        let calls = turn.flat_map(|turn| turn.transcript.running_calls());
        let of_server = calls.filter(|call| server.is_none_or(|server| call.server == *server));
        of_server.map(|call| call.id).collect()
    }

    pub(super) fn cancel_questions_of(&mut self, stopped: &[CallId], running: &[CallId]) {
        let (requests, cx) = (&mut self.server_requests, &mut self.cx);
        let replies = requests.cancel_with_calls(stopped, running, cx);
        self.reply_to_servers(replies);
    }

    fn start_call(&mut self, request: McpCall) {
        let is_private = self.persist.is_private();
        let Some(turn) = &mut self.turn else { return };
        let executor = CallExecutor::new(&self.cx, is_private);
        let (id, hub) = (request.id, &self.hub);
        turn.driver
            .run(id, |cancel| executor.run(request, hub, cancel));
    }
}

/// Waits for the task of a call of an earlier run, unless its server was removed, changed or switched
/// off.
fn follow(
    call: ToolCall,
    executor: CallExecutor,
    hub: &Hub,
    cancel: CancellationToken,
) -> BoxFuture<'static, FinishedCall> {
    let id = call.id;
    let Some(CallTask { task, launch, pin }) = call.task.map(|task| *task) else {
        let why = "it has no task".to_owned();
        return ready(without_result(id, ToolOutcome::NotRun { why })).boxed();
    };
    tracing::info!(server = %call.server, tool = %call.tool, "waiting for a task of an earlier run");
    let servers = hub.servers();
    let problem = match servers.iter().find(|server| server.id == call.server) {
        None => Some("is no longer configured"),
        Some(server) if server.launch != launch => Some("now has different settings"),
        Some(server) if !server.enabled => Some("is switched off"),
        Some(_) => None,
    };
    if let Some(problem) = problem {
        let why = format!(
            "Server `{}` {problem}, so its task was not followed. It is not known whether the \
             task still runs.",
            call.server
        );
        let elapsed = Duration::ZERO;
        let outcome = ToolOutcome::Unreachable { why, elapsed };
        return ready(without_result(id, outcome)).boxed();
    }
    let request = McpCall {
        id,
        server: call.server,
        tool: call.tool,
        arguments: call.arguments,
        pin: Some(pin),
        task: Some(task),
    };
    executor.run(request, hub, cancel)
}

/// Runs calls, and prepares their results for the turn.
struct CallExecutor {
    /// The folder for images and sounds; `None` if they are not saved.
    folder: Option<PathBuf>,
    is_private: bool,
}

impl CallExecutor {
    fn new(cx: &EngineCx, is_private: bool) -> Self {
        // A private conversation leaves no files, and a one-shot run shows no paths.
        let saves_files = !is_private && !cx.options.is_one_shot;
        Self {
            folder: saves_files.then(|| cx.home.result_files()),
            is_private,
        }
    }

    fn run(
        self,
        request: McpCall,
        hub: &Hub,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, FinishedCall> {
        let (id, server, tool) = (request.id, request.server.clone(), request.tool.clone());
        let answer = hub.call_with_result(request, cancel);
        async move {
            let CallResult {
                outcome,
                user_text,
                result,
            } = answer.await;
            failures::log_outcome(&server, &tool, &outcome, self.is_private);
            FinishedCall {
                call: id,
                outcome,
                images: ResultImages {
                    user_text,
                    ..decode_images(result, self.folder).await
                },
            }
        }
        .boxed()
    }
}

/// The end of a call for which nothing was sent to its server.
fn without_result(call: CallId, outcome: ToolOutcome) -> FinishedCall {
    FinishedCall {
        call,
        outcome,
        images: ResultImages::default(),
    }
}

/// Decodes the images of a result on a blocking thread, which also saves its media in `folder`.
async fn decode_images(result: Option<Value>, folder: Option<PathBuf>) -> ResultImages {
    let Some(result) = result else {
        return ResultImages::default();
    };
    let decode = move || ResultImages {
        saved_files: folder.map_or_else(Vec::new, |folder| save_result_media(&result, &folder)),
        ..ResultImages::from_result(&result)
    };
    let images = tokio::task::spawn_blocking(decode).await;
    images.unwrap_or_else(|error| {
        tracing::error!("the images of a tool result could not be read: {error}");
        ResultImages::default()
    })
}
