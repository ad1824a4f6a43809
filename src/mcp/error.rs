//! Why a server could not start or its session ended, and the notice that reports it.

use super::http::HttpError;
use crate::domain::server::InheritedEnv;
use crate::domain::{Notice, Redactor, ServerId};
use crate::text::Clean;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

/// Maximum number of stderr lines that a notice quotes.
pub const STDERR_LINES_MAX: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    #[error("Command `{0}` was not found.")]
    CommandNotFound(String),
    #[error("Its working folder `{}` does not exist.", .0.display())]
    FolderNotFound(PathBuf),
    #[error("The command `{command}` cannot be run: {why}.")]
    NotRunnable { command: String, why: String },
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("It did not answer `initialize` within {} s.", seconds(*.0))]
    HandshakeTimeout(Duration),
    #[error("It did not answer `server/discover` within {} s.", seconds(*.0))]
    DiscoverTimeout(Duration),
    #[error("It uses protocol version `{0}`, which humble does not support.")]
    UnsupportedVersion(String),
    #[error("It has no protocol version in common with humble; it supports {0}.")]
    NoCommonVersion(String),
    #[error("Its handshake response is invalid: {0}.")]
    InvalidHandshake(String),
    #[error("Its tools could not be listed: {0}.")]
    ToolListFailed(String),
    #[error("Its tools could not be listed: no answer within {} s.", seconds(*.0))]
    ToolListTimeout(Duration),
    #[error("It closed its standard output.")]
    OutputClosed,
    #[error("Its process exited.")]
    ProcessExited,
    #[error("Its session was closed.")]
    SessionClosed,
    #[error("It sent a line longer than {} MB.", .0 >> 20)]
    LineTooLong(usize),
    #[error("It writes text other than MCP messages to standard output, such as `{sample}`.")]
    NotMcp { sample: String },
    #[error("It sent too many requests.")]
    RequestFlood,
    #[error("It stopped reading its input.")]
    NotReading,
    #[error("The pipe to it broke: {0}.")]
    BrokenPipe(String),
}

fn seconds(time: Duration) -> String {
    let text = format!("{:.1}", time.as_secs_f32());
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

impl McpError {
    /// Whether the server requires sign-in.
    pub fn wants_sign_in(&self) -> bool {
        matches!(self, Self::Http(error) if error.wants_sign_in())
    }
}

/// Everything known about a failed session once its process is gone.
pub struct SessionFailure<'a> {
    pub error: McpError,
    pub server: &'a ServerId,
    /// Removes the server's secrets from the notice.
    pub redactor: &'a Redactor,
    /// Whether the failed session had been open.
    pub was_connected: bool,
    pub status: Option<ExitStatus>,
    pub last_stderr_lines: Vec<String>,
    /// Summary of output lines that were not messages.
    pub skipped_summary: Option<String>,
    /// Which variables the server inherits, if it is a child process.
    pub inherited_env: Option<&'a InheritedEnv>,
}

impl SessionFailure<'_> {
    pub fn notice(&self) -> Notice {
        let server = Clean::name(self.server.as_str());
        let notice = Notice::failure(if self.wants_sign_in() {
            format!("Server `{server}` requires you to sign in.")
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
        let mut cause = self.error.to_string();
        if let (true, Some(status)) = (self.exited_on_its_own(), self.status) {
            cause = format!("Its process exited ({status}).");
        }
        // Skipped lines may explain a failed start, unless the error already quotes one.
        let quotes_skipped_line = matches!(self.error, McpError::NotMcp { .. });
        if let Some(summary) = &self.skipped_summary
            && !self.was_connected
            && !quotes_skipped_line
        {
            cause.push_str(&format!(" It printed {summary}."));
        }
        if !self.last_stderr_lines.is_empty() {
            cause.push_str(" Last output: ");
            cause.push_str(&self.last_stderr_lines.join(" | "));
        }
        cause
    }

    /// Whether the process exited before we sent it signals. Otherwise the exit status only
    /// reflects those signals.
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
            McpError::Http(error) => error.advice().map(str::to_owned),
            McpError::FolderNotFound(_) => Some("Correct `cwd` in mcp-servers.json.".to_owned()),
            McpError::NoCommonVersion(_) => Some(
                "Remove `protocol` from its entry in mcp-servers.json, or update the server."
                    .to_owned(),
            ),
            McpError::HandshakeTimeout(_)
            | McpError::DiscoverTimeout(_)
            | McpError::ToolListTimeout(_) => Some(
                "If it only starts slowly, raise `startupTimeoutSeconds` in mcp-servers.json."
                    .to_owned(),
            ),
            McpError::NotMcp { .. } => Some(
                "Check `command` and `args` in mcp-servers.json: an MCP server must write \
                 only messages to standard output, and its log to standard error."
                    .to_owned(),
            ),
            _ if self.exited_on_its_own() && !self.was_connected => match self.inherited_env {
                Some(InheritedEnv::AllowList | InheritedEnv::AllowListAnd(_)) => Some(
                    "Environment variables outside the allow-list were withheld from it. If it \
                     needs some, list them under `env` or `inheritEnv` in mcp-servers.json."
                        .to_owned(),
                ),
                _ => None,
            },
            _ => None,
        }
    }
}
