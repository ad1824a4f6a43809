//! Pulls a model to an Ollama server, and removes one. Ollama reports progress per layer,
//! as JSON lines; the progress yielded here is the sum over all layers. Dropping the stream
//! stops the pull, and Ollama resumes it when the same model is pulled again.

use super::ndjson::JsonLines;
use crate::provider::error::FailureCause;
use crate::provider::error_body::ServerError;
use crate::provider::pull::PullProgress;
use crate::provider::reply_builder::parse;
use crate::provider::server_client::ServerClient;
use futures::Stream;
use futures::stream;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::timeout;

/// Ollama verifies a large layer without sending anything.
const SILENCE_SECONDS_MAX: u64 = 300;
const REMOVE_SECONDS_MAX: u64 = 30;
/// Layers whose sizes are summed; models have a handful.
const LAYERS_MAX: usize = 1_000;
const STATUS_CHARS_MAX: usize = 80;

/// Sums the progress that the lines of `/api/pull` report per layer. Pure.
#[derive(Debug, Default)]
pub(super) struct PullLayers {
    /// Digest, total, completed.
    known: Vec<(String, u64, u64)>,
    has_succeeded: bool,
}

impl PullLayers {
    /// Reads one line.
    ///
    /// # Errors
    /// The error that the server reports in it.
    pub(super) fn read(&mut self, line: &Value) -> Result<PullProgress, FailureCause> {
        if let Some(server_error) = ServerError::from_event(line) {
            return Err(server_error.into_failure());
        }
        let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
        let bytes = |key: &str| line.get(key).and_then(Value::as_u64);
        let digest = text("digest");
        if let Some(total) = bytes("total").filter(|_| !digest.is_empty()) {
            let done = bytes("completed").unwrap_or(0).min(total);
            let mut known = self.known.iter_mut();
            if let Some(layer) = known.find(|(known, ..)| known == digest) {
                (layer.1, layer.2) = (total, done);
            } else if self.known.len() < LAYERS_MAX {
                self.known.push((digest.to_owned(), total, done));
            }
        }
        let status = text("status");
        self.has_succeeded |= status == "success";
        let sum = |part: fn(&(String, u64, u64)) -> u64| {
            let parts = self.known.iter().map(part);
            parts.fold(0, u64::saturating_add)
        };
        Ok(PullProgress {
            // In `pulling 1b226e2802db`, the digest means nothing to the user.
            status: match status.split_once(' ') {
                Some(("pulling", rest)) if rest != "manifest" => "pulling".to_owned(),
                _ => status.chars().take(STATUS_CHARS_MAX).collect(),
            },
            done: sum(|layer| layer.2),
            total: sum(|layer| layer.1),
        })
    }
}

/// A pull in progress.
struct PullReader {
    server: ServerClient,
    name: String,
    stage: PullStage,
    lines: JsonLines,
    layers: PullLayers,
    /// Decoded and not yet yielded.
    pending: VecDeque<Result<PullProgress, FailureCause>>,
}

enum PullStage {
    Asking,
    Reading(Box<reqwest::Response>),
    Over,
}

/// Pulls a model. Nothing happens until the stream is polled.
pub(super) fn pull(
    server: ServerClient,
    name: String,
) -> impl Stream<Item = Result<PullProgress, FailureCause>> + Send {
    let pulling = PullReader {
        server,
        name,
        stage: PullStage::Asking,
        lines: JsonLines::default(),
        layers: PullLayers::default(),
        pending: VecDeque::new(),
    };
    stream::unfold(pulling, PullReader::next)
}

impl PullReader {
    async fn next(mut self) -> Option<(Result<PullProgress, FailureCause>, Self)> {
        loop {
            if let Some(step) = self.pending.pop_front() {
                if step.is_err() {
                    self.stage = PullStage::Over;
                    self.pending.clear();
                }
                return Some((step, self));
            }
            let silence_max = Duration::from_secs(SILENCE_SECONDS_MAX);
            let read = match std::mem::replace(&mut self.stage, PullStage::Over) {
                PullStage::Over => return None,
                PullStage::Asking => timeout(silence_max, self.ask()).await,
                PullStage::Reading(response) => timeout(silence_max, self.read(response)).await,
            };
            if let Err(cause) = read.unwrap_or(Err(FailureCause::Timeout {
                seconds: SILENCE_SECONDS_MAX,
            })) {
                self.pending.push_back(Err(cause));
            }
        }
    }

    async fn ask(&mut self) -> Result<(), FailureCause> {
        let body = json!({"model": self.name, "stream": true});
        let asked = self.server.send_ok(Method::POST, "api/pull", Some(&body));
        self.stage = PullStage::Reading(Box::new(asked.await?));
        Ok(())
    }

    async fn read(&mut self, mut response: Box<reqwest::Response>) -> Result<(), FailureCause> {
        match response.chunk().await {
            Ok(Some(bytes)) => {
                for line in self.lines.push(&bytes) {
                    let line = line
                        .and_then(|line| parse(&line))
                        .map_err(FailureCause::Malformed);
                    let read = line.and_then(|line| self.layers.read(&line));
                    self.pending.push_back(read);
                }
                self.stage = PullStage::Reading(response);
                Ok(())
            }
            // A broken connection is treated like a closed one: only a final `success` counts.
            Ok(None) | Err(_) => {
                if let Some(rest) = std::mem::take(&mut self.lines).finish() {
                    let line = parse(&rest).map_err(|_| FailureCause::ReplyCutOff)?;
                    let read = self.layers.read(&line);
                    self.pending.push_back(read);
                }
                if self.layers.has_succeeded {
                    Ok(())
                } else {
                    Err(FailureCause::ReplyCutOff)
                }
            }
        }
    }
}

/// Deletes a model from the server's disk.
pub(super) async fn remove(server: &ServerClient, name: &str) -> Result<(), FailureCause> {
    let body = json!({"model": name});
    let removed = server.send_ok(Method::DELETE, "api/delete", Some(&body));
    let removed = timeout(Duration::from_secs(REMOVE_SECONDS_MAX), removed).await;
    match removed {
        Ok(response) => response.map(drop),
        Err(_) => Err(FailureCause::Timeout {
            seconds: REMOVE_SECONDS_MAX,
        }),
    }
}
