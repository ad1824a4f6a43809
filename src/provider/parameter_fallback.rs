//! Parameters that a server refuses: which one it was, what is sent instead, and
//! the words for the person (S2.6). Pure. Each step is taken once, since the body
//! that follows lacks what the step was about.

use super::chat_completions::REASONING_KEYS;
use super::error::Place;
use super::error_body::Complaint;
use crate::domain::Notice;
use crate::domain::model::ToolRole;
use serde_json::{Map, Value};

/// Sent with every request (S2.6).
pub const TEMPERATURE: f64 = 0.1;

/// How requests to one model at one address differ from the usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Adapted {
    pub omits_temperature: bool,
    /// `max_tokens` goes as `max_completion_tokens`.
    pub renames_max_tokens: bool,
    /// The most that the server takes for `max_tokens`.
    pub max_tokens: Option<u64>,
    pub effort: Effort,
    /// Of `think` (Ollama) and `thinking` (Anthropic).
    pub form: Form,
    pub omits_stream_options: bool,
    pub omits_parallel_tool_calls: bool,
    /// Thinking is not sent back with the calls of a turn.
    pub omits_carry: bool,
    /// Results in the text dialects go as the user's.
    pub results_from_user: bool,
}

/// What becomes of `reasoning_effort`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Effort {
    #[default]
    AsConfigured,
    /// The newest models of OpenAI take tools here only with `"none"`.
    None,
    /// Some models of Mistral know `"high"` and `"none"` alone.
    High,
    Omitted,
}

/// In which form thinking is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    #[default]
    AsConfigured,
    /// `true` for a level (Ollama); a budget for an effort, or the reverse (Anthropic).
    Other,
    Omitted,
}

type Step = fn(Adapted, &Complaint, &Value) -> Option<Adapted>;

