//! Detects which parameter a server rejected and chooses a replacement. Pure. No rule restores a
//! rejected parameter, so a request is retried only a few times.

use super::chat_completions::REASONING_KEYS;
use super::error::RequestTarget;
use super::error_body::ServerError;
use crate::domain::Notice;
use crate::domain::model::{TEMPERATURE, ToolRole};
use serde_json::{Map, Value};

/// How requests to one model at one base URL differ from the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ParameterFallback {
    pub omits_temperature: bool,
    /// Sends `max_tokens` as `max_completion_tokens`.
    pub renames_max_tokens: bool,
    /// The largest `max_tokens` that the server accepts.
    pub max_tokens: Option<u64>,
    pub effort: EffortFallback,
    /// The form of `think` (Ollama) or `thinking` (Anthropic).
    pub thinking_form: ThinkingForm,
    pub omits_stream_options: bool,
    /// Does not ask Anthropic's API to cache the prompt.
    pub omits_cache_control: bool,
    pub omits_parallel_tool_calls: bool,
    /// Does not send reasoning back with the tool calls of a turn.
    pub omits_reasoning: bool,
    /// Sends tool results as user messages. Affects only text dialects.
    pub sends_results_as_user: bool,
}

/// The replacement for a rejected `reasoning_effort`.
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

/// The replacement for a rejected `think` or `thinking`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThinkingForm {
    #[default]
    AsConfigured,
    /// `true` instead of a level (Ollama); a budget instead of an effort, or the reverse
    /// (Anthropic).
    Other,
    Omitted,
}

type FallbackRule = fn(ParameterFallback, &ServerError, &Value) -> Option<ParameterFallback>;

/// The order matters: the message about one parameter may mention another.
const RULES: [FallbackRule; 10] = [
    omit_temperature,
    lower_max_tokens,
    rename_max_tokens,
    replace_effort,
    omit_reasoning,
    change_thinking_form,
    omit_stream_options,
    omit_cache_control,
    omit_parallel_tool_calls,
    send_results_as_user,
];

impl ParameterFallback {
    /// The next fallback to try after the server rejected `body` with this error; `None` if no rule
    /// applies.
    pub fn after_rejection(self, server_error: &ServerError, body: &Value) -> Option<Self> {
        RULES.iter().find_map(|rule| rule(self, server_error, body))
    }

    /// In text dialects.
    pub(super) fn tool_role(self, configured: Option<ToolRole>) -> ToolRole {
        match self.sends_results_as_user {
            true => ToolRole::User,
            false => configured.unwrap_or(ToolRole::Tool),
        }
    }

