//! Joins the reasoning fragments of a stream so that they can be sent back with the tool calls of
//! the same turn, under their original keys. The decoder emits the reasoning for display.

use serde_json::{Map, Value};

/// Keys that hold reasoning text: DeepSeek, llama.cpp and xAI use the first; vLLM, Groq and
/// OpenRouter the second.
pub(super) const TEXT_KEYS: [&str; 2] = ["reasoning_content", "reasoning"];
/// OpenRouter's list of reasoning blocks, some of them encrypted.
pub(super) const DETAILS_KEY: &str = "reasoning_details";
/// All keys of reasoning that is sent back, except `content`.
pub(in crate::provider) const REASONING_KEYS: [&str; 3] = [TEXT_KEYS[0], TEXT_KEYS[1], DETAILS_KEY];
/// Per list.
const BLOCKS_MAX: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct ReasoningAssembler(Map<String, Value>);

impl ReasoningAssembler {
    /// Stores the reasoning of one `delta` (or whole `message`). Returns how many of the
    /// stored bytes are not displayed.
    pub fn push(&mut self, delta: &Value) -> usize {
        for key in TEXT_KEYS {
            if let Some(text) = delta.get(key).and_then(Value::as_str) {
                self.push_text(key, text);
            }
        }
        let mut hidden_bytes = 0;
        let details = delta.get(DETAILS_KEY).and_then(Value::as_array);
        for block in details.into_iter().flatten() {
            hidden_bytes += self.push_block(DETAILS_KEY, block, continues_detail);
        }
        let content = delta.get("content").and_then(Value::as_array);
        let is_thinking = |block: &&Value| block["type"] == "thinking";
        for block in content.into_iter().flatten().filter(is_thinking) {
            hidden_bytes += self.push_block("content", block, continues_thinking);
        }
        hidden_bytes
    }

    /// Appends `text` to the value of `key`.
    pub fn push_text(&mut self, key: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.0.get_mut(key) {
            Some(Value::String(stored)) => stored.push_str(text),
            _ => {
                self.0.insert(key.to_owned(), text.into());
            }
        }
    }

    /// The fields to send back; `None` if there was no reasoning.
    pub fn take(&mut self) -> Option<Value> {
        let fields = std::mem::take(&mut self.0);
        (!fields.is_empty()).then_some(Value::Object(fields))
    }

    /// Appends a block, or merges it into the last block if it continues that block. Returns how
    /// many of the stored bytes are not displayed.
    fn push_block(
        &mut self,
        key: &str,
        block: &Value,
        continues: fn(&Value, &Value) -> bool,
    ) -> usize {
        let blocks = self
            .0
            .entry(key)
            .or_insert_with(|| Value::Array(Vec::new()));
        let Value::Array(blocks) = blocks else {
            return 0;
        };
        let is_full = blocks.len() >= BLOCKS_MAX;
        match blocks.last_mut() {
            Some(last) if continues(last, block) => merge(last, block),
            _ if !is_full => blocks.push(block.clone()),
            _ => return 0,
        }
        // The decoder counts displayed text.
        let hidden = ["data", "signature"].map(|key| block.get(key).and_then(Value::as_str));
        hidden.into_iter().flatten().map(str::len).sum()
    }
}

/// A fragment has the type and index of the block it continues; an encrypted block is never
/// split.
fn continues_detail(last: &Value, next: &Value) -> bool {
    let has_same = |key: &str| last.get(key) == next.get(key);
    let has_text = ["text", "summary"]
        .iter()
        .any(|key| next.get(key).is_some());
    has_text && has_same("type") && has_same("index")
}

fn continues_thinking(_last: &Value, _next: &Value) -> bool {
    true
}

/// Joins texts and lists, and replaces other values unless the new one is null.
fn merge(last: &mut Value, next: &Value) {
    let (Value::Object(last), Value::Object(next)) = (last, next) else {
        return;
    };
    for (key, value) in next {
        match (last.get_mut(key), value) {
            (Some(Value::String(text)), Value::String(fragment)) if is_text_key(key) => {
                text.push_str(fragment);
            }
            (Some(Value::Array(parts)), Value::Array(new_parts)) => merge_lists(parts, new_parts),
            (Some(_), Value::Null) => {}
            _ => {
                last.insert(key.clone(), value.clone());
            }
        }
    }
}

fn is_text_key(key: &str) -> bool {
    matches!(key, "text" | "summary" | "thinking")
}

/// Mistral's thinking is a list of text parts. Adjacent plain ones are merged.
fn merge_lists(parts: &mut Vec<Value>, new_parts: &[Value]) {
    let is_plain = |part: &Value| {
        part["type"] == "text" && part.as_object().is_some_and(|part| part.len() == 2)
    };
    for part in new_parts {
        let is_full = parts.len() >= BLOCKS_MAX;
        match parts.last_mut() {
            Some(last) if is_plain(last) && is_plain(part) => merge(last, part),
            _ if !is_full => parts.push(part.clone()),
            _ => {}
        }
    }
}
