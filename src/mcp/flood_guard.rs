//! Protects against servers that write garbage or send requests without pause.

use super::error::McpError;
use crate::domain::Redactor;
use crate::sync::lock_ignoring_poison;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Maximum number of bytes shown of a skipped line.
const SAMPLE_BYTES_MAX: usize = 80;
/// Read more than is shown, so that a secret at the cut is still recognized.
const SAMPLE_BYTES_READ: usize = 8_192;
/// Skipped lines per session that are logged individually; the rest are counted.
const SKIPPED_LINES_LOGGED: u64 = 5;
/// Maximum number of requests per window; a session with more is ended.
const REQUESTS_MAX: u32 = 5_000;
const REQUESTS_WINDOW: Duration = Duration::from_secs(10);
/// This many consecutive lines without a message are not MCP.
const CONSECUTIVE_SKIPPED_MAX: u64 = 10_000;

#[derive(Debug, Default)]
pub struct FloodGuard {
    /// Start of the current window, and the number of requests in it.
    requests: Mutex<Option<(Instant, u32)>>,
    skipped: Mutex<SkippedLines>,
}

/// Lines that were not messages.
#[derive(Debug, Default)]
struct SkippedLines {
    /// Number of nonblank lines.
    count: u64,
    first: String,
    /// Number of lines since the last message.
    consecutive: u64,
}

impl FloodGuard {
    /// Counts a request from the server.
    ///
    /// # Errors
    /// The server sent too many requests.
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

    /// Counts a line that was not a message; keeps the first one and logs a few.
    ///
    /// # Errors
    /// Too many consecutive lines were not messages.
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

    /// Resets the count of consecutive skipped lines.
    pub fn count_message(&self) {
        lock_ignoring_poison(&self.skipped).consecutive = 0;
    }

    /// Summary of the skipped lines for the user.
    pub fn skipped_summary(&self) -> Option<String> {
        let skipped = lock_ignoring_poison(&self.skipped);
        let SkippedLines { count, first, .. } = &*skipped;
        let lines = match count {
            0 => return None,
            1 => "line",
            _ => "lines",
        };
        Some(format!(
            "{count} {lines} on stdout that are not JSON-RPC, first: {first}"
        ))
    }
}

fn log_skipped(count: u64, sample: &str) {
    if count <= SKIPPED_LINES_LOGGED {
        tracing::debug!("skipped a line that is not JSON-RPC: {sample}");
    } else if count == 10_u64.pow(count.ilog10()) {
        tracing::debug!("skipped {count} lines that are not JSON-RPC");
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
