//! Detects which parameter a server rejected and decides what to send instead. Pure. Each rule
//! applies at most once, because the next body lacks what the rule was about.

use super::chat_completions::REASONING_KEYS;
use super::error::RequestTarget;
use super::error_body::ServerError;
use crate::domain::Notice;
use crate::domain::model::ToolRole;
use serde_json::{Map, Value};

/// Low, so that tool calls are well-formed; sent with every request unless the server rejects it.
pub const TEMPERATURE: f64 = 0.1;

/// How requests to one model at one address differ from the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ParameterFallback {
    pub omits_temperature: bool,
    /// Sends `max_tokens` as `max_completion_tokens`.
    pub renames_max_tokens: bool,
    /// The largest `max_tokens` that the server accepts.
    pub max_tokens: Option<u64>,
    pub effort: EffortFallback,
    /// The form of `think` (Ollama) or `thinking` (Anthropic).
    pub form: ThinkingForm,
    pub omits_stream_options: bool,
    pub omits_parallel_tool_calls: bool,
    /// Reasoning is not sent back with the tool calls of a turn.
    pub omits_reasoning: bool,
    /// Tool results in text dialects are sent as user messages.
    pub results_from_user: bool,
}

/// What `reasoning_effort` is replaced with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EffortFallback {
    #[default]
    AsConfigured,
    /// OpenAI's newest models accept tools only with `"none"`.
    None,
    /// Some of Mistral's models accept only `"high"` and `"none"`.
    High,
    Omitted,
}

/// How thinking is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThinkingForm {
    #[default]
    AsConfigured,
    /// `true` instead of a level (Ollama), or the other one of budget and effort (Anthropic).
    Other,
    Omitted,
}

type FallbackRule = fn(ParameterFallback, &ServerError, &Value) -> Option<ParameterFallback>;

/// The order matters: the message about one parameter may mention another.
const RULES: [FallbackRule; 9] = [
    temperature,
    max_tokens_limit,
    max_tokens_name,
    effort,
    carry,
    form,
    stream_options,
    parallel_tool_calls,
    tool_role,
];

impl ParameterFallback {
    /// The next variant to try after this error about `body`; None if no rule applies.
    pub fn after_rejection(self, server_error: &ServerError, body: &Value) -> Option<Self> {
        RULES.iter().find_map(|rule| rule(self, server_error, body))
    }

    /// The role of tool results in text dialects.
    pub(super) fn tool_role(self, configured: Option<ToolRole>) -> ToolRole {
        match self.results_from_user {
            true => ToolRole::User,
            false => configured.unwrap_or(ToolRole::Tool),
        }
    }

    /// Adjusts the parameters at the root of a body.
    pub(super) fn apply(self, body: &mut Map<String, Value>) {
        if let (Some(limit), Some(max_tokens)) = (self.max_tokens, body.get_mut("max_tokens"))
            && max_tokens.as_u64().is_some_and(|tokens| tokens > limit)
        {
            *max_tokens = limit.into();
        }
        if self.renames_max_tokens
            && let Some(limit) = body.shift_remove("max_tokens")
        {
            body.insert("max_completion_tokens".into(), limit);
        }
        match self.effort {
            EffortFallback::AsConfigured => {}
            EffortFallback::None => {
                body.insert("reasoning_effort".into(), "none".into());
            }
            EffortFallback::High => {
                body.insert("reasoning_effort".into(), "high".into());
            }
            EffortFallback::Omitted => {
                body.shift_remove("reasoning_effort");
            }
        }
        let omitted: [(bool, &[&str]); 3] = [
            (
                self.form == ThinkingForm::Omitted,
                &["think", "thinking", "output_config"],
            ),
            (self.omits_stream_options, &["stream_options"]),
            (self.omits_parallel_tool_calls, &["parallel_tool_calls"]),
        ];
        for (_, keys) in omitted.into_iter().filter(|(is_omitted, _)| *is_omitted) {
            for key in keys {
                body.shift_remove(*key);
            }
        }
    }

