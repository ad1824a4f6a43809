//! Decodes the events of `/v1/messages`. Pure. Blocks are keyed by their index, because servers
//! interleave them; a second `message_start` restarts the reply, which is complete only with
//! `message_stop`.

use super::token_counts::TokenCounts;
use crate::domain::{Arguments, ProviderKind, ReasoningEcho};
use crate::provider::adapter::ReplyDecoder;
use crate::provider::body_reader::{BodyEnd, BodyReader};
use crate::provider::error::FailureCause;
use crate::provider::error_body::ServerError;
use crate::provider::reply_builder::{
    CALLS_MAX, ReplyBuilder, ReplyPiece, describe_line, not_json, parse, parse_whole,
    read_arguments, unexpected_json,
};
use crate::provider::types::{EndReason, NativeCall};
use crate::text::sse::SseEvent;
use crate::text::surrogates::SurrogateJoiner;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The largest accepted number of blocks per reply, calls included.
const BLOCKS_MAX: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct AnthropicDecoder {
    body: BodyReader,
    reply: ReplyBuilder,
    message: MessageState,
}

/// The message received since the last `message_start`.
#[derive(Debug, Default)]
struct MessageState {
    /// Some of it was already yielded.
    has_content: bool,
    blocks: BTreeMap<u64, ContentBlock>,
    /// Surrogate halves per block, because blocks may be interleaved.
    halves: BTreeMap<u64, SurrogateJoiner>,
    counts: TokenCounts,
    reason: Option<EndReason>,
}

#[derive(Debug)]
enum ContentBlock {
    Text(String),
    Thinking {
        thinking: String,
        /// May arrive in several pieces, or not at all.
        signature: Option<String>,
    },
    /// Complete from its start, and opaque.
    Redacted(Value),
    ToolUse {
        id: String,
        name: String,
        /// Arrives with the start; used only if no JSON follows.
        input: Value,
        json: String,
    },
    /// Unknown kinds are ignored.
    Other,
}

impl ReplyDecoder for AnthropicDecoder {
    fn push(&mut self, bytes: &[u8]) -> Vec<ReplyPiece> {
        if self.reply.is_over() {
            return Vec::new();
        }
        for event in self.body.push(bytes) {
            match event {
                Ok(event) => self.read_event(&event),
                Err(malformed) => self.fail(FailureCause::Malformed(malformed)),
            }
        }
        self.reply.take()
    }

    fn finish(mut self: Box<Self>) -> Vec<ReplyPiece> {
        if self.reply.is_over() {
            return Vec::new();
        }
        match std::mem::take(&mut self.body).finish() {
            BodyEnd::Empty => self.fail(FailureCause::EmptyReply),
            BodyEnd::LastEvent(event) => {
                if let Some(event) = event {
                    self.read_last_event(&event);
                }
            }
            BodyEnd::NotEvents(line) => self.fail(FailureCause::Malformed(describe_line(&line))),
            BodyEnd::Whole(body) => match parse_whole(&body) {
                Ok(answer) => self.read_unstreamed(&answer),
                Err(error) if error.is_eof() => {}
                Err(_) => {
                    let text = String::from_utf8_lossy(&body).into_owned();
                    self.fail(FailureCause::Malformed(not_json(&text)));
                }
            },
        }
        self.fail(FailureCause::ReplyCutOff);
        self.reply.take()
    }
}

impl AnthropicDecoder {
    fn read_event(&mut self, event: &SseEvent) {
        if self.reply.is_over() {
            return;
        }
        match parse(&event.data) {
            Ok(value) if event.name == b"error" => {
                let server_error = ServerError::from_body(value.to_string().as_bytes());
                self.fail(server_error.unwrap_or_default().into_failure());
            }
            Ok(value) => self.read_value(&value),
            // Some proxies end every stream the way OpenAI does.
            Err(_) if event.data.trim_ascii() == b"[DONE]" => {}
            Err(malformed) => self.fail(FailureCause::Malformed(malformed)),
        }
    }

    /// The last event may be incomplete; it is then ignored.
    fn read_last_event(&mut self, event: &SseEvent) {
        let is_json = event.data.trim_ascii_start().starts_with(b"{");
        if parse(&event.data).is_ok() {
            self.read_event(event);
        } else if !is_json && !b"[DONE]".starts_with(event.data.trim_ascii()) {
            let text = String::from_utf8_lossy(&event.data);
            self.fail(FailureCause::Malformed(not_json(&text)));
        }
    }

    /// A reply that was not streamed.
    fn read_unstreamed(&mut self, answer: &Value) {
        let answer = answer.get(0).unwrap_or(answer);
        if let Some(server_error) = ServerError::from_event(answer) {
            return self.fail(server_error.into_failure());
        }
        let Some(blocks) = answer.get("content").and_then(Value::as_array) else {
            return self.fail(FailureCause::Malformed(unexpected_json(answer)));
        };
        self.message.counts.read(answer.get("usage"));
        for (index, block) in (0..).zip(blocks) {
            self.start_block(index, block);
        }
        self.read_reason(answer);
        self.finish_message();
    }

    fn read_value(&mut self, event: &Value) {
        if let Some(server_error) = ServerError::from_event(event) {
            return self.fail(server_error.into_failure());
        }
        let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        match event.get("type").and_then(Value::as_str) {
            Some("message_start") => {
                if self.message.has_content {
                    self.reply.start_over();
                }
                self.message = MessageState::default();
                self.message.counts.read(event.pointer("/message/usage"));
            }
            Some("content_block_start") => {
                if let Some(block) = event.get("content_block") {
                    self.start_block(index, block);
                }
            }
            Some("content_block_delta") => {
                if let Some(delta) = event.get("delta") {
                    self.read_delta(index, delta);
                }
            }
            Some("message_delta") => {
                self.message.counts.read(event.get("usage"));
                if let Some(delta) = event.get("delta") {
                    self.read_reason(delta);
                }
            }
            Some("content_block_stop") => self.finish_halves(index),
            Some("message_stop") => self.finish_message(),
            // `ping`, and events added later.
            _ => {}
        }
    }

