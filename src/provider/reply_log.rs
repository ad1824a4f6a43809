//! Writes each reply to the log when the log is at debug level.

use super::error::without_secrets;
use super::reply_builder::ReplyPiece;
use super::types::{ChatRequest, StreamPart};
use crate::domain::ModelConfig;
use std::sync::Arc;

/// The largest logged reply in bytes. Larger than a displayed log line, so that a secret is never
/// truncated in the visible part and thereby missed by redaction.
const LOGGED_BYTES_MAX: usize = 256 << 10;

/// Logs the decoded text joined together: in the raw events, a secret may be split into pieces
/// that redaction would miss. Written on drop, so that an interrupted reply is logged too.
pub(super) struct ReplyLog {
    text: Option<String>,
    /// The kind of the last entry in `text`.
    kind: &'static str,
    model: Arc<ModelConfig>,
}

impl ReplyLog {
    pub(super) fn new(request: &ChatRequest) -> Self {
        Self {
            text: tracing::enabled!(tracing::Level::DEBUG).then(String::new),
            kind: "",
            model: request.model.clone(),
        }
    }

    pub(super) fn push(&mut self, piece: &ReplyPiece) {
        if self.text.is_none() {
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
            // A carry repeats the thinking, plus signatures that help nobody.
            Ok(StreamPart::Heartbeat | StreamPart::Notice(_) | StreamPart::Carry(_)) => {}
            Ok(StreamPart::StartedOver) => self.add("started over", ""),
            Err(cause) => self.add("fault", &format!("{cause:?}")),
        }
    }

    fn add(&mut self, kind: &'static str, entry: &str) {
        let Some(text) = &mut self.text else {
            return;
        };
        if self.kind != kind {
            let gap = if text.is_empty() { "" } else { " | " };
            *text += &format!("{gap}{kind}: ");
            self.kind = kind;
        }
        let room = LOGGED_BYTES_MAX.saturating_sub(text.len());
        text.push_str(&entry[..entry.floor_char_boundary(room)]);
    }
}

impl Drop for ReplyLog {
    fn drop(&mut self) {
        if let Some(text) = self.text.take() {
            let text = without_secrets(&text, &self.model);
            tracing::debug!("answer of `{}`: {text}", self.model.name);
        }
    }
}
