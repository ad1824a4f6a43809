//! How a request to Anthropic asks for thinking: older models take a budget in tokens, newer ones
//! take an effort and decide themselves. The model's name decides which form is tried first; if
//! it is rejected, the other form follows. Pure.

use crate::domain::{Dialect, Message, ProviderKind, Think};
use crate::provider::parameter_fallback::{ParameterFallback, ThinkingForm};
use crate::provider::types::ChatRequest;
use serde_json::{Value, json};

/// The first version of Claude that decides itself how much to think.
const ADAPTIVE_SINCE: (u32, u32) = (4, 6);
/// The default answer length in tokens.
const ANSWER_TOKENS: u64 = 8_192;
/// Tokens for thinking and answer together, if the model decides how much to think.
const ADAPTIVE_TOKENS: u64 = 32_000;
/// The smallest budget that the API accepts, in tokens.
const BUDGET_TOKENS_MIN: u64 = 1_024;

/// The request parameters.
#[derive(Debug, PartialEq)]
pub(super) struct ThinkingParameters {
    pub max_tokens: u64,
    pub form: Option<Value>,
    pub effort: Option<&'static str>,
}

pub(super) fn parameters(request: &ChatRequest, fallback: ParameterFallback) -> ThinkingParameters {
    let model = &request.model;
    let is_adaptive = is_adaptive(&model.model) != (fallback.thinking_form == ThinkingForm::Other);
    let set = model.options.get("max_tokens").and_then(Value::as_u64);
    let think = model
        .think
        .filter(|_| fallback.thinking_form != ThinkingForm::Omitted);
    let most = |tokens: u64| {
        set.unwrap_or(tokens)
            .min(fallback.max_tokens.unwrap_or(u64::MAX))
    };
    let without = |form| ThinkingParameters {
        max_tokens: most(match is_adaptive {
            true => ADAPTIVE_TOKENS,
            false => ANSWER_TOKENS,
        }),
        form,
        effort: None,
    };
    match think {
        None => without(None),
        Some(Think::Off) => without(Some(json!({"type": "disabled"}))),
        Some(think) if is_adaptive => ThinkingParameters {
            // Without `display`, the newest models hide their thinking.
            form: Some(json!({"type": "adaptive", "display": "summarized"})),
            effort: effort(think),
            ..without(None)
        },
        Some(think) => {
            let max_tokens = most(budget(think) + ANSWER_TOKENS);
            let budget = match budget(think) {
                // If a configured limit is too small, half of it is left for the answer.
                budget if max_tokens < budget + ANSWER_TOKENS => {
                    budget.min(max_tokens / 2).max(BUDGET_TOKENS_MIN)
                }
                budget => budget,
            };
            if budget >= max_tokens || !began_with_thinking(request) {
                return without(None);
            }
            ThinkingParameters {
                max_tokens,
                form: Some(json!({"type": "enabled", "budget_tokens": budget})),
                effort: None,
            }
        }
    }
}

fn effort(think: Think) -> Option<&'static str> {
    match think {
        Think::Low => Some("low"),
        Think::Medium => Some("medium"),
        Think::High => Some("high"),
        Think::On | Think::Off => None,
    }
}

fn budget(think: Think) -> u64 {
    match think {
        Think::Low => 2_048,
        Think::High => 24_576,
        Think::On | Think::Medium | Think::Off => 8_192,
    }
}

/// With a budget, the API requires the thinking that preceded the first calls of a turn. If there
/// is none, because the calls were read from text, no thinking is requested.
fn began_with_thinking(request: &ChatRequest) -> bool {
    if request.model.dialect != Dialect::Native {
        return true;
    }
    let first = request.messages.iter().find_map(|message| match message {
        Message::ToolCalls {
            reasoning_echo: carry,
            ..
        } => Some(carry),
        _ => None,
    });
    let thinks = |block: &Value| {
        let kind = block["type"].as_str();
        matches!(kind, Some("thinking" | "redacted_thinking"))
    };
    first.is_none_or(|carry| {
        carry.as_ref().is_some_and(|carry| {
            let blocks = carry.value.as_array();
            carry.provider == ProviderKind::Anthropic
                && blocks.is_some_and(|blocks| blocks.first().is_some_and(thinks))
        })
    })
}

/// In `claude-opus-4-7`, `claude-3-7-sonnet-20250219` or `anthropic/claude-sonnet-4.5`, the first
/// two short numbers are the version. A Claude without a version counts as new. Other models
/// count as taking a budget, which is what compatible servers expect.
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
    fn model_name_decides_the_form_of_thinking() {
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
        let budgeted = [
            "claude-3-7-sonnet-20250219",
            "claude-3-haiku-20240307",
            "claude-sonnet-4-20250514",
            "claude-sonnet-4-5",
            "claude-haiku-4-5-20251001",
            "claude-opus-4-1@20250805",
            "smollm2",
            "MiniMax-M2",
        ];
        for model in budgeted {
            assert!(!is_adaptive(model), "{model}");
        }
    }
}
