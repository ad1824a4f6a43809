//! Pulls models to an Ollama server, and removes them. Ollama reports progress per layer, as
//! JSON lines; the stream yields the sum over all layers. Dropping the stream stops the pull, and
//! Ollama resumes it when the same model is pulled again.

use super::ndjson::JsonLines;
use crate::provider::error::FailureCause;
use crate::provider::error_body::ServerError;
use crate::provider::pull::PullProgress;
use crate::provider::reply_builder::parse_json;
use crate::provider::server_client::ServerClient;
use futures::Stream;
use futures::stream;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::timeout;

/// Long, because Ollama sends nothing while it verifies a large layer.
const SILENCE_SECONDS_MAX: u64 = 300;
const REMOVE_SECONDS_MAX: u64 = 30;
/// Further layers are not summed; real models have a handful.
const LAYERS_MAX: usize = 1_000;
const STATUS_CHARS_MAX: usize = 80;

/// Sums the progress per layer that the lines of `/api/pull` report.
#[derive(Debug, Default)]
pub(super) struct PullLayers {
    /// Digest, total bytes and completed bytes of each layer.
    sizes: Vec<(String, u64, u64)>,
    has_succeeded: bool,
}

impl PullLayers {
    /// Returns the summed progress, or the error that the line reports.
    pub(super) fn read(&mut self, line: &Value) -> Result<PullProgress, FailureCause> {
        if let Some(server_error) = ServerError::from_event(line) {
            return Err(server_error.into_failure());
        }
        let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
        let bytes = |key: &str| line.get(key).and_then(Value::as_u64);
        let digest = text("digest");
        if let Some(total) = bytes("total").filter(|_| !digest.is_empty()) {
            let done = bytes("completed").unwrap_or(0).min(total);
            let mut sizes = self.sizes.iter_mut();
            if let Some(layer) = sizes.find(|(layer_digest, ..)| layer_digest == digest) {
                (layer.1, layer.2) = (total, done);
            } else if self.sizes.len() < LAYERS_MAX {
                self.sizes.push((digest.to_owned(), total, done));
            }
        }
        let status = text("status");
        self.has_succeeded |= status == "success";
        let sum = |count: fn(&(String, u64, u64)) -> u64| {
            let counts = self.sizes.iter().map(count);
            counts.fold(0, u64::saturating_add)
        };
        Ok(PullProgress {
            // Omits the digest in `pulling 1b226e2802db`, which means nothing to the user.
            status: match status.split_once(' ') {
                Some(("pulling", rest)) if rest != "manifest" => "pulling".to_owned(),
                _ => status.chars().take(STATUS_CHARS_MAX).collect(),
            },
            done: sum(|layer| layer.2),
            total: sum(|layer| layer.1),
        })
    }
}

struct PullReader {
    server: ServerClient,
    name: String,
    stage: PullStage,
    lines: JsonLines,
    layers: PullLayers,
    /// Decoded but not yet yielded.
    pending: VecDeque<Result<PullProgress, FailureCause>>,
}

enum PullStage {
    Requesting,
    Reading(Box<reqwest::Response>),
    Done,
}

/// Nothing happens until the stream is polled.
pub(super) fn pull(
    server: ServerClient,
    name: String,
) -> impl Stream<Item = Result<PullProgress, FailureCause>> + Send {
    let reader = PullReader {
        server,
        name,
        stage: PullStage::Requesting,
        lines: JsonLines::default(),
        layers: PullLayers::default(),
        pending: VecDeque::new(),
    };
    stream::unfold(reader, PullReader::next)
}

impl PullReader {
    async fn next(mut self) -> Option<(Result<PullProgress, FailureCause>, Self)> {
        loop {
            if let Some(progress) = self.pending.pop_front() {
                if progress.is_err() {
                    self.stage = PullStage::Done;
                    self.pending.clear();
                }
                return Some((progress, self));
            }
            let silence_max = Duration::from_secs(SILENCE_SECONDS_MAX);
            let result = match std::mem::replace(&mut self.stage, PullStage::Done) {
                PullStage::Done => return None,
                PullStage::Requesting => timeout(silence_max, self.send_request()).await,
                PullStage::Reading(response) => {
                    timeout(silence_max, self.read_chunk(response)).await
                }
            };
            if let Err(cause) = result.unwrap_or(Err(FailureCause::Timeout {
                seconds: SILENCE_SECONDS_MAX,
            })) {
                self.pending.push_back(Err(cause));
            }
        }
    }

    async fn send_request(&mut self) -> Result<(), FailureCause> {
        let body = json!({"model": self.name, "stream": true});
        let response = self.server.send_ok(Method::POST, "api/pull", Some(&body));
        self.stage = PullStage::Reading(Box::new(response.await?));
        Ok(())
    }

    fn read_line(&mut self, mut line: Value) -> Result<PullProgress, FailureCause> {
        self.server.secrets.redact_message(&mut line);
        self.layers.read(&line)
    }

    /// Reads one chunk. The caller has set the stage to `Done`; this sets it back to `Reading` unless
    /// the connection was closed.
    async fn read_chunk(
        &mut self,
        mut response: Box<reqwest::Response>,
    ) -> Result<(), FailureCause> {
        match response.chunk().await {
            Ok(Some(bytes)) => {
                for line in self.lines.push(&bytes) {
                    let line = line
                        .and_then(|line| parse_json(&line))
                        .map_err(FailureCause::Malformed);
                    let progress = line.and_then(|line| self.read_line(line));
                    self.pending.push_back(progress);
                }
                self.stage = PullStage::Reading(response);
                Ok(())
            }
            // A broken connection is treated like a closed one: only a final `success` counts.
            Ok(None) | Err(_) => {
                if let Some(rest) = std::mem::take(&mut self.lines).finish() {
                    let line = parse_json(&rest).map_err(|_| FailureCause::ReplyCutOff)?;
                    let progress = self.read_line(line);
                    self.pending.push_back(progress);
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

pub(super) async fn remove(server: &ServerClient, name: &str) -> Result<(), FailureCause> {
    let body = json!({"model": name});
    let response = server.send_ok(Method::DELETE, "api/delete", Some(&body));
    match timeout(Duration::from_secs(REMOVE_SECONDS_MAX), response).await {
        Ok(response) => response.map(drop),
        Err(_) => Err(FailureCause::Timeout {
            seconds: REMOVE_SECONDS_MAX,
        }),
    }
}
