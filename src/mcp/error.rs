//! Why a server could not start or its session ended, and the notice that reports it.

use crate::domain::server::InheritedEnv;
use crate::domain::{Advice, Notice, ServerId};
use crate::mcp::http::HttpError;
use crate::mcp::stdio::stderr::names_error;
use crate::mcp::stdio::stderr_hints::{mentions_variable, missing_module};
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
    #[error("It did not answer `initialize` within {} s, nor when it was started again.", seconds(*.0))]
    SecondHandshakeTimeout(Duration),
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
    #[error("The connection to it broke: {0}.")]
    BrokenPipe(String),
}

fn seconds(time: Duration) -> String {
    let text = format!("{:.1}", time.as_secs_f32());
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

impl McpError {
    /// Whether a process that may have written to stderr was running.
    fn had_running_process(&self) -> bool {
        !matches!(
            self,
            Self::CommandNotFound(_) | Self::FolderNotFound(_) | Self::NotRunnable { .. }
        )
    }

    pub fn requires_sign_in(&self) -> bool {
        matches!(self, Self::Http(error) if error.requires_sign_in())
    }

    /// Whether the server denied access, although it requires no sign-in.
    pub fn is_access_denied(&self) -> bool {
        matches!(self, Self::Http(error) if error.is_access_denied())
    }
}

/// `It exited with status 3`, or `It was killed by signal 9 (SIGKILL)`.
fn exit_clause(status: ExitStatus) -> String {
    if let Some(code) = status.code() {
        return format!("It exited with status {code}");
    }
    let status = status.to_string();
    let signal = status.strip_prefix("signal: ").unwrap_or(&status);
    format!("It was killed by signal {signal}")
}

/// The stderr line that most likely explains the failure.
fn telling_line(lines: &[String]) -> Option<&str> {
    let line = lines.iter().find(|line| names_error(line));
    line.or(lines.last()).map(|line| line.trim())
}

fn without_subject(sentence: &str) -> String {
    let sentence = sentence.strip_prefix("It ").unwrap_or(sentence);
    sentence.strip_suffix('.').unwrap_or(sentence).to_owned()
}

/// Everything known about a failed session after its end.
pub struct SessionFailure<'a> {
    pub error: McpError,
    pub server: &'a ServerId,
    /// Whether the failed session had been open.
    pub was_connected: bool,
    pub status: Option<ExitStatus>,
    /// The lines that best explain the failure.
    pub stderr_lines: Vec<String>,
    /// Summary of output lines that were not messages.
    pub skipped_summary: Option<String>,
    pub is_remote: bool,
    /// Which variables the server inherits, if it is a child process.
    pub inherited_env: Option<&'a InheritedEnv>,
}

