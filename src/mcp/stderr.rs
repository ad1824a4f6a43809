//! What a server writes to stderr: always drained, so that it never blocks, and
//! the last of it kept for the sidebar and for the notice when it dies.

use crate::domain::{Redactor, ServerLine};
use crate::sync::lock_ignoring_poison;
use jiff::Timestamp;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt};

const LINES_MAX: usize = 200;
const LINE_BYTES_MAX: usize = 2_048;
/// More of a line is read than is kept, so that a secret at the cut is still recognized.
const OPEN_BYTES_MAX: usize = 8_192;

/// A ring of raw lines. It outlives the process, whose last words stand until
/// the next one starts.
#[derive(Debug, Clone, Default)]
pub struct Stderr(Arc<Mutex<Ring>>);

#[derive(Debug, Default)]
struct Ring {
    lines: VecDeque<ServerLine>,
    /// Lines ever written, over all runs.
    written: u64,
    since: Option<Timestamp>,
    /// The unfinished line, cut at [`OPEN_BYTES_MAX`].
    open: Vec<u8>,
    /// Removes the server's secrets from each line.
    redactor: Arc<Redactor>,
}

impl Stderr {
    pub fn lines(&self) -> Vec<String> {
        self.with(|ring| ring.stderr().cloned().collect())
    }

    /// The lines with this program's own among them, since when the run goes, and how
    /// many lines were ever written.
    pub fn run(&self) -> (Vec<ServerLine>, Option<Timestamp>, u64) {
        self.with(|ring| {
            let lines = ring.lines.iter().cloned().collect();
            (lines, ring.since, ring.written)
        })
    }

    pub fn written(&self) -> u64 {
        self.with(|ring| ring.written)
    }

    /// Adds words of this program about the server, such as why its session ended.
    pub fn note(&self, words: &str) {
        self.with(|ring| {
            ring.push(words, ServerLine::Own);
            ring.keep_the_last();
        });
    }

    /// The last lines that say anything, at most `count`.
    pub fn last(&self, count: usize) -> Vec<String> {
        self.with(|ring| {
            let said = ring.stderr().filter(|line| !line.trim().is_empty());
            let mut said: Vec<_> = said.cloned().collect();
            said.split_off(said.len().saturating_sub(count))
        })
    }

    /// Adds a message of the server that came by another way, line by line.
    pub fn say(&self, words: &str) {
        self.with(|ring| {
            let open = std::mem::take(&mut ring.open);
            for line in words.lines().take(LINES_MAX) {
                ring.take(line.as_bytes());
                ring.take(b"\n");
            }
            ring.open = open;
        });
    }

    /// Every line from now on goes through `redactor`.
    pub fn redact_with(&self, redactor: Arc<Redactor>) {
        self.with(|ring| ring.redactor = redactor);
    }

    pub fn redactor(&self) -> Arc<Redactor> {
        self.with(|ring| Arc::clone(&ring.redactor))
    }

    /// Forgets the lines: the next process begins.
    pub fn clear(&self) {
        self.with(|ring| {
            // Whoever looks sees that these lines are others.
            *ring = Ring {
                written: ring.written + 1,
                since: Some(Timestamp::now()),
                redactor: Arc::clone(&ring.redactor),
                ..Ring::default()
            };
        });
    }

    /// Reads until the last holder of the other end has gone.
    pub async fn drain(self, mut from: impl AsyncRead + Unpin) {
        let mut bytes = [0; 8_192];
        loop {
            match from.read(&mut bytes).await {
                Ok(0) | Err(_) => break,
                Ok(count) => self.with(|ring| ring.take(&bytes[..count])),
            }
        }
        self.with(Ring::close_line);
    }

    fn with<T>(&self, act: impl FnOnce(&mut Ring) -> T) -> T {
        // A ring is whole between any two of its operations.
        act(&mut lock_ignoring_poison(&self.0))
    }
}

impl Ring {
    fn take(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ended) = match part.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (part, false),
            };
            let room = OPEN_BYTES_MAX - self.open.len();
            self.open.extend_from_slice(&text[..text.len().min(room)]);
            if ended {
                let text = self.open_text();
                self.push(&text, ServerLine::Stderr);
                self.open.clear();
            }
        }
        self.keep_the_last();
    }

    fn push(&mut self, words: &str, kind: fn(String) -> ServerLine) {
        let (words, _) = self.redactor.redacted_head(words, LINE_BYTES_MAX);
        self.lines.push_back(kind(words));
        self.written += 1;
    }

    fn keep_the_last(&mut self) {
        let surplus = self.lines.len().saturating_sub(LINES_MAX);
        self.lines.drain(..surplus);
    }

    fn stderr(&self) -> impl Iterator<Item = &String> {
        self.lines.iter().filter_map(|line| match line {
            ServerLine::Stderr(line) => Some(line),
            ServerLine::Own(_) => None,
        })
    }

    fn close_line(&mut self) {
        if !self.open.is_empty() {
            self.take(b"\n");
        }
    }

    fn open_text(&self) -> String {
        let text = self.open.strip_suffix(b"\r").unwrap_or(&self.open);
        String::from_utf8_lossy(text).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn drained(bytes: &[u8]) -> Stderr {
        let stderr = Stderr::default();
        stderr.clone().drain(bytes).await;
        stderr
    }

    #[tokio::test]
    async fn lines_are_kept_raw_and_the_last_needs_no_newline() {
        let stderr = drained("one\r\n\n\u{1b}[31m둘\nthree".as_bytes()).await;
        assert_eq!(stderr.lines(), ["one", "", "\u{1b}[31m둘", "three"]);
        assert_eq!(stderr.last(2), ["\u{1b}[31m둘", "three"]);
    }

    #[tokio::test]
    async fn what_is_said_stands_between_lines_and_never_in_one() {
        let stderr = Stderr::default();
        stderr.with(|ring| ring.take(b"half"));
        stderr.say("[info] one\ntwo");
        stderr.with(|ring| ring.take(b" a line\n"));
        assert_eq!(stderr.lines(), ["[info] one", "two", "half a line"]);
    }

    #[tokio::test]
    async fn own_words_stand_among_the_lines_and_are_no_last_words() {
        let stderr = Stderr::default();
        stderr.clear();
        stderr.clone().drain("one\n".as_bytes()).await;
        stderr.note("It ended.");
        let (lines, since, written) = stderr.run();
        let expected = [
            ServerLine::Stderr("one".to_owned()),
            ServerLine::Own("It ended.".to_owned()),
        ];
        assert_eq!(lines, expected);
        assert!(since.is_some() && written == 3, "{written}");
        assert_eq!(stderr.last(5), ["one"]);
        stderr.clear();
        assert_eq!(stderr.run().0, []);
        assert_eq!(stderr.written(), 4, "whoever looks is told");
    }

    #[tokio::test]
    async fn a_flood_keeps_the_last_lines_each_cut() {
        let flood: String = (0..1_000)
            .map(|n| format!("{n} {}\n", "x".repeat(5_000)))
            .collect();
        let lines = drained(flood.as_bytes()).await.lines();
        assert_eq!(lines.len(), LINES_MAX);
        assert!(lines[0].starts_with("800 "));
        assert!(lines.iter().all(|line| line.len() == LINE_BYTES_MAX));
    }
}
