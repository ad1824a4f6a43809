//! Reads the events of `/v1/messages` (WIRE.md). Everything is keyed by a block's
//! index, since servers interleave blocks; a second `message_start` begins anew; a
//! reply is complete only with `message_stop`. Pure.

use super::counts::Counts;
use crate::domain::{Arguments, Carry, ProviderKind};
use crate::provider::body_format::{Frame, Rest};
use crate::provider::error::Cause;
use crate::provider::error_body::Complaint;
use crate::provider::reply_builder::{
    CALLS_MAX, Piece, Reply, foreign, no_answer, not_json, parse, parse_whole, read_arguments,
};
use crate::provider::types::{EndReason, NativeCall};
use crate::text::sse::SseEvent;
use crate::text::surrogates::SurrogateJoiner;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The most blocks of one reply, calls included.
const BLOCKS_MAX: usize = 4096;

#[derive(Debug, Default)]
pub struct Decoder {
    frame: Frame,
    reply: Reply,
    message: Incoming,
}

/// One message, from its start on.
#[derive(Debug, Default)]
struct Incoming {
    /// Something of it was given out.
    has_said: bool,
    blocks: BTreeMap<u64, Block>,
    /// Of the text or thinking of each block, since blocks may be interleaved.
    halves: BTreeMap<u64, SurrogateJoiner>,
    counts: Counts,
    reason: Option<EndReason>,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Thinking {
        thinking: String,
        /// Sent in one piece or more, or not at all.
        signature: Option<String>,
    },
    /// Whole from its start, and opaque.
    Redacted(Value),
    ToolUse {
        id: String,
        name: String,
        /// What came with the start; counts only where no JSON follows.
        input: Value,
        json: String,
    },
    /// A kind that this program does not know.
    Other,
}