impl SessionFailure<'_> {
    pub fn notice(&self) -> Notice {
        let server = Clean::name(self.server.as_str());
        let notice = Notice::failure(if self.requires_sign_in() {
            format!("Server `{server}` requires you to sign in.")
        } else if self.error.is_access_denied() {
            format!("Server `{server}` denied access.")
        } else if self.was_connected && self.is_remote {
            format!("Server `{server}` disconnected.")
        } else if self.was_connected {
            format!("Server `{server}` ended.")
        } else if self.is_remote {
            format!("Could not connect to server `{server}`.")
        } else {
            format!("Server `{server}` could not be started.")
        })
        .with_reason(self.cause_text())
        .with_headline(self.headline());
        if let McpError::Http(HttpError::SignInRequired | HttpError::MoreScopesRequired(_)) =
            &self.error
        {
            return notice.with_advice(Advice::SignIn(server.to_string()));
        }
        match self.advice() {
            Some(advice) => notice.with_advice(advice),
            None => notice,
        }
    }

    pub fn requires_sign_in(&self) -> bool {
        self.error.requires_sign_in()
    }

    fn cause_text(&self) -> String {
        let mut cause = match (self.exited_on_its_own(), self.status) {
            (true, Some(status)) => self.exit_sentence(status),
            _ => self.error_sentence(),
        };
        // Skipped lines may explain a failed start, unless the error already quotes one.
        let quotes_skipped_line = matches!(self.error, McpError::NotMcp { .. });
        if let Some(summary) = &self.skipped_summary
            && !self.was_connected
            && !quotes_skipped_line
        {
            cause.push_str(&format!(" It printed {summary}."));
        }
        cause
    }

    fn exit_sentence(&self, status: ExitStatus) -> String {
        let end = exit_clause(status);
        match self.stderr_quote() {
            Some(quote) => format!("{end}: {quote}."),
            None => format!("{end} and wrote nothing to stderr."),
        }
    }

    fn error_sentence(&self) -> String {
        let error = &self.error;
        match (self.stderr_quote(), self.inherited_env) {
            (Some(quote), _) => format!("{error} Its output: {quote}."),
            // A command that never ran had nothing to write.
            (None, Some(_)) if error.had_running_process() => {
                format!("{error} It wrote nothing to stderr.")
            }
            (None, _) => error.to_string(),
        }
    }

    fn stderr_quote(&self) -> Option<String> {
        let lines: Vec<&str> = self.stderr_lines.iter().map(|line| line.trim()).collect();
        (!lines.is_empty()).then(|| format!("\"{}\"", lines.join(" | ")))
    }

    /// The reason in a few words, for a row that already names the server.
    fn headline(&self) -> String {
        if let (true, Some(status)) = (self.exited_on_its_own(), self.status) {
            let telling = telling_line(&self.stderr_lines);
            return telling.map_or_else(|| without_subject(&exit_clause(status)), str::to_owned);
        }
        without_subject(&self.error.to_string())
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
            | McpError::SecondHandshakeTimeout(_)
            | McpError::DiscoverTimeout(_)
            | McpError::ToolListTimeout(_) => Some(
                "If it is just slow to start, raise `startupTimeoutSeconds` in mcp-servers.json."
                    .to_owned(),
            ),
            McpError::NotMcp { .. } => Some(
                "Check `command` and `args` in mcp-servers.json: an MCP server must write \
                 only messages to standard output, and its log to standard error."
                    .to_owned(),
            ),
            _ if self.exited_on_its_own() && !self.was_connected => self.startup_advice(),
            _ => None,
        }
    }

    /// Advice for a server that exited during startup, based on its stderr output.
    fn startup_advice(&self) -> Option<String> {
        let lines = || self.stderr_lines.iter().map(String::as_str);
        if let Some(module) = lines().find_map(missing_module) {
            return Some(match module.starts_with(['/', '.']) {
                true => "Correct `args` in mcp-servers.json.".to_owned(),
                false => format!("Install its missing module `{module}`."),
            });
        }
        let has_limited_env = matches!(
            self.inherited_env,
            Some(InheritedEnv::AllowList | InheritedEnv::AllowListAnd(_))
        );
        (has_limited_env && lines().any(mentions_variable)).then(|| {
            "If it needs environment variables, list them under \"env\" or \"inheritEnv\"."
                .to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    fn failure(error: McpError, status: Option<i32>, stderr: &[&str]) -> Notice {
        SessionFailure {
            error,
            server: &ServerId::new("dead"),
            was_connected: false,
            status: status.map(ExitStatus::from_raw),
            stderr_lines: stderr.iter().map(|&line| line.to_owned()).collect(),
            skipped_summary: None,
            is_remote: false,
            inherited_env: Some(&InheritedEnv::AllowList),
        }
        .notice()
    }

    fn exited(status: i32, stderr: &[&str]) -> Notice {
        failure(McpError::ProcessExited, Some(status), stderr)
    }

    #[test]
    fn exit_status_and_stderr_share_a_sentence_before_the_advice() {
        let notice = exited(3 << 8, &["Traceback: no module named foo"]);
        assert_eq!(
            notice.summary(),
            "Server `dead` could not be started. It exited with status 3: \"Traceback: no module \
             named foo\". Install its missing module `foo`."
        );
        let headline = notice.headline.as_deref();
        assert_eq!(headline, Some("Traceback: no module named foo"));
    }

    #[test]
    fn advice_about_an_exited_server_depends_on_its_stderr() {
        let variables =
            "If it needs environment variables, list them under \"env\" or \"inheritEnv\".";
        let cases = [
            (
                "ModuleNotFoundError: No module named 'mcp.server'",
                "Install its missing module `mcp.server`.",
            ),
            (
                "Error: Cannot find package 'zod' imported from /a.js",
                "Install its missing module `zod`.",
            ),
            (
                "Error: Cannot find module '/app/index.js'",
                "Correct `args` in mcp-servers.json.",
            ),
            (
                "Error: BRAVE_API_KEY environment variable is required",
                variables,
            ),
            ("KeyError: 'GITHUB_TOKEN'", variables),
        ];
        for (line, advice) in cases {
            assert_eq!(exited(1 << 8, &[line]).advice, [advice.into()], "{line}");
        }
        for line in [
            "SyntaxError: Unexpected token '}'",
            "ImportError: bad ELF header",
        ] {
            assert_eq!(exited(1 << 8, &[line]).advice, [], "{line}");
        }
        assert_eq!(exited(1 << 8, &[]).advice, []);
    }

    #[test]
    fn the_error_about_an_exited_server_names_empty_stderr_and_the_signal() {
        let notice = exited(9, &[]);
        let expected = "It was killed by signal 9 (SIGKILL) and wrote nothing to stderr.";
        assert_eq!(notice.why.as_deref(), Some(expected));
        let expected = "was killed by signal 9 (SIGKILL)";
        assert_eq!(notice.headline.as_deref(), Some(expected));
    }

    #[test]
    fn the_headline_of_an_exited_server_is_the_line_that_names_the_error() {
        let lines = ["Error: Cannot find module 'x'", "    at a", "Node.js v20"];
        let headline = exited(1 << 8, &lines).headline;
        assert_eq!(headline.as_deref(), Some("Error: Cannot find module 'x'"));
        let headline = exited(1 << 8, &["starting", "no such table"]).headline;
        assert_eq!(headline.as_deref(), Some("no such table"));
    }

    #[test]
    fn slow_server_is_reported_with_the_configured_seconds() {
        let error = McpError::HandshakeTimeout(Duration::from_secs(30));
        let notice = failure(error.clone(), None, &[]);
        let expected = "It did not answer `initialize` within 30 s. It wrote nothing to stderr.";
        assert_eq!(notice.why.as_deref(), Some(expected));
        let expected = "did not answer `initialize` within 30 s";
        assert_eq!(notice.headline.as_deref(), Some(expected));
        let notice = failure(error, None, &["installing"]);
        let expected = "It did not answer `initialize` within 30 s. Its output: \"installing\".";
        assert_eq!(notice.why.as_deref(), Some(expected));
    }
}