    /// Adjusts the top-level parameters of a body.
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
        let omissions: [(bool, &[&str]); 3] = [
            (
                self.thinking_form == ThinkingForm::Omitted,
                &["think", "thinking", "output_config"],
            ),
            (self.omits_stream_options, &["stream_options"]),
            (self.omits_parallel_tool_calls, &["parallel_tool_calls"]),
        ];
        for (_, keys) in omissions.into_iter().filter(|(is_omitted, _)| *is_omitted) {
            for key in keys {
                body.shift_remove(*key);
            }
        }
    }

    /// A notice for each parameter that has changed since `before`.
    pub fn notices_since(self, before: Self, target: &RequestTarget) -> Vec<Notice> {
        let RequestTarget { url, model, .. } = target;
        let mut notices = Vec::new();
        let mut add_notice = |has_changed: bool, rejected: &str, instead: &str| {
            if has_changed {
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
        let instead = match self.thinking_form {
            ThinkingForm::Other => "in another form",
            ThinkingForm::AsConfigured | ThinkingForm::Omitted => without,
        };
        add_notice(
            self.thinking_form != before.thinking_form,
            "the think setting in this form",
            instead,
        );
        for ((is_omitted, name), (was_omitted, _)) in self.omissions().zip(before.omissions()) {
            add_notice(is_omitted != was_omitted, name, without);
        }
        add_notice(
            self.sends_results_as_user != before.sends_results_as_user,
            "tool results in the role `tool`",
            "with the results as user messages",
        );
        notices
    }

    /// Whether each of these parts of a request is left out, with its name in notices.
    fn omissions(self) -> impl Iterator<Item = (bool, &'static str)> {
        let omissions = [
            (self.omits_stream_options, "stream_options"),
            (self.omits_cache_control, "cache_control"),
            (self.omits_parallel_tool_calls, "parallel_tool_calls"),
            (self.omits_reasoning, "its own earlier reasoning"),
        ];
        omissions.into_iter()
    }
}

fn omit_temperature(
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
/// number of output tokens` or `the valid range of max_tokens is [1, 8192]`. The limit is the
/// largest number that is smaller than the value sent.
fn lower_max_tokens(
    fallback: ParameterFallback,
    server_error: &ServerError,
    body: &Value,
) -> Option<ParameterFallback> {
    let sent = body.get("max_tokens")?.as_u64()?;
    if fallback.max_tokens.is_some() || !server_error.is_about("max_tokens") {
        return None;
    }
    let message = server_error.message.to_lowercase();
    let mentions_limit = ["maximum", "range", "at most", "less than", "<="]
        .iter()
        .any(|phrase| message.contains(phrase));
    let numbers = message
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter_map(|word| word.parse::<u64>().ok());
    let limit = numbers.filter(|number| *number < sent).max()?;
    (mentions_limit && limit > 1).then_some(ParameterFallback {
        max_tokens: Some(limit),
        ..fallback
    })
}

fn rename_max_tokens(
    fallback: ParameterFallback,
    server_error: &ServerError,
    body: &Value,
) -> Option<ParameterFallback> {
    // Only OpenAI has a different name for this parameter, and only its adapter, which also serves
    // compatible servers, sends `stream_options`.
    let uses_openai_adapter = body.get("stream_options").is_some() || fallback.omits_stream_options;
    let is_sent = uses_openai_adapter && body.get("max_tokens").is_some();
    (is_sent && server_error.is_about("max_tokens")).then_some(ParameterFallback {
        renames_max_tokens: true,
        ..fallback
    })
}

fn replace_effort(
    fallback: ParameterFallback,
    server_error: &ServerError,
    body: &Value,
) -> Option<ParameterFallback> {
    if fallback.effort == EffortFallback::Omitted || !server_error.is_about("reasoning_effort") {
        return None;
    }
    let sent = body.get("reasoning_effort").and_then(Value::as_str);
    let message_quotes = |word: &str| {
        ["'", "\"", "`"].iter().any(|quote| {
            server_error
                .message
                .contains(&format!("{quote}{word}{quote}"))
        })
    };
    let effort = match sent {
        // Every model with adjustable effort accepts "high".
        Some("low" | "medium" | "xhigh" | "max") if message_quotes("high") => EffortFallback::High,
        sent if sent != Some("none") && message_quotes("none") => EffortFallback::None,
        Some(_) => EffortFallback::Omitted,
        None => return None,
    };
    Some(ParameterFallback { effort, ..fallback })
}

fn change_thinking_form(
    fallback: ParameterFallback,
    server_error: &ServerError,
    body: &Value,
) -> Option<ParameterFallback> {
    let is_about_any = |parameters: &[&str]| {
        let mut parameters = parameters.iter();
        parameters.any(|parameter| server_error.is_about(parameter))
    };
    let message = server_error.message.to_lowercase();
    let is_unsupported = message.contains("does not support thinking");
    let anthropic_parameters = ["thinking", "output_config", "effort", "budget_tokens"];
    let has_other_form = match (body.get("think"), body.get("thinking")) {
        (Some(think), _) if is_about_any(&["think"]) || is_unsupported => {
            think.is_string() && !is_unsupported
        }
        (_, Some(thinking)) if is_about_any(&anthropic_parameters) => {
            thinking["type"] != "disabled"
        }
        _ => return None,
    };
    let thinking_form = match fallback.thinking_form {
        ThinkingForm::AsConfigured if has_other_form => ThinkingForm::Other,
        ThinkingForm::AsConfigured | ThinkingForm::Other => ThinkingForm::Omitted,
        ThinkingForm::Omitted => return None,
    };
    Some(ParameterFallback {
        thinking_form,
        ..fallback
    })
}

fn omit_stream_options(
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

fn omit_cache_control(
    fallback: ParameterFallback,
    server_error: &ServerError,
    body: &Value,
) -> Option<ParameterFallback> {
    let is_sent = body.get("cache_control").is_some();
    (is_sent && server_error.is_about("cache_control")).then_some(ParameterFallback {
        omits_cache_control: true,
        ..fallback
    })
}

fn omit_parallel_tool_calls(
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

/// Some `/chat/completions` servers reject the reasoning that they sent themselves. Anthropic
/// requires it.
fn omit_reasoning(
    fallback: ParameterFallback,
    server_error: &ServerError,
    body: &Value,
) -> Option<ParameterFallback> {
    let messages = body.get("messages")?.as_array()?;
    let is_rejected = messages.iter().any(|message| {
        let has_calls = message.get("tool_calls").is_some();
        let is_field_rejected = REASONING_KEYS
            .iter()
            .any(|field| message.get(field).is_some() && server_error.is_about(field));
        // Mistral's thinking is a block in `content`.
        let has_blocks = message.get("content").is_some_and(Value::is_array);
        has_calls && (is_field_rejected || (has_blocks && server_error.is_about("thinking")))
    });
    is_rejected.then_some(ParameterFallback {
        omits_reasoning: true,
        ..fallback
    })
}

/// In text dialects, requests contain no call objects, and some servers reject a tool result
/// without a matching call.
fn send_results_as_user(
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
            .any(|phrase| message.contains(phrase));
    (has_results && !has_calls && is_about_role).then_some(ParameterFallback {
        sends_results_as_user: true,
        ..fallback
    })
}