    /// Notices about what changed since `before`.
    pub fn notices_since(self, before: Self, target: &RequestTarget) -> Vec<Notice> {
        let RequestTarget { url, model, .. } = target;
        let mut notices = Vec::new();
        let mut add_notice = |is_new: bool, rejected: &str, instead: &str| {
            if is_new {
                let text = format!("`{model}` at {url} does not accept {rejected}.");
                let why = format!(
                    "The request was sent again {instead}. This applies to later requests too, until humble exits."
                );
                notices.push(Notice::info(text).with_reason(why));
            }
        };
        let without = "without it";
        add_notice(
            self.omits_temperature != before.omits_temperature,
            &format!("the temperature {TEMPERATURE}"),
            without,
        );
        let limit = self.max_tokens.unwrap_or_default();
        add_notice(
            self.max_tokens != before.max_tokens,
            &format!("answers of more than {limit} tokens"),
            "with that limit",
        );
        add_notice(
            self.renames_max_tokens != before.renames_max_tokens,
            "max_tokens",
            "with max_completion_tokens",
        );
        let instead = match self.effort {
            EffortFallback::None => "with \"none\"",
            EffortFallback::High => "with \"high\"",
            EffortFallback::AsConfigured | EffortFallback::Omitted => without,
        };
        add_notice(
            self.effort != before.effort,
            "this reasoning_effort",
            instead,
        );
        let instead = match self.form {
            ThinkingForm::Other => "in another form",
            ThinkingForm::AsConfigured | ThinkingForm::Omitted => without,
        };
        add_notice(
            self.form != before.form,
            "the think setting in this form",
            instead,
        );
        add_notice(
            self.omits_stream_options != before.omits_stream_options,
            "stream_options",
            without,
        );
        add_notice(
            self.omits_parallel_tool_calls != before.omits_parallel_tool_calls,
            "parallel_tool_calls",
            without,
        );
        add_notice(
            self.omits_reasoning != before.omits_reasoning,
            "its own reasoning back",
            without,
        );
        add_notice(
            self.results_from_user != before.results_from_user,
            "tool results in the role `tool`",
            "with the results as user messages",
        );
        notices
    }
}

fn temperature(
    fallback: ParameterFallback,
    server_error: &ServerError,
    body: &Value,
) -> Option<ParameterFallback> {
    let is_sent = ["/temperature", "/options/temperature"]
        .iter()
        .any(|pointer| body.pointer(pointer).is_some());
    (is_sent && server_error.is_about("temperature")).then_some(ParameterFallback {
        omits_temperature: true,
        ..fallback
    })
}

/// Reads the limit from messages such as `max_tokens: 32000 > 8192, which is the maximum allowed
/// number of output tokens` or `the valid range of max_tokens is [1, 8192]`: the largest number
/// below ours.
fn max_tokens_limit(
    fallback: ParameterFallback,
    server_error: &ServerError,
    body: &Value,
) -> Option<ParameterFallback> {
    let sent = body.get("max_tokens")?.as_u64()?;
    if fallback.max_tokens.is_some() || !server_error.is_about("max_tokens") {
        return None;
    }
    let message = server_error.message.to_lowercase();
    let speaks_of_limit = ["maximum", "range", "at most", "less than", "<="]
        .iter()
        .any(|words| message.contains(words));
    let numbers = message
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter_map(|word| word.parse::<u64>().ok());
    let limit = numbers.filter(|number| *number < sent).max()?;
    (speaks_of_limit && limit > 1).then_some(ParameterFallback {
        max_tokens: Some(limit),
        ..fallback
    })
}

fn max_tokens_name(
    fallback: ParameterFallback,
    server_error: &ServerError,
    body: &Value,
) -> Option<ParameterFallback> {
    // Only OpenAI has another name for this parameter, and only its bodies have stream options.
    let is_openai = body.get("stream_options").is_some() || fallback.omits_stream_options;
    let is_sent = is_openai && body.get("max_tokens").is_some();
    (is_sent && server_error.is_about("max_tokens")).then_some(ParameterFallback {
        renames_max_tokens: true,
        ..fallback
    })
}

