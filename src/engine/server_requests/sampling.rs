//! Answers that the model generates for servers. Each is a background job that can be stopped. Only
//! the tools of the request are offered to the model, and no part of the conversation is sent.

use super::open::OpenServerRequest;
use crate::domain::{
    Advice, Dialect, Message, ModelConfig, Notice, ProviderKind, SampledAnswer, SampledCall,
    SamplingMessage, SamplingPart, SamplingRequest, ServerId, ServerRequestId, Think,
    ToolCallMessage, ToolResultMessage, Toolset,
};
use crate::engine::completion::{CompletedReply, SingleRequest, complete};
use crate::engine::cx::EngineCx;
use crate::engine::jobs::JobResult;
use crate::protocol::Event;
use serde_json::json;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Default)]
pub struct RunningSamplings(BTreeMap<ServerRequestId, RunningSampling>);

#[derive(Debug)]
struct RunningSampling {
    server: ServerId,
    stop: CancellationToken,
}

impl RunningSamplings {
    /// Asks the model; the job ends with [`JobResult::Sampled`].
    pub(super) fn start(
        &mut self,
        open: OpenServerRequest,
        request: &SamplingRequest,
        model: &ModelConfig,
        used_context: (u32, u64),
        cx: &mut EngineCx,
    ) {
        let stop = CancellationToken::new();
        let running = RunningSampling {
            server: open.server.clone(),
            stop: stop.clone(),
        };
        self.0.insert(open.id, running);
        self.report(cx);
        let (provider, name) = (cx.provider.clone(), model.name.clone());
        let used_ids = call_ids(request);
        let request = single_request(&open.server, request, model, used_context);
        let failed = Notice::failure("humble failed unexpectedly.").with_advice(Advice::ShowLog);
        let if_panicked = JobResult::Sampled(open.clone(), Err(failed));
        cx.jobs.spawn_or(if_panicked, async move {
            tokio::select! {
                () = stop.cancelled() => JobResult::Nothing,
                completed = complete(&provider, request, &|_| {}) => {
                    let answer = completed.map(|reply| sampled_answer(name, reply, &used_ids));
                    JobResult::Sampled(open, answer)
                }
            }
        });
    }

    /// Removes a job that has ended. Returns false if it was stopped before.
    pub(super) fn finish(&mut self, id: ServerRequestId, cx: &mut EngineCx) -> bool {
        let was_running = self.0.remove(&id).is_some();
        if was_running {
            self.report(cx);
        }
        was_running
    }

    /// Returns false if it was not running.
    pub(super) fn stop(&mut self, id: ServerRequestId, cx: &mut EngineCx) -> bool {
        !self.stop_matching(|other, _| other == id, cx).is_empty()
    }

    pub(super) fn stop_all(&mut self, cx: &mut EngineCx) -> Vec<ServerRequestId> {
        self.stop_matching(|_, _| true, cx)
    }

    pub(super) fn stop_all_of(
        &mut self,
        server: &ServerId,
        cx: &mut EngineCx,
    ) -> Vec<ServerRequestId> {
        self.stop_matching(|_, owner| owner == server, cx)
    }

    fn stop_matching(
        &mut self,
        matches: impl Fn(ServerRequestId, &ServerId) -> bool,
        cx: &mut EngineCx,
    ) -> Vec<ServerRequestId> {
        let running = self.0.iter();
        let matching = running.filter(|(id, running)| matches(**id, &running.server));
        let ids: Vec<_> = matching.map(|(id, _)| *id).collect();
        for running in ids.iter().filter_map(|id| self.0.remove(id)) {
            running.stop.cancel();
        }
        if !ids.is_empty() {
            self.report(cx);
        }
        ids
    }

    fn report(&self, cx: &mut EngineCx) {
        let servers = self.0.values().map(|running| running.server.clone());
        cx.outbox.push(Event::SamplingChanged(servers.collect()));
    }
}

