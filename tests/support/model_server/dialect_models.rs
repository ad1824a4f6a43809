//! Replies computed from requests, and simulated models for `humble probe` that each follow at most
//! one dialect and repeat the secret word from the tool's result.

use super::{ModelServer, RecordedRequest, Reply, ollama_call, ollama_text};
use serde_json::{Value, json};

/// Computes the reply to a request.
pub type ReplyFn = fn(&RecordedRequest) -> Reply;

impl ModelServer {
    /// Answers each request for this path with `reply`, unless a reply is queued.
    pub fn reply_with(&self, path: &str, reply: ReplyFn) -> &Self {
        let mut script = self.script.lock().unwrap();
        script.reply_functions.insert(path.into(), reply);
        drop(script);
        self
    }
}

/// The dialect in which a request to Ollama offers its tools.
pub fn dialect_of(request: &RecordedRequest) -> &'static str {
    let system = request.body["messages"][0]["content"]
        .as_str()
        .unwrap_or_default();
    match request.body["tools"] {
        Value::Array(_) => "native",
        _ if system.contains("<mcp-request>") => "xml",
        _ => "prompt",
    }
}

/// The secret word from the result of `say_hello`, if the last message contains one.
pub fn secret_word(request: &RecordedRequest) -> Option<String> {
    let last_message = request.body["messages"].as_array()?.last()?;
    let (_, rest) = last_message["content"]
        .as_str()?
        .split_once("\"secret_word\":\"")?;
    Some(rest.split('"').next()?.to_owned())
}

/// Calls `say_hello` and repeats its secret word if the request uses `dialect`; otherwise only
/// greets.
fn follow_dialect(request: &RecordedRequest, dialect: &str) -> Reply {
    match secret_word(request) {
        _ if dialect_of(request) != dialect => ollama_text(&["Hello! 무엇을 도와드릴까요?"]),
        Some(word) => ollama_text(&["The secret word is **", &word, "**."]),
        None if dialect == "native" => ollama_call("humble__say_hello", &json!({})),
        None => ollama_text(&[
            "{\"server\": \"humble\", \"name\": ",
            "\"say_hello\", \"arguments\": {}}",
        ]),
    }
}

/// A model that calls tools only in the native dialect.
pub fn follows_native(request: &RecordedRequest) -> Reply {
    follow_dialect(request, "native")
}

/// A model that calls tools only in the prompt dialect.
pub fn follows_prompt(request: &RecordedRequest) -> Reply {
    follow_dialect(request, "prompt")
}

/// A model that never calls a tool.
pub fn follows_nothing(request: &RecordedRequest) -> Reply {
    follow_dialect(request, "none")
}

/// Like [`follows_native`], but hangs when a request uses the prompt dialect.
pub fn hangs_in_prompt(request: &RecordedRequest) -> Reply {
    match dialect_of(request) {
        "prompt" => Reply::status(200).hang(),
        _ => follows_native(request),
    }
}
