//! Removes credentials from the parts of a reply, in however small pieces its server sends them.

use super::reply_builder::DecodedPart;
use super::types::{EndReason, NativeCall, StreamPart};
use crate::domain::{Arguments, PieceRedactor, SecretRegistry};
use serde_json::Value;

pub(super) struct ReplySecrets {
    secrets: SecretRegistry,
    text: PieceRedactor,
    thinking: PieceRedactor,
}

impl ReplySecrets {
    pub fn new(secrets: &SecretRegistry) -> Self {
        Self {
            secrets: secrets.clone(),
            text: PieceRedactor::new(secrets),
            thinking: PieceRedactor::new(secrets),
        }
    }

    /// Adds `part` to `parts`, perhaps without an end that may be the beginning of a credential; it
    /// is added with the next part of the same kind, or at the end of the reply. Other parts in between
    /// do not separate what will be one text.
    pub fn pass(&mut self, part: DecodedPart, parts: &mut Vec<DecodedPart>) {
        match part {
            Ok(StreamPart::Text(text)) => {
                push_text(self.text.push(text), StreamPart::Text, parts);
            }
            Ok(StreamPart::Thinking(text)) => {
                push_text(self.thinking.push(text), StreamPart::Thinking, parts);
            }
            Ok(StreamPart::Heartbeat | StreamPart::Usage(_) | StreamPart::Notice(_)) => {
                parts.push(part);
            }
            Ok(StreamPart::Call(call)) => {
                parts.push(Ok(StreamPart::Call(self.redact_call(call))));
            }
            Ok(StreamPart::ReasoningEcho(mut echo)) => {
                self.secrets.redact_message(&mut echo.value);
                parts.push(Ok(StreamPart::ReasoningEcho(echo)));
            }
            Ok(StreamPart::End(reason)) => {
                self.finish(parts);
                parts.push(Ok(StreamPart::End(self.redact_reason(reason))));
            }
            Ok(StreamPart::StartedOver) | Err(_) => {
                self.finish(parts);
                parts.push(part);
            }
        }
    }

    fn redact_call(&self, call: NativeCall) -> NativeCall {
        let text = |text: String| self.secrets.redact_credentials(&text);
        let arguments = call.arguments.map_err(text).map(|arguments| {
            let mut value = Value::from(arguments.clone());
            match self.secrets.redact_message(&mut value) {
                // The unchanged arguments keep the digits of their numbers.
                false => arguments,
                true => match value {
                    Value::Object(members) => Arguments::from(members),
                    _ => arguments,
                },
            }
        });
        NativeCall {
            id: call.id.map(text),
            name: text(call.name),
            arguments,
            raw_arguments: text(call.raw_arguments),
        }
    }

    fn redact_reason(&self, reason: EndReason) -> EndReason {
        let text = |text: String| self.secrets.redact_credentials(&text);
        match reason {
            EndReason::Other(name) => EndReason::Other(text(name)),
            EndReason::Refused { why } => EndReason::Refused { why: why.map(text) },
            reason => reason,
        }
    }

    fn finish(&mut self, parts: &mut Vec<DecodedPart>) {
        push_text(self.thinking.finish(), StreamPart::Thinking, parts);
        push_text(self.text.finish(), StreamPart::Text, parts);
    }
}

fn push_text(text: String, kind: fn(String) -> StreamPart, parts: &mut Vec<DecodedPart>) {
    if !text.is_empty() {
        parts.push(Ok(kind(text)));
    }
}