/// In the order in which they are tried: the message of one may name another.
const STEPS: [Step; 9] = [
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

impl Adapted {
    /// The next thing to try after this complaint about `body`; none where nothing
    /// new could help.
    pub fn after(self, complaint: &Complaint, body: &Value) -> Option<Self> {
        STEPS.iter().find_map(|step| step(self, complaint, body))
    }

    /// The role of results in the text dialects.
    pub(super) fn tool_role(self, configured: Option<ToolRole>) -> ToolRole {
        match self.results_from_user {
            true => ToolRole::User,
            false => configured.unwrap_or(ToolRole::Tool),
        }
    }

    /// Changes the parameters at the root of a body that has them.
    pub(super) fn apply(self, body: &mut Map<String, Value>) {
        if let (Some(most), Some(limit)) = (self.max_tokens, body.get_mut("max_tokens"))
            && limit.as_u64().is_some_and(|tokens| tokens > most)
        {
            *limit = most.into();
        }
        if self.renames_max_tokens
            && let Some(limit) = body.shift_remove("max_tokens")
        {
            body.insert("max_completion_tokens".into(), limit);
        }
        match self.effort {
            Effort::AsConfigured => {}
            Effort::None => {
                body.insert("reasoning_effort".into(), "none".into());
            }
            Effort::High => {
                body.insert("reasoning_effort".into(), "high".into());
            }
            Effort::Omitted => {
                body.shift_remove("reasoning_effort");
            }
        }
        let omitted: [(bool, &[&str]); 3] = [
            (
                self.form == Form::Omitted,
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

    /// What the person is told about the step from `before` to this.
    pub fn notices(self, before: Self, place: &Place) -> Vec<Notice> {
        let Place { url, model, .. } = place;
        let mut notices = Vec::new();
        let mut tell = |is_new: bool, what: &str, instead: &str| {
            if is_new {
                let what = format!("`{model}` at {url} does not take {what}.");
                let why = format!("It was asked again {instead}, and will be until humble ends.");
                notices.push(Notice::info(what).because(why));
            }
        };
        let without = "without it";
        tell(
            self.omits_temperature != before.omits_temperature,
            &format!("the temperature {TEMPERATURE}"),
            without,
        );
        let most = self.max_tokens.unwrap_or_default();
        tell(
            self.max_tokens != before.max_tokens,
            &format!("answers of more than {most} tokens"),
            "for as many",
        );
        tell(
            self.renames_max_tokens != before.renames_max_tokens,
            "max_tokens",
            "with max_completion_tokens",
        );
        let instead = match self.effort {
            Effort::None => "with \"none\"",
            Effort::High => "with \"high\"",
            Effort::AsConfigured | Effort::Omitted => without,
        };
        tell(
            self.effort != before.effort,
            "this reasoning_effort",
            instead,
        );
        let instead = match self.form {
            Form::Other => "in another form",
            Form::AsConfigured | Form::Omitted => without,
        };
        tell(
            self.form != before.form,
            "the think setting in this form",
            instead,
        );
        tell(
            self.omits_stream_options != before.omits_stream_options,
            "stream_options",
            without,
        );
        tell(
            self.omits_parallel_tool_calls != before.omits_parallel_tool_calls,
            "parallel_tool_calls",
            without,
        );
        tell(
            self.omits_carry != before.omits_carry,
            "its own thinking back",
            without,
        );
        tell(
            self.results_from_user != before.results_from_user,
            "the role `tool` here",
            "with the results as the user's words",
        );
        notices
    }
}

fn temperature(adapted: Adapted, complaint: &Complaint, body: &Value) -> Option<Adapted> {
    let is_sent = ["/temperature", "/options/temperature"]
        .iter()
        .any(|pointer| body.pointer(pointer).is_some());
    (is_sent && complaint.is_about("temperature")).then_some(Adapted {
        omits_temperature: true,
        ..adapted
    })
}

/// `max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens`,
/// `the valid range of max_tokens is [1, 8192]`: the largest number below ours.
fn max_tokens_limit(adapted: Adapted, complaint: &Complaint, body: &Value) -> Option<Adapted> {
    let sent = body.get("max_tokens")?.as_u64()?;
    if adapted.max_tokens.is_some() || !complaint.is_about("max_tokens") {
        return None;
    }
    let message = complaint.message.to_lowercase();
    let speaks_of_limit = ["maximum", "range", "at most", "less than", "<="]
        .iter()
        .any(|words| message.contains(words));
    let numbers = message
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter_map(|word| word.parse::<u64>().ok());
    let most = numbers.filter(|number| *number < sent).max()?;
    (speaks_of_limit && most > 1).then_some(Adapted {
        max_tokens: Some(most),
        ..adapted
    })
}

fn max_tokens_name(adapted: Adapted, complaint: &Complaint, body: &Value) -> Option<Adapted> {
    // Only OpenAI has another name for it, and only its bodies have stream options.
    let is_openai = body.get("stream_options").is_some() || adapted.omits_stream_options;
    let is_sent = is_openai && body.get("max_tokens").is_some();
    (is_sent && complaint.is_about("max_tokens")).then_some(Adapted {
        renames_max_tokens: true,
        ..adapted
    })
}

fn effort(adapted: Adapted, complaint: &Complaint, body: &Value) -> Option<Adapted> {
    if adapted.effort == Effort::Omitted || !complaint.is_about("reasoning_effort") {
        return None;
    }
    let sent = body.get("reasoning_effort").and_then(Value::as_str);
    let wants = |word: &str| {
        ["'", "\"", "`"]
            .iter()
            .any(|quote| complaint.message.contains(&format!("{quote}{word}{quote}")))
    };
    let effort = match sent {
        // A level that is not known becomes one that is.
        Some("low" | "medium") if wants("high") => Effort::High,
        sent if sent != Some("none") && wants("none") => Effort::None,
        Some(_) => Effort::Omitted,
        None => return None,
    };
    Some(Adapted { effort, ..adapted })
}

fn form(adapted: Adapted, complaint: &Complaint, body: &Value) -> Option<Adapted> {
    let about = |words: &[&str]| words.iter().any(|word| complaint.is_about(word));
    let message = complaint.message.to_lowercase();
    let has_other = match (body.get("think"), body.get("thinking")) {
        (Some(think), _) if about(&["think"]) || message.contains("does not support thinking") => {
            think.is_string() && !message.contains("does not support thinking")
        }
        (_, Some(thinking)) if about(&["thinking", "output_config", "effort", "budget_tokens"]) => {
            thinking["type"] != "disabled"
        }
        _ => return None,
    };
    let form = match adapted.form {
        Form::AsConfigured if has_other => Form::Other,
        Form::AsConfigured | Form::Other => Form::Omitted,
        Form::Omitted => return None,
    };
    Some(Adapted { form, ..adapted })
}

fn stream_options(adapted: Adapted, complaint: &Complaint, body: &Value) -> Option<Adapted> {
    let is_sent = body.get("stream_options").is_some();
    (is_sent && complaint.is_about("stream_options")).then_some(Adapted {
        omits_stream_options: true,
        ..adapted
    })
}

fn parallel_tool_calls(adapted: Adapted, complaint: &Complaint, body: &Value) -> Option<Adapted> {
    let is_sent = body.get("parallel_tool_calls").is_some();
    (is_sent && complaint.is_about("parallel_tool_calls")).then_some(Adapted {
        omits_parallel_tool_calls: true,
        ..adapted
    })
}

/// Servers of chat completions differ in whether they know their own thinking when
/// it comes back. Anthropic's requires it.
fn carry(adapted: Adapted, complaint: &Complaint, body: &Value) -> Option<Adapted> {
    let messages = body.get("messages")?.as_array()?;
    let is_refused = messages.iter().any(|message| {
        let is_call = message.get("tool_calls").is_some();
        let named = REASONING_KEYS
            .iter()
            .any(|field| message.get(field).is_some() && complaint.is_about(field));
        let chunks = message.get("content").is_some_and(Value::is_array);
        is_call && (named || (chunks && complaint.is_about("thinking")))
    });
    is_refused.then_some(Adapted {
        omits_carry: true,
        ..adapted
    })
}

/// Where calls are text, some servers miss the calls that a result answers.
fn tool_role(adapted: Adapted, complaint: &Complaint, body: &Value) -> Option<Adapted> {
    let messages = body.get("messages")?.as_array()?;
    let has_results = messages.iter().any(|message| message["role"] == "tool");
    let has_calls = messages.iter().any(|m| m.get("tool_calls").is_some());
    let message = complaint.message.to_lowercase();
    let is_about_role = message.contains("tool") && message.contains("role")
        || ["tool_call", "tool call", "function call"]
            .iter()
            .any(|words| message.contains(words));
    (has_results && !has_calls && is_about_role).then_some(Adapted {
        results_from_user: true,
        ..adapted
    })
}
