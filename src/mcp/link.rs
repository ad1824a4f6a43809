//! What the two ends of one session share: that it ended and why, whom progress
//! concerns, and what was skipped on the way.

use super::fault::Fault;
use super::http::{ParamHeaders, WebFault};
use super::stderr::Stderr;
use crate::domain::Progress;
use crate::sync::lock;
use rmcp::model::{ProgressToken, RequestId};
use serde_json::Value;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

/// Cancelled requests that are remembered, to notice a late answer.
const CANCELLED_MAX: usize = 64;
/// An answer this soon after the cancellation crossed it on the way.
const CROSSING: Duration = Duration::from_secs(1);
/// A cancellation takes less time to be written.
const JUST_NOW: Duration = Duration::from_millis(100);
/// Bytes of a skipped line that are shown.
const SAMPLE_BYTES_MAX: usize = 80;
/// More is read, so that a secret at the cut is still recognized.
const SAMPLE_BYTES_READ: usize = 8_192;
/// Skipped lines of a session that the log shows; then it only counts.
const SKIPPED_LOGGED: u64 = 5;
/// Requests of a server within the window; with more of them it is ended.
const REQUESTS_MAX: u32 = 5_000;
const REQUESTS_WINDOW: Duration = Duration::from_secs(10);
/// So many lines in a row without one message between them are no MCP.
const JUNK_LINES_MAX: u64 = 10_000;

#[derive(Debug, Default)]
pub struct Link {
    ended: CancellationToken,
    fault: OnceLock<Fault>,
    progress: Mutex<HashMap<ProgressToken, watch::Sender<Option<Progress>>>>,
    cancelled: Mutex<VecDeque<(RequestId, String, Instant)>>,
    skipped: Mutex<Skipped>,
    /// Since when the requests of the server are counted, and how many there were.
    asked: Mutex<Option<(Instant, u32)>>,
    stage: Mutex<Stage>,
    /// Where a server's log messages go: among what it writes to stderr.
    said: Stderr,
    /// The server said that its list of tools changed.
    pub tools_changed: Notify,
    /// A stream on which it speaks by itself is back after a while without one.
    pub stream_reopened: Notify,
    /// Arguments that go into headers as well.
    pub params: ParamHeaders,
    /// Requests that the server did nothing for, since it did not know the session.
    refused: Mutex<HashSet<String>>,
    /// Until when the session is to be open.
    open_by: OnceLock<Instant>,
    /// What the server refused us for, while what else it said is still read.
    blamed: OnceLock<Fault>,
    /// Why the server wants to be asked later, while that is waited for.
    put_off: Mutex<Option<WebFault>>,
}

/// How far the handshake has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stage {
    #[default]
    New,
    /// `server/discover` is sent: the server may not know it.
    Discovering,
    /// `initialize` is sent.
    Initializing,
    Open,
}

/// Lines that were no messages.
#[derive(Debug, Default)]
struct Skipped {
    /// Those that are not blank.
    count: u64,
    first: String,
    /// All of them since the last message.
    in_a_row: u64,
}

impl Link {
    pub fn saying_to(said: Stderr) -> Self {
        Self {
            said,
            ..Self::default()
        }
    }

    /// Takes `params` of `notifications/message`: a line of the server's log.
    pub fn logged(&self, params: &Value) {
        let text = |key: &str| params.get(key).and_then(Value::as_str);
        let level = text("level").unwrap_or("log");
        let by = text("logger").map_or_else(String::new, |logger| format!(" {logger}"));
        let words = match params.get("data") {
            Some(Value::String(words)) => words.clone(),
            Some(data) => data.to_string(),
            None => return,
        };
        self.said.say(&format!("[{level}{by}] {words}"));
    }

    /// Ends the session; the first reason stands.
    pub fn end(&self, fault: Fault) {
        let fault = match fault {
            // That says nothing of why.
            Fault::Dropped => self.blamed.get().cloned().unwrap_or(Fault::Dropped),
            fault => fault,
        };
        let _ = self.fault.set(fault);
        self.ended.cancel();
    }

    /// The session is about to end for this reason, whoever closes it first.
    pub fn blame(&self, fault: Fault) {
        let _ = self.blamed.set(fault);
    }

    pub fn has_ended(&self) -> bool {
        self.ended.is_cancelled()
    }

    /// Waits for the end.
    pub async fn ended(&self) -> Fault {
        self.ended.cancelled().await;
        self.fault.get().cloned().unwrap_or(Fault::Dropped)
    }

    /// Why it ended, if it did.
    pub fn fault(&self) -> Option<Fault> {
        self.fault.get().cloned()
    }

    /// Remembers that a request can be made again in another session.
    pub fn refuse(&self, request: &Value) {
        lock(&self.refused).insert(request.to_string());
    }

    pub fn was_refused(&self, request: &RequestId) -> bool {
        let id = serde_json::to_value(request).unwrap_or_default();
        lock(&self.refused).contains(&id.to_string())
    }

    /// Counts what the server asks; one that asks without pause does nothing else.
    pub fn count_request(&self) {
        let mut asked = lock(&self.asked);
        let window = asked.get_or_insert_with(|| (Instant::now(), 0));
        if window.0.elapsed() > REQUESTS_WINDOW {
            *window = (Instant::now(), 0);
        }
        window.1 += 1;
        let is_flood = window.1 > REQUESTS_MAX;
        drop(asked);
        if is_flood {
            self.end(Fault::Flood);
        }
    }

    /// The session has this time to open.
    pub fn open_within(&self, startup: Duration) {
        let _ = self.open_by.set(Instant::now() + startup);
    }