/// The model with a limit for its answer, unless the user has set a lower one.
fn limited_to(model: &ModelConfig, tokens_max: u32) -> ModelConfig {
    let key = match model.provider {
        ProviderKind::Ollama => "num_predict",
        _ => "max_tokens",
    };
    let mut model = model.clone();
    let own = model.options.get(key).and_then(serde_json::Value::as_u64);
    let limit = own.map_or(u64::from(tokens_max), |own| own.min(tokens_max.into()));
    model.options.insert(key.to_owned(), json!(limit));
    if model.provider == ProviderKind::Ollama && model.think.is_none() {
        // Thinking counts toward the limit, which is often too small for it.
        model.think = Some(Think::Off);
    }
    model
}

fn single_request(
    server: &ServerId,
    request: &SamplingRequest,
    model: &ModelConfig,
    used_context: (u32, u64),
) -> SingleRequest {
    let mut model = limited_to(model, request.tokens_max);
    let tools = Toolset::of_sampling(server, &request.tools);
    if !tools.is_empty() || !call_ids(request).is_empty() {
        // The other dialects must be taught in the system message, which belongs to the server.
        model.dialect = Dialect::Native;
    }
    let system = request.system_prompt.iter().cloned().map(Message::System);
    let messages = request.messages.iter();
    let messages = messages.flat_map(|message| messages_of(message, server, &tools));
    SingleRequest {
        model,
        messages: system.chain(messages).collect(),
        temperature: request.temperature,
        used_context,
        tools: Arc::new(tools),
    }
}

/// The texts, calls and results of a message. A provider wants each text and each result as a
/// message of its own, and all calls in one.
fn messages_of(message: &SamplingMessage, server: &ServerId, tools: &Toolset) -> Vec<Message> {
    let native_name = |tool: &str| {
        let offered = tools.get(server, tool);
        offered.map_or_else(|| tool.to_owned(), |offered| offered.native_name.clone())
    };
    let (mut messages, mut calls) = (Vec::new(), Vec::new());
    for part in &message.parts {
        match part {
            SamplingPart::Text(text) if message.is_from_assistant => {
                messages.push(Message::Assistant(text.clone()));
            }
            SamplingPart::Text(text) => messages.push(Message::User(text.clone())),
            SamplingPart::Call(call) => calls.push(ToolCallMessage {
                wire_id: call.id.clone(),
                server: server.clone(),
                native_name: native_name(&call.tool),
                xml_name: call.tool.clone(),
                tool: call.tool.clone(),
                arguments: call.arguments.clone(),
            }),
            SamplingPart::Result {
                call_id,
                tool,
                text,
                is_error,
            } => messages.push(Message::ToolResult(ToolResultMessage {
                wire_id: call_id.clone(),
                native_name: native_name(tool),
                tool: tool.clone(),
                content: text.clone(),
                images: Vec::new(),
                is_error: *is_error,
            })),
        }
    }
    if !calls.is_empty() {
        messages.push(Message::ToolCalls {
            calls,
            reasoning_echo: None,
        });
    }
    messages
}

fn call_ids(request: &SamplingRequest) -> HashSet<String> {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let ids = parts.filter_map(|part| match part {
        SamplingPart::Call(call) => Some(call.id.clone()),
        _ => None,
    });
    ids.collect()
}

