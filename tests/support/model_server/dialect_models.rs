//! Replies computed from requests, and models for `humble probe` that repeat the tool's
//! result.

use super::{ModelServer, RecordedRequest, Reply, ollama_call, ollama_text};
use serde_json::{Value, json};

/// Computes the reply to a request.
pub type ReplyFn = fn(&RecordedRequest) -> Reply;

impl ModelServer {
    /// Computes the reply to each request for this path, unless a reply is queued.
    pub fn reply_with(&self, path: &str, answer: ReplyFn) -> &Self {
        let mut script = self.script.lock().unwrap();
        script.answers.insert(path.into(), answer);
        drop(script);
        self
    }
}

/// The dialect of a request to Ollama.
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

/// The secret word from the result of `say_hello`, if it was called.
pub fn secret_word(request: &RecordedRequest) -> Option<String> {
    let last = request.body["messages"].as_array()?.last()?;
    let (_, rest) = last["content"].as_str()?.split_once("\"secret_word\":\"")?;
    Some(rest.split('"').next()?.to_owned())
}

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

/// A model that only follows the native dialect.
pub fn follows_native(request: &RecordedRequest) -> Reply {
    follow_dialect(request, "native")
}

/// A model that only follows the prompt dialect.
pub fn follows_prompt(request: &RecordedRequest) -> Reply {
    follow_dialect(request, "prompt")
}

/// A model that never calls a tool.
pub fn follows_nothing(request: &RecordedRequest) -> Reply {
    follow_dialect(request, "none")
}

/// A model that hangs in the prompt dialect.
pub fn hangs_in_prompt(request: &RecordedRequest) -> Reply {
    match dialect_of(request) {
        "prompt" => Reply::status(200).hang(),
        _ => follows_native(request),
    }
}
