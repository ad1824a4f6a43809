//! Protects against a server that writes junk or asks without pause.

use super::error::McpError;
use crate::domain::Redactor;
use crate::sync::lock_ignoring_poison;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Bytes of a skipped line that are shown.
const SAMPLE_BYTES_MAX: usize = 80;
/// More is read, so that a secret at the cut is still recognized.
const SAMPLE_BYTES_READ: usize = 8_192;
/// Skipped lines of a session that the log shows; the rest it only counts.
const SKIPPED_LINES_LOGGED: u64 = 5;
/// Requests of a server within the window; with more of them it is ended.
const REQUESTS_MAX: u32 = 5_000;
const REQUESTS_WINDOW: Duration = Duration::from_secs(10);
/// As many lines in a row without a message between them are no MCP.
const CONSECUTIVE_SKIPPED_MAX: u64 = 10_000;

#[derive(Debug, Default)]
pub struct FloodGuard {
    /// When the present window began, and the requests in it.
    requests: Mutex<Option<(Instant, u32)>>,
    skipped: Mutex<SkippedLines>,
}

/// Lines that were no messages.
#[derive(Debug, Default)]
struct SkippedLines {
    /// Those that are not blank.
    count: u64,
    first: String,
    /// All of them since the last message.
    consecutive: u64,
}

impl FloodGuard {
    /// Counts a request of the server.
    ///
    /// # Errors
    /// It asks so often that it can do nothing else.
    pub fn count_request(&self) -> Result<(), McpError> {
        let mut requests = lock_ignoring_poison(&self.requests);
        let window = requests.get_or_insert_with(|| (Instant::now(), 0));
        if window.0.elapsed() > REQUESTS_WINDOW {
            *window = (Instant::now(), 0);
        }
        window.1 += 1;
        match window.1 > REQUESTS_MAX {
            true => Err(McpError::RequestFlood),
            false => Ok(()),
        }
    }

    /// Counts a line that was no message, and keeps the first. The log shows few of them.
    ///
    /// # Errors
    /// Too many in a row.
    pub fn count_skipped_line(&self, line: &[u8], redactor: &Redactor) -> Result<(), McpError> {
        let sample = &line[..line.len().min(SAMPLE_BYTES_READ)];
        let sample = String::from_utf8_lossy(sample);
        let (sample, _) = redactor.redact_prefix(sample.trim(), SAMPLE_BYTES_MAX);
        let is_blank = line.iter().all(u8::is_ascii_whitespace);
        let mut skipped = lock_ignoring_poison(&self.skipped);
        skipped.consecutive += 1;
        if !is_blank {
            skipped.count += 1;
            if skipped.count == 1 {
                skipped.first.clone_from(&sample);
            }
            log_skipped(skipped.count, &sample);
        }
        match skipped.consecutive >= CONSECUTIVE_SKIPPED_MAX {
            true => Err(McpError::NotMcp { last: sample }),
            false => Ok(()),
        }
    }

    /// A message came: the junk before it was not all that there is.
    pub fn count_message(&self) {
        lock_ignoring_poison(&self.skipped).consecutive = 0;
    }

    /// What was skipped, as a line for the user.
    pub fn skipped_summary(&self) -> Option<String> {
        let skipped = lock_ignoring_poison(&self.skipped);
        let SkippedLines { count, first, .. } = &*skipped;
        let lines = match count {
            0 => return None,
            1 => "line",
            _ => "lines",
        };
        Some(format!(
            "{count} {lines} on its stdout that are no JSON-RPC message, the first: {first}"
        ))
    }
}

fn log_skipped(count: u64, sample: &str) {
    if count <= SKIPPED_LINES_LOGGED {
        tracing::debug!("skipped a line that is no JSON-RPC message: {sample}");
    } else if count == 10_u64.pow(count.ilog10()) {
        tracing::debug!("skipped {count} lines that are no JSON-RPC messages");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valid_message_resets_the_count_of_skipped_lines() {
        let (guard, redactor) = (FloodGuard::default(), Redactor::default());
        for _ in 0..2 {
            guard.count_message();
            for _ in 0..CONSECUTIVE_SKIPPED_MAX - 1 {
                assert_eq!(guard.count_skipped_line(b"y", &redactor), Ok(()));
            }
        }
        let last = "last".to_owned();
        assert_eq!(
            guard.count_skipped_line(b"last", &redactor),
            Err(McpError::NotMcp { last })
        );
    }
}
