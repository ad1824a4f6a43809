//! The arithmetic of context windows: how many tokens a request takes, and which context size
//! to request from Ollama. Pure: information from servers arrives as [`ModelInfo`] and token
//! counts.

use crate::domain::attachment::prompt_with_files;
use crate::domain::{
    AttachedImage, Message, ModelConfig, ModelInfo, SavedMessage, ToolCallMessage, Toolset,
};
use crate::protocol::ContextShares;
use crate::text::token_estimate::{self, Vocabulary};

/// Tokens reserved for the answer.
pub const ANSWER_TOKENS: u64 = 1_024;
/// Minimum context requested from Ollama.
const NUM_CTX_MIN: u64 = 4_096;
/// Growing beyond this needs the user's consent.
pub const NUM_CTX_AUTOMATIC_MAX: u64 = 32_768;
/// Assumed limit of a model whose server reports none.
const DEFAULT_CONTEXT_LIMIT: u64 = 131_072;
/// Tokens that a chat template adds to each message.
const MESSAGE_TOKENS: u64 = 6;
/// Tokens per 100 bytes of a tool definition, which is half prose, half JSON.
const TOKENS_PER_100_TOOL_BYTES: u64 = 32;
/// The raw, uncalibrated token estimate of a request.
pub fn raw_estimate(messages: &[Message], tools: Option<&Toolset>, vocabulary: Vocabulary) -> u64 {
    let text_tokens = |text: &str| token_estimate::estimate(text, vocabulary) + MESSAGE_TOKENS;
    let mut message_tokens = 0;
    for message in messages {
        message_tokens += match message {
            Message::System(text) | Message::User(text) | Message::Assistant(text) => {
                text_tokens(text)
            }
            Message::UserWithImages { text, images } => text_tokens(text) + image_tokens(images),
            Message::ToolCalls {
                calls,
                reasoning_echo,
            } => {
                let call_tokens = |call: &ToolCallMessage| {
                    text_tokens(&call.tool) + text_tokens(&call.arguments.to_json())
                };
                // Reasoning is sent back only with native calls.
                let sent_echo = reasoning_echo.as_ref().filter(|_| tools.is_some());
                let echo_tokens = sent_echo.map(|echo| match &echo.value {
                    serde_json::Value::String(text) => text_tokens(text),
                    blocks => text_tokens(&blocks.to_string()),
                });
                calls.iter().map(call_tokens).sum::<u64>() + echo_tokens.unwrap_or(0)
            }
            Message::ToolResult(result) => {
                text_tokens(&result.content) + image_tokens(&result.images)
            }
        };
    }
    // Definitions were measured when they arrived, because there may be thousands.
    let definitions = tools.map_or(&[][..], Toolset::tools).iter();
    let bytes: usize = definitions.map(|tool| tool.tool.bytes).sum();
    message_tokens + raw_estimate_definitions(bytes)
}

/// The raw estimates of a request's parts.
pub fn raw_shares(
    messages: &[Message],
    tools: Option<&Toolset>,
    vocabulary: Vocabulary,
) -> ContextShares {
    let system = messages.split(|message| !matches!(message, Message::System(_)));
    let definitions = raw_estimate(&[], tools, vocabulary);
    ContextShares {
        system: system
            .map(|part| raw_estimate(part, None, vocabulary))
            .sum(),
        tools: definitions,
        total: raw_estimate(messages, tools, vocabulary),
    }
}

fn image_tokens(images: &[AttachedImage]) -> u64 {
    images.iter().map(|image| image.tokens).sum()
}

/// The raw token estimate of tool definitions of this many bytes.
pub fn raw_estimate_definitions(bytes: usize) -> u64 {
    bytes as u64 * TOKENS_PER_100_TOOL_BYTES / 100
}

