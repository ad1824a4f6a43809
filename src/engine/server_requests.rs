//! Requests of MCP servers to the user: asks them, and turns the answers into replies. Several
//! requests may be open; the front end shows one at a time. Nothing here opens a page or asks a model
//! unless the user chose to.

use super::completion::complete_messages;
use super::cx::EngineCx;
use super::jobs::JobResult;
use super::questions::PendingQuestion;
use crate::browser;
use crate::domain::{
    Message, ModelConfig, Notice, ProviderKind, SampledAnswer, SamplingRequest, ServerId,
    ServerRequest, ServerRequestId, ServerRequestReply,
};
use crate::protocol::{Ask, QuestionOwner, UserAnswer, UserChoice};
use serde_json::{Map, json};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A server may ask for this many answers of the model within [`SAMPLING_PERIOD`]. Further requests
/// are refused without asking, so that a loop of requests ends.
const SAMPLINGS_MAX: usize = 10;
const SAMPLING_PERIOD: Duration = Duration::from_secs(600);

/// A request that waits for its reply.
#[derive(Debug)]
pub(super) struct OpenServerRequest {
    pub(super) id: ServerRequestId,
    pub(super) server: ServerId,
    pub(super) request: ServerRequest,
    /// The model's answer, while the user decides whether to send it.
    pub(super) answer: Option<Arc<SampledAnswer>>,
}

#[derive(Debug, Default)]
pub(super) struct ServerRequests {
    /// The requests for which the model is generating an answer.
    sampling: HashMap<ServerRequestId, CancellationToken>,
    /// When each server asked for an answer of the model, oldest first.
    sampled_at: HashMap<ServerId, VecDeque<Instant>>,
}

type Reply = Option<(ServerRequestId, ServerRequestReply)>;

impl ServerRequests {
    /// Asks the user. Returns a reply if the request is refused without asking.
    pub(super) fn ask(
        &mut self,
        open: OpenServerRequest,
        model: Option<&ModelConfig>,
        cx: &mut EngineCx,
    ) -> Reply {
        if let (ServerRequest::Sampling(_), None) = (&open.request, &open.answer) {
            let refusal = match model {
                None => Some("no model is selected"),
                Some(_) if self.exceeds_sampling_limit(&open.server) => {
                    Some("it asked the model too often")
                }
                Some(_) => None,
            };
            if let Some(why) = refusal {
                cx.notice(Notice::warning(format!(
                    "Server `{}` asked for an answer of the model. It was refused: {why}.",
                    open.server
                )));
                let why = format!("The request was refused: {why}.");
                return Some((open.id, ServerRequestReply::Refused(why)));
            }
        }
        let model = model.map_or_else(String::new, |model| model.name.clone());
        let question = question(&open, model);
        let owner = QuestionOwner::Server(open.server.clone());
        cx.ask(owner, question, PendingQuestion::ServerRequest(open));
        None
    }

    fn exceeds_sampling_limit(&mut self, server: &ServerId) -> bool {
        let times = self.sampled_at.entry(server.clone()).or_default();
        times.retain(|time| time.elapsed() < SAMPLING_PERIOD);
        let is_exceeded = times.len() >= SAMPLINGS_MAX;
        if !is_exceeded {
            times.push_back(Instant::now());
        }
        is_exceeded
    }

    /// Closes the question of a request that no longer needs an answer, or stops the model.
    pub(super) fn withdraw(&mut self, id: ServerRequestId, cx: &mut EngineCx) {
        let is_open = cx.withdraw_matching(
            |pending| matches!(pending, PendingQuestion::ServerRequest(open) if open.id == id),
        );
        let stopped = self.sampling.remove(&id);
        if let Some(stop) = &stopped {
            stop.cancel();
        }
        if is_open || stopped.is_some() {
            cx.notice(Notice::info("The server no longer needs your answer."));
        }
    }

    /// Stops all answers that the model is generating for servers.
    pub(super) fn stop_sampling(&mut self) -> Vec<(ServerRequestId, ServerRequestReply)> {
        let stopped = self.sampling.drain().map(|(id, stop)| {
            stop.cancel();
            (id, ServerRequestReply::Declined)
        });
        stopped.collect()
    }

    /// The reply for an answer. `None` while the browser is being started or the model is asked.
    pub(super) fn handle_answer(
        &mut self,
        open: OpenServerRequest,
        answer: &UserAnswer,
        model: Option<&ModelConfig>,
        cx: &mut EngineCx,
    ) -> Reply {
        let id = open.id;
        let accepted = ServerRequestReply::Accepted(Map::new());
        let choice = match answer {
            UserAnswer::Choice(choice) => Some(*choice),
            UserAnswer::Form(content) if matches!(open.request, ServerRequest::Form(_)) => {
                return Some((id, ServerRequestReply::Accepted(content.clone())));
            }
            _ => None,
        };
        let reply = match (choice, &open.request) {
            (Some(UserChoice::OpenPage), ServerRequest::Url(page)) => {
                let url = page.url.clone();
                cx.jobs
                    .spawn_blocking(move || JobResult::PageOpened(open, browser::open(&url)));
                return None;
            }
            (Some(UserChoice::Send), ServerRequest::Sampling(request)) => {
                match (&open.answer, model) {
                    (Some(answer), _) => ServerRequestReply::Sampled(SampledAnswer::clone(answer)),
                    (None, Some(model)) => {
                        let request = Arc::clone(request);
                        self.start_sampling(open, &request, model, cx);
                        return None;
                    }
                    (None, None) => {
                        ServerRequestReply::Refused("No model is selected any more.".to_owned())
                    }
                }
            }
            (Some(UserChoice::VisitMyself), ServerRequest::Url(_))
            | (Some(UserChoice::Retry), ServerRequest::PageVisited(_)) => accepted,
            (Some(UserChoice::Decline), _) => ServerRequestReply::Declined,
            _ => ServerRequestReply::Cancelled,
        };
        Some((id, reply))
    }

