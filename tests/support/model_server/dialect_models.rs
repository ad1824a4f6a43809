//! Replies that follow from their requests, and the models of `humble probe`, which
//! repeat what a tool told them.

use super::{ModelServer, RecordedRequest, Reply, ollama_call, ollama_text};
use serde_json::{Value, json};

/// Makes a reply of a request.
pub type ReplyFn = fn(&RecordedRequest) -> Reply;

impl ModelServer {
    /// Each request for this path gets what `answer` makes of it, where no reply is
    /// queued.
    pub fn reply_with(&self, path: &str, answer: ReplyFn) -> &Self {
        let mut script = self.script.lock().unwrap();
        script.answers.insert(path.into(), answer);
        drop(script);
        self
    }
}

/// The dialect in which an Ollama is asked.
pub fn dialect_of(request: &RecordedRequest) -> &'static str {
    let system = &request.body["messages"][0]["content"];
    let system = system.as_str().unwrap_or_default();
    match request.body["tools"] {
        Value::Array(_) => "native",
        _ if system.contains("<mcp-request>") => "xml",
        _ => "prompt",
    }
}

/// The word that `say_hello` told, where it was called.
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

/// A model that calls in Ollama's own field and in no other way.
pub fn follows_native(request: &RecordedRequest) -> Reply {
    follow_dialect(request, "native")
}

/// A model that calls as the prompt says, and in no other way.
pub fn follows_prompt(request: &RecordedRequest) -> Reply {
    follow_dialect(request, "prompt")
}

/// A model that never calls a tool.
pub fn follows_nothing(request: &RecordedRequest) -> Reply {
    follow_dialect(request, "none")
}

/// A model that says nothing at all in the dialect `prompt`.
pub fn hangs_in_prompt(request: &RecordedRequest) -> Reply {
    match dialect_of(request) {
        "prompt" => Reply::status(200).hang(),
        _ => follows_native(request),
    }
}
