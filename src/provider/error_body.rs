//! What a server says when it refuses or gives up, in all the shapes that
//! servers have for it. Pure.

use super::error::Cause;
use super::tools_unsupported;
use crate::text::surrogates;
use serde_json::Value;

/// An error in a server's own words.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Complaint {
    pub message: String,
    /// The parameter of the request that it is about.
    pub param: Option<String>,
    /// `type`, `code` and `status`, lower case, separated by a space.
    labels: String,
    sent: Option<u64>,
    limit: Option<u64>,
}

impl Complaint {
    /// The error that an event or an answer carries: `{"error": …}` with a text or
    /// an object, or flat with `"object": "error"`.
    pub fn in_event(event: &Value) -> Option<Self> {
        match event.get("error") {
            Some(Value::Null | Value::Bool(false)) | None => {}
            Some(Value::String(text)) if text.is_empty() => {}
            Some(error) => return Some(Self::from_error(error)),
        }
        let flat = |key: &str| event.get(key).and_then(Value::as_str) == Some("error");
        (flat("object") || flat("type")).then(|| Self::from_error(event))
    }

    /// The error in the body of an answer whose status is no success. None where
    /// there is nothing that a person could read.
    pub fn in_body(body: &[u8]) -> Option<Self> {
        let Ok(value) = serde_json::from_slice::<Value>(&surrogates::repair_surrogates(body))
        else {
            return Self::in_plain_body(body);
        };
        // Some servers send a list with one error in it.
        let value = value.get(0).unwrap_or(&value);
        let complaint = Self::in_event(value).unwrap_or_else(|| Self::from_error(value));
        (!complaint.message.is_empty()).then_some(complaint)
    }

    fn in_plain_body(body: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(body);
        let text = text.trim();
        (!text.is_empty() && !text.starts_with('<')).then(|| Self {
            message: text.to_owned(),
            ..Self::default()
        })
    }

    /// `error` is a text, or an object with `message` or `detail`. Either may hold a list
    /// of what is wrong with which field, as FastAPI and Mistral send it.
    fn from_error(error: &Value) -> Self {
        let text = |key: &str| error.get(key).and_then(Value::as_str);
        let number = |key: &str| error.get(key).and_then(Value::as_u64);
        let field = ["/detail/0", "/message/detail/0", "/message/0"]
            .iter()
            .find_map(|pointer| error.pointer(pointer).filter(|field| field.is_object()));
        let message = match error {
            _ if says_nothing(error) => String::new(),
            Value::String(text) => text.clone(),
            Value::Object(_) => text("message")
                .or_else(|| text("detail"))
                .or_else(|| field?.get("msg")?.as_str())
                .map_or_else(|| error.to_string(), str::to_owned),
            other => other.to_string(),
        };
        let label = |key: &str| match error.get(key) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        };
        let labels = ["type", "code", "status"].map(label);
        Self {
            message,
            param: text("param")
                .map(str::to_owned)
                .or_else(|| location(field?)),
            labels: labels
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" ")
                .to_lowercase(),
            sent: number("n_prompt_tokens"),
            limit: number("n_ctx"),
        }
    }

    /// Is it that the conversation is longer than the model's context?
    fn is_overflow(&self) -> bool {
        let message = self.message.to_lowercase();
        ["exceed_context_size", "context_length_exceeded"]
            .iter()
            .any(|label| self.labels.contains(label))
            || [
                "maximum context length",
                "prompt is too long",
                "too large for model with",
                "context length exceeded",
                "available context size",
            ]
            .iter()
            .any(|words| message.contains(words))
    }

    /// As the cause of a failed stream.
    pub fn in_stream(self) -> Cause {
        self.overflow().unwrap_or_else(|complaint| {
            let message = complaint.message.clone();
            if complaint.is_busy() {
                Cause::Busy { message }
            } else {
                Cause::InStream { message }
            }
        })
    }

    /// Is it that the server has too much to do, which passes?
    fn is_busy(&self) -> bool {
        let mut labels = self.labels.split(' ');
        labels.any(|label| {
            let known = ["429", "503", "529", "overloaded_error", "rate_limit_error"];
            known.contains(&label) || label.contains("rate_limit_exceeded")
        })
    }

    /// Is it that nobody pays? OpenAI says so with status 429, Anthropic with 400.
    pub fn is_about_credit(&self) -> bool {
        let message = self.message.to_lowercase();
        self.labels.contains("insufficient_quota")
            || self.labels.contains("billing")
            || message.contains("credit balance")
            || message.contains("insufficient balance")
    }

    /// Is it that the model, or the way it is run, takes no tools?
    pub fn refuses_tools(&self) -> bool {
        tools_unsupported::is_said_by(&self.message, self.param.as_deref())
    }

    /// As a failure of its own where it is about the length of the conversation.
    pub fn overflow(self) -> Result<Cause, Self> {
        if self.is_overflow() {
            Ok(Cause::ContextOverflow {
                sent: self.sent,
                limit: self.limit,
                message: self.message,
            })
        } else {
            Err(self)
        }
    }

    /// Does it speak of this parameter? Where `param` is given, only that counts:
    /// a message may quote the conversation.
    pub fn is_about(&self, parameter: &str) -> bool {
        match &self.param {
            Some(param) => param == parameter || param.ends_with(&format!(".{parameter}")),
            None => has_word(&self.message.to_lowercase(), parameter),
        }
    }
}

/// Are there no words in it at any depth?
fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(_) => false,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(values) => values.iter().all(says_nothing),
        Value::Object(fields) => fields.values().all(says_nothing),
    }
}

/// `["body", "messages", 2, "reasoning"]` as `messages.2.reasoning`.
fn location(field: &Value) -> Option<String> {
    let steps = field.get("loc")?.as_array()?.iter();
    let steps = steps.map(|step| match step {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let steps: Vec<_> = steps.filter(|step| step != "body").collect();
    (!steps.is_empty()).then(|| steps.join("."))
}

/// `thinking` is no word of `redacted_thinking`.
fn has_word(text: &str, word: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_letter) && !after.is_some_and(is_letter)
    })
}
