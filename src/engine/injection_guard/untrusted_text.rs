//! Untrusted text of a conversation, kept to detect calls that the model copied from it. Bounded
//! and in memory only. It is kept longer than the tool results that are sent to the model. If in
//! doubt, a call counts as copied: a false alarm costs the user only one question.

use super::extract;
use crate::domain::{Arguments, QuoteSource, ToolCall, ToolOutcome, Toolset};
use crate::engine::context::RESULT_BYTES_MAX;
use crate::text::normalize;
use serde_json::Value;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// Bytes kept per conversation. The newest text is kept whole, however long it is.
const TEXTS_BYTES_MAX: usize = 4 << 20;
/// Size of an entry besides its text, approximately.
const ENTRY_OVERHEAD_BYTES: usize = 128;
/// Minimum length of a text to search for. Shorter ones would match almost any text.
const NEEDLE_BYTES_MIN: usize = 3;

/// One untrusted text, prepared for comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct UntrustedText {
    source: QuoteSource,
    /// The text without whitespace, quotation marks, escapes and code fences, followed by the same
    /// without the prefixes of its lines, if it has any.
    normalized: String,
    /// The calls in the text, in canonical form.
    calls: HashSet<String>,
    /// The text could not be scanned completely, so every call counts as copied from it.
    is_opaque: bool,
}

impl UntrustedText {
    /// Scans the untrusted part of an outcome, see [`untrusted_output`]. Takes linear time, but
    /// too long for the actor.
    pub fn from_outcome(outcome: &ToolOutcome, offered: &Arc<Toolset>) -> Option<Self> {
        Some(Self::from_text(
            QuoteSource::ToolResult,
            untrusted_output(outcome)?,
            offered,
        ))
    }

    /// Scans a text for calls.
    pub fn from_text(source: QuoteSource, text: &str, offered: &Arc<Toolset>) -> Self {
        let extracted = extract::extract_calls(text, offered);
        let calls = extracted
            .calls
            .iter()
            .map(|call| canonical_call(&call.tool, &call.arguments));
        Self {
            source,
            normalized: match normalize::strip_line_prefixes(text) {
                Some(stripped) => format!(
                    "{}\n{}",
                    normalize::normalize(text),
                    normalize::normalize(&stripped)
                ),
                None => normalize::normalize(text),
            },
            calls: calls.collect(),
            is_opaque: extracted.is_opaque,
        }
    }

    /// Placeholder for a text that could not be scanned.
    fn unreadable(source: QuoteSource) -> Self {
        Self {
            source,
            normalized: String::new(),
            calls: HashSet::new(),
            is_opaque: true,
        }
    }

    fn bytes(&self) -> usize {
        let calls: usize = self.calls.iter().map(String::len).sum();
        self.normalized.len() + calls + ENTRY_OVERHEAD_BYTES
    }
}

/// Scans a text on a blocking thread.
pub async fn scan_untrusted(
    source: QuoteSource,
    text: String,
    offered: Arc<Toolset>,
) -> Arc<UntrustedText> {
    let scan = move || UntrustedText::from_text(source, &text, &offered);
    let untrusted_text = tokio::task::spawn_blocking(scan).await;
    Arc::new(untrusted_text.unwrap_or_else(|error| {
        tracing::error!("a text could not be scanned for calls: {error}");
        UntrustedText::unreadable(source)
    }))
}

/// The untrusted part of an outcome, truncated like the result sent to the model; `None` if
/// there is none.
pub fn untrusted_output(outcome: &ToolOutcome) -> Option<&str> {
    let text = match outcome {
        ToolOutcome::Succeeded { text, .. } | ToolOutcome::Failed { text, .. } => text,
        ToolOutcome::Unreachable { why, .. } => why,
        _ => return None,
    };
    Some(&text[..text.floor_char_boundary(RESULT_BYTES_MAX)])
}

/// The untrusted texts of a conversation, oldest first. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct UntrustedTexts {
    texts: VecDeque<Arc<UntrustedText>>,
    bytes: usize,
}

impl UntrustedTexts {
    pub fn add(&mut self, untrusted_text: Arc<UntrustedText>) {
        self.bytes += untrusted_text.bytes();
        self.texts.push_back(untrusted_text);
        while self.bytes > TEXTS_BYTES_MAX && self.texts.len() > 1 {
            if let Some(oldest) = self.texts.pop_front() {
                self.bytes -= oldest.bytes();
            }
        }
    }

    pub fn add_optional(&mut self, untrusted_text: Option<Arc<UntrustedText>>) {
        if let Some(untrusted_text) = untrusted_text {
            self.add(untrusted_text);
        }
    }

    /// The source of an untrusted text that contains the call, verbatim or in canonical form, or
    /// that could not be scanned completely. `raw` is the text from which the call was read.
    pub fn find_source(&self, call: &ToolCall, raw: &str) -> Option<QuoteSource> {
        if self.texts.is_empty() {
            return None;
        }
        let canonical = canonical_call(&call.tool, &call.arguments);
        let arguments = call.arguments.to_json();
        // The others are the usual spellings of a native call in text. The scanner recognizes the JSON
        // only for tools that were offered then, and not without their required arguments.
        let needles = [
            raw,
            &format!("{}({arguments})", call.tool),
            &format!(r#"{{"name":"{}","arguments":{arguments}}}"#, call.tool),
        ];
        let needles = needles.map(normalize::normalize);
        let contains_needle = |untrusted_text: &UntrustedText, needle: &str| {
            needle.len() >= NEEDLE_BYTES_MIN && untrusted_text.normalized.contains(needle)
        };
        let source_text = self.texts.iter().find(|untrusted_text| {
            untrusted_text.is_opaque
                || untrusted_text.calls.contains(&canonical)
                || needles
                    .iter()
                    .any(|needle| contains_needle(untrusted_text, needle))
        });
        source_text.map(|untrusted_text| untrusted_text.source)
    }
}

/// The tool and arguments in a form that ignores differences in spelling: key order, `5` or
/// `"5"`, whitespace and escapes in strings. Omits the server, so the same call to another
/// server's tool of this name counts as copied too.
fn canonical_call(tool: &str, arguments: &Arguments) -> String {
    let mut out = normalize::normalize(tool);
    let mut entries: Vec<_> = arguments.iter().collect();
    push_entries(&mut entries, &mut out);
    out
}

fn push_entries(entries: &mut [(&String, &Value)], out: &mut String) {
    entries.sort_by_key(|(key, _)| *key);
    out.push('{');
    for (key, value) in entries {
        out.push_str(&normalize::normalize(key));
        out.push(':');
        push_value(value, out);
        out.push(',');
    }
    out.push('}');
}

fn push_value(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => out.push_str(&normalize::normalize(text)),
        Value::Number(number) => match number.as_f64() {
            // Write 1.0 as 1.
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => {
                out.push_str(&format!("{float:.0}"));
            }
            _ => out.push_str(&number.to_string()),
        },
        Value::Array(items) => {
            out.push('[');
            for item in items {
                push_value(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(map) => push_entries(&mut map.iter().collect::<Vec<_>>(), out),
        Value::Bool(_) | Value::Null => out.push_str(&value.to_string()),
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
