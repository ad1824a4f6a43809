//! The thinking parameters of requests to Anthropic. Older models take a budget in tokens; newer
//! ones take an effort and decide for themselves how much to think. The model's name decides which
//! form is tried first; if it is rejected, the other form is sent. Pure.

use crate::domain::{Dialect, Message, ProviderKind, Think};
use crate::provider::parameter_fallback::{ParameterFallback, ThinkingForm};
use crate::provider::types::ChatRequest;
use serde_json::{Value, json};

/// The first version of Claude that decides for itself how much to think.
const ADAPTIVE_SINCE: (u32, u32) = (4, 6);
/// The default limit of an answer, in tokens.
const ANSWER_TOKENS: u64 = 8_192;
/// The default limit of thinking and answer together, in tokens, if the model decides how much to
/// think.
const ADAPTIVE_TOKENS: u64 = 32_000;
/// The smallest budget that the API accepts, in tokens.
const BUDGET_TOKENS_MIN: u64 = 1_024;

#[derive(Debug, PartialEq)]
pub(super) struct ThinkingParameters {
    pub max_tokens: u64,
    pub thinking: Option<Value>,
    pub effort: Option<&'static str>,
}

pub(super) fn parameters(request: &ChatRequest, fallback: ParameterFallback) -> ThinkingParameters {
    let model = &request.model;
    let is_adaptive = is_adaptive(&model.model) != (fallback.thinking_form == ThinkingForm::Other);
    let configured = model.options.get("max_tokens").and_then(Value::as_u64);
    let think = model
        .think
        .filter(|_| fallback.thinking_form != ThinkingForm::Omitted);
    let max_tokens_or = |default: u64| {
        let limit = fallback.max_tokens.unwrap_or(u64::MAX);
        configured.unwrap_or(default).min(limit)
    };
    let without_budget = |thinking| ThinkingParameters {
        max_tokens: max_tokens_or(match is_adaptive {
            true => ADAPTIVE_TOKENS,
            false => ANSWER_TOKENS,
        }),
        thinking,
        effort: None,
    };
    match think {
        None => without_budget(None),
        Some(Think::Off) => without_budget(Some(json!({"type": "disabled"}))),
        Some(think) if is_adaptive => ThinkingParameters {
            // Without `display`, the newest models hide their thinking.
            thinking: Some(json!({"type": "adaptive", "display": "summarized"})),
            effort: effort(think),
            ..without_budget(None)
        },
        Some(think) => {
            let max_tokens = max_tokens_or(budget(think) + ANSWER_TOKENS);
            let budget = match budget(think) {
                // If the limit is too small for both, thinking gets at most half of it, but no less
                // than the minimum.
                budget if max_tokens < budget + ANSWER_TOKENS => {
                    budget.min(max_tokens / 2).max(BUDGET_TOKENS_MIN)
                }
                budget => budget,
            };
            if budget >= max_tokens || lacks_required_thinking(request) {
                return without_budget(None);
            }
            ThinkingParameters {
                max_tokens,
                thinking: Some(json!({"type": "enabled", "budget_tokens": budget})),
                effort: None,
            }
        }
    }
}

fn effort(think: Think) -> Option<&'static str> {
    match think {
        Think::On | Think::Off => None,
        level => Some(level.word()),
    }
}

fn budget(think: Think) -> u64 {
    match think {
        Think::Minimal => BUDGET_TOKENS_MIN,
        Think::Low => 2_048,
        Think::High | Think::XHigh | Think::Max => 24_576,
        Think::On | Think::Medium | Think::Off => 8_192,
    }
}

/// With a budget, the API requires a message with calls to begin with the thinking that preceded
/// them. It is missing if the first calls were read from text or come from another provider; then
/// no thinking may be requested.
fn lacks_required_thinking(request: &ChatRequest) -> bool {
    if request.model.dialect != Dialect::Native {
        return false;
    }
    let first_echo = request.messages.iter().find_map(|message| match message {
        Message::ToolCalls { reasoning_echo, .. } => Some(reasoning_echo),
        _ => None,
    });
    let is_thinking = |block: &Value| {
        let kind = block["type"].as_str();
        matches!(kind, Some("thinking" | "redacted_thinking"))
    };
    first_echo.is_some_and(|echo| {
        !echo.as_ref().is_some_and(|echo| {
            let blocks = echo.value.as_array();
            echo.provider == ProviderKind::Anthropic
                && blocks.is_some_and(|blocks| blocks.first().is_some_and(is_thinking))
        })
    })
}

/// Whether a model decides for itself how much to think. The version is the first two short
/// numbers in names such as `claude-opus-4-7`, `claude-3-7-sonnet-20250219` or
/// `anthropic/claude-sonnet-4.5`. A Claude without a version counts as new. Other models count as
/// taking a budget, as compatible servers expect.
fn is_adaptive(model: &str) -> bool {
    let name = model.to_lowercase();
    let Some((_, rest)) = name.split_once("claude") else {
        return false;
    };
    let mut numbers = rest
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.len() <= 2)
        .filter_map(|word| word.parse::<u32>().ok());
    match numbers.next() {
        Some(major) => (major, numbers.next().unwrap_or(0)) >= ADAPTIVE_SINCE,
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_name_decides_between_effort_and_budget() {
        let adaptive = [
            "claude-opus-4-6",
            "claude-opus-4-7-20260416",
            "anthropic/claude-sonnet-4.6",
            "claude-sonnet-5",
            "claude-fable-5-1",
            "claude-mythos-preview",
            "anthropic.claude-opus-4-6-v1",
        ];
        for model in adaptive {
            assert!(is_adaptive(model), "{model}");
        }
        let with_budget = [
            "claude-3-7-sonnet-20250219",
            "claude-3-haiku-20240307",
            "claude-sonnet-4-20250514",
            "claude-sonnet-4-5",
            "claude-haiku-4-5-20251001",
            "claude-opus-4-1@20250805",
            "smollm2",
            "MiniMax-M2",
        ];
        for model in with_budget {
            assert!(!is_adaptive(model), "{model}");
        }
    }
}
