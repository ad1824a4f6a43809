//! Reads a response whose status is not success into a [`FailureCause`].

use super::error::FailureCause;
use super::error_body::ServerError;
use crate::http_util::{self, read_body_prefix};
use reqwest::Response;
use std::time::Duration;

const ERROR_BODY_BYTES_MAX: usize = 64 << 10;
const ERROR_BODY_TIME_MAX: Duration = Duration::from_secs(5);

/// Returns what the response means and the server's own error message, if it sent one.
pub(super) async fn read_error_response(response: Response) -> (FailureCause, Option<ServerError>) {
    let status = response.status().as_u16();
    let path = response.url().path().to_owned();
    let retry_after = http_util::retry_after(response.headers());
    let read = read_body_prefix(response, ERROR_BODY_BYTES_MAX);
    let body = tokio::time::timeout(ERROR_BODY_TIME_MAX, read)
        .await
        .unwrap_or_default();
    let server_error = ServerError::from_body(&body);
    let overflow = server_error
        .clone()
        .filter(|_| (400..500).contains(&status))
        .and_then(|server_error| server_error.into_overflow().ok());
    let message = server_error
        .as_ref()
        .map(|server_error| server_error.message.clone());
    // A server that answers "no such model" does exist at this address.
    let names_the_model = server_error
        .as_ref()
        .is_some_and(|server_error| server_error.message.to_lowercase().contains("model"));
    let path = (status == 404 && !names_the_model).then_some(path);
    let is_unpaid = server_error
        .as_ref()
        .is_some_and(ServerError::is_about_credit);
    let takes_no_tools = server_error
        .as_ref()
        .is_some_and(ServerError::refuses_tools);
    let cause = overflow.unwrap_or_else(|| match message {
        message if status == 402 || is_unpaid => FailureCause::NoCredit {
            status,
            message: message.unwrap_or_default(),
        },
        Some(message) if takes_no_tools => FailureCause::ToolsUnsupported { status, message },
        message => FailureCause::Status {
            status,
            message,
            retry_after,
            path,
        },
    });
    (cause, server_error)
}
