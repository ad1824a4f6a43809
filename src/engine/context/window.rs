//! How much of a model's context a request takes, and how large a context Ollama is
//! asked for. Pure: what servers say comes in as [`ModelFacts`] and counts.

use crate::domain::{Message, ModelConfig, ModelInfo, SavedMessage, ToolCallMessage, Toolset};
use crate::text::token_estimate::{self, Vocabulary};

/// Tokens kept free for the answer.
const ANSWER_TOKENS: u64 = 1_024;
/// The least context that Ollama is asked for.
const NUM_CTX_MIN: u64 = 4_096;
/// The context beyond which ours does not grow unasked.
pub const NUM_CTX_AUTOMATIC_MAX: u64 = 32_768;
/// What a model is taken to have at most whose server does not say.
const DEFAULT_CONTEXT_LIMIT: u64 = 131_072;
/// What a chat template puts around a message, in tokens.
const MESSAGE_TOKENS: u64 = 6;
/// Tokens of a hundred bytes of a tool's definition, which is half words, half JSON.
const TOKENS_PER_100_TOOL_BYTES: u64 = 32;
/// What an estimate without a count behind it is above the count, on the average.
const ESTIMATE_TO_COUNT_RATIO: f64 = 1.17;
/// A count under this share of the estimate means that the server cut something;
/// estimates are better once there was a count.
const TRUNCATED_SHARE: f64 = 0.55;
const TRUNCATED_SHARE_CALIBRATED: f64 = 0.75;
/// No context is so small that a server would cut to fewer tokens than this: such a
/// count leaves out what was in a cache, or counts nothing at all.
const TRUNCATED_TOKENS_MIN: u64 = 500;

/// Tokens of messages and tools by the weights alone.
pub fn raw_estimate(messages: &[Message], tools: Option<&Toolset>, vocabulary: Vocabulary) -> u64 {
    let of = |text: &str| token_estimate::estimate(text, vocabulary) + MESSAGE_TOKENS;
    let mut weight = 0;
    for message in messages {
        weight += match message {
            Message::System(text) | Message::User(text) | Message::Assistant(text) => of(text),
            Message::ToolCalls {
                calls,
                reasoning_echo: carry,
            } => {
                let call = |call: &ToolCallMessage| {
                    let arguments = serde_json::Value::from(call.arguments.clone());
                    of(&call.tool) + of(&arguments.to_string())
                };
                // Thinking goes back with calls in their own field, and else not.
                let carry = carry.as_ref().filter(|_| tools.is_some());
                let carried = carry.map(|carry| match &carry.value {
                    serde_json::Value::String(text) => of(text),
                    blocks => of(&blocks.to_string()),
                });
                calls.iter().map(call).sum::<u64>() + carried.unwrap_or(0)
            }
            Message::ToolResult(result) => of(&result.content),
        };
    }
    // A definition is counted once, when it comes: there may be thousands.
    let definitions = tools.map_or(&[][..], Toolset::tools).iter();
    let bytes: usize = definitions.map(|tool| tool.tool.bytes).sum();
    weight + raw_estimate_definitions(bytes)
}

/// Tokens of tools' definitions by their bytes.
pub fn raw_estimate_definitions(bytes: usize) -> u64 {
    bytes as u64 * TOKENS_PER_100_TOOL_BYTES / 100
}

/// The same of messages as they are saved: no text is copied for it.
pub fn raw_estimate_history(history: &[SavedMessage], vocabulary: Vocabulary) -> u64 {
    let of = |message: &SavedMessage| token_estimate::estimate(&message.content, vocabulary);
    let texts = history.iter().filter(|message| !message.content.is_empty());
    texts.map(|message| of(message) + MESSAGE_TOKENS).sum()
}

/// Learns from what a server counts how far the weights are off.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TokenCalibration {
    /// The weight of the last request that was counted, and its count.
    last_count: Option<(u64, u64)>,
}

impl TokenCalibration {
    /// Tokens of a request of this weight. From the second request on what was
    /// counted stands for itself, and only what was added is estimated.
    pub fn estimate(self, weight: u64) -> u64 {
        let Some((counted_weight, count)) = self.last_count else {
            return weight;
        };
        let ratio = count as f64 / counted_weight.max(1) as f64;
        let tokens = if weight >= counted_weight {
            // Other words may be of another kind than those before: half way between
            // what these showed and what the weights usually show.
            let of_more = (ratio + 1.0 / ESTIMATE_TO_COUNT_RATIO) / 2.0;
            count as f64 + (weight - counted_weight) as f64 * of_more
        } else {
            weight as f64 * ratio
        };
        tokens.round() as u64
    }

