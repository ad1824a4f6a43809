//! Runs the approved calls of the conversation's turn, and waits for tasks of an earlier run.

use super::Actor;
use crate::attachments::save_result_media;
use crate::domain::{CallId, CallTask, QuoteSource, ToolCall, ToolOutcome};
use crate::engine::approval::ApprovedCall;
use crate::engine::failures;
use crate::engine::injection_guard::{scan_untrusted, untrusted_output};
use crate::engine::result_images::ResultImages;
use crate::engine::turn_driver::FinishedCall;
use crate::mcp::{CallResult, McpCall};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

impl Actor {
    /// Runs an approved call.
    pub(super) fn run_call(&mut self, call: &ApprovedCall) {
        if self.answer_tool_search(call) {
            return;
        }
        self.note_tool_use(call);
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

    /// Waits for the task of a call that an earlier run made.
    pub(super) fn follow_task(&mut self, call: ToolCall) {
        let Some(CallTask { task, launch, pin }) = call.task.map(|task| *task) else {
            return;
        };
        tracing::info!(server = %call.server, tool = %call.tool, "waiting for a task of an earlier run");
        let servers = self.hub.servers();
        let problem = match servers.iter().find(|server| server.id == call.server) {
            None => Some("is no longer configured"),
            Some(server) if server.launch != launch => Some("now has different settings"),
            Some(server) if !server.enabled => Some("is switched off"),
            Some(_) => None,
        };
        let Some(problem) = problem else {
            return self.start_call(McpCall {
                id: call.id,
                server: call.server,
                tool: call.tool,
                arguments: call.arguments,
                pin: Some(pin),
                task: Some(task),
            });
        };
        let why = format!(
            "Server `{}` {problem}, so its task was not followed. It is not known whether the task \
             still runs.",
            call.server
        );
        let (id, elapsed) = (call.id, Duration::ZERO);
        if let Some(turn) = &mut self.turn {
            turn.driver.run(id, move |_| async move {
                without_result(id, ToolOutcome::Unreachable { why, elapsed })
            });
        }
    }

    fn start_call(&mut self, request: McpCall) {
        let Some(turn) = &mut self.turn else { return };
        let id = request.id;
        let (server, tool, is_private) = (
            request.server.clone(),
            request.tool.clone(),
            self.persist.is_private(),
        );
        // A private conversation leaves no files, and a one-shot run shows no paths.
        let saves_files = !is_private && !self.cx.options.is_one_shot;
        let folder = saves_files.then(|| self.cx.home.result_files());
        let (hub, offered) = (&self.hub, Arc::clone(&self.toolset));
        turn.driver.run(id, |cancel| {
            let answer = hub.call_with_result(request, cancel);
            async move {
                let CallResult { outcome, result } = answer.await;
                failures::log_outcome(&server, &tool, &outcome, is_private);
                // The model sees no result before the injection guard has scanned it.
                let untrusted_text = match untrusted_output(&outcome) {
                    Some(text) => Some(
                        scan_untrusted(QuoteSource::ToolResult, text.to_owned(), offered).await,
                    ),
                    None => None,
                };
                FinishedCall {
                    call: id,
                    outcome,
                    untrusted_text,
                    images: decode_images(result, folder).await,
                }
            }
        });
    }
}

/// A call that did not reach its server.
fn without_result(call: CallId, outcome: ToolOutcome) -> FinishedCall {
    FinishedCall {
        call,
        outcome,
        untrusted_text: None,
        images: ResultImages::default(),
    }
}

/// The images of a raw result, decoded on a blocking thread, which also saves them in `folder`.
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