    /// Can a server be given this pause? Not where its session would come too late.
    pub fn has_time_for(&self, pause: Duration) -> bool {
        let open_by = self.open_by.get().filter(|_| self.stage() != Stage::Open);
        open_by.is_none_or(|open_by| Instant::now() + pause < *open_by)
    }

    pub fn put_off(&self, why: Option<WebFault>) {
        *lock(&self.put_off) = why;
    }

    pub fn why_put_off(&self) -> Option<WebFault> {
        lock(&self.put_off).clone()
    }

    pub fn reach(&self, stage: Stage) {
        *lock(&self.stage) = stage;
    }

    pub fn stage(&self) -> Stage {
        *lock(&self.stage)
    }

    /// Ends the session when the guard is dropped.
    pub fn guard(self: &Arc<Self>) -> impl Drop + use<> {
        struct Guard(Arc<Link>);
        impl Drop for Guard {
            fn drop(&mut self) {
                self.0.end(Fault::Dropped);
            }
        }
        Guard(self.clone())
    }

    /// The progress of one request, from now until [`Self::forget_progress`]. A
    /// watch keeps the newest only: a flood of progress costs nothing.
    pub fn watch_progress(&self, token: ProgressToken) -> watch::Receiver<Option<Progress>> {
        let (sender, receiver) = watch::channel(None);
        lock(&self.progress).insert(token, sender);
        receiver
    }

    pub fn forget_progress(&self, token: &ProgressToken) {
        lock(&self.progress).remove(token);
    }

    /// Takes `params` of `notifications/progress`; says whether they can be read.
    pub fn progressed(&self, params: &Value) -> bool {
        let token = params.get("progressToken").cloned().unwrap_or_default();
        let (Ok(token), Some(done)) = (
            serde_json::from_value::<ProgressToken>(token),
            params.get("progress").and_then(Value::as_f64),
        ) else {
            return false;
        };
        if let Some(sender) = lock(&self.progress).get(&token) {
            let total = params.get("total").and_then(Value::as_f64);
            let message = params.get("message").and_then(Value::as_str);
            sender.send_replace(Some(Progress::new(done, total, message)));
        }
        true
    }

    /// Remembers that the request for `tool` was cancelled.
    pub fn cancelled(&self, request: RequestId, tool: String) {
        let mut cancelled = lock(&self.cancelled);
        if cancelled.len() == CANCELLED_MAX {
            cancelled.pop_front();
        }
        cancelled.push_back((request, tool, Instant::now()));
    }

    /// Was a request cancelled so lately that the server may not have been told?
    pub fn has_just_cancelled(&self) -> bool {
        let cancelled = lock(&self.cancelled);
        let last = cancelled.back();
        last.is_some_and(|(.., since)| since.elapsed() < JUST_NOW)
    }

    /// The tool of a cancelled request that is answered all the same, too late
    /// for the two to have crossed.
    pub fn worked_on(&self, answered: &RequestId) -> Option<String> {
        let mut cancelled = lock(&self.cancelled);
        let index = cancelled.iter().position(|(id, ..)| id == answered)?;
        let (_, tool, since) = cancelled.remove(index)?;
        (since.elapsed() > CROSSING).then_some(tool)
    }

    /// Counts a line that was no message, and keeps the first. The log hears of
    /// few of them, and too many in a row end the session.
    pub fn skip(&self, line: &[u8]) {
        let sample = &line[..line.len().min(SAMPLE_BYTES_READ)];
        let sample = String::from_utf8_lossy(sample);
        let redactor = self.said.redactor();
        let (sample, _) = redactor.redacted_head(sample.trim(), SAMPLE_BYTES_MAX);
        let is_blank = line.iter().all(u8::is_ascii_whitespace);
        let mut skipped = lock(&self.skipped);
        skipped.in_a_row += 1;
        let in_a_row = skipped.in_a_row;
        if !is_blank {
            skipped.count += 1;
            if skipped.count == 1 {
                skipped.first.clone_from(&sample);
            }
            tell_log(skipped.count, &sample);
        }
        drop(skipped);
        if in_a_row >= JUNK_LINES_MAX {
            self.end(Fault::Junk { last: sample });
        }
    }

    /// A message came: the lines before it were not all that there is.
    pub fn heard(&self) {
        lock(&self.skipped).in_a_row = 0;
    }

    /// What was skipped, as a line for the person.
    pub fn skipped(&self) -> Option<String> {
        let skipped = lock(&self.skipped);
        let Skipped { count, first, .. } = &*skipped;
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

fn tell_log(count: u64, sample: &str) {
    if count <= SKIPPED_LOGGED {
        tracing::debug!("skipped a line that is no JSON-RPC message: {sample}");
    } else if count == 10_u64.pow(count.ilog10()) {
        tracing::debug!("skipped {count} lines that are no JSON-RPC messages");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_is_closed_while_a_refusal_is_told_ended_for_the_refusal() {
        let refusal = Fault::from(WebFault::Unauthorized(Default::default()));
        let link = Link::default();
        link.blame(refusal.clone());
        link.end(Fault::Dropped);
        assert_eq!(link.fault(), Some(refusal));
    }

    #[test]
    fn a_message_starts_the_count_of_junk_over() {
        let link = Link::default();
        for _ in 0..2 {
            link.heard();
            for _ in 0..JUNK_LINES_MAX - 1 {
                link.skip(b"y");
            }
        }
        assert_eq!(link.fault(), None);
        link.skip(b"last");
        let last = "last".to_owned();
        assert_eq!(link.fault(), Some(Fault::Junk { last }));
    }
}