    /// Takes the server's count of a request of this weight. True where it is so far
    /// under the estimate that the server must have cut the conversation.
    pub fn record_count(&mut self, weight: u64, count: u64) -> bool {
        let estimate = self.estimate(weight);
        let share = match self.last_count {
            Some(_) => TRUNCATED_SHARE_CALIBRATED,
            None => TRUNCATED_SHARE,
        };
        if (count as f64) < estimate as f64 * share {
            return count >= TRUNCATED_TOKENS_MIN;
        }
        self.last_count = Some((weight, count));
        false
    }
}

/// What bounds the context of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContextLimits {
    /// The most that the model takes, by `contextLength` or by its own word.
    pub limit: Option<u64>,
    /// `contextLength` is what bounds it.
    pub limit_is_configured: bool,
    /// The least that is asked for: what the settings, the model's own file and the
    /// server's memory have, and what this conversation had before.
    pub floor: u64,
    /// What it may grow to unasked.
    pub automatic_max: u64,
}

impl ContextLimits {
    /// `before` is the context of this conversation's last request, `agreed` what the
    /// user allowed.
    pub fn new(model: &ModelConfig, facts: &ModelInfo, before: u32, agreed: u64) -> Self {
        let configured = model.context_length.map(u64::from);
        let known = facts.context_length.map(u64::from);
        let limit = configured.into_iter().chain(known).min();
        let in_settings = model.options.get("num_ctx");
        let in_settings = in_settings.and_then(serde_json::Value::as_u64).unwrap_or(0);
        let in_file = facts.num_ctx.map_or(0, u64::from);
        let in_use = facts.loaded_context.map_or(0, u64::from);
        let floor = [NUM_CTX_MIN, in_settings, in_file, in_use, u64::from(before)];
        let floor = floor.into_iter().max().unwrap_or(NUM_CTX_MIN);
        Self {
            limit,
            limit_is_configured: configured.is_some() && limit == configured,
            floor: floor.min(limit.unwrap_or(u64::MAX)),
            automatic_max: NUM_CTX_AUTOMATIC_MAX.max(agreed),
        }
    }

