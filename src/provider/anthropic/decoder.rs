//! Decodes the events of `/v1/messages`. Pure. Content blocks are keyed by their index, because
//! servers may interleave them. A second `message_start` restarts the reply. A `stop_reason`
//! completes it, even if `message_stop` does not follow.

use super::content_block::{ContentBlock, echo_blocks};
use super::token_counts::TokenCounts;
use crate::domain::{ProviderKind, ReasoningEcho};
use crate::provider::adapter::ReplyDecoder;
use crate::provider::body_reader::{BodyEnd, BodyReader};
use crate::provider::error::{FailureCause, MalformedReply};
use crate::provider::error_body::ServerError;
use crate::provider::reply_builder::{
    CALLS_MAX, DecodedPart, ReplyBuilder, classify_line, classify_non_json, parse_body, parse_json,
    read_arguments, unexpected_json,
};
use crate::provider::types::{EndReason, NativeCall};
use crate::text::sse::SseEvent;
use crate::text::surrogates::SurrogateJoiner;
use serde_json::Value;
use std::collections::BTreeMap;

/// Per message, calls included.
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
    /// Whether text or thinking of this message was already emitted.
    has_content: bool,
    blocks: BTreeMap<u64, ContentBlock>,
    /// One joiner per block, because blocks may be interleaved.
    surrogate_joiners: BTreeMap<u64, SurrogateJoiner>,
    counts: TokenCounts,
    end_reason: Option<EndReason>,
}

impl ReplyDecoder for AnthropicDecoder {
    fn push(&mut self, bytes: &[u8]) -> Vec<DecodedPart> {
        if self.reply.is_over() {
            return Vec::new();
        }
        for event in self.body.push(bytes) {
            match event {
                Ok(event) => self.read_event(&event),
                Err(malformed) => self.fail(FailureCause::Malformed(malformed)),
            }
        }
        self.reply.take_parts()
    }

    fn finish(mut self: Box<Self>) -> Vec<DecodedPart> {
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
            BodyEnd::NotEvents(line) => self.fail(FailureCause::Malformed(classify_line(&line))),
            BodyEnd::Json(body) => match parse_body(&body) {
                Ok(value) => self.read_unstreamed(&value),
                Err(error) if error.is_eof() => {}
                Err(_) => {
                    let text = String::from_utf8_lossy(&body).into_owned();
                    self.fail(FailureCause::Malformed(classify_non_json(&text)));
                }
            },
        }
        if self.is_settled() {
            self.finish_message();
        }
        self.fail(FailureCause::ReplyCutOff);
        self.reply.take_parts()
    }

    fn is_settled(&self) -> bool {
        self.message.end_reason.is_some()
    }
}