fn effort(
    fallback: ParameterFallback,
    server_error: &ServerError,
    body: &Value,
) -> Option<ParameterFallback> {
    if fallback.effort == EffortFallback::Omitted || !server_error.is_about("reasoning_effort") {
        return None;
    }
    let sent = body.get("reasoning_effort").and_then(Value::as_str);
    let wants = |word: &str| {
        ["'", "\"", "`"].iter().any(|quote| {
            server_error
                .message
                .contains(&format!("{quote}{word}{quote}"))
        })
    };
    let effort = match sent {
        // Replaces an unknown level with one that every model knows.
        Some("low" | "medium") if wants("high") => EffortFallback::High,
        sent if sent != Some("none") && wants("none") => EffortFallback::None,
        Some(_) => EffortFallback::Omitted,
        None => return None,
    };
    Some(ParameterFallback { effort, ..fallback })
}

fn form(
    fallback: ParameterFallback,
    server_error: &ServerError,
    body: &Value,
) -> Option<ParameterFallback> {
    let about = |words: &[&str]| words.iter().any(|word| server_error.is_about(word));
    let message = server_error.message.to_lowercase();
    let has_other = match (body.get("think"), body.get("thinking")) {
        (Some(think), _) if about(&["think"]) || message.contains("does not support thinking") => {
            think.is_string() && !message.contains("does not support thinking")
        }
        (_, Some(thinking)) if about(&["thinking", "output_config", "effort", "budget_tokens"]) => {
            thinking["type"] != "disabled"
        }
        _ => return None,
    };
    let form = match fallback.form {
        ThinkingForm::AsConfigured if has_other => ThinkingForm::Other,
        ThinkingForm::AsConfigured | ThinkingForm::Other => ThinkingForm::Omitted,
        ThinkingForm::Omitted => return None,
    };
    Some(ParameterFallback { form, ..fallback })
}

fn stream_options(
    fallback: ParameterFallback,
    server_error: &ServerError,
    body: &Value,
) -> Option<ParameterFallback> {
    let is_sent = body.get("stream_options").is_some();
    (is_sent && server_error.is_about("stream_options")).then_some(ParameterFallback {
        omits_stream_options: true,
        ..fallback
    })
}

fn parallel_tool_calls(
    fallback: ParameterFallback,
    server_error: &ServerError,
    body: &Value,
) -> Option<ParameterFallback> {
    let is_sent = body.get("parallel_tool_calls").is_some();
    (is_sent && server_error.is_about("parallel_tool_calls")).then_some(ParameterFallback {
        omits_parallel_tool_calls: true,
        ..fallback
    })
}

/// Some servers of `/chat/completions` reject the reasoning that they sent themselves. Anthropic
/// requires it.
fn carry(
    fallback: ParameterFallback,
    server_error: &ServerError,
    body: &Value,
) -> Option<ParameterFallback> {
    let messages = body.get("messages")?.as_array()?;
    let is_refused = messages.iter().any(|message| {
        let is_call = message.get("tool_calls").is_some();
        let named = REASONING_KEYS
            .iter()
            .any(|field| message.get(field).is_some() && server_error.is_about(field));
        let chunks = message.get("content").is_some_and(Value::is_array);
        is_call && (named || (chunks && server_error.is_about("thinking")))
    });
    is_refused.then_some(ParameterFallback {
        omits_reasoning: true,
        ..fallback
    })
}

/// In text dialects there are no call objects, and some servers reject a result without a
/// matching call.
fn tool_role(
    fallback: ParameterFallback,
    server_error: &ServerError,
    body: &Value,
) -> Option<ParameterFallback> {
    let messages = body.get("messages")?.as_array()?;
    let has_results = messages.iter().any(|message| message["role"] == "tool");
    let has_calls = messages.iter().any(|m| m.get("tool_calls").is_some());
    let message = server_error.message.to_lowercase();
    let is_about_role = message.contains("tool") && message.contains("role")
        || ["tool_call", "tool call", "function call"]
            .iter()
            .any(|words| message.contains(words));
    (has_results && !has_calls && is_about_role).then_some(ParameterFallback {
        results_from_user: true,
        ..fallback
    })
}
