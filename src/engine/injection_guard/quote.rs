//! Untrusted text of a conversation, kept to tell whether a call is the model's own or was
//! copied from there. In memory only and bounded; it stays when the results themselves have
//! left the context. Whatever is in doubt counts as quoted: that costs one question.

use super::extract;
use crate::domain::{Arguments, Offered, QuotedIn, ToolCall, ToolOutcome};
use crate::engine::context::RESULT_BYTES_MAX;
use crate::text::normalize;
use serde_json::Value;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// Bytes kept of a conversation. The newest is kept whole, however long it is.
const QUOTES_BYTES_MAX: usize = 4 << 20;
/// What an entry costs beside its words.
const QUOTE_BYTES: usize = 128;
/// Fewer bytes stand in any text.
const WORDS_BYTES_MIN: usize = 3;

/// One text from outside, as it is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Quote {
    source: QuotedIn,
    /// Without white space, quotation marks, escapes and fences.
    words: String,
    /// The calls in it, by meaning.
    calls: HashSet<String>,
    /// It hides something: every call counts as taken from it.
    is_opaque: bool,
}

impl Quote {
    /// What a call's outcome tells the model in words that are not ours, as far as it
    /// is sent. None where it says nothing. Linear, but slow: not for the actor.
    pub fn of_outcome(outcome: &ToolOutcome, offered: &Arc<Offered>) -> Option<Self> {
        Some(Self::of_text(QuotedIn::ToolResult, said(outcome)?, offered))
    }

    /// The same for a text that came with the prompt.
    pub fn of_text(source: QuotedIn, text: &str, offered: &Arc<Offered>) -> Self {
        let found = extract::calls(text, offered);
        let calls = found.calls.iter();
        let calls = calls.map(|call| meaning(&call.tool, &call.arguments));
        Self {
            source,
            words: match normalize::without_line_marks(text) {
                Some(bare) => format!("{}\n{}", normalize::plain(text), normalize::plain(&bare)),
                None => normalize::plain(text),
            },
            calls: calls.collect(),
            is_opaque: found.is_opaque,
        }
    }

    /// Stands for a text that could not be read.
    fn unread(source: QuotedIn) -> Self {
        Self {
            source,
            words: String::new(),
            calls: HashSet::new(),
            is_opaque: true,
        }
    }

    fn bytes(&self) -> usize {
        let calls: usize = self.calls.iter().map(String::len).sum();
        self.words.len() + calls + QUOTE_BYTES
    }
}

/// Reads a text beside whoever waits for it.
pub async fn read(source: QuotedIn, text: String, offered: Arc<Offered>) -> Arc<Quote> {
    let read = move || Quote::of_text(source, &text, &offered);
    let quote = tokio::task::spawn_blocking(read).await;
    Arc::new(quote.unwrap_or_else(|fault| {
        tracing::error!("a text could not be read for calls: {fault}");
        Quote::unread(source)
    }))
}

/// The words of an outcome that are not ours, as far as the model is sent them.
pub fn said(outcome: &ToolOutcome) -> Option<&str> {
    let text = match outcome {
        ToolOutcome::Succeeded { text, .. } | ToolOutcome::Failed { text, .. } => text,
        ToolOutcome::Unreachable { why, .. } => why,
        _ => return None,
    };
    Some(&text[..text.floor_char_boundary(RESULT_BYTES_MAX)])
}

/// What was said in a conversation so far. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Quotes {
    quotes: VecDeque<Arc<Quote>>,
    bytes: usize,
}

impl Quotes {
    pub fn add(&mut self, quote: Arc<Quote>) {
        self.bytes += quote.bytes();
        self.quotes.push_back(quote);
        while self.bytes > QUOTES_BYTES_MAX && self.quotes.len() > 1 {
            if let Some(oldest) = self.quotes.pop_front() {
                self.bytes -= oldest.bytes();
            }
        }
    }

    pub fn extend(&mut self, quote: Option<Arc<Quote>>) {
        if let Some(quote) = quote {
            self.add(quote);
        }
    }

    /// Where the call stands, word for word or by its meaning; `raw` are the words
    /// that it was read from.
    pub fn find(&self, call: &ToolCall, raw: &str) -> Option<QuotedIn> {
        if self.quotes.is_empty() {
            return None;
        }
        let meaning = meaning(&call.tool, &call.arguments);
        let arguments = Value::Object(call.arguments.clone()).to_string();
        // The second is how a call in the provider's own field is mostly quoted.
        let needles = [raw, &format!("{}({arguments})", call.tool)].map(normalize::plain);
        let holds = |quote: &Quote, needle: &str| {
            needle.len() >= WORDS_BYTES_MIN && quote.words.contains(needle)
        };
        let found = self.quotes.iter().find(|quote| {
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
fn meaning(tool: &str, arguments: &Arguments) -> String {
    let mut out = normalize::plain(tool);
    let mut entries: Vec<_> = arguments.iter().collect();
    push_entries(&mut entries, &mut out);
    out
}

fn push_entries(entries: &mut [(&String, &Value)], out: &mut String) {
    entries.sort_by_key(|(key, _)| *key);
    out.push('{');
    for (key, value) in entries {
        out.push_str(&normalize::plain(key));
        out.push(':');
        push_value(value, out);
        out.push(',');
    }
    out.push('}');
}

fn push_value(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => out.push_str(&normalize::plain(text)),
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
