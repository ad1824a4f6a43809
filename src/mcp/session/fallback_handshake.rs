//! Which handshake to try after one failed. Pure.

use crate::mcp::error::McpError;
use crate::mcp::session::Handshake;
use crate::mcp::stdio::startup::HandshakeStage;
use crate::mcp::supervisor::SessionEnd;
use crate::mcp::supervisor::run::ConnectionAttempt;

/// The handshake to try after `last` failed. Many legacy servers exit or hang on `server/discover`.
pub fn fallback_handshake(last: Handshake, attempt: &ConnectionAttempt) -> Option<Handshake> {
    let SessionEnd::Failed(error, _) = &attempt.end else {
        return None;
    };
    match (last, attempt.stage, error) {
        // Garbage on stdout has nothing to do with the handshake.
        (_, _, McpError::NotMcp { .. }) => None,
        // A connection failure would affect every handshake.
        (_, _, McpError::Http(error)) if !error.is_request_specific() => None,
        (Handshake::DiscoverOrInitialize | Handshake::Discover, HandshakeStage::Discovering, _) => {
            Some(Handshake::Initialize)
        }
        // The server rejected both handshakes.
        (
            Handshake::DiscoverOrInitialize,
            HandshakeStage::Initializing,
            McpError::UnsupportedVersion(_) | McpError::InvalidHandshake(_),
        ) => None,
        // The server rejected the probe properly, but failed afterwards.
        (Handshake::DiscoverOrInitialize, HandshakeStage::Initializing, _) => {
            Some(Handshake::Initialize)
        }
        // The server may be modern and too slow for the probe, or may have been updated since it
        // was detected.
        (
            Handshake::Initialize,
            HandshakeStage::Initializing,
            McpError::UnsupportedVersion(_) | McpError::InvalidHandshake(_),
        ) => Some(Handshake::Discover),
        // Over HTTP, a probe does not require a restart, so try it as well.
        (Handshake::Initialize, HandshakeStage::Initializing, McpError::Http(_)) => {
            Some(Handshake::DiscoverOrInitialize)
        }
        _ => None,
    }
}
