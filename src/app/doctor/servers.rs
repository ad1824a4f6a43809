//! Connects to the MCP servers, as `humble mcp list` does, and calls no tool. A server that is off, or
//! whose entry cannot be used, is never started.

use super::report::Check;
use crate::app::mcp::server_pool::{ServerPool, StopReason};
use crate::app::watchdog::BackgroundRuntime;
use crate::config::{BUILT_IN_SERVER, Home};
use crate::domain::{ServerConfig, ServerStatus};
use crate::headless::advice;
use crate::headless::mcp::ServerReport;
use anyhow::Result;
use std::time::Duration;

/// For all servers together; they start at the same time. Some are downloaded when they start.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// The checks, and the exit status if a signal interrupted them.
pub async fn server_checks(
    home: &Home,
    servers: Vec<ServerConfig>,
    background: &BackgroundRuntime,
) -> Result<(Vec<Check>, Option<u8>)> {
    let is_own = |server: &ServerConfig| server.id.as_str() == BUILT_IN_SERVER;
    let servers: Vec<ServerConfig> = servers.into_iter().filter(|one| !is_own(one)).collect();
    if servers.is_empty() {
        return Ok((Vec::new(), None));
    }
    let mut pool = ServerPool::open(home, servers, Some(CONNECT_TIMEOUT), background)?;
    let waited = pool.wait_while_starting().await;
    let checks = pool.reports().iter().map(server_check).collect();
    pool.close().await;
    let signal = match waited {
        Err(StopReason::Signal(code)) => Some(code),
        Err(StopReason::Timeout) | Ok(()) => None,
    };
    Ok((checks, signal))
}

fn server_check(report: &ServerReport) -> Check {
    let name = report.server.id.as_str();
    let subject = format!("MCP server {name}");
    if !report.server.enabled {
        let advice = "Switch it on with `/toggle-mcp` in the chat to use it.";
        return Check::skipped(subject, "It is off and was not started.", advice);
    }
    match &report.server.status {
        ServerStatus::Connected => {
            let count = report.server.tools.len();
            let plural = if count == 1 { "" } else { "s" };
            Check::ok(subject, format!("{count} tool{plural}"))
        }
        ServerStatus::NeedsSignIn(notice) => {
            let advice = format!("Sign in with `humble mcp login {name}`.");
            Check::warning(subject, notice.to_sentence(|_| None), advice)
        }
        ServerStatus::Failed(notice) => {
            let fallback = "Check its `command` or `url` in mcp-servers.json.".to_owned();
            let advice = advice::advice_text(notice).unwrap_or(fallback);
            Check::problem(subject, notice.to_sentence(|_| None), advice)
        }
        ServerStatus::Misconfigured(why) => Check::problem(
            subject,
            format!("Its entry cannot be used: {why}."),
            "Correct the entry in mcp-servers.json.",
        ),
        ServerStatus::Starting => Check::problem(
            subject,
            report.problem().unwrap_or_default(),
            "Wait longer with `humble mcp list`, or see the log.",
        ),
        ServerStatus::Off => Check::skipped(
            subject,
            "It is off and was not started.",
            "Switch it on with `/toggle-mcp` in the chat to use it.",
        ),
    }
}
