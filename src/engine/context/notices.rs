//! Warnings about requests that do not fit into the model's context.

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
