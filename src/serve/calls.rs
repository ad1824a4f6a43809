//! Runs tool calls, limits their duration and number, and logs each of them.

use super::message::short_name;
use super::tools::{BuiltInTools, ProgressReporter, ToolFailure};
use crate::text::sanitize::Clean;
use rmcp::model::JsonObject;
use rmcp::model::{CallToolResult, ContentBlock, ErrorData, Tool};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Further ones fail immediately instead of waiting unnoticed.
const CONCURRENT_CALLS_MAX: usize = 256;
/// Tools have shorter limits of their own, at most 15 minutes for an answer from a local model.
const CALL_TIMEOUT: Duration = Duration::from_secs(16 * 60);
/// How long running calls may continue after the server is asked to stop.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(4);
/// How long the server then waits until the errors of the calls it ended have been sent.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(250);

/// One per process, shared by all transports. Cheap to clone.
#[derive(Clone)]
pub struct CallRunner {
    tools: BuiltInTools,
    definitions: Arc<[Tool]>,
    limits: CallLimits,
    slots: Arc<Semaphore>,
    running: TaskTracker,
    /// Once cancelled, running calls end with an error.
    stopping: CancellationToken,
    log: CallLog,
}

#[derive(Debug, Clone, Copy)]
pub struct CallLimits {
    pub concurrent: usize,
    pub timeout: Duration,
    /// See [`CallRunner::drain`].
    pub drain_timeout: Duration,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            concurrent: CONCURRENT_CALLS_MAX,
            timeout: CALL_TIMEOUT,
            drain_timeout: DRAIN_TIMEOUT,
        }
    }
}

/// Whether calls are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallLog {
    /// For `humble serve`.
    Info,
    /// For the chat, which logs the calls of all servers itself.
    Quiet,
}

/// One call, independent of its transport.
pub struct IncomingCall<'a> {
    pub name: &'a str,
    pub arguments: JsonObject,
    pub progress: ProgressReporter,
    pub cancelled: CancellationToken,
    /// For the log, such as `http`.
    pub transport: &'a str,
}

impl CallRunner {
    pub fn new(tools: BuiltInTools, limits: CallLimits, log: CallLog) -> Self {
        Self {
            definitions: tools.definitions().into(),
            tools,
            limits,
            slots: Arc::new(Semaphore::new(limits.concurrent)),
            running: TaskTracker::new(),
            stopping: CancellationToken::new(),
            log,
        }
    }

    /// The same runner, with the tools that the current settings allow.
    #[must_use]
    pub fn refreshed(&self) -> Self {
        Self {
            definitions: self.tools.definitions().into(),
            ..self.clone()
        }
    }

    /// The definitions for `tools/list`, always in the same order.
    pub fn definitions(&self) -> &[Tool] {
        &self.definitions
    }

    pub fn tools(&self) -> &BuiltInTools {
        &self.tools
    }

    /// Tracks running calls and everything else that a shutdown waits for.
    pub fn running(&self) -> &TaskTracker {
        &self.running
    }

    /// Waits for running calls; those that take too long end with an error, which is still sent.
    pub async fn drain(&self) {
        self.running.close();
        if timeout(self.limits.drain_timeout, self.running.wait())
            .await
            .is_ok()
        {
            return;
        }
        tracing::warn!("calls were still running and have been ended");
        self.stopping.cancel();
        let _ = timeout(ANSWER_TIMEOUT, self.running.wait()).await;
    }

    /// Runs a call. Dropping the future cancels it.
    ///
    /// # Errors
    /// No tool has this name, or the server is stopping.
    pub async fn run(&self, call: IncomingCall<'_>) -> Result<CallToolResult, ErrorData> {
        let _in_flight = self.running.token();
        let mut log = CallLogLine::new(self.log, call.name, call.transport);
        let Ok(_slot) = self.slots.try_acquire() else {
            log.finish("refused: too many calls");
            return Ok(failure(format!(
                "The server is busy: {} calls are running. Try again in a few seconds.",
                self.limits.concurrent
            )));
        };
        let running = self
            .tools
            .call(call.name, &call.arguments, call.progress, call.cancelled);
        let running = timeout(self.limits.timeout, running);
        let Some(ended) = self.stopping.run_until_cancelled(running).await else {
            log.finish("ended: the server is stopping");
            return Err(server_stopping());
        };
        match ended {
            Ok(Ok(value)) => {
                log.finish("ok");
                Ok(CallToolResult::structured(value))
            }
            Ok(Err(ToolFailure::Failed(why))) => {
                log.finish("failed");
                Ok(failure(why))
            }
            Ok(Err(ToolFailure::Cancelled)) => {
                log.finish("cancelled");
                Ok(failure("The call was cancelled.".to_owned()))
            }
            Ok(Err(ToolFailure::UnknownTool)) => {
                log.finish("unknown tool");
                Err(unknown_tool(call.name))
            }
            Err(_) => {
                log.finish("timed out");
                Ok(failure(format!(
                    "The tool did not answer within {} seconds.",
                    self.limits.timeout.as_secs()
                )))
            }
        }
    }
}

fn failure(why: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(why)])
}

fn unknown_tool(name: &str) -> ErrorData {
    ErrorData::invalid_params("Unknown tool", Some(json!({ "tool": short_name(name) })))
}

fn server_stopping() -> ErrorData {
    let why = "The server is stopping, so the call was ended before it had a result";
    ErrorData::internal_error(why, None)
}

/// Writes one line when the call ends, even if its future is dropped.
struct CallLogLine {
    log: CallLog,
    name: String,
    transport: String,
    started: Instant,
    outcome: &'static str,
}

impl CallLogLine {
    fn new(log: CallLog, name: &str, transport: &str) -> Self {
        Self {
            log,
            name: Clean::single_line(&short_name(name)).as_str().to_owned(),
            transport: transport.to_owned(),
            started: Instant::now(),
            outcome: "cancelled",
        }
    }

    fn finish(&mut self, outcome: &'static str) {
        self.outcome = outcome;
    }
}

impl Drop for CallLogLine {
    fn drop(&mut self) {
        if self.log == CallLog::Info {
            let milliseconds = self.started.elapsed().as_millis();
            tracing::info!(
                "{} over {}: {}, {milliseconds} ms",
                self.name,
                self.transport,
                self.outcome
            );
        }
    }
}
