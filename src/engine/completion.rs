//! Answers single questions for the built-in tools and for servers, outside any conversation: chooses
//! the context size as for a turn, and removes the model's thinking.

use super::context::{ANSWER_TOKENS, ContextFit, ContextLimits, raw_estimate};
use crate::dialect::only_call::is_only_calls;
use crate::dialect::scan::{CallScanner, ScanEvent};
use crate::domain::{Arguments, Message, ModelConfig, ModelInfo, Notice, ToolLookup, Toolset};
use crate::ports::{CompletedText, Completion, CompletionRequest};
use crate::provider::{ChatRequest, EndReason, NativeCall, Provider, ReplyStream, StreamPart};
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
                tools: Arc::default(),
                temperature: None,
                used_context: (0, 0),
            };
            let completed = complete(&provider, request, &on_progress).await?;
            Ok(CompletedText {
                is_only_calls: is_only_calls(&completed.text, &Arc::default()),
                text: completed.text,
                is_cut_off: completed.is_cut_off,
            })
        })
    }

    fn fits(&self, model: ModelConfig, prompt: String) -> BoxFuture<'static, bool> {
        let provider = self.0.clone();
        Box::pin(async move {
            let messages = [Message::User(prompt)];
            let (model_info, estimate) =
                measure(&provider, &model, &messages, &Toolset::default()).await;
            let limits = ContextLimits::new(&model, &model_info, 0, 0);
            let room = match model.provider.truncates_silently() {
                true => limits.automatic_max.max(limits.floor),
                false => u64::MAX,
            };
            estimate + ANSWER_TOKENS <= room.min(limits.limit.unwrap_or(u64::MAX))
        })
    }
}

/// What the server reports about the model, and the estimated tokens of the messages.
async fn measure(
    provider: &Provider,
    model: &ModelConfig,
    messages: &[Message],
    tools: &Toolset,
) -> (ModelInfo, u64) {
    let model_info = match provider.model_info(model).await {
        Ok(model_info) => model_info,
        Err(error) => {
            tracing::debug!("no information about the model: {error}");
            ModelInfo::default()
        }
    };
    let vocabulary = Vocabulary::for_model(model_info.family.as_deref(), &model.model);
    let estimate = raw_estimate(messages, Some(tools), vocabulary);
    (model_info, estimate)
}

/// Messages that are sent on their own.
pub(super) struct SingleRequest {
    pub(super) model: ModelConfig,
    pub(super) messages: Vec<Message>,
    /// Tools that the model may call. The calls are returned, not run.
    pub(super) tools: Arc<Toolset>,
    /// As in [`ChatRequest`].
    pub(super) temperature: Option<f64>,
    /// The `num_ctx` that this model already has, and the one that the user allowed, so that Ollama
    /// does not load the model again; zeros if unknown.
    pub(super) used_context: (u32, u64),
}

/// The model's reply, without its thinking.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CompletedReply {
    pub(super) text: String,
    pub(super) calls: Vec<CompletedCall>,
    /// The reply reached a token limit.
    pub(super) is_cut_off: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct CompletedCall {
    /// The provider's id, if it has ids.
    pub(super) id: Option<String>,
    pub(super) tool: String,
    pub(super) arguments: Arguments,
}

/// `on_progress` gets the number of characters received so far, thinking included. Fails
/// if the messages exceed the context, the server fails, the answer is empty, or the model
/// calls a tool wrongly.
pub(super) async fn complete(
    provider: &Provider,
    request: SingleRequest,
    on_progress: &(dyn Fn(usize) + Send + Sync),
) -> Result<CompletedReply, Notice> {
    let SingleRequest {
        model,
        messages,
        tools,
        temperature,
        used_context: (used, approved),
    } = request;
    let (model_info, estimate) = measure(provider, &model, &messages, &tools).await;
    let fit = match model.provider.truncates_silently() {
        true => ContextLimits::new(&model, &model_info, used, approved).fit(estimate),
        // Other servers choose the size themselves and refuse a prompt that is too long.
        false => ContextFit::Fits { num_ctx: 0 },
    };
    let num_ctx = match fit {
        ContextFit::Fits { num_ctx } => num_ctx,
        // Growing further would need the user's consent.
        ContextFit::Grows { from: limit, .. } | ContextFit::TooLong { num_ctx: limit } => {
            let message = format!(
                "The prompt takes about {estimate} tokens and needs a context larger than the {limit} tokens allowed."
            );
            return Err(Notice::failure(message).with_advice("Shorten the prompt."));
        }
    };
    let request = ChatRequest {
        model: Arc::new(model),
        messages,
        tools: Arc::clone(&tools),
        num_ctx: u32::try_from(num_ctx).unwrap_or(u32::MAX),
        temperature,
    };
    collect(provider.stream(request), tools, on_progress).await
}

