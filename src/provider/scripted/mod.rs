//! A provider that replays a script, deterministically and without a network, for tests and the
//! demo. It records the requests it receives.

mod catalog;

pub use catalog::PullStep;

use super::error::{FailureCause, ProviderError};
use super::reply_stream::ReplyStream;
use super::types::{ChatRequest, EndReason, NativeCall, StreamPart};
use crate::domain::{Arguments, ListedModel};
use crate::sync::lock_ignoring_poison;
use catalog::ScriptedCatalog;
use futures::stream;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// One step of a scripted round.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptStep {
    Part(StreamPart),
    Fail(FailureCause),
    /// On tokio's clock.
    Wait(Duration),
    Hang,
}

impl ScriptStep {
    pub fn text(text: &str) -> Self {
        Self::Part(StreamPart::Text(text.to_owned()))
    }

    pub fn thinking(text: &str) -> Self {
        Self::Part(StreamPart::Thinking(text.to_owned()))
    }

    /// A native tool call.
    pub fn call(name: &str, arguments: Arguments) -> Self {
        Self::Part(StreamPart::Call(NativeCall {
            id: None,
            name: name.to_owned(),
            arguments: Ok(arguments),
            raw_arguments: String::new(),
        }))
    }

    pub fn end() -> Self {
        Self::Part(StreamPart::End(EndReason::Stop))
    }
}

/// The requests a scripted provider has received, in order; of an endless script, only the last.
/// Shared with the provider.
#[derive(Debug, Clone, Default)]
pub struct RecordedRequests(Arc<Mutex<Vec<ChatRequest>>>);

impl RecordedRequests {
    pub fn all(&self) -> Vec<ChatRequest> {
        lock_ignoring_poison(&self.0).clone()
    }

    pub fn count(&self) -> usize {
        lock_ignoring_poison(&self.0).len()
    }
}

#[derive(Debug, Clone)]
enum ScriptSource {
    /// One per request.
    Rounds(Vec<Vec<ScriptStep>>),
    Response(fn(&ChatRequest) -> Vec<ScriptStep>),
}

#[derive(Debug, Clone)]
pub struct Script {
    source: ScriptSource,
    requests: RecordedRequests,
    catalog: ScriptedCatalog,
}

impl Default for Script {
    fn default() -> Self {
        Self::new([])
    }
}

impl Script {
    pub fn new(rounds: impl IntoIterator<Item = Vec<ScriptStep>>) -> Self {
        Self {
            source: ScriptSource::Rounds(rounds.into_iter().collect()),
            requests: RecordedRequests::default(),
            catalog: ScriptedCatalog::default(),
        }
    }

    /// An endless script that computes each round from its request. Records only the last
    /// request, because the script may run for days.
    pub fn responding(respond: fn(&ChatRequest) -> Vec<ScriptStep>) -> Self {
        Self {
            source: ScriptSource::Response(respond),
            requests: RecordedRequests::default(),
            catalog: ScriptedCatalog::default(),
        }
    }

    /// Adds a round. No effect on a script that computes its rounds.
    pub fn round(mut self, steps: impl IntoIterator<Item = ScriptStep>) -> Self {
        if let ScriptSource::Rounds(rounds) = &mut self.source {
            rounds.push(steps.into_iter().collect());
        }
        self
    }

    /// Adds a round that answers with this text.
    pub fn answer(self, text: &str) -> Self {
        self.round([ScriptStep::text(text), ScriptStep::end()])
    }

    /// Adds a server with these models.
    pub fn with_server(self, url: &str, models: impl IntoIterator<Item = ListedModel>) -> Self {
        self.catalog
            .add_server(url, Some(models.into_iter().collect()));
        self
    }

    /// Adds a server that never answers when asked for its models.
    pub fn with_unresponsive_server(self, url: &str) -> Self {
        self.catalog.add_server(url, None);
        self
    }

    /// Scripts one more pull, which succeeds unless a step fails or hangs.
    pub fn with_pull(self, steps: impl IntoIterator<Item = PullStep>) -> Self {
        self.catalog.add_pull(steps.into_iter().collect());
        self
    }

    pub fn catalog(&self) -> ScriptedCatalog {
        self.catalog.clone()
    }

    pub fn requests(&self) -> RecordedRequests {
        self.requests.clone()
    }

    /// A round without an end fails as cut off.
    pub(super) fn stream(&self, request: ChatRequest) -> ReplyStream {
        let model = request.model.clone();
        let steps = VecDeque::from(self.next_round(request));
        let parts = stream::unfold(Some((steps, false)), move |state| {
            let model = model.clone();
            async move {
                let (mut steps, has_content) = state?;
                let fail = |cause| {
                    let error = ProviderError {
                        has_partial_reply: has_content,
                        ..ProviderError::new(&model, cause)
                    };
                    Some((Err(error), None))
                };
                loop {
                    match steps.pop_front() {
                        Some(ScriptStep::Part(end @ StreamPart::End(_))) => {
                            return Some((Ok(end), None));
                        }
                        Some(ScriptStep::Part(part)) => {
                            let has_content = has_content || part.is_content();
                            return Some((Ok(part), Some((steps, has_content))));
                        }
                        Some(ScriptStep::Fail(cause)) => return fail(cause),
                        Some(ScriptStep::Wait(time)) => tokio::time::sleep(time).await,
                        Some(ScriptStep::Hang) => std::future::pending().await,
                        None => return fail(FailureCause::ReplyCutOff),
                    }
                }
            }
        });
        ReplyStream::new(parts)
    }

    /// Also records the request.
    fn next_round(&self, request: ChatRequest) -> Vec<ScriptStep> {
        let mut requests = lock_ignoring_poison(&self.requests.0);
        match &self.source {
            ScriptSource::Rounds(rounds) => {
                requests.push(request);
                let round = rounds.get(requests.len() - 1);
                let exhausted = FailureCause::ScriptExhausted {
                    rounds: rounds.len(),
                };
                round
                    .cloned()
                    .unwrap_or_else(|| vec![ScriptStep::Fail(exhausted)])
            }
            ScriptSource::Response(respond) => {
                let steps = respond(&request);
                *requests = vec![request];
                steps
            }
        }
    }
}
