//! A server's stderr. It is read continuously, so that the server never blocks on writing; the last
//! lines are kept for the servers pane and for failure notices.

use crate::domain::{SecretRegistry, ServerLogLine};
use crate::sync::lock_ignoring_poison;
use jiff::Timestamp;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt};

const LINES_MAX: usize = 200;
const LINE_BYTES_MAX: usize = 2_048;
/// Number of last lines that are searched for one that names an error.
const ERROR_SEARCH_LINES_MAX: usize = 40;
/// Number of bytes read from a line: more than are kept, so that a secret at the truncation point
/// is still recognized.
const PARTIAL_BYTES_MAX: usize = 8_192;

/// The last lines of a server, redacted but not sanitized. They are kept after the process exits,
/// until the next one starts.
#[derive(Debug, Clone, Default)]
pub struct StderrBuffer(Arc<Mutex<StderrRing>>);

#[derive(Debug, Default)]
struct StderrRing {
    lines: VecDeque<ServerLogLine>,
    /// Number of lines ever written, over all runs, plus one for each time they were cleared.
    lines_written: u64,
    run_started_at: Option<Timestamp>,
    /// The incomplete line, cut at [`PARTIAL_BYTES_MAX`].
    partial: Vec<u8>,
    secrets: SecretRegistry,
}

/// Whether a stderr line names an error. Indented lines belong to a stack trace.
pub fn names_error(line: &str) -> bool {
    !line.starts_with(char::is_whitespace) && line.to_lowercase().contains("error")
}

impl StderrBuffer {
    /// A buffer that stores lines without `secrets`.
    pub fn new(secrets: SecretRegistry) -> Self {
        Self(Arc::new(Mutex::new(StderrRing {
            secrets,
            ..StderrRing::default()
        })))
    }

    pub fn lines(&self) -> Vec<String> {
        self.with_ring(|ring| ring.stderr_lines().cloned().collect())
    }

    /// The lines of the current or last run, including humble's own; the start of the run; and the
    /// number of lines ever written.
    pub fn run_lines(&self) -> (Vec<ServerLogLine>, Option<Timestamp>, u64) {
        self.with_ring(|ring| {
            let lines = ring.lines.iter().cloned().collect();
            (lines, ring.run_started_at, ring.lines_written)
        })
    }

    pub fn lines_written(&self) -> u64 {
        self.with_ring(|ring| ring.lines_written)
    }

    /// Adds a line from humble about the server, such as why its session ended.
    pub fn add_own_line(&self, text: &str) {
        self.with_ring(|ring| {
            ring.push(text, ServerLogLine::Program);
            ring.trim();
        });
    }

    /// The last nonblank lines, at most `count`.
    pub fn last_lines(&self, count: usize) -> Vec<String> {
        self.with_ring(|ring| {
            let mut nonblank: Vec<_> = ring
                .stderr_lines()
                .filter(|line| !line.trim().is_empty())
                .cloned()
                .collect();
            nonblank.split_off(nonblank.len().saturating_sub(count))
        })
    }

    /// Up to `count` nonblank lines, starting with the first that names an error, because a stack
    /// trace follows it. If none does, the last lines.
    pub fn error_lines(&self, count: usize) -> Vec<String> {
        let mut lines = self.last_lines(ERROR_SEARCH_LINES_MAX);
        match lines.iter().position(|line| names_error(line)) {
            Some(first) => {
                lines.drain(..first);
                lines.truncate(count);
                lines
            }
            None => lines.split_off(lines.len().saturating_sub(count)),
        }
    }

    /// Adds a log message that the server sent as a notification instead of on stderr, line by
    /// line.
    pub fn add_server_message(&self, text: &str) {
        self.with_ring(|ring| {
            let partial = std::mem::take(&mut ring.partial);
            for line in text.lines().take(LINES_MAX) {
                ring.push_bytes(line.as_bytes());
                ring.push_bytes(b"\n");
            }
            ring.partial = partial;
        });
    }

    /// Clears the lines for the next process.
    pub fn clear(&self) {
        self.with_ring(|ring| {
            // Change the count, so that viewers notice that the lines were cleared.
            *ring = StderrRing {
                lines_written: ring.lines_written + 1,
                run_started_at: Some(Timestamp::now()),
                secrets: ring.secrets.clone(),
                ..StderrRing::default()
            };
        });
    }

    /// Reads until every process that writes to the stream has closed it.
    pub async fn read_from(self, mut reader: impl AsyncRead + Unpin) {
        let mut bytes = [0; 8_192];
        loop {
            match reader.read(&mut bytes).await {
                Ok(0) | Err(_) => break,
                Ok(count) => self.with_ring(|ring| ring.push_bytes(&bytes[..count])),
            }
        }
        self.with_ring(StderrRing::finish_line);
    }

