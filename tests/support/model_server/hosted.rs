//! Replies in the format of the hosted APIs of Anthropic and Mistral.

use super::Reply;
use serde_json::{Value, json};

/// One server-sent event of the Messages API, named by its `type`.
pub fn anthropic_event(event: &Value) -> String {
    let name = event["type"].as_str().expect("an event has a type");
    format!("event: {name}\ndata: {event}\n\n")
}

pub fn anthropic_start(usage: &Value) -> String {
    anthropic_event(&json!({
        "type": "message_start",
        "message": {"id": "msg_1", "type": "message", "role": "assistant", "content": [],
            "model": "claude-sonnet-4-5", "stop_reason": null, "usage": usage},
    }))
}

/// The events of one content block: start, deltas and stop.
pub fn anthropic_block(index: u64, start: &Value, deltas: &[Value]) -> String {
    let start = anthropic_event(&json!({
        "type": "content_block_start", "index": index, "content_block": start,
    }));
    let deltas = deltas.iter().map(|delta| anthropic_delta(index, delta));
    let stop = anthropic_event(&json!({"type": "content_block_stop", "index": index}));
    start + &deltas.collect::<String>() + &stop
}

pub fn anthropic_delta(index: u64, delta: &Value) -> String {
    anthropic_event(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
}

pub fn anthropic_text(index: u64, parts: &[&str]) -> String {
    let delta = |text: &&str| json!({"type": "text_delta", "text": text});
    let deltas: Vec<_> = parts.iter().map(delta).collect();
    anthropic_block(index, &json!({"type": "text", "text": ""}), &deltas)
}

pub fn anthropic_thinking(index: u64, parts: &[&str], signature: &str) -> String {
    let delta = |text: &&str| json!({"type": "thinking_delta", "thinking": text});
    let mut deltas: Vec<_> = parts.iter().map(delta).collect();
    deltas.push(json!({"type": "signature_delta", "signature": signature}));
    anthropic_block(index, &json!({"type": "thinking", "thinking": ""}), &deltas)
}

/// One call: an empty delta, then the arguments in two fragments.
pub fn anthropic_call(index: u64, id: &str, name: &str, arguments: &Value) -> String {
    let arguments = arguments.to_string();
    let (first, second) = arguments.split_at(arguments.len() / 2);
    let delta = |json: &str| json!({"type": "input_json_delta", "partial_json": json});
    let start = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
    anthropic_block(index, &start, &[delta(""), delta(first), delta(second)])
}

pub fn anthropic_stop(reason: &str) -> String {
    let delta = anthropic_event(&json!({
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": null},
        "usage": {"output_tokens": 10},
    }));
    delta + &anthropic_event(&json!({"type": "message_stop"}))
}

/// A complete stream with 20 input and 10 output tokens.
pub fn anthropic_stream(blocks: &[String], reason: &str) -> String {
    let start = anthropic_start(&json!({"input_tokens": 20, "output_tokens": 1}));
    format!("{start}{}{}", blocks.concat(), anthropic_stop(reason))
}

pub fn anthropic_reply(blocks: &[String], reason: &str) -> Reply {
    Reply::status(200)
        .header("content-type", "text/event-stream")
        .chunk(anthropic_stream(blocks, reason))
}

pub fn anthropic_error(status: u16, kind: &str, message: &str) -> Reply {
    let error = json!({"type": kind, "message": message});
    Reply::json(status, &json!({"type": "error", "error": error}))
}

/// A chunk of thinking in Mistral's streaming format.
pub fn mistral_thinking(text: &str) -> Value {
    json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]})
}

/// A Mistral error, which has no nested `error` object.
pub fn mistral_error(status: u16, message: &str) -> Reply {
    Reply::json(
        status,
        &json!({"object": "error", "message": message, "type": "invalid_request_error",
            "param": null, "code": "1500"}),
    )
}
