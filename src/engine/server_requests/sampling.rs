//! Answers that the model generates for servers. Each is a background job that can be stopped. No
//! tool is offered to the model, and no part of the conversation is sent.

use super::open::OpenServerRequest;
use crate::domain::{
    Message, ModelConfig, ProviderKind, SampledAnswer, SamplingRequest, ServerId, ServerRequestId,
    Think,
};
use crate::engine::completion::{SingleRequest, complete};
use crate::engine::cx::EngineCx;
use crate::engine::jobs::JobResult;
use crate::protocol::Event;
use serde_json::json;
use std::collections::BTreeMap;
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
        let request = SingleRequest {
            model: limited_to(model, request.tokens_max),
            messages: messages(request),
            temperature: request.temperature,
            used_context,
        };
        cx.jobs.spawn(async move {
            tokio::select! {
                () = stop.cancelled() => JobResult::Nothing,
                completed = complete(&provider, request, &|_| {}) => {
                    let answer = completed.map(|completed| SampledAnswer {
                        model: name,
                        text: completed.text,
                        is_cut_off: completed.is_cut_off,
                    });
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

    /// Stops one job. Returns false if it was not running.
    pub(super) fn stop(&mut self, id: ServerRequestId, cx: &mut EngineCx) -> bool {
        !self
            .stop_matching(|running, _| running == id, cx)
            .is_empty()
    }

    pub(super) fn stop_all(&mut self, cx: &mut EngineCx) -> Vec<ServerRequestId> {
        self.stop_matching(|_, _| true, cx)
    }

    pub(super) fn stop_all_of(
        &mut self,
        server: &ServerId,
        cx: &mut EngineCx,
    ) -> Vec<ServerRequestId> {
        self.stop_matching(|_, of| of == server, cx)
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

fn messages(request: &SamplingRequest) -> Vec<Message> {
    let system = request.system_prompt.iter().cloned().map(Message::System);
    let messages = request.messages.iter().map(|message| {
        let text = message.text.clone();
        match message.is_from_assistant {
            true => Message::Assistant(text),
            false => Message::User(text),
        }
    });
    system.chain(messages).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::model_config;

    #[test]
    fn a_lower_limit_set_by_the_user_is_kept() {
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
}
