//! Requests of MCP servers to the user: asks them, and turns the answers into replies. Several
//! requests may be open; the front end shows one at a time. Nothing here opens a page that the user
//! did not choose to open.

use super::cx::EngineCx;
use super::jobs::JobResult;
use super::questions::PendingQuestion;
use crate::browser;
use crate::domain::{Notice, ServerId, ServerRequest, ServerRequestId, ServerRequestReply};
use crate::protocol::{Ask, QuestionOwner, UserAnswer, UserChoice};
use serde_json::Map;
use std::sync::Arc;

/// A request that waits for its reply.
#[derive(Debug)]
pub(super) struct OpenServerRequest {
    pub(super) id: ServerRequestId,
    pub(super) server: ServerId,
    pub(super) request: ServerRequest,
}

/// Asks the user.
pub(super) fn ask(open: OpenServerRequest, cx: &mut EngineCx) {
    let server = open.server.clone();
    let question = match &open.request {
        ServerRequest::Form(form) => Ask::FillForm {
            server: server.clone(),
            form: Arc::clone(form),
        },
        ServerRequest::Url(page) => Ask::VisitPage {
            server: server.clone(),
            page: Arc::clone(page),
        },
        ServerRequest::PageVisited(page) => Ask::PageVisited {
            server: server.clone(),
            host: page.host.clone(),
        },
    };
    let pending = PendingQuestion::ServerRequest(open);
    cx.ask(QuestionOwner::Server(server), question, pending);
}

/// Closes the question of a request that no longer needs an answer.
pub(super) fn withdraw(id: ServerRequestId, cx: &mut EngineCx) {
    let is_open = cx.withdraw_matching(
        |pending| matches!(pending, PendingQuestion::ServerRequest(open) if open.id == id),
    );
    if is_open {
        cx.notice(Notice::info("The server no longer needs your answer."));
    }
}

/// The reply for an answer. `None` while the browser is being started.
pub(super) fn handle_answer(
    open: OpenServerRequest,
    answer: &UserAnswer,
    cx: &mut EngineCx,
) -> Option<ServerRequestReply> {
    let accepted = ServerRequestReply::Accepted(Map::new());
    match (answer, &open.request) {
        (UserAnswer::Form(content), ServerRequest::Form(_)) => {
            Some(ServerRequestReply::Accepted(content.clone()))
        }
        (UserAnswer::Choice(UserChoice::OpenPage), ServerRequest::Url(page)) => {
            let url = page.url.clone();
            cx.jobs
                .spawn_blocking(move || JobResult::PageOpened(open, browser::open(&url)));
            None
        }
        (UserAnswer::Choice(UserChoice::VisitMyself), ServerRequest::Url(_))
        | (UserAnswer::Choice(UserChoice::Retry), ServerRequest::PageVisited(_)) => Some(accepted),
        (UserAnswer::Choice(UserChoice::Decline), _) => Some(ServerRequestReply::Declined),
        _ => Some(ServerRequestReply::Cancelled),
    }
}

/// Accepts the request if the browser has been started. Otherwise asks again, because the user can
/// still open the page elsewhere.
pub(super) fn handle_page_opened(
    open: OpenServerRequest,
    result: Result<(), String>,
    cx: &mut EngineCx,
) -> Option<(ServerRequestId, ServerRequestReply)> {
    match result {
        Ok(()) => {
            cx.notice(Notice::info("Opened in the browser."));
            Some((open.id, ServerRequestReply::Accepted(Map::new())))
        }
        Err(why) => {
            // A new question clears older notices.
            ask(open, cx);
            let notice = Notice::warning(format!("The browser could not be started: {why}."));
            cx.notice(notice.with_advice("Copy the address and open it yourself."));
            None
        }
    }
}