    fn start_sampling(
        &mut self,
        open: OpenServerRequest,
        request: &SamplingRequest,
        model: &ModelConfig,
        cx: &mut EngineCx,
    ) {
        let stop = CancellationToken::new();
        self.sampling.insert(open.id, stop.clone());
        cx.notice(Notice::info(format!("{} is answering.", model.name)));
        let (provider, name) = (cx.provider.clone(), model.name.clone());
        let model = limited_to(model, request.tokens_max);
        let messages = messages(request);
        cx.jobs.spawn(async move {
            let completing = complete_messages(&provider, model, messages, &|_| {});
            tokio::select! {
                () = stop.cancelled() => JobResult::Nothing,
                completed = completing => {
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

    /// Asks whether to send the model's answer to the server.
    pub(super) fn handle_sampled(
        &mut self,
        open: OpenServerRequest,
        result: Result<SampledAnswer, Notice>,
        cx: &mut EngineCx,
    ) -> Reply {
        // Withdrawn or stopped just before.
        self.sampling.remove(&open.id)?;
        match result {
            Ok(answer) => {
                let open = OpenServerRequest {
                    answer: Some(Arc::new(answer)),
                    ..open
                };
                self.ask(open, None, cx)
            }
            Err(notice) => {
                let why = format!("The model gave no answer: {}", notice.what);
                cx.notice(notice);
                Some((open.id, ServerRequestReply::Refused(why)))
            }
        }
    }

    /// Accepts the request if the browser has been started. Otherwise asks again, because the user
    /// can still open the page elsewhere.
    pub(super) fn handle_page_opened(
        &mut self,
        open: OpenServerRequest,
        result: Result<(), String>,
        cx: &mut EngineCx,
    ) -> Reply {
        match result {
            Ok(()) => {
                cx.notice(Notice::info("Opened in the browser."));
                Some((open.id, ServerRequestReply::Accepted(Map::new())))
            }
            Err(why) => {
                let reply = self.ask(open, None, cx);
                // After the question, because a dialog that opens clears the notices.
                let notice = Notice::warning(format!("The browser could not be started: {why}."));
                cx.notice(notice.with_advice("Copy the address and open it yourself."));
                reply
            }
        }
    }
}

fn question(open: &OpenServerRequest, model: String) -> Ask {
    let server = open.server.clone();
    match (&open.request, &open.answer) {
        (ServerRequest::Form(form), _) => Ask::FillForm {
            server,
            form: Arc::clone(form),
        },
        (ServerRequest::Url(page), _) => Ask::VisitPage {
            server,
            page: Arc::clone(page),
        },
        (ServerRequest::PageVisited(page), _) => Ask::PageVisited {
            server,
            host: page.host.clone(),
        },
        (ServerRequest::Sampling(request), None) => Ask::AskModel {
            server,
            request: Arc::clone(request),
            model,
        },
        (ServerRequest::Sampling(_), Some(answer)) => Ask::SendModelAnswer {
            server,
            answer: Arc::clone(answer),
        },
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

    #[tokio::test(start_paused = true)]
    async fn a_server_may_ask_the_model_ten_times_in_ten_minutes() {
        let mut requests = ServerRequests::default();
        let (parcels, shop) = (ServerId::from("parcels"), ServerId::from("shop"));
        let mut exceeds = |server: &ServerId| requests.exceeds_sampling_limit(server);
        assert!((0..10).all(|_| !exceeds(&parcels)));
        assert!(exceeds(&parcels));
        assert!(!exceeds(&shop), "each server has its own limit");
        tokio::time::advance(SAMPLING_PERIOD).await;
        assert!(!exceeds(&parcels));
    }

    #[test]
    fn a_lower_limit_of_the_user_stays() {
        let mut model = model_config(ProviderKind::Ollama, "http://localhost:11434");
        assert_eq!(limited_to(&model, 50).options["num_predict"], 50);
        model.options.insert("num_predict".to_owned(), json!(20));
        assert_eq!(limited_to(&model, 50).options["num_predict"], 20);
        let model = model_config(ProviderKind::OpenAi, "https://api.example/v1");
        assert_eq!(limited_to(&model, 50).options["max_tokens"], 50);
    }
}
