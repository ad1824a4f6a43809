//! Answers single questions for the built-in tools and for servers, outside any conversation: chooses
//! the context size as for a turn, and removes the model's thinking.

use super::context::{ContextFit, ContextLimits, raw_estimate};
use crate::dialect::scan::{CallScanner, ScanEvent};
use crate::domain::{Message, ModelConfig, ModelInfo, Notice, Toolset};
use crate::ports::{CompletedText, Completion, CompletionRequest};
use crate::provider::{ChatRequest, EndReason, Provider, ReplyStream, StreamPart};
use crate::text::token_estimate::Vocabulary;
use futures::StreamExt;
use futures::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How long the server may stay silent. Loading a large model from a slow disk takes minutes.
const SILENCE_MAX: Duration = Duration::from_secs(240);

/// Asks a model each question on its own, without a conversation.
#[derive(Debug, Clone)]
pub struct OneShotCompletion(Provider);

impl OneShotCompletion {
    pub fn new(provider: Provider) -> Self {
        Self(provider)
    }
}

impl Completion for OneShotCompletion {
    fn complete(
        &self,
        request: CompletionRequest,
    ) -> BoxFuture<'static, Result<CompletedText, Notice>> {
        let provider = self.0.clone();
        Box::pin(async move {
            let CompletionRequest {
                model,
                prompt,
                on_progress,
            } = request;
            let request = SingleRequest {
                model,
                messages: vec![Message::User(prompt)],
                temperature: None,
                used_context: (0, 0),
            };
            complete(&provider, request, &on_progress).await
        })
    }
}

/// Messages that are sent on their own, without tools.
pub(super) struct SingleRequest {
    pub(super) model: ModelConfig,
    pub(super) messages: Vec<Message>,
    /// As in [`ChatRequest`].
    pub(super) temperature: Option<f64>,
    /// The `num_ctx` that this model already has, and the one that the user allowed, so that Ollama
    /// does not load the model again; zeros if unknown.
    pub(super) used_context: (u32, u64),
}

/// Sends the messages and collects the answer. `on_progress` is called with the number of
/// characters received so far, thinking included.
///
/// # Errors
/// The messages exceed the context, or the server fails.
pub(super) async fn complete(
    provider: &Provider,
    request: SingleRequest,
    on_progress: &(dyn Fn(usize) + Send + Sync),
) -> Result<CompletedText, Notice> {
    let SingleRequest {
        model,
        messages,
        temperature,
        used_context: (used, approved),
    } = request;
    let model_info = match provider.model_info(&model).await {
        Ok(model_info) => model_info,
        Err(error) => {
            tracing::debug!("no information about the model: {error}");
            ModelInfo::default()
        }
    };
    let vocabulary = Vocabulary::for_model(model_info.family.as_deref(), &model.model);
    let estimate = raw_estimate(&messages, None, vocabulary);
    let num_ctx = match ContextLimits::new(&model, &model_info, used, approved).fit(estimate) {
        ContextFit::Fits { num_ctx } => num_ctx,
        // Growing further would need the user's consent.
        ContextFit::Grows { from: limit, .. } | ContextFit::TooLong { num_ctx: limit } => {
            let message =
                format!("The prompt takes about {estimate} tokens, more than the {limit} allowed.");
            return Err(Notice::failure(message).with_advice("Shorten the prompt."));
        }
    };
    let request = ChatRequest {
        model: Arc::new(model),
        messages,
        tools: Arc::default(),
        num_ctx: u32::try_from(num_ctx).unwrap_or(u32::MAX),
        temperature,
    };
    collect(provider.stream(request), on_progress).await
}

async fn collect(
    mut parts: ReplyStream,
    on_progress: &(dyn Fn(usize) + Send + Sync),
) -> Result<CompletedText, Notice> {
    let mut text = String::new();
    let mut char_count = 0;
    loop {
        let part = timeout(SILENCE_MAX, parts.next()).await.map_err(|_| {
            let seconds = SILENCE_MAX.as_secs();
            Notice::failure(format!("The model server sent nothing for {seconds} s."))
        })?;
        let Some(part) = part else {
            return Err(Notice::failure("The answer was cut off."));
        };
        match part.map_err(|error| error.notice())? {
            StreamPart::Text(more) => {
                char_count += more.chars().count();
                text.push_str(&more);
                on_progress(char_count);
            }
            StreamPart::Thinking(more) => {
                char_count += more.chars().count();
                on_progress(char_count);
            }
            StreamPart::StartedOver => {
                text.clear();
                char_count = 0;
            }
            StreamPart::End(reason) => return finish(&text, &reason),
            StreamPart::Call(_)
            | StreamPart::ReasoningEcho(_)
            | StreamPart::Usage(_)
            | StreamPart::Heartbeat
            | StreamPart::Notice(_) => {}
        }
    }
}

fn finish(text: &str, reason: &EndReason) -> Result<CompletedText, Notice> {
    let text = without_thinking(text);
    let notice = reason.notice();
    match notice {
        Some(notice) if text.is_empty() => Err(notice),
        None if text.is_empty() => Err(Notice::failure("The model returned an empty answer.")),
        _ => Ok(CompletedText {
            text,
            is_cut_off: matches!(reason, EndReason::Length | EndReason::ContextFull),
        }),
    }
}

/// Removes thinking that the model wrote between tags.
fn without_thinking(text: &str) -> String {
    let mut scanner = CallScanner::new(Arc::new(Toolset::default()));
    let mut events = scanner.push(text);
    events.extend(scanner.finish());
    let mut answer = String::new();
    for event in events {
        match &event {
            ScanEvent::Text(text) => answer.push_str(text),
            ScanEvent::TextWasThinking => answer.clear(),
            ScanEvent::Thinking(_) | ScanEvent::Marker(_) => {}
            // No tool was offered, so these are examples.
            ScanEvent::Call(_) | ScanEvent::UnusableCall(_) => answer.push_str(event.raw()),
        }
    }
    answer.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ProviderKind;
    use crate::fixtures::model_config;
    use crate::provider::{Script, ScriptStep};

    async fn answer(steps: Vec<ScriptStep>, prompt: &str) -> Result<CompletedText, Notice> {
        let script = Script::new(vec![steps]);
        let questions = OneShotCompletion::new(Provider::scripted(script));
        questions
            .complete(CompletionRequest {
                model: model_config(ProviderKind::Ollama, "http://localhost:11434"),
                prompt: prompt.to_owned(),
                on_progress: Box::new(|_| {}),
            })
            .await
    }

    #[tokio::test]
    async fn thinking_is_removed_from_the_answer() {
        let steps = vec![
            ScriptStep::thinking("hm"),
            ScriptStep::text("<think>let me see</think>\n\nBlue. <b>Really.</b>"),
            ScriptStep::end(),
        ];
        let expected = CompletedText {
            text: "Blue. <b>Really.</b>".to_owned(),
            is_cut_off: false,
        };
        assert_eq!(answer(steps, "Which color is the sky?").await, Ok(expected));
    }

    #[tokio::test]
    async fn a_prompt_beyond_the_context_is_refused_before_it_is_sent() {
        let refused = answer(Vec::new(), &"word ".repeat(40_000)).await;
        let notice = refused.expect_err("too long");
        assert!(
            notice.summary().contains("Shorten the prompt."),
            "{notice:?}"
        );
    }
}
