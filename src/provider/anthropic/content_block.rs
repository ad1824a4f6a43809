//! The content blocks of a message, and those that are sent back with its calls.

use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) enum ContentBlock {
    Text(String),
    Thinking {
        thinking: String,
        /// May arrive in several fragments, or not at all.
        signature: Option<String>,
    },
    /// Opaque. Arrives complete in `content_block_start`.
    Redacted(Value),
    ToolUse {
        id: String,
        name: String,
        /// The JSON from `content_block_start`, or an empty string for an empty object. Used only
        /// if no `input_json_delta` follows.
        initial_input: String,
        /// The joined `input_json_delta` fragments.
        input_json: String,
    },
    /// A block of unknown type, which is ignored.
    Other,
}

impl ContentBlock {
    /// Reads the block of a `content_block_start`, without its text.
    pub fn from_start(block: &Value) -> Self {
        let field = |key: &str| block.get(key).and_then(Value::as_str);
        match field("type") {
            Some("text") => Self::Text(String::new()),
            Some("thinking") => Self::Thinking {
                thinking: String::new(),
                signature: field("signature")
                    .filter(|signature| !signature.is_empty())
                    .map(str::to_owned),
            },
            Some("redacted_thinking") => Self::Redacted(block.clone()),
            Some("tool_use") => Self::ToolUse {
                id: field("id").unwrap_or_default().to_owned(),
                name: field("name").unwrap_or_default().to_owned(),
                initial_input: match block.get("input") {
                    Some(Value::String(input)) => input.clone(),
                    Some(Value::Object(input)) if input.is_empty() => String::new(),
                    input => input.map(Value::to_string).unwrap_or_default(),
                },
                input_json: String::new(),
            },
            _ => Self::Other,
        }
    }
}

/// The blocks to send back, in order; `None` if there is neither thinking nor a call. A call is
/// replaced by its id, because the user may edit its arguments.
pub(super) fn echo_blocks(blocks: &BTreeMap<u64, ContentBlock>) -> Option<Value> {
    let echoed: Vec<Value> = blocks.values().filter_map(echo_block).collect();
    let is_needed = echoed.iter().any(|block| block["type"] != "text");
    is_needed.then_some(Value::Array(echoed))
}

fn echo_block(block: &ContentBlock) -> Option<Value> {
    match block {
        ContentBlock::Text(text) => {
            (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
        }
        ContentBlock::Thinking {
            thinking,
            signature,
        } => {
            let mut block = json!({"type": "thinking", "thinking": thinking});
            if let Some(signature) = signature {
                block["signature"] = json!(signature);
            }
            Some(block)
        }
        ContentBlock::Redacted(block) => Some(block.clone()),
        ContentBlock::ToolUse { id, .. } => {
            (!id.is_empty()).then(|| json!({"type": "tool_use", "id": id}))
        }
        ContentBlock::Other => None,
    }
}