async fn collect(
    mut parts: ReplyStream,
    tools: Arc<Toolset>,
    on_progress: &(dyn Fn(usize) + Send + Sync),
) -> Result<CompletedReply, Notice> {
    let mut text = String::new();
    let mut native_calls = Vec::new();
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
            StreamPart::Call(call) => native_calls.push(call),
            StreamPart::StartedOver => {
                text.clear();
                native_calls.clear();
                char_count = 0;
            }
            StreamPart::End(reason) => return finish(&text, native_calls, tools, &reason),
            StreamPart::ReasoningEcho(_)
            | StreamPart::Usage(_)
            | StreamPart::Heartbeat
            | StreamPart::Notice(_) => {}
        }
    }
}

fn finish(
    text: &str,
    native_calls: Vec<NativeCall>,
    tools: Arc<Toolset>,
    reason: &EndReason,
) -> Result<CompletedReply, Notice> {
    let is_cut_off = matches!(reason, EndReason::Length | EndReason::ContextFull);
    let native_calls = native_calls.into_iter();
    let native_calls: Vec<_> = native_calls
        .map(|call| completed_call(call, &tools))
        .collect::<Result<_, _>>()?;
    let (text, mut calls) = without_thinking(text, tools, is_cut_off)?;
    calls.splice(0..0, native_calls);
    let is_empty = text.is_empty() && calls.is_empty();
    match reason.notice() {
        Some(notice) if is_empty => Err(notice),
        None if is_empty => Err(Notice::failure("The model returned an empty answer.")),
        _ => Ok(CompletedReply {
            text,
            calls,
            is_cut_off,
        }),
    }
}

fn completed_call(call: NativeCall, tools: &Toolset) -> Result<CompletedCall, Notice> {
    let name = &call.name;
    let ToolLookup::Tool(offered) = tools.resolve(None, name) else {
        let message = format!("The model called `{name}`, which was not offered.");
        return Err(Notice::failure(message));
    };
    let tool = offered.tool.name.clone();
    let arguments = call.arguments.map_err(|_| {
        let message =
            format!("The model called `{tool}` with arguments that are not a JSON object.");
        Notice::failure(message)
    })?;
    Ok(CompletedCall {
        id: call.id,
        tool,
        arguments,
    })
}

/// Removes thinking that the model wrote between tags, and takes out calls that it wrote as text.
fn without_thinking(
    text: &str,
    tools: Arc<Toolset>,
    is_cut_off: bool,
) -> Result<(String, Vec<CompletedCall>), Notice> {
    let offers_tools = !tools.is_empty();
    let mut scanner = CallScanner::new(tools);
    let mut events = scanner.push(text);
    events.extend(scanner.finish());
    let (mut answer, mut calls) = (String::new(), Vec::new());
    for event in events {
        match event {
            ScanEvent::Text(text) => answer.push_str(&text),
            ScanEvent::TextWasThinking => {
                answer.clear();
                calls.clear();
            }
            ScanEvent::Thinking(_) | ScanEvent::Marker(_) => {}
            ScanEvent::Call(call) if offers_tools => {
                if is_cut_off && !call.has_end {
                    let message = "The answer was cut off in the middle of a tool call.";
                    return Err(Notice::failure(message));
                }
                calls.push(CompletedCall {
                    id: None,
                    tool: call.tool,
                    arguments: call.arguments,
                });
            }
            ScanEvent::UnusableCall(call) if offers_tools => {
                let message = "The model called a tool in a way that cannot be used.";
                return Err(Notice::failure(message).with_reason(call.reason));
            }
            // No tool was offered, so these are examples.
            ScanEvent::Call(_) | ScanEvent::UnusableCall(_) => answer.push_str(event.raw()),
        }
    }
    Ok((answer.trim().to_owned(), calls))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ProviderKind;
    use crate::fixtures::model_config;
    use crate::provider::{Script, ScriptStep};

    async fn answer(steps: Vec<ScriptStep>, prompt: &str) -> Result<CompletedText, Notice> {
        answer_from(ProviderKind::Ollama, steps, prompt).await
    }

    async fn answer_from(
        provider: ProviderKind,
        steps: Vec<ScriptStep>,
        prompt: &str,
    ) -> Result<CompletedText, Notice> {
        let script = Script::new(vec![steps]);
        let questions = OneShotCompletion::new(Provider::scripted(script));
        questions
            .complete(CompletionRequest {
                model: model_config(provider, "http://localhost:11434"),
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
            is_only_calls: false,
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

    #[tokio::test]
    async fn a_long_prompt_is_sent_to_servers_that_would_refuse_it_themselves() {
        let steps = vec![ScriptStep::text("Blue."), ScriptStep::end()];
        let prompt = "word ".repeat(40_000);
        let answered = answer_from(ProviderKind::Anthropic, steps, &prompt).await;
        assert_eq!(answered.expect("an answer").text, "Blue.");
    }
}
