//! Requests from MCP servers: asks the user and turns the answers into replies. Several requests
//! may be open; the front end shows one at a time. Nothing here opens a page or asks a model
//! without the user's consent. `open` is one request, `limits` decides which requests are refused
//! without asking, `sampling` asks the model.

mod limits;
pub(super) mod open;
mod sampling;
#[cfg(test)]
mod tests;

use super::context::ContextBudget;
use super::cx::EngineCx;
use super::job_set::JOB_PANICKED;
use super::jobs::JobResult;
use super::questions::PendingQuestion;
use crate::browser;
use crate::domain::{
    CallId, ModelConfig, Notice, SampledAnswer, ServerRequest, ServerRequestId, ServerRequestReply,
};
use crate::protocol::{Question, QuestionOwner, UserAnswer, UserChoice};
use crate::questions;
use limits::RequestLimits;
use open::{OpenServerRequest, RequestStage};
use sampling::RunningSamplings;
use serde_json::Map;
use std::sync::Arc;

/// A reply that can be sent to the server now.
pub(super) type ReadyReply = (ServerRequestId, ServerRequestReply);

#[derive(Debug, Default)]
pub(super) struct ServerRequests {
    limits: RequestLimits,
    running: RunningSamplings,
}

impl ServerRequests {
    /// Returns a reply if the request is refused without asking the user.
    pub(super) fn ask(
        &mut self,
        mut open: OpenServerRequest,
        model: Option<&Arc<ModelConfig>>,
        cx: &mut EngineCx,
    ) -> Option<ReadyReply> {
        if self.limits.declines(&open.server) {
            return Some((open.id, ServerRequestReply::Declined));
        }
        if let (ServerRequest::Sampling(_), RequestStage::Received) = (&open.request, &open.stage) {
            match self.limits.check_sampling(&open.server, model) {
                Ok(model) => open.stage = RequestStage::ModelShown(Arc::clone(model)),
                Err(refusal) => {
                    if let Some(notice) = refusal.notice(&open.server) {
                        cx.notice(notice);
                    }
                    return Some((open.id, ServerRequestReply::Refused(refusal.sentence())));
                }
            }
        }
        let owner = QuestionOwner::Server(open.server.clone());
        cx.ask(owner, question(&open), PendingQuestion::ServerRequest(open));
        None
    }

    /// Closes the question of a request that no longer needs an answer, or stops the model.
    pub(super) fn withdraw(&mut self, id: ServerRequestId, cx: &mut EngineCx) {
        let is_about_request = |pending: &PendingQuestion| matches!(pending, PendingQuestion::ServerRequest(open) if open.id == id);
        let was_sampling = self.running.stop(id, cx);
        if was_sampling || cx.has_question_matching(is_about_request) {
            // Before the question closes: if that loses typed text, the front end reports it, and
            // the last notice is the one that stays visible.
            cx.notice(Notice::info("The server no longer needs your answer."));
        }
        cx.withdraw_matching(is_about_request);
    }

    /// Cancels the open questions that belong to calls which the user has stopped. `running` are the
    /// calls that go on.
    pub(super) fn cancel_with_calls(
        &mut self,
        stopped: &[CallId],
        running: &[CallId],
        cx: &mut EngineCx,
    ) -> Vec<ReadyReply> {
        let closed = cx.withdraw_matching(|pending| match pending {
            PendingQuestion::ServerRequest(open) => open.ended_with(stopped, running),
            _ => false,
        });
        let replies = closed.into_iter().filter_map(|pending| match pending {
            PendingQuestion::ServerRequest(open) => Some((open.id, ServerRequestReply::Cancelled)),
            _ => None,
        });
        replies.collect()
    }

    pub(super) fn stop_sampling(&mut self, cx: &mut EngineCx) -> Vec<ReadyReply> {
        let stopped = self.running.stop_all(cx);
        let replies = stopped
            .into_iter()
            .map(|id| (id, ServerRequestReply::Declined));
        replies.collect()
    }

    /// Ends the declines that were given for the rest of the last conversation.
    pub(super) fn begin_conversation(&mut self) {
        self.limits.begin_conversation();
    }