    fn with_ring<T>(&self, operation: impl FnOnce(&mut StderrRing) -> T) -> T {
        // Each operation leaves the ring consistent, so a poisoned lock is harmless.
        operation(&mut lock_ignoring_poison(&self.0))
    }
}

impl StderrRing {
    fn push_bytes(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, is_complete) = match part.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (part, false),
            };
            let remaining = PARTIAL_BYTES_MAX - self.partial.len();
            self.partial
                .extend_from_slice(&text[..text.len().min(remaining)]);
            if is_complete {
                let text = self.partial_text();
                self.push(&text, ServerLogLine::Stderr);
                self.partial.clear();
            }
        }
        self.trim();
    }

    fn push(&mut self, text: &str, kind: fn(String) -> ServerLogLine) {
        let (text, _) = self.secrets.redact_prefix(text, LINE_BYTES_MAX);
        self.lines.push_back(kind(text));
        self.lines_written += 1;
    }

    fn trim(&mut self) {
        let surplus = self.lines.len().saturating_sub(LINES_MAX);
        self.lines.drain(..surplus);
    }

    fn stderr_lines(&self) -> impl Iterator<Item = &String> {
        self.lines.iter().filter_map(|line| match line {
            ServerLogLine::Stderr(line) => Some(line),
            ServerLogLine::Program(_) => None,
        })
    }

    fn finish_line(&mut self) {
        if !self.partial.is_empty() {
            self.push_bytes(b"\n");
        }
    }

    fn partial_text(&self) -> String {
        let text = self.partial.strip_suffix(b"\r").unwrap_or(&self.partial);
        String::from_utf8_lossy(text).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn buffer_of(bytes: &[u8]) -> StderrBuffer {
        let stderr = StderrBuffer::default();
        stderr.clone().read_from(bytes).await;
        stderr
    }

    #[tokio::test]
    async fn lines_are_not_sanitized_and_need_no_final_newline() {
        let stderr = buffer_of("one\r\n\n\u{1b}[31m둘\nthree".as_bytes()).await;
        assert_eq!(stderr.lines(), ["one", "", "\u{1b}[31m둘", "three"]);
        assert_eq!(stderr.last_lines(2), ["\u{1b}[31m둘", "three"]);
    }

    #[tokio::test]
    async fn error_lines_begin_with_the_error_and_not_with_its_stack_trace() {
        let node = "node:internal/modules\n  throw err;\n\nError: Cannot find module 'x'\n    at a\n    \
                    at b\nNode.js v20\n";
        let stderr = buffer_of(node.as_bytes()).await;
        assert_eq!(
            stderr.error_lines(2),
            ["Error: Cannot find module 'x'", "    at a"]
        );
        let stderr = buffer_of(b"one\ntwo\nthree\n").await;
        assert_eq!(stderr.error_lines(2), ["two", "three"]);
    }

    #[tokio::test]
    async fn server_messages_never_split_a_stderr_line() {
        let stderr = StderrBuffer::default();
        stderr.with_ring(|ring| ring.push_bytes(b"half"));
        stderr.add_server_message("[info] one\ntwo");
        stderr.with_ring(|ring| ring.push_bytes(b" a line\n"));
        assert_eq!(stderr.lines(), ["[info] one", "two", "half a line"]);
    }

    #[tokio::test]
    async fn our_own_lines_are_listed_but_do_not_count_as_stderr_output() {
        let stderr = StderrBuffer::default();
        stderr.clear();
        stderr.clone().read_from("one\n".as_bytes()).await;
        stderr.add_own_line("It exited.");
        let (lines, run_started_at, lines_written) = stderr.run_lines();
        let expected = [
            ServerLogLine::Stderr("one".to_owned()),
            ServerLogLine::Program("It exited.".to_owned()),
        ];
        assert_eq!(lines, expected);
        assert!(
            run_started_at.is_some() && lines_written == 3,
            "{lines_written}"
        );
        assert_eq!(stderr.last_lines(5), ["one"]);
        stderr.clear();
        assert_eq!(stderr.run_lines().0, []);
        assert_eq!(stderr.lines_written(), 4, "clearing changes the count");
    }

    #[tokio::test]
    async fn only_the_last_lines_of_a_flood_are_kept_each_truncated() {
        let flood: String = (0..1_000)
            .map(|n| format!("{n} {}\n", "x".repeat(5_000)))
            .collect();
        let lines = buffer_of(flood.as_bytes()).await.lines();
        assert_eq!(lines.len(), LINES_MAX);
        assert!(lines[0].starts_with("800 "));
        assert!(lines.iter().all(|line| line.len() == LINE_BYTES_MAX));
    }
}