    /// How a request of so many tokens fits.
    pub fn fit(self, estimate: u64) -> ContextFit {
        let wanted = (estimate + estimate / 4 + ANSWER_TOKENS).next_power_of_two();
        let limit = self.limit.unwrap_or(DEFAULT_CONTEXT_LIMIT.max(self.floor));
        let to = wanted.max(self.floor).min(limit);
        let unasked = self.automatic_max.max(self.floor).min(limit);
        // Twice what the model takes is cut whatever is asked for: no question helps.
        let hopeless = estimate >= limit.saturating_mul(2);
        if to > unasked && !hopeless {
            ContextFit::Grows { from: unasked, to }
        } else if estimate >= unasked {
            ContextFit::TooLong { num_ctx: unasked }
        } else {
            ContextFit::Fits { num_ctx: to }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextFit {
    Fits {
        num_ctx: u64,
    },
    /// It takes more than what needs no question.
    Grows {
        from: u64,
        to: u64,
    },
    /// It takes more than there will be, and part of it will be cut.
    TooLong {
        num_ctx: u64,
    },
}

/// The size of the context that the meter measures against, where it is known.
pub fn limit(model: &ModelConfig, facts: &ModelInfo, num_ctx: u32) -> Option<u64> {
    let known = match model.provider.truncates_silently() {
        true => Some(num_ctx),
        false => model
            .context_length
            .or(facts.loaded_context)
            .or(facts.context_length),
    };
    known.map(u64::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ProviderKind;
    use crate::fixtures::model_config;

    fn model() -> ModelConfig {
        model_config(ProviderKind::Ollama, "http://localhost:11434")
    }

    const NO_LIMITS: ContextLimits = ContextLimits {
        limit: None,
        limit_is_configured: false,
        floor: 4_096,
        automatic_max: 32_768,
    };

    #[test]
    fn the_context_is_the_next_power_of_two_above_the_estimate_and_a_quarter() {
        let fits = |estimate| NO_LIMITS.fit(estimate);
        assert_eq!(fits(100), ContextFit::Fits { num_ctx: 4_096 });
        assert_eq!(fits(2_458), ContextFit::Fits { num_ctx: 4_096 });
        assert_eq!(fits(2_459), ContextFit::Fits { num_ctx: 8_192 });
        assert_eq!(fits(25_395), ContextFit::Fits { num_ctx: 32_768 });
        let grows = ContextFit::Grows {
            from: 32_768,
            to: 65_536,
        };
        assert_eq!(fits(25_396), grows);
    }

    #[test]
    fn context_never_exceeds_its_limit_and_never_shrinks() {
        let bounds = ContextLimits {
            limit: Some(10_000),
            floor: 8_192,
            ..NO_LIMITS
        };
        assert_eq!(bounds.fit(100), ContextFit::Fits { num_ctx: 8_192 });
        assert_eq!(bounds.fit(9_999), ContextFit::Fits { num_ctx: 10_000 });
        assert_eq!(bounds.fit(10_000), ContextFit::TooLong { num_ctx: 10_000 });
        let large = ContextLimits {
            floor: 131_072,
            ..NO_LIMITS
        };
        assert_eq!(large.fit(40_000), ContextFit::Fits { num_ctx: 131_072 });
    }

    #[test]
    fn no_question_is_asked_when_growing_cannot_help() {
        let limit = |tokens| ContextLimits {
            limit: Some(tokens),
            ..NO_LIMITS
        };
        let grows = ContextFit::Grows {
            from: 32_768,
            to: 40_960,
        };
        assert_eq!(limit(40_960).fit(45_000), grows);
        let too_long = ContextFit::TooLong { num_ctx: 32_768 };
        assert_eq!(limit(40_960).fit(90_000), too_long);
        assert_eq!(NO_LIMITS.fit(3_000_000), too_long);
        assert_eq!(
            limit(8_192).fit(9_000),
            ContextFit::TooLong { num_ctx: 8_192 }
        );
    }

    #[test]
    fn largest_known_context_is_the_floor_and_smallest_limit_wins() {
        let model = ModelConfig {
            context_length: Some(65_536),
            ..model()
        };
        let facts = ModelInfo {
            context_length: Some(40_960),
            loaded_context: Some(16_384),
            ..ModelInfo::default()
        };
        let expected = ContextLimits {
            limit: Some(40_960),
            limit_is_configured: false,
            floor: 32_768,
            automatic_max: 32_768,
        };
        assert_eq!(ContextLimits::new(&model, &facts, 32_768, 0), expected);
        let in_memory = ContextLimits {
            floor: 16_384,
            ..expected
        };
        assert_eq!(ContextLimits::new(&model, &facts, 8_192, 0), in_memory);
        let model = ModelConfig {
            context_length: Some(8_192),
            ..model
        };
        let configured = ContextLimits {
            limit: Some(8_192),
            limit_is_configured: true,
            floor: 8_192,
            automatic_max: 65_536,
        };
        assert_eq!(ContextLimits::new(&model, &facts, 0, 65_536), configured);
    }

    #[test]
    fn approved_growth_is_not_asked_about_again() {
        let bounds = ContextLimits {
            automatic_max: 65_536,
            ..NO_LIMITS
        };
        assert_eq!(bounds.fit(40_000), ContextFit::Fits { num_ctx: 65_536 });
    }

    #[test]
    fn server_count_improves_the_next_estimate() {
        let mut calibration = TokenCalibration::default();
        assert_eq!(calibration.estimate(1_200), 1_200);
        assert!(!calibration.record_count(1_200, 1_000));
        assert_eq!(calibration.estimate(1_200), 1_000);
        assert_eq!(calibration.estimate(2_400), 2_013);
        assert_eq!(calibration.estimate(600), 500);
    }

    #[test]
    fn count_far_below_the_estimate_means_truncation_and_is_ignored() {
        let mut calibration = TokenCalibration::default();
        assert!(calibration.record_count(9_000, 4_096));
        assert_eq!(calibration.estimate(9_000), 9_000);
        assert!(!calibration.record_count(2_000, 1_600));
        assert!(calibration.record_count(9_000, 4_096));
        assert_eq!(calibration.estimate(2_000), 1_600);
    }

    #[test]
    fn implausibly_small_count_is_ignored() {
        let mut calibration = TokenCalibration::default();
        assert!(!calibration.record_count(2_000, 20));
        assert_eq!(calibration.estimate(2_000), 2_000);
    }
}