impl AnthropicDecoder {
    fn read_event(&mut self, event: &SseEvent) {
        if self.reply.is_over() {
            return;
        }
        match parse_json(&event.data) {
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

    /// Ignores an event that was cut off.
    fn read_last_event(&mut self, event: &SseEvent) {
        let starts_json = event.data.trim_ascii_start().starts_with(b"{");
        if parse_json(&event.data).is_ok() {
            self.read_event(event);
        } else if !starts_json
            && !b"[DONE]".starts_with(event.data.trim_ascii())
            && !self.is_settled()
        {
            let text = String::from_utf8_lossy(&event.data);
            self.fail(FailureCause::Malformed(classify_non_json(&text)));
        }
    }

    /// The reply may be wrapped in a list.
    fn read_unstreamed(&mut self, body: &Value) {
        let message = body.get(0).unwrap_or(body);
        if let Some(server_error) = ServerError::from_event(message) {
            return self.fail(server_error.into_failure());
        }
        let Some(blocks) = message.get("content").and_then(Value::as_array) else {
            return self.fail(FailureCause::Malformed(unexpected_json(message)));
        };
        self.message.counts.read(message.get("usage"));
        for (index, block) in (0..).zip(blocks) {
            self.start_block(index, block);
        }
        self.read_stop_reason(message);
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
                    self.read_stop_reason(delta);
                }
            }
            Some("content_block_stop") => self.finish_surrogates(index),
            Some("message_stop") => self.finish_message(),
            // `ping`, and events added later.
            _ => {}
        }
    }

    fn start_block(&mut self, index: u64, block: &Value) {
        let new_block = ContentBlock::from_start(block);
        if !self.reply.reserve_bytes(match &new_block {
            ContentBlock::Text(_) | ContentBlock::Thinking { .. } | ContentBlock::Other => 0,
            ContentBlock::Redacted(_) | ContentBlock::ToolUse { .. } => block.to_string().len(),
        }) {
            return;
        }
        if !self.has_room_for(index) {
            return;
        }
        self.message.blocks.insert(index, new_block);
        let calls = self
            .message
            .blocks
            .values()
            .filter(|block| matches!(block, ContentBlock::ToolUse { .. }));
        if calls.count() > CALLS_MAX {
            return self.reply.fail_with_too_many_calls();
        }
        // The start of a block may already contain text.
        let field = |key: &str| block.get(key).and_then(Value::as_str);
        self.add_text(index, field("text").unwrap_or_default());
        self.add_thinking(index, field("thinking").unwrap_or_default());
    }

    /// Whether the block exists or may be added. Fails the reply if there are too many.
    fn has_room_for(&mut self, index: u64) -> bool {
        let blocks = &self.message.blocks;
        let has_room = blocks.contains_key(&index) || blocks.len() < BLOCKS_MAX;
        if !has_room {
            let blocks_max = BLOCKS_MAX;
            let malformed = MalformedReply::TooManyBlocks { blocks_max };
            self.fail(FailureCause::Malformed(malformed));
        }
        has_room
    }

    fn read_delta(&mut self, index: u64, delta: &Value) {
        let field = |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or_default();
        match delta.get("type").and_then(Value::as_str) {
            Some("text_delta") => self.add_text(index, field("text")),
            Some("thinking_delta") => self.add_thinking(index, field("thinking")),
            Some("signature_delta") => {
                let fragment = field("signature");
                if let Some(ContentBlock::Thinking { signature, .. }) =
                    self.message.blocks.get_mut(&index)
                    && self.reply.reserve_bytes(fragment.len())
                {
                    signature.get_or_insert_default().push_str(fragment);
                }
            }
            Some("input_json_delta") => {
                let fragment = field("partial_json");
                if let Some(ContentBlock::ToolUse { input_json, .. }) =
                    self.message.blocks.get_mut(&index)
                    && self.reply.reserve_bytes(fragment.len())
                {
                    input_json.push_str(fragment);
                }
            }
            _ => {}
        }
    }

    fn add_text(&mut self, index: u64, delta: &str) {
        if delta.is_empty() || !self.has_room_for(index) {
            return;
        }
        let joiners = &mut self.message.surrogate_joiners;
        let delta = joiners.entry(index).or_default().push(delta);
        let empty = || ContentBlock::Text(String::new());
        if let ContentBlock::Text(text) = self.message.blocks.entry(index).or_insert_with(empty) {
            text.push_str(&delta);
            self.message.has_content |= !delta.is_empty();
            self.reply.add_text(&delta);
        }
    }

    fn add_thinking(&mut self, index: u64, delta: &str) {
        if delta.is_empty() || !self.has_room_for(index) {
            return;
        }
        let joiners = &mut self.message.surrogate_joiners;
        let delta = joiners.entry(index).or_default().push(delta);
        let empty = || ContentBlock::Thinking {
            thinking: String::new(),
            signature: None,
        };
        let block = self.message.blocks.entry(index).or_insert_with(empty);
        if let ContentBlock::Thinking { thinking, .. } = block {
            thinking.push_str(&delta);
            self.message.has_content |= !delta.is_empty();
            self.reply.add_thinking(&delta);
        }
    }

    /// Ends a block's text. Replaces a lone surrogate whose other half never arrived.
    fn finish_surrogates(&mut self, index: u64) {
        let Some(mut joiner) = self.message.surrogate_joiners.remove(&index) else {
            return;
        };
        match self.message.blocks.get(&index) {
            Some(ContentBlock::Thinking { .. }) => self.add_thinking(index, joiner.finish()),
            _ => self.add_text(index, joiner.finish()),
        }
    }

    fn finish_all_surrogates(&mut self) {
        let indices: Vec<u64> = self.message.surrogate_joiners.keys().copied().collect();
        for index in indices {
            self.finish_surrogates(index);
        }
    }

    /// Also reads the explanation that may accompany a refusal.
    fn read_stop_reason(&mut self, delta: &Value) {
        let reason = delta.get("stop_reason").and_then(Value::as_str);
        if let Some(reason) = reason {
            self.message.end_reason = Some(match reason {
                "end_turn" => EndReason::Stop,
                "tool_use" => EndReason::ToolCalls,
                "max_tokens" => EndReason::Length,
                "refusal" => EndReason::Refused {
                    why: delta
                        .pointer("/stop_details/explanation")
                        .and_then(Value::as_str)
                        .map(str::to_owned),
                },
                other => EndReason::from_shared_name(other),
            });
        }
    }

    fn finish_message(&mut self) {
        if self.reply.is_over() {
            return;
        }
        self.finish_all_surrogates();
        let message = std::mem::take(&mut self.message);
        let echo = echo_blocks(&message.blocks);
        for block in message.blocks.into_values() {
            if let ContentBlock::ToolUse {
                id,
                name,
                initial_input,
                input_json,
            } = block
            {
                let has_streamed = !input_json.trim().is_empty();
                let raw_arguments = if has_streamed {
                    input_json
                } else {
                    initial_input
                };
                self.reply.add_call(NativeCall {
                    id: (!id.is_empty()).then_some(id),
                    name,
                    arguments: read_arguments(&raw_arguments),
                    raw_arguments,
                });
            }
        }
        if let Some(value) = echo {
            let provider = ProviderKind::Anthropic;
            self.reply.echo_reasoning(ReasoningEcho { provider, value });
        }
        let reason = message.end_reason.unwrap_or(EndReason::Stop);
        self.reply.end(message.counts.usage(), reason);
    }

    /// Reports the token counts of a failed reply too, because they are billed.
    fn fail(&mut self, cause: FailureCause) {
        self.finish_all_surrogates();
        self.reply.add_usage(self.message.counts.usage());
        self.reply.fail(cause);
    }
}