/// The raw token estimate of saved messages. Copies only the text of messages with files.
pub fn raw_estimate_history(history: &[SavedMessage], vocabulary: Vocabulary) -> u64 {
    let content_tokens = |message: &SavedMessage| {
        let text = prompt_with_files(&message.content, &message.attachments);
        let images = message.attachments.iter().map(|file| file.image_tokens());
        token_estimate::estimate(&text, vocabulary) + images.sum::<u64>()
    };
    let is_sent =
        |message: &&SavedMessage| !message.content.is_empty() || !message.attachments.is_empty();
    let texts = history.iter().filter(is_sent);
    texts
        .map(|message| content_tokens(message) + MESSAGE_TOKENS)
        .sum()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContextLimits {
    /// The maximum: the smaller of `contextLength` and the model's maximum as reported by its
    /// server.
    pub limit: Option<u64>,
    /// `contextLength` determines the limit.
    pub limit_is_configured: bool,
    /// The minimum to request: the largest of [`NUM_CTX_MIN`], the sizes in the settings and in the
    /// model file, the loaded context and the last request of this conversation; at most `limit`.
    pub floor: u64,
    /// The context may grow to this size without asking.
    pub automatic_max: u64,
}

impl ContextLimits {
    /// `previous` is the context of this conversation's last request, `approved` the size that
    /// the user allowed.
    pub fn new(model: &ModelConfig, model_info: &ModelInfo, previous: u32, approved: u64) -> Self {
        let configured = model.context_length.map(u64::from);
        let reported = model_info.context_length.map(u64::from);
        let limit = configured.into_iter().chain(reported).min();
        let in_settings = model
            .options
            .get("num_ctx")
            .and_then(serde_json::Value::as_u64)
            .unwrap_or(0);
        let in_model_file = model_info.num_ctx.map_or(0, u64::from);
        let loaded = model_info.loaded_context.map_or(0, u64::from);
        let floor = [
            NUM_CTX_MIN,
            in_settings,
            in_model_file,
            loaded,
            u64::from(previous),
        ]
        .into_iter()
        .max()
        .unwrap_or(NUM_CTX_MIN);
        Self {
            limit,
            limit_is_configured: configured.is_some() && limit == configured,
            floor: floor.min(limit.unwrap_or(u64::MAX)),
            automatic_max: NUM_CTX_AUTOMATIC_MAX.max(approved),
        }
    }

    /// Chooses the context size for a request of `estimate` tokens.
    pub fn fit(self, estimate: u64) -> ContextFit {
        let wanted = (estimate + estimate / 4 + ANSWER_TOKENS).next_power_of_two();
        let limit = self.limit.unwrap_or(DEFAULT_CONTEXT_LIMIT.max(self.floor));
        let to = wanted.max(self.floor).min(limit);
        let automatic_max = self.automatic_max.max(self.floor).min(limit);
        // A request of twice the limit is truncated anyway, so asking is pointless.
        let is_hopeless = estimate >= limit.saturating_mul(2);
        if to > automatic_max && !is_hopeless {
            ContextFit::Grows {
                from: automatic_max,
                to,
            }
        } else if estimate >= automatic_max {
            ContextFit::TooLong {
                num_ctx: automatic_max,
            }
        } else {
            ContextFit::Fits { num_ctx: to }
        }
    }
}

/// The context size chosen for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextFit {
    Fits {
        num_ctx: u64,
    },
    /// The request needs a context that is larger than allowed without asking.
    Grows {
        from: u64,
        to: u64,
    },
    /// The request will be truncated: it exceeds the context, and a larger context is not possible or
    /// would not suffice.
    TooLong {
        num_ctx: u64,
    },
}

/// The context size shown by the meter, if known. For a server that truncates silently, this is
/// `num_ctx`, even if it is 0.
pub fn displayed_limit(model: &ModelConfig, model_info: &ModelInfo, num_ctx: u32) -> Option<u64> {
    let limit = match model.provider.truncates_silently() {
        true => Some(num_ctx),
        false => model
            .context_length
            .or(model_info.loaded_context)
            .or(model_info.context_length),
    };
    limit.map(u64::from)
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
    fn context_is_the_next_power_of_two_for_five_quarters_of_the_estimate_and_the_answer() {
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
        let limits = ContextLimits {
            limit: Some(10_000),
            floor: 8_192,
            ..NO_LIMITS
        };
        assert_eq!(limits.fit(100), ContextFit::Fits { num_ctx: 8_192 });
        assert_eq!(limits.fit(9_999), ContextFit::Fits { num_ctx: 10_000 });
        assert_eq!(limits.fit(10_000), ContextFit::TooLong { num_ctx: 10_000 });
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
        let model_info = ModelInfo {
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
        assert_eq!(ContextLimits::new(&model, &model_info, 32_768, 0), expected);
        let loaded = ContextLimits {
            floor: 16_384,
            ..expected
        };
        assert_eq!(ContextLimits::new(&model, &model_info, 8_192, 0), loaded);
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
        assert_eq!(
            ContextLimits::new(&model, &model_info, 0, 65_536),
            configured
        );
    }

    #[test]
    fn approved_growth_is_not_asked_about_again() {
        let limits = ContextLimits {
            automatic_max: 65_536,
            ..NO_LIMITS
        };
        assert_eq!(limits.fit(40_000), ContextFit::Fits { num_ctx: 65_536 });
    }
}
