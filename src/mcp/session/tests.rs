//! The time that a slow server gets, on a paused clock.

use super::*;
use crate::mcp::session::discover_wait::DiscoverWait;
use crate::mcp::session::inbox::Inbox;
use crate::mcp::stdio::transport::{OUTBOX_MESSAGES_MAX, StdioTransport, write_queue};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

const TIME_LIMIT: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy, PartialEq)]
enum ServerKind {
    Legacy,
    Modern,
    Dual,
    IgnoresDiscover,
    Silent,
}

/// Reads its first message after `startup`.
async fn serve(kind: ServerKind, startup: Duration, stream: impl AsyncRead + AsyncWrite) {
    sleep(startup).await;
    let (reader, mut writer) = tokio::io::split(stream);
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).expect("a message");
        let discovered = json!({ "supportedVersions": ["2026-07-28"], "capabilities": {} });
        let initialized = json!({ "protocolVersion": "2025-11-25", "capabilities": {} });
        let answer = match (message["method"].as_str(), kind) {
            (_, ServerKind::Silent)
            | (Some("server/discover"), ServerKind::IgnoresDiscover)
            | (Some("notifications/initialized"), _) => continue,
            (Some("server/discover"), ServerKind::Modern | ServerKind::Dual) => {
                json!({ "result": discovered })
            }
            (Some("initialize"), kind) if kind != ServerKind::Modern => {
                json!({ "result": initialized })
            }
            _ => json!({ "error": { "code": -32601, "message": "Method not found" } }),
        };
        let mut answer = answer;
        answer["id"] = message["id"].clone();
        let line = format!("{answer}\n");
        let _ = writer.write_all(line.as_bytes()).await;
    }
}

/// The negotiated version, or the error, and after how many seconds.
async fn negotiate(kind: ServerKind, startup_seconds: u64) -> (Result<String, McpError>, u64) {
    let (client_end, server_end) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(client_end);
    let shared = Arc::new(SessionShared::default());
    let (outbox, queue) = mpsc::channel(OUTBOX_MESSAGES_MAX);
    let handshake = Handshake::DiscoverOrInitialize;
    let mut inbox = Inbox::new(shared.clone(), Box::new(|_| {}));
    inbox.discover_wait = DiscoverWait::new(handshake.discover_timeout(TIME_LIMIT));
    let transport = StdioTransport::new(reader, outbox, shared.clone(), inbox);
    let started_at = Instant::now();
    let outcome = tokio::select! {
        outcome = perform_handshake(transport, &shared, handshake, TIME_LIMIT) => outcome,
        error = write_queue(queue, writer) => Err(error),
        () = serve(kind, Duration::from_secs(startup_seconds), server_end) => {
            panic!("the connection was closed")
        }
    };
    let version = outcome.map(|running| {
        let info = running.peer().peer_info().expect("the server answered");
        info.protocol_version.as_str().to_owned()
    });
    (version, started_at.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn a_slow_server_is_awaited_on_one_connection() {
    for seconds in [0, 12, 20, 29] {
        for (kind, version) in [
            (ServerKind::Legacy, "2025-11-25"),
            (ServerKind::Modern, "2026-07-28"),
            (ServerKind::Dual, "2026-07-28"),
        ] {
            let expected = (Ok(version.to_owned()), seconds);
            assert_eq!(negotiate(kind, seconds).await, expected, "{kind:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ignores_discover_gets_initialize_after_nine_seconds() {
    let legacy = || Ok("2025-11-25".to_owned());
    for (startup, seconds) in [(0, 9), (12, 12)] {
        let negotiated = negotiate(ServerKind::IgnoresDiscover, startup).await;
        assert_eq!(negotiated, (legacy(), seconds));
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_gets_the_whole_time_limit() {
    let error = Err(McpError::HandshakeTimeout(TIME_LIMIT));
    assert_eq!(negotiate(ServerKind::Silent, 0).await, (error, 30));
}
