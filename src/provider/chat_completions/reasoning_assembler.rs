//! Thinking of a chat-completions stream, put together so that it can go back
//! with the calls of the same turn: under the names it came under, fragments
//! joined. What it says to a person is read elsewhere.

use serde_json::{Map, Value};

/// Fields of a message that hold thinking as a text: DeepSeek, llama.cpp and xAI
/// use the first, vLLM, Groq and OpenRouter the second.
pub(super) const TEXTS: [&str; 2] = ["reasoning_content", "reasoning"];
/// OpenRouter's list of blocks, some of them encrypted.
pub(super) const DETAILS: &str = "reasoning_details";
/// Every key under which reasoning is sent back, except `content`.
pub(in crate::provider) const REASONING_KEYS: [&str; 3] = [TEXTS[0], TEXTS[1], DETAILS];
/// The most blocks that are kept; a list from outside has a bound.
const BLOCKS_MAX: usize = 4096;

/// What has come so far.
#[derive(Debug, Default)]
pub(super) struct Carried(Map<String, Value>);

impl Carried {
    /// Takes the thinking out of one `delta` (or a whole `message`). Gives the bytes
    /// that are kept and are no text that a person reads.
    pub fn push(&mut self, delta: &Value) -> usize {
        for key in TEXTS {
            if let Some(text) = delta.get(key).and_then(Value::as_str) {
                self.text(key, text);
            }
        }
        let mut bytes = 0;
        let details = delta.get(DETAILS).and_then(Value::as_array);
        for block in details.into_iter().flatten() {
            bytes += self.block(DETAILS, block, continues_detail);
        }
        let content = delta.get("content").and_then(Value::as_array);
        let is_thinking = |block: &&Value| block["type"] == "thinking";
        for block in content.into_iter().flatten().filter(is_thinking) {
            self.block("content", block, continues_thinking);
        }
        bytes
    }

    /// Takes a text in that came alone.
    pub fn text(&mut self, key: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.0.get_mut(key) {
            Some(Value::String(whole)) => whole.push_str(text),
            _ => {
                self.0.insert(key.to_owned(), text.into());
            }
        }
    }

    /// The fields that go back; none where there was no thinking.
    pub fn take(&mut self) -> Option<Value> {
        let fields = std::mem::take(&mut self.0);
        (!fields.is_empty()).then_some(Value::Object(fields))
    }

    /// Joins a block to the last one of its list where it continues that.
    fn block(&mut self, key: &str, block: &Value, continues: fn(&Value, &Value) -> bool) -> usize {
        let list = self
            .0
            .entry(key)
            .or_insert_with(|| Value::Array(Vec::new()));
        let Value::Array(list) = list else {
            return 0;
        };
        let is_full = list.len() >= BLOCKS_MAX;
        match list.last_mut() {
            Some(last) if continues(last, block) => join(last, block),
            _ if !is_full => list.push(block.clone()),
            _ => return 0,
        }
        // Only whatever is not shown has to be counted here.
        let hidden = ["data", "signature"].map(|key| block.get(key).and_then(Value::as_str));
        hidden.into_iter().flatten().map(str::len).sum()
    }
}

/// A fragment has the type and the index of what it continues; an encrypted block
/// is whole.
fn continues_detail(last: &Value, next: &Value) -> bool {
    let same = |key: &str| last.get(key) == next.get(key);
    let is_text = ["text", "summary"]
        .iter()
        .any(|key| next.get(key).is_some());
    is_text && same("type") && same("index")
}

fn continues_thinking(_last: &Value, _next: &Value) -> bool {
    true
}

/// Adds a fragment: texts are joined, and what else it has replaces what was there.
fn join(last: &mut Value, next: &Value) {
    let (Value::Object(last), Value::Object(next)) = (last, next) else {
        return;
    };
    for (key, value) in next {
        match (last.get_mut(key), value) {
            (Some(Value::String(whole)), Value::String(more)) if is_text(key) => {
                whole.push_str(more);
            }
            (Some(Value::Array(whole)), Value::Array(more)) => join_lists(whole, more),
            (Some(_), Value::Null) => {}
            _ => {
                last.insert(key.clone(), value.clone());
            }
        }
    }
}

fn is_text(key: &str) -> bool {
    matches!(key, "text" | "summary" | "thinking")
}

/// Mistral's thinking is a list of texts: neighbours that are texts and nothing
/// else become one.
fn join_lists(whole: &mut Vec<Value>, more: &[Value]) {
    let is_plain = |part: &Value| {
        part["type"] == "text" && part.as_object().is_some_and(|part| part.len() == 2)
    };
    for part in more {
        let is_full = whole.len() >= BLOCKS_MAX;
        match whole.last_mut() {
            Some(last) if is_plain(last) && is_plain(part) => join(last, part),
            _ if !is_full => whole.push(part.clone()),
            _ => {}
        }
    }
}
