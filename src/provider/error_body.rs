//! Reads the error messages of model servers, in every JSON shape they use. Pure.

use super::error::FailureCause;
use super::tools_unsupported;
use crate::text::surrogates;
use serde_json::Value;

/// An error as the server describes it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ServerError {
    pub message: String,
    /// The request parameter it is about.
    pub param: Option<String>,
    /// `type`, `code` and `status`, lower case, separated by a space.
    labels: String,
    sent: Option<u64>,
    limit: Option<u64>,
}

impl ServerError {
    /// The error in an event or response: `{"error": …}` with a string or an object, or a flat
    /// object with `"object": "error"`.
    pub fn from_event(event: &Value) -> Option<Self> {
        match event.get("error") {
            Some(Value::Null | Value::Bool(false)) | None => {}
            Some(Value::String(text)) if text.is_empty() => {}
            Some(error) => return Some(Self::from_error(error)),
        }
        let flat = |key: &str| event.get(key).and_then(Value::as_str) == Some("error");
        (flat("object") || flat("type")).then(|| Self::from_error(event))
    }

    /// The error in the body of a failed response; None if the body has no readable message.
    pub fn from_body(body: &[u8]) -> Option<Self> {
        let Ok(value) = serde_json::from_slice::<Value>(&surrogates::repair_surrogates(body))
        else {
            return Self::from_plain_body(body);
        };
        // Some servers wrap the error in a list.
        let value = value.get(0).unwrap_or(&value);
        let server_error = Self::from_event(value).unwrap_or_else(|| Self::from_error(value));
        (!server_error.message.is_empty()).then_some(server_error)
    }

    fn from_plain_body(body: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(body);
        let text = text.trim();
        (!text.is_empty() && !text.starts_with('<')).then(|| Self {
            message: text.to_owned(),
            ..Self::default()
        })
    }

    /// `error` is a string, or an object with `message` or `detail`. Either may hold a list of
    /// errors per field, as FastAPI and Mistral send it.
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

    /// The cause of a stream that failed with this error.
    pub fn into_failure(self) -> FailureCause {
        self.into_overflow().unwrap_or_else(|server_error| {
            let message = server_error.message.clone();
            if server_error.is_busy() {
                FailureCause::Overloaded { message }
            } else {
                FailureCause::ErrorInReply { message }
            }
        })
    }

    /// Whether the server is overloaded, which passes.
    fn is_busy(&self) -> bool {
        let mut labels = self.labels.split(' ');
        labels.any(|label| {
            let known = ["429", "503", "529", "overloaded_error", "rate_limit_error"];
            known.contains(&label) || label.contains("rate_limit_exceeded")
        })
    }

    /// Whether the account has no credit. OpenAI reports it with status 429, Anthropic with 400.
    pub fn is_about_credit(&self) -> bool {
        let message = self.message.to_lowercase();
        self.labels.contains("insufficient_quota")
            || self.labels.contains("billing")
            || message.contains("credit balance")
            || message.contains("insufficient balance")
    }

    pub fn refuses_tools(&self) -> bool {
        tools_unsupported::is_tools_refusal(&self.message, self.param.as_deref())
    }

    /// Converts a context overflow into its own cause; returns any other error unchanged.
    pub fn into_overflow(self) -> Result<FailureCause, Self> {
        if self.is_overflow() {
            Ok(FailureCause::ContextOverflow {
                sent: self.sent,
                limit: self.limit,
                message: self.message,
            })
        } else {
            Err(self)
        }
    }

    /// Whether the error is about this parameter. If `param` is set, only that counts: a message
    /// may quote the conversation.
    pub fn is_about(&self, parameter: &str) -> bool {
        match &self.param {
            Some(param) => param == parameter || param.ends_with(&format!(".{parameter}")),
            None => has_word(&self.message.to_lowercase(), parameter),
        }
    }
}

/// Whether the value contains no text at any depth.
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

/// Finds whole words only: `redacted_thinking` does not contain `thinking`.
fn has_word(text: &str, word: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_letter) && !after.is_some_and(is_letter)
    })
}
