//! Recognizes a tool whose server could have asked the user or the model in the legacy protocol, but
//! does not support the way in which the modern one asks. Both protocols may be available, and
//! `auto` prefers the modern one, so the user has to be told how to choose.

use crate::domain::Notice;
use crate::mcp::hub_event::HubEvent;
use crate::mcp::supervisor::ServerSupervisor;
use crate::text::Clean;

/// Only the beginning of a long error is examined.
const EXAMINED_BYTES_MAX: usize = 2_000;

/// Notifies the user if the error of a failed call says that the server cannot ask in the modern
/// protocol.
pub async fn report_missing_back_channel(supervisor: &ServerSupervisor, error: &str) {
    let notice = {
        let is_modern = supervisor.is_modern();
        let state = supervisor.state.borrow();
        (is_modern && names_missing_back_channel(error)).then(|| notice(state.config.id.as_str()))
    };
    if let Some(notice) = notice {
        let _ = supervisor
            .context
            .events
            .send(HubEvent::Noticed(notice))
            .await;
    }
}

fn notice(server: &str) -> Notice {
    let server = Clean::name(server);
    Notice::warning(format!(
        "Server `{server}` cannot ask for input in the protocol of 2026-07-28."
    ))
    .with_advice(
        "If it supports the older protocol, set `\"protocol\": \"legacy\"` in its entry in \
         mcp-servers.json.",
    )
}

/// Whether an error names a request to the user or the model, says that it cannot be made, and
/// blames the protocol. fastmcp says `elicitation via server-initiated requests is unavailable on
/// 2026-07-28 connections`, the Python SDK `no back-channel for server-initiated requests`.
fn names_missing_back_channel(error: &str) -> bool {
    let text = &error[..error.floor_char_boundary(EXAMINED_BYTES_MAX)];
    let text = text.to_lowercase();
    let names_any = |words: &[&str]| words.iter().any(|word| text.contains(word));
    names_any(&["elicit", "sampling", "roots", "server-initiated"])
        && names_any(&[
            "unavailable",
            "not available",
            "not supported",
            "unsupported",
            "no back-channel",
        ])
        && names_any(&["2026-07-28", "server-initiated", "protocol", "stateless"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_about_requests_that_the_protocol_lacks_are_recognized() {
        for error in [
            "elicitation via server-initiated requests is unavailable on 2026-07-28 connections.",
            "Error: Cannot send 'sampling/createMessage': this transport context has no back-channel \
             for server-initiated requests.",
            "Elicitation is not supported in this protocol version.",
        ] {
            assert!(names_missing_back_channel(error), "{error}");
        }
        for error in [
            "The database is unavailable.",
            "Down-sampling is not supported for audio.",
            "The protocol https is not supported.",
            "Server-initiated shutdown at 2026-07-28.",
        ] {
            assert!(!names_missing_back_channel(error), "{error}");
        }
    }
}