impl Decoder {
    /// Takes bytes in and gives what they completed.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Piece> {
        if self.reply.is_over() {
            return Vec::new();
        }
        for event in self.frame.push(bytes) {
            match event {
                Ok(event) => self.event(&event),
                Err(garbled) => self.fail(Cause::Garbled(garbled)),
            }
        }
        self.reply.take()
    }

    /// Gives what is left when the connection has ended: the end, or the cut.
    pub fn finish(mut self) -> Vec<Piece> {
        if self.reply.is_over() {
            return Vec::new();
        }
        match std::mem::take(&mut self.frame).finish() {
            Rest::Nothing => self.fail(Cause::Empty),
            Rest::Event(event) => {
                if let Some(event) = event {
                    self.last_event(&event);
                }
            }
            Rest::Foreign(line) => self.fail(Cause::Garbled(no_answer(&line))),
            Rest::Whole(body) => match parse_whole(&body) {
                Ok(answer) => self.whole(&answer),
                Err(fault) if fault.is_eof() => {}
                Err(_) => {
                    let text = String::from_utf8_lossy(&body).into_owned();
                    self.fail(Cause::Garbled(not_json(&text)));
                }
            },
        }
        self.fail(Cause::Cut);
        self.reply.take()
    }

    fn event(&mut self, event: &SseEvent) {
        if self.reply.is_over() {
            return;
        }
        match parse(&event.data) {
            Ok(value) if event.name == b"error" => {
                let complaint = Complaint::in_body(value.to_string().as_bytes());
                self.fail(complaint.unwrap_or_default().in_stream());
            }
            Ok(value) => self.value(&value),
            // Some proxies close every stream in OpenAI's way.
            Err(_) if event.data.trim_ascii() == b"[DONE]" => {}
            Err(garbled) => self.fail(Cause::Garbled(garbled)),
        }
    }

    /// The event at the end of the stream may be cut: then it says nothing.
    fn last_event(&mut self, event: &SseEvent) {
        let is_json = event.data.trim_ascii_start().starts_with(b"{");
        if parse(&event.data).is_ok() {
            self.event(event);
        } else if !is_json && !b"[DONE]".starts_with(event.data.trim_ascii()) {
            let text = String::from_utf8_lossy(&event.data);
            self.fail(Cause::Garbled(not_json(&text)));
        }
    }

    /// A message that was not streamed.
    fn whole(&mut self, answer: &Value) {
        let answer = answer.get(0).unwrap_or(answer);
        if let Some(complaint) = Complaint::in_event(answer) {
            return self.fail(complaint.in_stream());
        }
        let Some(blocks) = answer.get("content").and_then(Value::as_array) else {
            return self.fail(Cause::Garbled(foreign(answer)));
        };
        self.message.counts.read(answer.get("usage"));
        for (index, block) in (0..).zip(blocks) {
            self.start(index, block);
        }
        self.read_reason(answer);
        self.stop();
    }

    fn value(&mut self, event: &Value) {
        if let Some(complaint) = Complaint::in_event(event) {
            return self.fail(complaint.in_stream());
        }
        let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        match event.get("type").and_then(Value::as_str) {
            Some("message_start") => {
                if self.message.has_said {
                    self.reply.start_over();
                }
                self.message = Incoming::default();
                self.message.counts.read(event.pointer("/message/usage"));
            }
            Some("content_block_start") => {
                if let Some(block) = event.get("content_block") {
                    self.start(index, block);
                }
            }
            Some("content_block_delta") => {
                if let Some(delta) = event.get("delta") {
                    self.delta(index, delta);
                }
            }
            Some("message_delta") => {
                self.message.counts.read(event.get("usage"));
                if let Some(delta) = event.get("delta") {
                    self.read_reason(delta);
                }
            }
            Some("content_block_stop") => self.finish_halves(index),
            Some("message_stop") => self.stop(),
            // `ping` and whatever may come to be.
            _ => {}
        }
    }

    fn start(&mut self, index: u64, block: &Value) {
        let text = |key: &str| block.get(key).and_then(Value::as_str);
        let new = match text("type") {
            Some("text") => Block::Text(String::new()),
            Some("thinking") => Block::Thinking {
                thinking: String::new(),
                signature: text("signature")
                    .filter(|s| !s.is_empty())
                    .map(str::to_owned),
            },
            Some("redacted_thinking") => Block::Redacted(block.clone()),
            Some("tool_use") => Block::ToolUse {
                id: text("id").unwrap_or_default().to_owned(),
                name: text("name").unwrap_or_default().to_owned(),
                input: block.get("input").cloned().unwrap_or_default(),
                json: String::new(),
            },
            _ => Block::Other,
        };
        if !self.reply.has_room(match &new {
            Block::Text(_) | Block::Thinking { .. } | Block::Other => 0,
            Block::Redacted(_) | Block::ToolUse { .. } => block.to_string().len(),
        }) {
            return;
        }
        self.message.blocks.insert(index, new);
        let calls = self
            .message
            .blocks
            .values()
            .filter(|block| matches!(block, Block::ToolUse { .. }));
        if calls.count() > CALLS_MAX || self.message.blocks.len() > BLOCKS_MAX {
            return self.reply.fail_for_calls();
        }
        // A block may begin with some of its words.
        self.words(index, text("text").unwrap_or_default());
        self.think(index, text("thinking").unwrap_or_default());
    }

    fn delta(&mut self, index: u64, delta: &Value) {
        let text = |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or_default();
        match delta.get("type").and_then(Value::as_str) {
            Some("text_delta") => self.words(index, text("text")),
            Some("thinking_delta") => self.think(index, text("thinking")),
            Some("signature_delta") => {
                let more = text("signature");
                if let Some(Block::Thinking { signature, .. }) = self.message.blocks.get_mut(&index)
                    && self.reply.has_room(more.len())
                {
                    signature.get_or_insert_default().push_str(more);
                }
            }
            Some("input_json_delta") => {
                let more = text("partial_json");
                if let Some(Block::ToolUse { json, .. }) = self.message.blocks.get_mut(&index)
                    && self.reply.has_room(more.len())
                {
                    json.push_str(more);
                }
            }
            _ => {}
        }
    }

    fn words(&mut self, index: u64, words: &str) {
        if words.is_empty() {
            return;
        }
        let words = self.message.halves.entry(index).or_default().push(words);
        let empty = || Block::Text(String::new());
        if let Block::Text(text) = self.message.blocks.entry(index).or_insert_with(empty) {
            text.push_str(&words);
            self.message.has_said |= !words.is_empty();
            self.reply.text(&words);
        }
    }

    fn think(&mut self, index: u64, words: &str) {
        if words.is_empty() {
            return;
        }
        let words = self.message.halves.entry(index).or_default().push(words);
        let empty = || Block::Thinking {
            thinking: String::new(),
            signature: None,
        };
        let block = self.message.blocks.entry(index).or_insert_with(empty);
        if let Block::Thinking { thinking, .. } = block {
            thinking.push_str(&words);
            self.message.has_said |= !words.is_empty();
            self.reply.thinking(&words);
        }
    }

    /// The end of a block, where a half may have found no partner.
    fn finish_halves(&mut self, index: u64) {
        let Some(mut halves) = self.message.halves.remove(&index) else {
            return;
        };
        match self.message.blocks.get(&index) {
            Some(Block::Thinking { .. }) => self.think(index, halves.finish()),
            _ => self.words(index, halves.finish()),
        }
    }

    fn finish_all_halves(&mut self) {
        let indices: Vec<u64> = self.message.halves.keys().copied().collect();
        for index in indices {
            self.finish_halves(index);
        }
    }

    /// `stop_reason` beside it may have details of a refusal.
    fn read_reason(&mut self, delta: &Value) {
        let reason = delta.get("stop_reason").and_then(Value::as_str);
        if let Some(reason) = reason {
            self.message.reason = Some(match reason {
                "end_turn" => EndReason::Stop,
                "tool_use" => EndReason::ToolCalls,
                "max_tokens" => EndReason::Length,
                "refusal" => EndReason::Refused {
                    why: delta
                        .pointer("/stop_details/explanation")
                        .and_then(Value::as_str)
                        .map(str::to_owned),
                },
                other => EndReason::named(other),
            });
        }
    }

    fn stop(&mut self) {
        if self.reply.is_over() {
            return;
        }
        self.finish_all_halves();
        let message = std::mem::take(&mut self.message);
        let carry = carry(&message.blocks);
        for block in message.blocks.into_values() {
            if let Block::ToolUse {
                id,
                name,
                input,
                json,
            } = block
            {
                self.reply.call(NativeCall {
                    id: (!id.is_empty()).then_some(id),
                    name,
                    arguments: arguments(input, &json),
                });
            }
        }
        if let Some(value) = carry {
            let provider = ProviderKind::Anthropic;
            self.reply.carry(Carry { provider, value });
        }
        let reason = message.reason.unwrap_or(EndReason::Stop);
        self.reply.end(message.counts.usage(), reason);
    }

    /// What was counted up to a failure was paid for all the same.
    fn fail(&mut self, cause: Cause) {
        self.finish_all_halves();
        self.reply.usage(self.message.counts.usage());
        self.reply.fail(cause);
    }
}

