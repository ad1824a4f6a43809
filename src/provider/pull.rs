//! Pulling a model to an Ollama and removing one. Progress comes as lines of JSON,
//! a layer at a time; what is told is the sum over the layers. Dropping the stream
//! stops the pull, and a later one goes on where the server stopped.

use super::error::{Cause, Fault};
use super::error_body::Complaint;
use super::http::{Http, refusal};
use super::ndjson::Lines;
use super::reply_builder::parse;
use crate::domain::ModelConfig;
use futures::Stream;
use futures::stream::{self, BoxStream};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::timeout;

/// The longest silence: a large layer is checked without a word.
const SILENCE_SECONDS_MAX: u64 = 300;
const REMOVE_SECONDS_MAX: u64 = 30;
/// Layers whose sizes are summed; models have a handful.
const LAYERS_MAX: usize = 1_000;
const STATUS_CHARS_MAX: usize = 80;

/// How far a pull is. Bytes of all layers that were named so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PullProgress {
    pub status: String,
    pub done: u64,
    pub total: u64,
}

/// The progress of a pull. It has succeeded when it ends without a fault.
pub struct PullStream(BoxStream<'static, Result<PullProgress, Fault>>);

impl PullStream {
    pub(super) fn new(
        steps: impl Stream<Item = Result<PullProgress, Fault>> + Send + 'static,
    ) -> Self {
        Self(Box::pin(steps))
    }
}

impl Stream for PullStream {
    type Item = Result<PullProgress, Fault>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(context)
    }
}

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

struct Pulling {
    http: Arc<Http>,
    server: ModelConfig,
    name: String,
    stage: Stage,
    lines: Lines,
    layers: Layers,
    waiting: VecDeque<Result<PullProgress, Cause>>,
}

enum Stage {
    Asking,
    Reading(Box<reqwest::Response>),
    Over,
}

pub(super) fn pull(http: Arc<Http>, server: ModelConfig, name: String) -> PullStream {
    let pulling = Pulling {
        http,
        server,
        name,
        stage: Stage::Asking,
        lines: Lines::default(),
        layers: Layers::default(),
        waiting: VecDeque::new(),
    };
    PullStream::new(stream::unfold(pulling, Pulling::next))
}

impl Pulling {
    async fn next(mut self) -> Option<(Result<PullProgress, Fault>, Self)> {
        loop {
            match self.waiting.pop_front() {
                Some(Ok(progress)) => return Some((Ok(progress), self)),
                Some(Err(cause)) => {
                    self.stage = Stage::Over;
                    self.waiting.clear();
                    return Some((Err(Fault::new(&self.server, cause)), self));
                }
                None => {}
            }
            let silent = Duration::from_secs(SILENCE_SECONDS_MAX);
            let read = match std::mem::replace(&mut self.stage, Stage::Over) {
                Stage::Over => return None,
                Stage::Asking => timeout(silent, self.ask()).await,
                Stage::Reading(response) => timeout(silent, self.read(response)).await,
            };
            if let Err(cause) = read.unwrap_or(Err(Cause::Silent {
                seconds: SILENCE_SECONDS_MAX,
            })) {
                self.waiting.push_back(Err(cause));
            }
        }
    }

    async fn ask(&mut self) -> Result<(), Cause> {
        let body = json!({"model": self.name, "stream": true});
        let asked = self
            .http
            .send(&self.server, Method::POST, "api/pull", Some(&body));
        let response = asked.await?;
        if !response.status().is_success() {
            return Err(refusal(response).await.0);
        }
        self.stage = Stage::Reading(Box::new(response));
        Ok(())
    }

    async fn read(&mut self, mut response: Box<reqwest::Response>) -> Result<(), Cause> {
        match response.chunk().await {
            Ok(Some(bytes)) => {
                for line in self.lines.push(&bytes) {
                    let line = line.and_then(|line| parse(&line)).map_err(Cause::Garbled);
                    let read = line.and_then(|line| self.layers.read(&line));
                    self.waiting.push_back(read);
                }
                self.stage = Stage::Reading(response);
                Ok(())
            }
            // Whether it broke or ended: only the last status tells success.
            Ok(None) | Err(_) => {
                if let Some(rest) = std::mem::take(&mut self.lines).finish() {
                    let line = parse(&rest).map_err(|_| Cause::Cut)?;
                    let read = self.layers.read(&line);
                    self.waiting.push_back(read);
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

impl Http {
    /// See [`super::Provider::remove`].
    pub(super) async fn remove(&self, server: &ModelConfig, name: &str) -> Result<(), Fault> {
        let body = json!({"model": name});
        let removed = async {
            let asked = self.send(server, Method::DELETE, "api/delete", Some(&body));
            let response = asked.await?;
            if response.status().is_success() {
                Ok(())
            } else {
                Err(refusal(response).await.0)
            }
        };
        let time = Duration::from_secs(REMOVE_SECONDS_MAX);
        let removed = timeout(time, removed).await.unwrap_or(Err(Cause::Silent {
            seconds: REMOVE_SECONDS_MAX,
        }));
        removed.map_err(|cause| Fault::new(server, cause))
    }
}
