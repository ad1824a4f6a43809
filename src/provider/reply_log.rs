//! Writes each reply to the log when the log is at debug level.

use super::reply_builder::DecodedPart;
use super::types::{ChatRequest, StreamPart};
use crate::domain::ModelConfig;
use std::sync::Arc;

/// Maximum size of a logged reply. Larger than a displayed log line, so that a secret cut off at
/// this limit, which redaction would miss, is never displayed.
const LOGGED_BYTES_MAX: usize = 256 << 10;

/// Collects a reply and logs it on drop, so that an interrupted reply is logged too. Logs joined
/// text instead of raw events, because redaction would miss a secret split between two events.
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

    pub(super) fn push(&mut self, part: &DecodedPart) {
        if self.text.is_none() {
            return;
        }
        match part {
            Ok(StreamPart::Text(text)) => self.add("text", text),
            Ok(StreamPart::Thinking(text)) => self.add("thinking", text),
            Ok(StreamPart::Call(call)) => {
                let arguments = match &call.arguments {
                    Ok(arguments) => arguments.to_json(),
                    Err(raw) => raw.clone(),
                };
                self.kind = "";
                self.add("call", &format!("{} {arguments}", call.name));
            }
            Ok(StreamPart::Usage(usage)) => self.add("usage", &format!("{usage:?}")),
            Ok(StreamPart::End(reason)) => self.add("end", &format!("{reason:?}")),
            // The echo only repeats the thinking and adds opaque signatures.
            Ok(StreamPart::Heartbeat | StreamPart::Notice(_) | StreamPart::ReasoningEcho(_)) => {}
            Ok(StreamPart::StartedOver) => self.add("started over", ""),
            Err(cause) => self.add("error", &format!("{cause:?}")),
        }
    }

    fn add(&mut self, kind: &'static str, entry: &str) {
        let Some(text) = &mut self.text else {
            return;
        };
        if self.kind != kind {
            let separator = if text.is_empty() { "" } else { " | " };
            *text += &format!("{separator}{kind}: ");
            self.kind = kind;
        }
        let bytes_left = LOGGED_BYTES_MAX.saturating_sub(text.len());
        text.push_str(&entry[..entry.floor_char_boundary(bytes_left)]);
    }
}

impl Drop for ReplyLog {
    fn drop(&mut self) {
        if let Some(text) = self.text.take() {
            tracing::debug!("reply from `{}`: {text}", self.model.name);
        }
    }
}
