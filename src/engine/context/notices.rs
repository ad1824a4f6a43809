//! Warnings about requests that do not fit into the model's context, and about token counts.

use super::calibration::CountVerdict;
use super::tool_cost::ToolCost;
use super::window::ContextLimits;
use crate::domain::{Advice, ModelConfig, Notice};

/// Warns that Ollama will truncate the request, which gets a context of `num_ctx` tokens.
pub(super) fn too_long_notice(
    model: &ModelConfig,
    limits: &ContextLimits,
    estimate: u64,
    num_ctx: u64,
    cost: Option<ToolCost>,
) -> Notice {
    let name = &model.name;
    let limit = match limits.limit {
        Some(_) if limits.limit_is_configured => "`contextLength` in config.json limits it to",
        Some(limit) if limit == num_ctx => "the model accepts at most",
        _ => "the context has",
    };
    let subject = match cost {
        Some(_) => "The request",
        None => "The conversation",
    };
    let notice = Notice::warning(format!(
        "{subject} takes about {estimate} tokens, and {limit} {num_ctx}: {} drops the oldest part of it before {name} sees it.",
        model.provider.label()
    ));
    match cost {
        Some(cost) => cost.explain(notice),
        None => notice
            .with_advice(Advice::Compact)
            .with_advice(Advice::NewSession),
    }
}

/// Warns that the request exceeds the limit of a server whose context size humble cannot set.
pub(super) fn over_limit_notice(
    model: &ModelConfig,
    estimate: u64,
    limit: u64,
    cost: Option<ToolCost>,
) -> Notice {
    let notice = Notice::warning(format!(
        "About {estimate} tokens are sent, but {} accepts {limit}: its server will truncate or refuse the conversation.",
        model.name
    ));
    match cost {
        Some(cost) => cost.explain(notice),
        None => notice.with_advice(Advice::Compact),
    }
}

/// Warns that the server counted so few tokens that it must have truncated the conversation.
pub(super) fn truncated_notice(model: &ModelConfig, estimate: u64, count: u64) -> Notice {
    let name = &model.name;
    let notice = Notice::warning(format!(
        "{name} counted {count} of about {estimate} tokens: its server dropped the oldest part of the conversation."
    ));
    let notice = notice.with_advice(Advice::Compact);
    match model.provider.truncates_silently() {
        true => notice.with_advice("A larger `options.num_ctx` in config.json makes room."),
        false => notice,
    }
}

/// Says which number the meter shows after a count that is far from the estimate.
pub(super) fn far_off_notice(
    model: &ModelConfig,
    estimate: u64,
    count: u64,
    verdict: CountVerdict,
) -> Notice {
    let name = &model.name;
    let notice = Notice::info(format!(
        "{name} counted {count} tokens in a request of about {estimate}."
    ));
    notice.with_reason(match verdict {
        CountVerdict::Plausible => "The context meter follows the count from now on.",
        _ => "The context meter keeps the estimate, because the count seems to omit cached tokens.",
    })
}
