//! Asks servers for the messages of their log, which the log view shows. In the legacy era, one
//! request sets the level; in the modern era, a server logs nothing about a request that names no
//! level.

#![expect(deprecated, reason = "both eras still have log messages")]

use rmcp::model::{
    CallToolRequestParams, ClientRequest, LoggingLevel, Request, RequestMetaObject, ServerPeerInfo,
    SetLevelRequestParams,
};
use rmcp::service::{Peer, RoleClient};
use std::future::pending;
use std::time::Duration;
use tokio::time::timeout;

/// The least severe messages that are requested.
const LEVEL: LoggingLevel = LoggingLevel::Info;
/// How long to wait for the answer to the request. Nothing depends on it.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

pub fn sends_log_messages(info: &ServerPeerInfo) -> bool {
    info.capabilities.logging.is_some()
}

/// Sets the level of a legacy server. Never returns.
pub async fn set_level(server: &Peer<RoleClient>) {
    let request = ClientRequest::SetLevelRequest(Request::new(SetLevelRequestParams::new(LEVEL)));
    match timeout(ANSWER_TIMEOUT, server.send_request(request)).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::debug!("the server did not set its log level: {error}"),
        Err(_) => tracing::debug!("the server did not answer `logging/setLevel`"),
    }
    pending().await
}

/// Asks a modern server for the messages about this call.
pub fn request_messages(call: &mut CallToolRequestParams) {
    call.meta
        .get_or_insert_with(RequestMetaObject::default)
        .set_log_level(LEVEL);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_requests_log_messages_of_at_least_level_info() {
        let mut call = CallToolRequestParams::new("add");
        request_messages(&mut call);
        let call = serde_json::to_value(&call).expect("JSON");
        assert_eq!(call["_meta"]["io.modelcontextprotocol/logLevel"], "info");
    }
}
