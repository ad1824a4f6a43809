//! A call can be refused until the user has visited web pages (error -32042 of 2025-11-25). The user
//! decides about each page, and the call is repeated once the user is done.

use super::broker::RequestBroker;
use super::incoming::IncomingRequests;
use crate::domain::{ServerId, ServerRequest, ServerRequestReply, UrlElicitation};
use rmcp::model::ErrorData;
use serde_json::Value;
use std::sync::Arc;

const URL_ELICITATION_REQUIRED: i32 = -32042;
/// Maximum number of pages of one error.
const PAGES_MAX: usize = 8;

/// The pages that an error requires, or why the user is not asked to visit them, as a sentence.
/// `None` for any other error, and for one that lists no pages.
pub fn required_pages(error: &ErrorData) -> Option<Result<Vec<UrlElicitation>, String>> {
    if error.code.0 != URL_ELICITATION_REQUIRED {
        return None;
    }
    let pages = error
        .data
        .as_ref()
        .and_then(|data| data.get("elicitations"));
    let pages = pages
        .and_then(Value::as_array)
        .filter(|pages| !pages.is_empty())?;
    if pages.len() > PAGES_MAX {
        let count = pages.len();
        return Some(Err(format!(
            "The server requires visits to {count} web pages; humble allows at most {PAGES_MAX}."
        )));
    }
    let pages: Result<_, _> = pages.iter().map(UrlElicitation::from_params).collect();
    Some(pages.map_err(|why| format!("The server's request for a web page was refused: {why}.")))
}

/// Asks the user to visit each page, and waits until the server or the user reports its completion.
///
/// # Errors
/// Why the call must be abandoned, as a sentence.
pub async fn visit_pages(
    pages: Vec<UrlElicitation>,
    incoming: &IncomingRequests,
    broker: &RequestBroker,
    server: &ServerId,
) -> Result<(), String> {
    for page in pages.into_iter().map(Arc::new) {
        let host = &page.host;
        match broker.ask(server, ServerRequest::Url(page.clone())).await {
            ServerRequestReply::Accepted(_) => {}
            ServerRequestReply::Declined => {
                return Err(format!("The user declined to visit {host}."));
            }
            ServerRequestReply::Cancelled
            | ServerRequestReply::Sampled(_)
            | ServerRequestReply::Refused(_) => {
                return Err(format!(
                    "The call requires a visit to {host}, which did not take place."
                ));
            }
        }
        let completion = incoming.expect_completion(&page);
        let visited = broker.ask(server, ServerRequest::PageVisited(page.clone()));
        let is_done = tokio::select! {
            biased;
            Ok(()) = completion => true,
            reply = visited => matches!(reply, ServerRequestReply::Accepted(_)),
        };
        if !is_done {
            return Err(format!("The user did not finish the visit to {host}."));
        }
    }
    Ok(())
}
