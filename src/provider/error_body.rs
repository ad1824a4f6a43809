//! Reads the error messages of model servers, in every known JSON format. Pure.

use super::error::FailureCause;
use super::tools_unsupported;
use crate::text::surrogates;
use serde_json::Value;
use url::Url;

/// An error as the server describes it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ServerError {
    pub message: String,
    /// The request parameter that the error is about.
    pub param: Option<String>,
    /// The page on which Ollama can be signed in to its hosted models.
    sign_in_url: Option<Box<str>>,
    /// `type`, `code` and `status`, in lower case and separated by spaces.
    labels: String,
    sent_tokens: Option<u64>,
    context_tokens: Option<u64>,
}

impl ServerError {
    /// The error in an event or response: `{"error": …}` with a string or an object, or an object
    /// with `"object": "error"` or `"type": "error"`.
    pub fn from_event(event: &Value) -> Option<Self> {
        match event.get("error") {
            Some(Value::Null | Value::Bool(false)) | None => {}
            Some(Value::String(text)) if text.is_empty() => {}
            Some(error) => {
                return Some(Self {
                    sign_in_url: sign_in_url(event),
                    ..Self::from_error(error)
                });
            }
        }
        let is_error = |key: &str| event.get(key).and_then(Value::as_str) == Some("error");
        (is_error("object") || is_error("type")).then(|| Self::from_error(event))
    }

    /// The error in the body of a failed response; `None` if the body has no readable message.
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

    /// `error` is a string, or an object with `message` or `detail`. Either key may hold a list
    /// of errors about individual request fields, as FastAPI and Mistral send it.
    fn from_error(error: &Value) -> Self {
        let text = |key: &str| error.get(key).and_then(Value::as_str);
        let number = |key: &str| error.get(key).and_then(Value::as_u64);
        let field_error = ["/detail/0", "/message/detail/0", "/message/0"]
            .iter()
            .find_map(|pointer| error.pointer(pointer).filter(|entry| entry.is_object()));
        let message = match error {
            _ if has_no_text(error) => String::new(),
            Value::String(text) => text.clone(),
            Value::Object(_) => text("message")
                .or_else(|| text("detail"))
                .or_else(|| field_error?.get("msg")?.as_str())
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
                .or_else(|| location(field_error?)),
            labels: labels
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" ")
                .to_lowercase(),
            sign_in_url: None,
            sent_tokens: number("n_prompt_tokens"),
            context_tokens: number("n_ctx"),
        }
    }

    fn is_context_overflow(&self) -> bool {
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
            .any(|phrase| message.contains(phrase))
    }

    /// Converts an error that was reported inside a stream.
    pub fn into_failure(self) -> FailureCause {
        if let Some(sign_in) = self.sign_in() {
            return sign_in;
        }
        self.into_context_overflow().unwrap_or_else(|server_error| {
            let message = server_error.message.clone();
            if server_error.is_overload() {
                FailureCause::Overloaded { message }
            } else {
                FailureCause::ErrorInReply { message }
            }
        })
    }

    /// Whether the server is temporarily overloaded or limits requests.
    fn is_overload(&self) -> bool {
        let mut labels = self.labels.split(' ');
        labels.any(|label| {
            let overload_labels = ["429", "503", "529", "overloaded_error", "rate_limit_error"];
            overload_labels.contains(&label) || label.contains("rate_limit_exceeded")
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

    /// The failure, if the server must be signed in first.
    pub fn sign_in(&self) -> Option<FailureCause> {
        let url = self.sign_in_url.as_deref()?.to_owned();
        Some(FailureCause::SignInRequired { url })
    }

    pub fn refuses_tools(&self) -> bool {
        tools_unsupported::is_tools_refusal(&self.message, self.param.as_deref())
    }

    /// Converts a context overflow to [`FailureCause::ContextOverflow`]; returns any other error
    /// unchanged.
    pub fn into_context_overflow(self) -> Result<FailureCause, Self> {
        if self.is_context_overflow() {
            Ok(FailureCause::ContextOverflow {
                sent: self.sent_tokens,
                limit: self.context_tokens,
                message: self.message,
            })
        } else {
            Err(self)
        }
    }

    /// Whether the error is about this parameter. If `param` is set, the message is not searched,
    /// because it may quote the conversation.
    pub fn is_about(&self, parameter: &str) -> bool {
        match &self.param {
            Some(param) => param == parameter || param.ends_with(&format!(".{parameter}")),
            None => has_word(&self.message.to_lowercase(), parameter),
        }
    }
}

fn sign_in_url(event: &Value) -> Option<Box<str>> {
    let url = Url::parse(event.get("signin_url")?.as_str()?).ok()?;
    (url.scheme() == "https").then(|| url.as_str().into())
}

/// Whether the value contains no text and no number at any depth.
fn has_no_text(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(_) => false,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(values) => values.iter().all(has_no_text),
        Value::Object(fields) => fields.values().all(has_no_text),
    }
}

/// Converts `"loc": ["body", "messages", 2, "reasoning"]` to `messages.2.reasoning`.
fn location(field_error: &Value) -> Option<String> {
    let segments = field_error.get("loc")?.as_array()?.iter();
    let segments = segments.map(|segment| match segment {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let segments: Vec<_> = segments.filter(|segment| segment != "body").collect();
    (!segments.is_empty()).then(|| segments.join("."))
}

/// Finds whole words only: `redacted_thinking` does not contain the word `thinking`.
fn has_word(text: &str, word: &str) -> bool {
    let is_word_char = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        !before.is_some_and(is_word_char) && !after.is_some_and(is_word_char)
    })
}
