//! How a server is doing, in a few words.

use crate::domain::{Server, ServerStatus};
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};

/// The first line of the reason why an enabled server has no session. For rows that also show
/// the server's name.
pub fn failure_headline(server: &Server) -> Option<Clean> {
    let reason = match &server.status {
        _ if !server.enabled => return None,
        ServerStatus::Failed(notice) | ServerStatus::NeedsSignIn(notice) => {
            let named = format!("Server `{}` ", Clean::name(server.id.as_str()));
            let what = notice.what.strip_prefix(&named);
            let what = what.unwrap_or(&notice.what);
            let reason = notice.headline.as_deref().or(notice.why.as_deref());
            reason.unwrap_or(what)
        }
        ServerStatus::Misconfigured(why) => why.strip_prefix("mcp-servers.json: ").unwrap_or(why),
        ServerStatus::Off | ServerStatus::Starting | ServerStatus::Connected => return None,
    };
    let mut lines = reason.lines().filter(|line| !line.trim().is_empty());
    let line = lines.next().unwrap_or_default().trim();
    let line = line.strip_suffix('.').unwrap_or(line);
    Some(Clean::escaped(&one_line(line)))
}

/// A server's status in one or two words.
pub fn status_label(server: &Server) -> &'static str {
    match (&server.status, server.enabled) {
        (_, false) => "off",
        (ServerStatus::Connected, _) => "connected",
        (ServerStatus::Starting, _) => "starting",
        (ServerStatus::Off, _) => "not started",
        (ServerStatus::Failed(_), _) => "failed",
        (ServerStatus::NeedsSignIn(_), _) => "needs sign-in",
        (ServerStatus::Misconfigured(_), _) => "misconfigured",
    }
}

/// Replaces line breaks and truncates, so that a name cannot look like two lines.
pub fn one_line(raw: &str) -> String {
    const COLUMNS_MAX: usize = 120;
    let line = raw.replace(['\n', '\r'], " ");
    let line = line.trim();
    if width(line) <= COLUMNS_MAX {
        return line.to_owned();
    }
    let truncated = truncate_to_width(line, COLUMNS_MAX);
    format!("{truncated}…")
}
