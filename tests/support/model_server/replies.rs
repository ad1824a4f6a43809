//! Replies in the formats of Ollama and OpenAI-compatible servers, so that tests contain only
//! the text and calls of the model.

use super::Reply;
use serde_json::{Value, json};

/// The default replies, which are those of an Ollama with one model that is not loaded.
pub(super) fn default_reply(path: &str) -> Option<Reply> {
    let body = match path {
        "/api/version" => json!({"version": "0.12.6"}),
        "/api/ps" => json!({"models": []}),
        "/api/tags" => json!({"models": [{"name": "qwen3:4b", "model": "qwen3:4b"}]}),
        "/api/show" => json!({
            "capabilities": ["completion", "tools", "thinking"],
            "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960},
            "parameters": "",
        }),
        _ => return None,
    };
    Some(Reply::json(200, &body))
}

/// Loaded models as listed by `/api/ps`.
pub fn ollama_loaded(models: &[&str]) -> Reply {
    let models: Vec<_> = models
        .iter()
        .map(|name| json!({"name": name, "model": name, "context_length": 4096}))
        .collect();
    Reply::json(200, &json!({"models": models}))
}

/// An Ollama error: `{"error": …}`.
pub fn ollama_error(status: u16, message: &str) -> Reply {
    Reply::json(status, &json!({"error": message}))
}

/// One line of Ollama's stream.
pub fn ollama_line(message: &Value) -> String {
    let line = json!({
        "model": "qwen3:4b",
        "created_at": "2026-11-20T10:00:00Z",
        "message": message,
        "done": false,
    });
    format!("{line}\n")
}

/// The last line of Ollama's stream.
pub fn ollama_done(input: u64, output: u64) -> String {
    let line = json!({
        "model": "qwen3:4b",
        "created_at": "2026-11-20T10:00:01Z",
        "message": {"role": "assistant", "content": ""},
        "done": true,
        "done_reason": "stop",
        "prompt_eval_count": input,
        "eval_count": output,
    });
    format!("{line}\n")
}

/// A complete Ollama reply: one chunk per message, then the end.
pub fn ollama_stream(messages: impl IntoIterator<Item = Value>) -> Reply {
    let start = Reply::status(200).header("content-type", "application/x-ndjson");
    let lines = messages.into_iter().map(|message| ollama_line(&message));
    lines.fold(start, Reply::chunk).chunk(ollama_done(20, 10))
}

pub fn ollama_text(parts: &[&str]) -> Reply {
    ollama_thinking(&[], parts)
}

pub fn ollama_thinking(thinking: &[&str], text: &[&str]) -> Reply {
    let thinking = thinking
        .iter()
        .map(|part| json!({"role": "assistant", "content": "", "thinking": part}));
    let text = text
        .iter()
        .map(|part| json!({"role": "assistant", "content": part}));
    ollama_stream(thinking.chain(text))
}

/// One native tool call.
pub fn ollama_call(name: &str, arguments: &Value) -> Reply {
    let function = json!({"index": 0, "name": name, "arguments": arguments});
    ollama_stream([json!({
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "call_1", "function": function}],
    })])
}

/// One event of a chat-completions stream with this delta.
pub fn openai_event(delta: &Value, finish_reason: Option<&str>) -> String {
    let event = json!({
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
    });
    format!("data: {event}\n\n")
}

pub fn openai_usage(input: u64, output: u64) -> String {
    let usage = json!({"prompt_tokens": input, "completion_tokens": output});
    let event = json!({"object": "chat.completion.chunk", "choices": [], "usage": usage});
    format!("data: {event}\n\n")
}

/// A complete chat-completions reply: one chunk per delta, then finish reason, usage and
/// `[DONE]`.
pub fn openai_stream(deltas: impl IntoIterator<Item = Value>, finish_reason: &str) -> Reply {
    let start = Reply::status(200).header("content-type", "text/event-stream");
    let events = deltas.into_iter().map(|delta| openai_event(&delta, None));
    events
        .fold(start, Reply::chunk)
        .chunk(openai_event(&json!({}), Some(finish_reason)))
        .chunk(openai_usage(20, 10))
        .chunk("data: [DONE]\n\n")
}

pub fn openai_text(parts: &[&str]) -> Reply {
    openai_stream(parts.iter().map(|part| json!({"content": part})), "stop")
}

pub fn openai_thinking(thinking: &[&str], text: &[&str]) -> Reply {
    let thinking = thinking
        .iter()
        .map(|part| json!({"reasoning_content": part}));
    let text = text.iter().map(|part| json!({"content": part}));
    openai_stream(thinking.chain(text), "stop")
}

/// One call with its arguments in two fragments.
pub fn openai_call(name: &str, arguments: &Value) -> Reply {
    let arguments = arguments.to_string();
    let (first_half, second_half) = arguments.split_at(arguments.len() / 2);
    let first = json!([{"index": 0, "id": "call_1", "type": "function",
        "function": {"name": name, "arguments": first_half}}]);
    let second = json!([{"index": 0, "function": {"arguments": second_half}}]);
    openai_stream(
        [json!({"tool_calls": first}), json!({"tool_calls": second})],
        "tool_calls",
    )
}

/// An OpenAI error: `{"error": {…}}`.
pub fn openai_error(status: u16, message: &str, param: Option<&str>) -> Reply {
    let error = json!({"message": message, "type": "invalid_request_error", "param": param});
    Reply::json(status, &json!({"error": error}))
}