    fn start_block(&mut self, index: u64, block: &Value) {
        let text = |key: &str| block.get(key).and_then(Value::as_str);
        let new = match text("type") {
            Some("text") => ContentBlock::Text(String::new()),
            Some("thinking") => ContentBlock::Thinking {
                thinking: String::new(),
                signature: text("signature")
                    .filter(|s| !s.is_empty())
                    .map(str::to_owned),
            },
            Some("redacted_thinking") => ContentBlock::Redacted(block.clone()),
            Some("tool_use") => ContentBlock::ToolUse {
                id: text("id").unwrap_or_default().to_owned(),
                name: text("name").unwrap_or_default().to_owned(),
                input: block.get("input").cloned().unwrap_or_default(),
                json: String::new(),
            },
            _ => ContentBlock::Other,
        };
        if !self.reply.has_room(match &new {
            ContentBlock::Text(_) | ContentBlock::Thinking { .. } | ContentBlock::Other => 0,
            ContentBlock::Redacted(_) | ContentBlock::ToolUse { .. } => block.to_string().len(),
        }) {
            return;
        }
        self.message.blocks.insert(index, new);
        let calls = self
            .message
            .blocks
            .values()
            .filter(|block| matches!(block, ContentBlock::ToolUse { .. }));
        if calls.count() > CALLS_MAX || self.message.blocks.len() > BLOCKS_MAX {
            return self.reply.fail_for_calls();
        }
        // A block's start may already contain text.
        self.add_text(index, text("text").unwrap_or_default());
        self.add_thinking(index, text("thinking").unwrap_or_default());
    }

    fn read_delta(&mut self, index: u64, delta: &Value) {
        let text = |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or_default();
        match delta.get("type").and_then(Value::as_str) {
            Some("text_delta") => self.add_text(index, text("text")),
            Some("thinking_delta") => self.add_thinking(index, text("thinking")),
            Some("signature_delta") => {
                let more = text("signature");
                if let Some(ContentBlock::Thinking { signature, .. }) =
                    self.message.blocks.get_mut(&index)
                    && self.reply.has_room(more.len())
                {
                    signature.get_or_insert_default().push_str(more);
                }
            }
            Some("input_json_delta") => {
                let more = text("partial_json");
                if let Some(ContentBlock::ToolUse { json, .. }) =
                    self.message.blocks.get_mut(&index)
                    && self.reply.has_room(more.len())
                {
                    json.push_str(more);
                }
            }
            _ => {}
        }
    }

    fn add_text(&mut self, index: u64, delta: &str) {
        if delta.is_empty() {
            return;
        }
        let delta = self.message.halves.entry(index).or_default().push(delta);
        let empty = || ContentBlock::Text(String::new());
        if let ContentBlock::Text(text) = self.message.blocks.entry(index).or_insert_with(empty) {
            text.push_str(&delta);
            self.message.has_content |= !delta.is_empty();
            self.reply.text(&delta);
        }
    }

    fn add_thinking(&mut self, index: u64, delta: &str) {
        if delta.is_empty() {
            return;
        }
        let delta = self.message.halves.entry(index).or_default().push(delta);
        let empty = || ContentBlock::Thinking {
            thinking: String::new(),
            signature: None,
        };
        let block = self.message.blocks.entry(index).or_insert_with(empty);
        if let ContentBlock::Thinking { thinking, .. } = block {
            thinking.push_str(&delta);
            self.message.has_content |= !delta.is_empty();
            self.reply.thinking(&delta);
        }
    }

    /// Ends a block, replacing a surrogate half whose other half never arrived.
    fn finish_halves(&mut self, index: u64) {
        let Some(mut halves) = self.message.halves.remove(&index) else {
            return;
        };
        match self.message.blocks.get(&index) {
            Some(ContentBlock::Thinking { .. }) => self.add_thinking(index, halves.finish()),
            _ => self.add_text(index, halves.finish()),
        }
    }

    fn finish_all_halves(&mut self) {
        let indices: Vec<u64> = self.message.halves.keys().copied().collect();
        for index in indices {
            self.finish_halves(index);
        }
    }

    /// A refusal may explain itself next to `stop_reason`.
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

    fn finish_message(&mut self) {
        if self.reply.is_over() {
            return;
        }
        self.finish_all_halves();
        let message = std::mem::take(&mut self.message);
        let carry = carry(&message.blocks);
        for block in message.blocks.into_values() {
            if let ContentBlock::ToolUse {
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
            self.reply.carry(ReasoningEcho { provider, value });
        }
        let reason = message.reason.unwrap_or(EndReason::Stop);
        self.reply.end(message.counts.usage(), reason);
    }

    /// Reports the token counts of a failed reply too, because they are billed.
    fn fail(&mut self, cause: FailureCause) {
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

/// The blocks to send back, in order; None if there is neither thinking nor a call. Calls are
/// stored as placeholders, because their arguments may be edited.
fn carry(blocks: &BTreeMap<u64, ContentBlock>) -> Option<Value> {
    let kept: Vec<Value> = blocks.values().filter_map(block_to_send_back).collect();
    let is_not_text = |block: &Value| block["type"] != "text";
    kept.iter().any(is_not_text).then_some(Value::Array(kept))
}

fn block_to_send_back(block: &ContentBlock) -> Option<Value> {
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