    /// The replies for an answer; none while the browser is being started or the model is asked.
    pub(super) fn handle_answer(
        &mut self,
        open: OpenServerRequest,
        answer: &UserAnswer,
        context: &ContextBudget,
        cx: &mut EngineCx,
    ) -> Vec<ReadyReply> {
        let choice = match answer {
            UserAnswer::Choice(choice) => Some(*choice),
            UserAnswer::Form(content) if matches!(open.request, ServerRequest::Form(_)) => {
                return vec![(open.id, ServerRequestReply::Accepted(content.clone()))];
            }
            _ => None,
        };
        let id = open.id;
        let reply = match (choice, &open.request) {
            (Some(UserChoice::DeclineAll), _) => return self.decline_all(&open, cx),
            (Some(UserChoice::OpenPage), ServerRequest::Url(page)) => {
                let url = page.url.clone();
                let if_panicked = JobResult::PageOpened(open.clone(), Err(JOB_PANICKED.to_owned()));
                let job = move || JobResult::PageOpened(open, browser::open(&url));
                cx.jobs.spawn_blocking_or(if_panicked, job);
                return Vec::new();
            }
            (Some(UserChoice::Send), ServerRequest::Sampling(request)) => match &open.stage {
                RequestStage::Answered(answer) => {
                    ServerRequestReply::Sampled(SampledAnswer::clone(answer))
                }
                RequestStage::ModelShown(model) => {
                    let (request, model) = (Arc::clone(request), Arc::clone(model));
                    let used = context.num_ctx_of(&model);
                    self.running.start(open, &request, &model, used, cx);
                    return Vec::new();
                }
                RequestStage::Received => ServerRequestReply::Cancelled,
            },
            (Some(UserChoice::VisitMyself), ServerRequest::Url(_))
            | (Some(UserChoice::Retry), ServerRequest::PageVisited(_)) => {
                ServerRequestReply::Accepted(Map::new())
            }
            (Some(UserChoice::Decline), _) => ServerRequestReply::Declined,
            _ => ServerRequestReply::Cancelled,
        };
        vec![(id, reply)]
    }

    /// Declines this request, the server's other open ones, and its later ones in this conversation.
    fn decline_all(&mut self, open: &OpenServerRequest, cx: &mut EngineCx) -> Vec<ReadyReply> {
        let server = &open.server;
        self.limits.decline_all(server.clone());
        let others = cx.withdraw_matching(|pending| {
            matches!(pending, PendingQuestion::ServerRequest(other) if other.server == *server)
        });
        let others = others.into_iter().filter_map(|pending| match pending {
            PendingQuestion::ServerRequest(other) => Some(other.id),
            _ => None,
        });
        let mut ids = vec![open.id];
        ids.extend(others);
        ids.extend(self.running.stop_all_of(server, cx));
        let text = format!("Requests from server `{server}` are declined in this conversation.");
        cx.notice(Notice::info(text));
        let replies = ids.into_iter().map(|id| (id, ServerRequestReply::Declined));
        replies.collect()
    }

    /// Asks whether to send the model's answer to the server. Refuses the request if there is none.
    pub(super) fn handle_sampled(
        &mut self,
        mut open: OpenServerRequest,
        result: Result<SampledAnswer, Notice>,
        cx: &mut EngineCx,
    ) -> Option<ReadyReply> {
        // `false` if it was withdrawn or stopped just before.
        if !self.running.finish(open.id, cx) {
            return None;
        }
        match result {
            Ok(answer) => {
                open.stage = RequestStage::Answered(Arc::new(answer));
                self.ask(open, None, cx)
            }
            Err(failure) => {
                let text = format!("The model gave no answer for server `{}`.", open.server);
                cx.notice(Notice::warning(text).with_reason(failure.what.clone()));
                let why = format!("The model gave no answer: {}", failure.what);
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
    ) -> Option<ReadyReply> {
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

fn question(open: &OpenServerRequest) -> Question {
    let server = &open.server;
    match (&open.request, &open.stage) {
        (ServerRequest::Form(form), _) => questions::fill_form(server, form),
        (ServerRequest::Url(page), _) => questions::visit_page(server, page),
        (ServerRequest::PageVisited(page), _) => questions::page_visited(server, &page.host),
        (ServerRequest::Sampling(_), RequestStage::Answered(answer)) => {
            questions::send_model_answer(server, answer)
        }
        (ServerRequest::Sampling(request), RequestStage::ModelShown(model)) => {
            questions::ask_model(server, request, &model.name)
        }
        (ServerRequest::Sampling(request), _) => questions::ask_model(server, request, ""),
    }
}
