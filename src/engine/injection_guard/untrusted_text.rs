//! Untrusted text of a conversation, kept to tell whether a call is the model's own or was
//! copied from there. In memory only and bounded; it stays when the results themselves have
//! left the context. Whatever is in doubt counts as quoted: that costs one question.

use super::extract;
use crate::domain::{Arguments, QuoteSource, ToolCall, ToolOutcome, Toolset};
use crate::engine::context::RESULT_BYTES_MAX;
use crate::text::normalize;
use serde_json::Value;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// Bytes kept of a conversation. The newest is kept whole, however long it is.
const TEXTS_BYTES_MAX: usize = 4 << 20;
/// What an entry costs beside its words.
const ENTRY_OVERHEAD_BYTES: usize = 128;
/// Fewer bytes stand in any text.
const MATCH_BYTES_MIN: usize = 3;

/// One text from outside, as it is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct UntrustedText {
    source: QuoteSource,
    /// Without white space, quotation marks, escapes and fences.
    normalized: String,
    /// The calls in it, by meaning.
    calls: HashSet<String>,
    /// It hides something: every call counts as taken from it.
    is_opaque: bool,
}

impl UntrustedText {
    /// What a call's outcome tells the model in words that are not ours, as far as it
    /// is sent. None where it says nothing. Linear, but slow: not for the actor.
    pub fn from_outcome(outcome: &ToolOutcome, offered: &Arc<Toolset>) -> Option<Self> {
        Some(Self::from_text(
            QuoteSource::ToolResult,
            untrusted_output(outcome)?,
            offered,
        ))
    }

    /// The same for a text that came with the prompt.
    pub fn from_text(source: QuoteSource, text: &str, offered: &Arc<Toolset>) -> Self {
        let found = extract::extract_calls(text, offered);
        let calls = found.calls.iter();
        let calls = calls.map(|call| canonical_call(&call.tool, &call.arguments));
        Self {
            source,
            normalized: match normalize::strip_line_prefixes(text) {
                Some(bare) => format!(
                    "{}\n{}",
                    normalize::normalize(text),
                    normalize::normalize(&bare)
                ),
                None => normalize::normalize(text),
            },
            calls: calls.collect(),
            is_opaque: found.is_opaque,
        }
    }

    /// Stands for a text that could not be read.
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

/// Reads a text beside whoever waits for it.
pub async fn scan_untrusted(
    source: QuoteSource,
    text: String,
    offered: Arc<Toolset>,
) -> Arc<UntrustedText> {
    let read = move || UntrustedText::from_text(source, &text, &offered);
    let quote = tokio::task::spawn_blocking(read).await;
    Arc::new(quote.unwrap_or_else(|fault| {
        tracing::error!("a text could not be read for calls: {fault}");
        UntrustedText::unreadable(source)
    }))
}

/// The words of an outcome that are not ours, as far as the model is sent them.
pub fn untrusted_output(outcome: &ToolOutcome) -> Option<&str> {
    let text = match outcome {
        ToolOutcome::Succeeded { text, .. } | ToolOutcome::Failed { text, .. } => text,
        ToolOutcome::Unreachable { why, .. } => why,
        _ => return None,
    };
    Some(&text[..text.floor_char_boundary(RESULT_BYTES_MAX)])
}

/// What was said in a conversation so far. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct UntrustedTexts {
    texts: VecDeque<Arc<UntrustedText>>,
    bytes: usize,
}

impl UntrustedTexts {
    pub fn add(&mut self, quote: Arc<UntrustedText>) {
        self.bytes += quote.bytes();
        self.texts.push_back(quote);
        while self.bytes > TEXTS_BYTES_MAX && self.texts.len() > 1 {
            if let Some(oldest) = self.texts.pop_front() {
                self.bytes -= oldest.bytes();
            }
        }
    }

    pub fn add_optional(&mut self, quote: Option<Arc<UntrustedText>>) {
        if let Some(quote) = quote {
            self.add(quote);
        }
    }

    /// Where the call stands, word for word or by its meaning; `raw` are the words
    /// that it was read from.
    pub fn find_source(&self, call: &ToolCall, raw: &str) -> Option<QuoteSource> {
        if self.texts.is_empty() {
            return None;
        }
        let meaning = canonical_call(&call.tool, &call.arguments);
        let arguments = Value::Object(call.arguments.clone()).to_string();
        // The second is how a call in the provider's own field is mostly quoted.
        let needles = [raw, &format!("{}({arguments})", call.tool)].map(normalize::normalize);
        let holds = |quote: &UntrustedText, needle: &str| {
            needle.len() >= MATCH_BYTES_MIN && quote.normalized.contains(needle)
        };
        let found = self.texts.iter().find(|quote| {
            quote.is_opaque
                || quote.calls.contains(&meaning)
                || needles.iter().any(|needle| holds(quote, needle))
        });
        found.map(|quote| quote.source)
    }
}

/// Tool and arguments in a form in which spelling plays no part: the order of keys,
/// `5` or `"5"`, white space and escapes in texts. The server does not count: the
/// same call of a namesake is the same idea.
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
            // 1.0 and 1 are one number.
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