/// Calls that have no id get an unused one.
fn sampled_answer(
    model: String,
    reply: CompletedReply,
    used_ids: &HashSet<String>,
) -> SampledAnswer {
    let unused_ids = (1_u32..).map(|number| format!("humble_call_{number}"));
    let mut unused_ids = unused_ids.filter(|id| !used_ids.contains(id));
    let calls = reply.calls.into_iter().map(|call| SampledCall {
        id: call.id.or_else(|| unused_ids.next()).unwrap_or_default(),
        tool: call.tool,
        arguments: call.arguments,
    });
    SampledAnswer {
        model,
        text: reply.text,
        calls: calls.collect(),
        is_cut_off: reply.is_cut_off,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::completion::CompletedCall;
    use crate::fixtures::model_config;

    #[test]
    fn a_lower_token_limit_set_by_the_user_is_kept() {
        let mut model = model_config(ProviderKind::Ollama, "http://localhost:11434");
        assert_eq!(limited_to(&model, 50).options["num_predict"], 50);
        model.options.insert("num_predict".to_owned(), json!(20));
        assert_eq!(limited_to(&model, 50).options["num_predict"], 20);
        let model = model_config(ProviderKind::OpenAi, "https://api.example/v1");
        assert_eq!(limited_to(&model, 50).options["max_tokens"], 50);
    }

    #[test]
    fn a_configured_thinking_level_is_kept() {
        let mut model = model_config(ProviderKind::Ollama, "http://localhost:11434");
        model.think = None;
        assert_eq!(limited_to(&model, 50).think, Some(Think::Off));
        model.think = Some(Think::High);
        assert_eq!(limited_to(&model, 50).think, Some(Think::High));
    }

    #[test]
    fn earlier_calls_and_results_are_sent_natively_under_the_names_of_the_tools() {
        let call = json!({ "type": "tool_use", "id": "c1", "name": "mix", "input": { "a": 1 } });
        let text = |text: &str| json!({ "type": "text", "text": text });
        let result = json!({ "type": "tool_result", "toolUseId": "c1", "content": [text("blue")] });
        let params = json!({
            "systemPrompt": "Be brief.",
            "messages": [
                { "role": "user", "content": text("Mix.") },
                { "role": "assistant", "content": [text("I mix."), call] },
                { "role": "user", "content": [result] },
            ],
            "tools": [{ "name": "mix", "inputSchema": { "type": "object" } }],
        });
        let request = SamplingRequest::from_params(&params).expect("a valid request");
        let model = model_config(ProviderKind::Ollama, "http://localhost:11434");
        assert_eq!(model.dialect, Dialect::Prompt);
        let sent = single_request(&ServerId::from("parcels"), &request, &model, (0, 0));
        assert_eq!(sent.model.dialect, Dialect::Native);
        assert_eq!(sent.tools.tools()[0].native_name, "mix");
        let call = ToolCallMessage {
            wire_id: "c1".to_owned(),
            server: ServerId::from("parcels"),
            tool: "mix".to_owned(),
            native_name: "mix".to_owned(),
            xml_name: "mix".to_owned(),
            arguments: json!({ "a": 1 })
                .as_object()
                .cloned()
                .unwrap_or_default()
                .into(),
        };
        let result = ToolResultMessage {
            wire_id: "c1".to_owned(),
            tool: "mix".to_owned(),
            native_name: "mix".to_owned(),
            content: "blue".to_owned(),
            images: Vec::new(),
            is_error: false,
        };
        assert_eq!(
            sent.messages,
            [
                Message::System("Be brief.".to_owned()),
                Message::User("Mix.".to_owned()),
                Message::Assistant("I mix.".to_owned()),
                Message::ToolCalls {
                    calls: vec![call],
                    reasoning_echo: None
                },
                Message::ToolResult(result),
            ]
        );
    }

    #[test]
    fn a_call_without_an_id_gets_an_unused_one() {
        let call = |id: Option<&str>| CompletedCall {
            id: id.map(str::to_owned),
            tool: "mix".to_owned(),
            arguments: serde_json::Map::new().into(),
        };
        let reply = CompletedReply {
            text: String::new(),
            calls: vec![call(None), call(Some("c1")), call(None)],
            is_cut_off: false,
        };
        let used_ids = HashSet::from(["humble_call_2".to_owned()]);
        let answer = sampled_answer("qwen3".to_owned(), reply, &used_ids);
        let ids: Vec<_> = answer.calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["humble_call_1", "c1", "humble_call_3"]);
    }
}
