//! A provider that follows a script: deterministic, without a network, for tests
//! and demonstrations. It keeps the requests that it got.

mod catalog;

pub use catalog::PullStep;

use super::error::{Cause, Fault};
use super::stream::ReplyStream;
use super::types::{EndReason, NativeCall, Request, StreamPart};
use crate::domain::{Arguments, ServerModel};
use crate::sync::lock_ignoring_poison;
use catalog::ScriptedCatalog;
use futures::stream;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// One thing that a scripted round does.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Part(StreamPart),
    /// The round fails with this, at the model that was asked.
    Fail(Cause),
    /// Nothing happens for so long, by tokio's clock.
    Wait(Duration),
    /// Nothing ever happens again in this round.
    Hang,
}

impl Step {
    pub fn text(text: &str) -> Self {
        Self::Part(StreamPart::Text(text.to_owned()))
    }

    pub fn thinking(text: &str) -> Self {
        Self::Part(StreamPart::Thinking(text.to_owned()))
    }

    /// A call in the provider's own field.
    pub fn call(name: &str, arguments: Arguments) -> Self {
        Self::Part(StreamPart::Call(NativeCall {
            id: None,
            name: name.to_owned(),
            arguments: Ok(arguments),
        }))
    }

    pub fn end() -> Self {
        Self::Part(StreamPart::End(EndReason::Stop))
    }
}

/// The requests that a scripted provider got, in order; shared with it.
#[derive(Debug, Clone, Default)]
pub struct Requests(Arc<Mutex<Vec<Request>>>);

impl Requests {
    /// All of them so far.
    pub fn all(&self) -> Vec<Request> {
        lock_ignoring_poison(&self.0).clone()
    }

    pub fn count(&self) -> usize {
        lock_ignoring_poison(&self.0).len()
    }
}

/// What a script plays.
#[derive(Debug, Clone)]
enum Plays {
    /// Rounds, in the order in which they are asked for.
    Rounds(Vec<Vec<Step>>),
    /// Whatever this makes of a request.
    Response(fn(&Request) -> Vec<Step>),
}

#[derive(Debug, Clone)]
pub struct Script {
    plays: Plays,
    requests: Requests,
    catalog: ScriptedCatalog,
}

impl Default for Script {
    fn default() -> Self {
        Self::new([])
    }
}

impl Script {
    pub fn new(rounds: impl IntoIterator<Item = Vec<Step>>) -> Self {
        Self {
            plays: Plays::Rounds(rounds.into_iter().collect()),
            requests: Requests::default(),
            catalog: ScriptedCatalog::default(),
        }
    }

    /// A script without an end: each round follows from its request. It may play for
    /// days, so of the requests it keeps the last one alone.
    pub fn responding(respond: fn(&Request) -> Vec<Step>) -> Self {
        Self {
            plays: Plays::Response(respond),
            requests: Requests::default(),
            catalog: ScriptedCatalog::default(),
        }
    }

    /// Adds a round; a script that responds needs none.
    pub fn round(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        if let Plays::Rounds(rounds) = &mut self.plays {
            rounds.push(steps.into_iter().collect());
        }
        self
    }

    /// Adds a round that answers with this text.
    pub fn answer(self, text: &str) -> Self {
        self.round([Step::text(text), Step::end()])
    }

    /// The server at this base URL has these models.
    pub fn stocks(self, url: &str, models: impl IntoIterator<Item = ServerModel>) -> Self {
        self.catalog.stock(url, Some(models.into_iter().collect()));
        self
    }

    /// The server at this base URL never answers when it is asked what it has.
    pub fn hides(self, url: &str) -> Self {
        self.catalog.stock(url, None);
        self
    }

    /// The next pull goes like this, and succeeds where nothing says otherwise.
    pub fn pulls(self, steps: impl IntoIterator<Item = PullStep>) -> Self {
        self.catalog.add_pull(steps.into_iter().collect());
        self
    }

    /// What its servers have.
    pub fn catalog(&self) -> ScriptedCatalog {
        self.catalog.clone()
    }

    /// The requests that the provider of this script gets.
    pub fn requests(&self) -> Requests {
        self.requests.clone()
    }

    /// Plays the next round. A round whose steps run out without an end was cut.
    pub(super) fn stream(&self, request: Request) -> ReplyStream {
        let model = request.model.clone();
        let steps = VecDeque::from(self.steps(request));
        let parts = stream::unfold(Some((steps, false)), move |state| {
            let model = model.clone();
            async move {
                let (mut steps, has_words) = state?;
                let fail = |cause| {
                    let fault = Fault::new(&model, cause);
                    let after_words = has_words;
                    Some((
                        Err(Fault {
                            after_words,
                            ..fault
                        }),
                        None,
                    ))
                };
                loop {
                    match steps.pop_front() {
                        Some(Step::Part(end @ StreamPart::End(_))) => return Some((Ok(end), None)),
                        Some(Step::Part(part)) => {
                            let has_words = has_words || part.is_words();
                            return Some((Ok(part), Some((steps, has_words))));
                        }
                        Some(Step::Fail(cause)) => return fail(cause),
                        Some(Step::Wait(time)) => tokio::time::sleep(time).await,
                        Some(Step::Hang) => std::future::pending().await,
                        None => return fail(Cause::Cut),
                    }
                }
            }
        });
        ReplyStream::new(parts)
    }

    fn steps(&self, request: Request) -> Vec<Step> {
        let mut requests = lock_ignoring_poison(&self.requests.0);
        match &self.plays {
            Plays::Rounds(rounds) => {
                requests.push(request);
                let round = rounds.get(requests.len() - 1);
                let over = Cause::ScriptOver {
                    rounds: rounds.len(),
                };
                round.cloned().unwrap_or_else(|| vec![Step::Fail(over)])
            }
            Plays::Response(respond) => {
                let steps = respond(&request);
                *requests = vec![request];
                steps
            }
        }
    }
}
