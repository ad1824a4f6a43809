//! Converts a response with an error status to a [`FailureCause`].

use super::error::FailureCause;
use super::error_body::ServerError;
use crate::http_util::{self, read_body_prefix};
use reqwest::Response;
use std::time::Duration;

const ERROR_BODY_BYTES_MAX: usize = 64 << 10;
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) async fn read_error_response(response: Response) -> (FailureCause, Option<ServerError>) {
    let status = response.status().as_u16();
    let path = response.url().path().to_owned();
    let retry_after = http_util::retry_after(response.headers());
    let body = read_body_prefix(response, ERROR_BODY_BYTES_MAX);
    let body = tokio::time::timeout(ERROR_BODY_TIMEOUT, body)
        .await
        .unwrap_or_default();
    let server_error = ServerError::from_body(&body);
    let overflow = server_error
        .clone()
        .filter(|_| (400..500).contains(&status))
        .and_then(|server_error| server_error.into_context_overflow().ok());
    let message = server_error
        .as_ref()
        .map(|server_error| server_error.message.clone());
    // If the error is about the model, the path itself exists.
    let is_about_model = server_error
        .as_ref()
        .is_some_and(|server_error| server_error.message.to_lowercase().contains("model"));
    let path = (status == 404 && !is_about_model).then_some(path);
    let has_no_credit = server_error
        .as_ref()
        .is_some_and(ServerError::is_about_credit);
    let refuses_tools = server_error
        .as_ref()
        .is_some_and(ServerError::refuses_tools);
    let sign_in = server_error
        .as_ref()
        .filter(|_| status == 401)
        .and_then(ServerError::sign_in);
    let cause = overflow.or(sign_in).unwrap_or_else(|| match message {
        message if status == 402 || has_no_credit => FailureCause::NoCredit {
            status,
            message: message.unwrap_or_default(),
        },
        Some(message) if refuses_tools => FailureCause::ToolsUnsupported { status, message },
        message => FailureCause::Status {
            status,
            message,
            retry_after,
            path,
        },
    });
    (cause, server_error)
}
