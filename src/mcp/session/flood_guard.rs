//! Detects a server that writes garbage or floods the client with requests, so that its session
//! can be ended.

use crate::domain::SecretRegistry;
use crate::mcp::error::McpError;
use crate::sync::lock_ignoring_poison;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Maximum number of bytes of a skipped line that are shown to the user.
const SAMPLE_BYTES_MAX: usize = 80;
/// Bytes scanned for secrets: more than are shown, so that a secret at the truncation point is
/// still recognized.
const SAMPLE_BYTES_SCANNED: usize = 8_192;
/// Number of skipped lines per session that are logged individually; the rest are only counted.
const SKIPPED_LINES_LOGGED_MAX: u64 = 5;
/// Maximum number of requests per window; one more ends the session.
const REQUESTS_MAX: u32 = 5_000;
const REQUESTS_WINDOW: Duration = Duration::from_secs(10);
/// Consecutive skipped lines after which the server is assumed not to speak MCP.
const CONSECUTIVE_SKIPPED_MAX: u64 = 10_000;

#[derive(Debug, Default)]
pub struct FloodGuard {
    /// Start of the current window, and the number of requests in it so far.
    requests: Mutex<Option<(Instant, u32)>>,
    skipped: Mutex<SkippedLines>,
}

/// Lines that were not JSON-RPC messages.
#[derive(Debug, Default)]
struct SkippedLines {
    /// Number of nonblank skipped lines in the session.
    count: u64,
    /// The start of the first nonblank skipped line, redacted.
    first: String,
    /// Number of skipped lines since the last message, including blank ones.
    consecutive: u64,
}

impl FloodGuard {
    /// Counts a request from the server.
    ///
    /// # Errors
    /// The server sent too many requests.
    pub fn count_request(&self) -> Result<(), McpError> {
        let mut requests = lock_ignoring_poison(&self.requests);
        let (start, count) = requests.get_or_insert_with(|| (Instant::now(), 0));
        if start.elapsed() > REQUESTS_WINDOW {
            (*start, *count) = (Instant::now(), 0);
        }
        *count += 1;
        match *count > REQUESTS_MAX {
            true => Err(McpError::RequestFlood),
            false => Ok(()),
        }
    }

    /// Counts a line that was not a message. Keeps the first one for the summary and logs the
    /// first few.
    ///
    /// # Errors
    /// Too many consecutive lines were not messages.
    pub fn count_skipped_line(
        &self,
        line: &[u8],
        secrets: &SecretRegistry,
    ) -> Result<(), McpError> {
        let scanned = &line[..line.len().min(SAMPLE_BYTES_SCANNED)];
        let scanned = String::from_utf8_lossy(scanned);
        let (sample, _) = secrets.redact_prefix(scanned.trim(), SAMPLE_BYTES_MAX);
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
            true => Err(McpError::NotMcp { sample }),
            false => Ok(()),
        }
    }

    /// Resets the count of consecutive skipped lines, because a valid message arrived.
    pub fn reset_consecutive_skipped(&self) {
        lock_ignoring_poison(&self.skipped).consecutive = 0;
    }

    /// Summarizes the skipped lines for the user; `None` if there are none.
    pub fn skipped_summary(&self) -> Option<String> {
        let skipped = lock_ignoring_poison(&self.skipped);
        let SkippedLines { count, first, .. } = &*skipped;
        match count {
            0 => None,
            1 => Some(format!("1 line on stdout that is not JSON-RPC: {first}")),
            _ => Some(format!(
                "{count} lines on stdout that are not JSON-RPC, first: {first}"
            )),
        }
    }
}

fn log_skipped(count: u64, sample: &str) {
    if count <= SKIPPED_LINES_LOGGED_MAX {
        tracing::debug!("skipped a line that is not JSON-RPC: {sample}");
    } else if count == 10_u64.pow(count.ilog10()) {
        // Only powers of ten are logged, so a flood does not fill the log.
        tracing::debug!("skipped {count} lines that are not JSON-RPC");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valid_message_resets_the_count_of_skipped_lines() {
        let (guard, secrets) = (FloodGuard::default(), SecretRegistry::default());
        for _ in 0..2 {
            guard.reset_consecutive_skipped();
            for _ in 0..CONSECUTIVE_SKIPPED_MAX - 1 {
                assert_eq!(guard.count_skipped_line(b"y", &secrets), Ok(()));
            }
        }
        let sample = "last".to_owned();
        assert_eq!(
            guard.count_skipped_line(b"last", &secrets),
            Err(McpError::NotMcp { sample })
        );
    }
}
