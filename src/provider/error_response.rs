//! Reads a response whose status is not success into a [`Cause`].

use super::error::Cause;
use super::error_body::Complaint;
use crate::http_util::{self, bounded_body};
use reqwest::Response;
use std::time::Duration;

const ERROR_BODY_BYTES_MAX: usize = 64 << 10;
const ERROR_BODY_TIME_MAX: Duration = Duration::from_secs(5);

/// Returns what the response means and the server's own error message, if it sent one.
pub(super) async fn read_error_response(response: Response) -> (Cause, Option<Complaint>) {
    let status = response.status().as_u16();
    let path = response.url().path().to_owned();
    let retry_after = http_util::retry_after(response.headers());
    let read = bounded_body(response, ERROR_BODY_BYTES_MAX);
    let body = tokio::time::timeout(ERROR_BODY_TIME_MAX, read)
        .await
        .unwrap_or_default();
    let complaint = Complaint::in_body(&body);
    let overflow = complaint
        .clone()
        .filter(|_| (400..500).contains(&status))
        .and_then(|complaint| complaint.overflow().ok());
    let message = complaint
        .as_ref()
        .map(|complaint| complaint.message.clone());
    // A server that answers "no such model" does exist at this address.
    let names_the_model = complaint
        .as_ref()
        .is_some_and(|complaint| complaint.message.to_lowercase().contains("model"));
    let path = (status == 404 && !names_the_model).then_some(path);
    let is_unpaid = complaint.as_ref().is_some_and(Complaint::is_about_credit);
    let takes_no_tools = complaint.as_ref().is_some_and(Complaint::refuses_tools);
    let cause = overflow.unwrap_or_else(|| match message {
        message if status == 402 || is_unpaid => Cause::NoCredit {
            status,
            message: message.unwrap_or_default(),
        },
        Some(message) if takes_no_tools => Cause::NoTools { status, message },
        message => Cause::Status {
            status,
            message,
            retry_after,
            path,
        },
    });
    (cause, complaint)
}
