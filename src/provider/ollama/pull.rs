//! Pulls a model to an Ollama server, and removes one. Ollama reports progress per layer,
//! as JSON lines; the progress yielded here is the sum over all layers. Dropping the stream
//! stops the pull, and Ollama resumes it when the same model is pulled again.

use super::ndjson::Lines;
use crate::provider::error::Cause;
use crate::provider::error_body::Complaint;
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

/// Reads the lines of `/api/pull`. Pure.
#[derive(Debug, Default)]
pub(super) struct Layers {
    /// Digest, total, completed.
    known: Vec<(String, u64, u64)>,
    has_succeeded: bool,
}

impl Layers {
    /// What a line says.
    ///
    /// # Errors
    /// The error that the server reports in it.
    pub(super) fn read(&mut self, line: &Value) -> Result<PullProgress, Cause> {
        if let Some(complaint) = Complaint::in_event(line) {
            return Err(complaint.in_stream());
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
            // `pulling 1b226e2802db`: the digest means nothing to a person.
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
struct Pulling {
    server: ServerClient,
    name: String,
    stage: Stage,
    lines: Lines,
    layers: Layers,
    /// Decoded and not yet yielded.
    pending: VecDeque<Result<PullProgress, Cause>>,
}

enum Stage {
    Asking,
    Reading(Box<reqwest::Response>),
    Over,
}

/// Pulls a model. Nothing happens until the stream is polled.
pub(super) fn pull(
    server: ServerClient,
    name: String,
) -> impl Stream<Item = Result<PullProgress, Cause>> + Send {
    let pulling = Pulling {
        server,
        name,
        stage: Stage::Asking,
        lines: Lines::default(),
        layers: Layers::default(),
        pending: VecDeque::new(),
    };
    stream::unfold(pulling, Pulling::next)
}

impl Pulling {
    async fn next(mut self) -> Option<(Result<PullProgress, Cause>, Self)> {
        loop {
            if let Some(step) = self.pending.pop_front() {
                if step.is_err() {
                    self.stage = Stage::Over;
                    self.pending.clear();
                }
                return Some((step, self));
            }
            let silence_max = Duration::from_secs(SILENCE_SECONDS_MAX);
            let read = match std::mem::replace(&mut self.stage, Stage::Over) {
                Stage::Over => return None,
                Stage::Asking => timeout(silence_max, self.ask()).await,
                Stage::Reading(response) => timeout(silence_max, self.read(response)).await,
            };
            if let Err(cause) = read.unwrap_or(Err(Cause::Silent {
                seconds: SILENCE_SECONDS_MAX,
            })) {
                self.pending.push_back(Err(cause));
            }
        }
    }

    async fn ask(&mut self) -> Result<(), Cause> {
        let body = json!({"model": self.name, "stream": true});
        let asked = self.server.send_ok(Method::POST, "api/pull", Some(&body));
        self.stage = Stage::Reading(Box::new(asked.await?));
        Ok(())
    }

    async fn read(&mut self, mut response: Box<reqwest::Response>) -> Result<(), Cause> {
        match response.chunk().await {
            Ok(Some(bytes)) => {
                for line in self.lines.push(&bytes) {
                    let line = line.and_then(|line| parse(&line)).map_err(Cause::Garbled);
                    let read = line.and_then(|line| self.layers.read(&line));
                    self.pending.push_back(read);
                }
                self.stage = Stage::Reading(response);
                Ok(())
            }
            // A broken connection is treated like a closed one: only a final `success` counts.
            Ok(None) | Err(_) => {
                if let Some(rest) = std::mem::take(&mut self.lines).finish() {
                    let line = parse(&rest).map_err(|_| Cause::Cut)?;
                    let read = self.layers.read(&line);
                    self.pending.push_back(read);
                }
                if self.layers.has_succeeded {
                    Ok(())
                } else {
                    Err(Cause::Cut)
                }
            }
        }
    }
}

/// Deletes a model from the server's disk.
pub(super) async fn remove(server: &ServerClient, name: &str) -> Result<(), Cause> {
    let body = json!({"model": name});
    let removed = server.send_ok(Method::DELETE, "api/delete", Some(&body));
    let removed = timeout(Duration::from_secs(REMOVE_SECONDS_MAX), removed).await;
    match removed {
        Ok(response) => response.map(drop),
        Err(_) => Err(Cause::Silent {
            seconds: REMOVE_SECONDS_MAX,
        }),
    }
}
