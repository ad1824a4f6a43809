//! Writes each reply to the log when the log is at debug level.

use super::error::without_secrets;
use super::reply_builder::Piece;
use super::types::{Request, StreamPart};
use crate::domain::ModelConfig;
use std::sync::Arc;

/// The most bytes of one answer that are kept for the log: more than a line of it
/// shows, so that what is hidden is never cut in two where it could be seen.
const LOGGED_BYTES_MAX: usize = 256 << 10;

/// Keeps an answer for the log, where the log is at debug (S12.1): what was read
/// out of it, joined, since in the raw events a secret may come in pieces that
/// nobody would recognise. It is written when the stream is dropped, so that an
/// interrupted answer is there as well.
pub(super) struct ReplyLog {
    said: Option<String>,
    /// What the end of `said` is.
    kind: &'static str,
    model: Arc<ModelConfig>,
}

impl ReplyLog {
    pub(super) fn new(request: &Request) -> Self {
        Self {
            said: tracing::enabled!(tracing::Level::DEBUG).then(String::new),
            kind: "",
            model: request.model.clone(),
        }
    }

    pub(super) fn push(&mut self, piece: &Piece) {
        if self.said.is_none() {
            return;
        }
        match piece {
            Ok(StreamPart::Text(text)) => self.add("text", text),
            Ok(StreamPart::Thinking(text)) => self.add("thinking", text),
            Ok(StreamPart::Call(call)) => {
                let arguments = match &call.arguments {
                    Ok(arguments) => serde_json::Value::from(arguments.clone()).to_string(),
                    Err(raw) => raw.clone(),
                };
                self.kind = "";
                self.add("call", &format!("{} {arguments}", call.name));
            }
            Ok(StreamPart::Usage(usage)) => self.add("usage", &format!("{usage:?}")),
            Ok(StreamPart::End(reason)) => self.add("end", &format!("{reason:?}")),
            // A carry repeats thinking, and holds signatures that nobody reads.
            Ok(StreamPart::Heartbeat | StreamPart::Notice(_) | StreamPart::Carry(_)) => {}
            Ok(StreamPart::StartedOver) => self.add("started over", ""),
            Err(cause) => self.add("fault", &format!("{cause:?}")),
        }
    }

    fn add(&mut self, kind: &'static str, words: &str) {
        let Some(said) = &mut self.said else {
            return;
        };
        if self.kind != kind {
            let gap = if said.is_empty() { "" } else { " | " };
            *said += &format!("{gap}{kind}: ");
            self.kind = kind;
        }
        let room = LOGGED_BYTES_MAX.saturating_sub(said.len());
        said.push_str(&words[..words.floor_char_boundary(room)]);
    }
}

impl Drop for ReplyLog {
    fn drop(&mut self) {
        if let Some(said) = self.said.take() {
            let said = without_secrets(&said, &self.model);
            tracing::debug!("answer of `{}`: {said}", self.model.name);
        }
    }
}
