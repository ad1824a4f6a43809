//! Why a server could not be started, or why its session ended, and how that
//! reads as a notice.

use super::http::HttpError;
use crate::domain::server::InheritedEnv;
use crate::domain::{Notice, Redactor, ServerId};
use crate::text::Clean;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

/// Lines of stderr that a notice repeats.
pub const STDERR_LINES_MAX: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    #[error("There is no command `{0}`.")]
    CommandNotFound(String),
    #[error("There is no folder `{}` to run it in.", .0.display())]
    FolderNotFound(PathBuf),
    #[error("The command `{command}` cannot be run: {why}.")]
    NotRunnable { command: String, why: String },
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("It did not answer `initialize` within {} s.", seconds(*.0))]
    HandshakeTimeout(Duration),
    #[error("It did not answer `server/discover` within {} s.", seconds(*.0))]
    DiscoverTimeout(Duration),
    #[error("It answered with protocol version `{0}`, which this program does not know.")]
    UnsupportedVersion(String),
    #[error("It speaks {0}, and no protocol version that it was asked for.")]
    NoCommonVersion(String),
    #[error("Its answer to the handshake cannot be used: {0}.")]
    InvalidHandshake(String),
    #[error("Its tools could not be listed: {0}.")]
    ToolListFailed(String),
    #[error("Its tools could not be listed: no answer in {} s.", seconds(*.0))]
    ToolListTimeout(Duration),
    #[error("It closed its output.")]
    OutputClosed,
    #[error("Its process ended.")]
    ProcessExited,
    #[error("Its session was closed.")]
    SessionClosed,
    #[error("It sent a line longer than {} MB.", .0 >> 20)]
    LineTooLong(usize),
    #[error("It prints text that is not MCP on its standard output, such as `{last}`.")]
    NotMcp { last: String },
    #[error("It sends requests without pause.")]
    RequestFlood,
    #[error("It stopped reading what it is sent.")]
    NotReading,
    #[error("Its pipe broke: {0}.")]
    BrokenPipe(String),
}

fn seconds(time: Duration) -> String {
    let words = format!("{:.1}", time.as_secs_f32());
    words.strip_suffix(".0").unwrap_or(&words).to_owned()
}

impl McpError {
    /// Does the server answer only those who have signed in?
    pub fn wants_sign_in(&self) -> bool {
        matches!(self, Self::Http(fault) if fault.wants_sign_in())
    }
}

/// All that is known once the process is gone.
pub struct SessionFailure<'a> {
    pub error: McpError,
    pub server: &'a ServerId,
    /// Applied to its own words.
    pub redactor: &'a Redactor,
    /// Had it been connected?
    pub was_connected: bool,
    pub status: Option<ExitStatus>,
    pub last_stderr_lines: Vec<String>,
    /// What it printed that was no message.
    pub skipped: Option<String>,
    /// What the child inherited, where it is a child.
    pub inherit: Option<&'a InheritedEnv>,
}

impl SessionFailure<'_> {
    pub fn notice(&self) -> Notice {
        let server = Clean::name(self.server.as_str());
        let notice = Notice::failure(if self.wants_sign_in() {
            format!("Server `{server}` answers only those who have signed in.")
        } else if self.was_connected {
            format!("Server `{server}` ended.")
        } else {
            format!("Server `{server}` could not be started.")
        })
        .with_reason(self.redactor.redact(&self.cause_text()));
        match self.advice() {
            Some(advice) => notice.with_advice(advice),
            None => notice,
        }
    }

    pub fn wants_sign_in(&self) -> bool {
        self.error.wants_sign_in()
    }

    fn cause_text(&self) -> String {
        let mut why = self.error.to_string();
        if let (true, Some(status)) = (self.exited_on_its_own(), self.status) {
            why = format!("Its process ended ({status}).");
        }
        let is_told = self.was_connected || matches!(self.error, McpError::NotMcp { .. });
        if let (false, Some(skipped)) = (is_told, &self.skipped) {
            why.push_str(&format!(" It printed {skipped}."));
        }
        if !self.last_stderr_lines.is_empty() {
            why.push_str(" Its last words: ");
            why.push_str(&self.last_stderr_lines.join(" | "));
        }
        why
    }

    /// Otherwise the exit status is only the echo of our own signals.
    fn exited_on_its_own(&self) -> bool {
        matches!(
            self.error,
            McpError::OutputClosed | McpError::ProcessExited | McpError::BrokenPipe(_)
        )
    }

    fn advice(&self) -> Option<String> {
        match &self.error {
            McpError::CommandNotFound(_) => {
                Some("Install it, or correct `command` in mcp-servers.json.".to_owned())
            }
            McpError::Http(fault) => fault.advice().map(str::to_owned),
            McpError::FolderNotFound(_) => Some("Correct `cwd` in mcp-servers.json.".to_owned()),
            McpError::NoCommonVersion(_) => Some(
                "Take `protocol` out of its entry in mcp-servers.json, or update the server."
                    .to_owned(),
            ),
            McpError::HandshakeTimeout(_)
            | McpError::DiscoverTimeout(_)
            | McpError::ToolListTimeout(_) => Some(
                "If it only starts slowly, raise `startupTimeoutSeconds` in mcp-servers.json."
                    .to_owned(),
            ),
            McpError::NotMcp { .. } => Some(
                "Check `command` and `args` in mcp-servers.json: an MCP server writes messages \
                 there, and its log to standard error."
                    .to_owned(),
            ),
            _ if self.exited_on_its_own() && !self.was_connected => match self.inherit {
                Some(InheritedEnv::AllowList | InheritedEnv::AllowListAnd(_)) => Some(
                    "Environment variables outside the allow-list were withheld from it: give \
                     what it needs in `env`, or widen the list with `inheritEnv`."
                        .to_owned(),
                ),
                _ => None,
            },
            _ => None,
        }
    }
}