fn arguments(input: Value, json: &str) -> Result<Arguments, String> {
    if !json.trim().is_empty() {
        return read_arguments(json);
    }
    match input {
        Value::Object(input) => Ok(input),
        Value::Null => Ok(Map::new()),
        other => Err(other.to_string()),
    }
}

/// The blocks as they go back, in order; none where there is neither thinking nor
/// a call. Of a call only the place is kept: its arguments may be edited.
fn carry(blocks: &BTreeMap<u64, Block>) -> Option<Value> {
    let kept: Vec<Value> = blocks.values().filter_map(carried).collect();
    let says_more = |block: &Value| block["type"] != "text";
    kept.iter().any(says_more).then_some(Value::Array(kept))
}

fn carried(block: &Block) -> Option<Value> {
    match block {
        Block::Text(text) => {
            (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
        }
        Block::Thinking {
            thinking,
            signature,
        } => {
            let mut block = json!({"type": "thinking", "thinking": thinking});
            if let Some(signature) = signature {
                block["signature"] = json!(signature);
            }
            Some(block)
        }
        Block::Redacted(block) => Some(block.clone()),
        Block::ToolUse { id, .. } => {
            (!id.is_empty()).then(|| json!({"type": "tool_use", "id": id}))
        }
        Block::Other => None,
    }
}
