//! Request assembly and the context limit: `messages` assembles a request, `window` does the
//! arithmetic, `tool_cost` detects that tool definitions fill the context. [`ContextBudget`]
//! makes sure that a request fits, or asks before any of it would be truncated. Pure: actions
//! are returned as [`BudgetOutput`].

mod messages;
mod tool_cost;
mod window;

pub use messages::{Exchange, RESULT_BYTES_MAX, assemble_messages, result_text};
pub(super) use window::{ContextFit, ContextLimits, NUM_CTX_AUTOMATIC_MAX, raw_estimate};

use crate::domain::model::ToolRole;
use crate::domain::{
    Advice, Dialect, Message, ModelConfig, ModelInfo, Notice, SavedMessage, Toolset, Usage,
};
use crate::protocol::{Ask, ContextMeter, UserChoice};
use crate::provider::ChatRequest;
use crate::text::token_estimate::Vocabulary;
use std::sync::Arc;
use tool_cost::ToolCost;
use window::TokenCalibration;

/// Context usage above which `/compact` is suggested.
const NEARLY_FULL_PERCENT: u64 = 80;

/// A queued request.
#[derive(Debug)]
struct UnsentRequest {
    model: Arc<ModelConfig>,
    messages: Vec<Message>,
    tools: Arc<Toolset>,
}

/// Actions for a request, to be carried out in order.
#[derive(Debug)]
pub(super) enum BudgetOutput {
    /// Ask the server about this model, then call [`ContextBudget::facts_received`].
    FetchFacts(Arc<ModelConfig>),
    /// Ask the user whether the context may grow to `to`, then call
    /// [`ContextBudget::answered`].
    AskUser {
        question: Ask,
        to: u64,
    },
    /// A notice in the conversation.
    TurnNotice(Notice),
    /// A transient notice.
    Notice(Notice),
    Measured(ContextMeter),
    Send(ChatRequest),
    /// The user chose not to send the request.
    Stop,
}

#[derive(Debug, Default)]
pub(super) struct ContextBudget {
    unsent: Option<UnsentRequest>,
    usage: ContextUsage,
}

#[derive(Debug, Default)]
struct ContextUsage {
    /// The model and address that these values belong to.
    model_key: Option<(String, String)>,
    /// The server's information about the model; None until it was asked.
    facts: Option<Arc<ModelInfo>>,
    /// Ollama's `num_ctx` of the last request; 0 before the first.
    num_ctx: u32,
    calibration: TokenCalibration,
    /// The raw estimate of the request that the server has not counted yet.
    raw_estimate: u64,
    /// The context size that the user allowed.
    approved_num_ctx: u64,
    /// The user accepts truncation and declined a larger context.
    send_anyway: bool,
    has_warned_too_long: bool,
    has_warned_truncated: bool,
    has_warned_nearly_full: bool,
    meter: ContextMeter,
}

impl ContextUsage {
    fn facts(&self) -> Arc<ModelInfo> {
        self.facts.clone().unwrap_or_default()
    }

    fn measure(&mut self, used: u64, limit: Option<u64>) -> BudgetOutput {
        self.meter = ContextMeter {
            used,
            limit,
            is_measured: false,
        };
        BudgetOutput::Measured(self.meter)
    }

    fn dominant_tool_cost(&self, tools: &Toolset, estimate: u64) -> Option<ToolCost> {
        ToolCost::if_dominant(tools, self.raw_estimate, estimate)
    }
}

impl ContextBudget {
    /// Resets all values for another conversation or model.
    pub(super) fn reset(&mut self) -> ContextMeter {
        self.usage = ContextUsage::default();
        self.usage.meter
    }

    /// Queues a request; [`Self::prepare_request`] continues with it.
    pub(super) fn queue(
        &mut self,
        model: Arc<ModelConfig>,
        messages: Vec<Message>,
        tools: Arc<Toolset>,
    ) {
        self.unsent = Some(UnsentRequest {
            model,
            messages,
            tools,
        });
    }

    pub(super) fn drop_unsent(&mut self) {
        self.unsent = None;
    }

    /// Prepares the queued request.
    pub(super) fn prepare_request(&mut self) -> Vec<BudgetOutput> {
        let Some(UnsentRequest { model, .. }) = &self.unsent else {
            return Vec::new();
        };
        // A turn keeps its model even if another was selected meanwhile.
        let model_key = Some((model.model.clone(), model.base_url.clone()));
        if self.usage.model_key != model_key {
            self.usage = ContextUsage {
                model_key,
                ..ContextUsage::default()
            };
        }
        // A server that reports an overflow need not be asked first.
        if model.provider.truncates_silently() && self.usage.facts.is_none() {
            return vec![BudgetOutput::FetchFacts(Arc::clone(model))];
        }
        self.fit()
    }

    /// Stores the server's information. None if it did not answer in time; the request itself
    /// will then show why.
    pub(super) fn facts_received(&mut self, facts: Option<ModelInfo>) -> Vec<BudgetOutput> {
        self.usage.facts = facts.map(Arc::new);
        self.fit()
    }

    /// The user's answer about a conversation that does not fit.
    pub(super) fn answered(&mut self, to: u64, choice: UserChoice) -> Vec<BudgetOutput> {
        match choice {
            UserChoice::Grow => self.usage.approved_num_ctx = to,
            UserChoice::SendAnyway => self.usage.send_anyway = true,
            _ => return vec![BudgetOutput::Stop],
        }
        self.fit()
    }

    fn fit(&mut self) -> Vec<BudgetOutput> {
        let Some(unsent) = self.unsent.take() else {
            return Vec::new();
        };
        let (model, facts, usage) = (&unsent.model, self.usage.facts(), &mut self.usage);
        let native = (model.dialect == Dialect::Native).then_some(&*unsent.tools);
        let vocabulary = Vocabulary::for_model(facts.family.as_deref(), &model.model);
        usage.raw_estimate = window::raw_estimate(&unsent.messages, native, vocabulary);
        let estimate = usage.calibration.estimate(usage.raw_estimate);
        let mut outputs = Vec::new();
        if !model.provider.truncates_silently() {
            let limit = window::limit(model, &facts, 0);
            outputs.push(usage.measure(estimate, limit));
            let exceeded = limit.filter(|limit| estimate > *limit);
            outputs.extend(exceeded.map(|limit| {
                let cost = usage.dominant_tool_cost(&unsent.tools, estimate);
                BudgetOutput::Notice(over_limit_notice(model, estimate, limit, cost))
            }));
            outputs.push(send(unsent, &facts, 0));
            return outputs;
        }
        let limits = ContextLimits::new(model, &facts, usage.num_ctx, usage.approved_num_ctx);
        let num_ctx = match limits.fit(estimate) {
            ContextFit::Fits { num_ctx } => num_ctx,
            ContextFit::Grows { from, to } if !usage.send_anyway => {
                let question = Ask::GrowContext { estimate, from, to };
                self.unsent = Some(unsent);
                return vec![BudgetOutput::AskUser { question, to }];
            }
            ContextFit::TooLong { num_ctx } | ContextFit::Grows { from: num_ctx, .. } => {
                let cost = usage.dominant_tool_cost(&unsent.tools, estimate);
                let notice = too_long_notice(model, &limits, estimate, num_ctx, cost);
                // The first warning goes into the conversation; later ones are transient.
                let has_warned = std::mem::replace(&mut usage.has_warned_too_long, true);
                outputs.push(match has_warned {
                    true => BudgetOutput::Notice(notice),
                    false => BudgetOutput::TurnNotice(notice),
                });
                num_ctx
            }
        };
        let num_ctx = u32::try_from(num_ctx).unwrap_or(u32::MAX);
        let previous = std::mem::replace(&mut usage.num_ctx, num_ctx);
        if previous != 0 && num_ctx > previous {
            outputs.push(BudgetOutput::Notice(Notice::info(format!(
                "The context grows from {previous} to {num_ctx} tokens; {} reloads the model.",
                model.provider.label()
            ))));
        }
        outputs.push(usage.measure(estimate, Some(u64::from(num_ctx))));
        outputs.push(send(unsent, &facts, num_ctx));
        outputs
    }

    /// Ollama's `num_ctx` of this conversation's last request to `model`, and the size that
    /// the user allowed.
    pub(super) fn num_ctx_of(&self, model: &ModelConfig) -> (u32, u64) {
        let model_key = Some((model.model.clone(), model.base_url.clone()));
        match self.usage.model_key == model_key {
            true => (self.usage.num_ctx, self.usage.approved_num_ctx),
            false => (0, 0),
        }
    }

    /// The largest context for this model that needs no consent.
    pub(super) fn tokens_max(&self, model: &ModelConfig) -> Option<u64> {
        let facts = self.usage.facts();
        match model.provider.truncates_silently() {
            true => {
                let (num_ctx, approved) = (self.usage.num_ctx, self.usage.approved_num_ctx);
                let limits = ContextLimits::new(model, &facts, num_ctx, approved);
                let tokens_max = limits.automatic_max.max(limits.floor);
                Some(tokens_max.min(limits.limit.unwrap_or(u64::MAX)))
            }
            false => window::limit(model, &facts, 0),
        }
    }

    /// An estimator for the conversation between two requests. It runs in the background,
    /// since a conversation may be long.
    pub(super) fn session_estimator(&self, model: &ModelConfig) -> SessionEstimator {
        SessionEstimator {
            dialect: model.dialect,
            vocabulary: Vocabulary::for_model(self.usage.facts().family.as_deref(), &model.model),
        }
    }

    pub(super) fn session_estimated(&mut self, model: &ModelConfig, weight: u64) -> BudgetOutput {
        let limit = window::limit(model, &self.usage.facts(), self.usage.num_ctx);
        let estimate = self.usage.calibration.estimate(weight);
        self.usage
            .measure(estimate, limit.filter(|limit| *limit > 0))
    }

    /// Replaces the estimate with the server's count.
    pub(super) fn record_usage(&mut self, model: &ModelConfig, count: Usage) -> Vec<BudgetOutput> {
        let Some(input) = count.input else {
            return Vec::new();
        };
        let usage = &mut self.usage;
        // A server that answers but gave no information is not asked again in each round.
        usage.facts.get_or_insert_default();
        let estimate = usage.calibration.estimate(usage.raw_estimate);
        let mut outputs = Vec::new();
        if usage.calibration.record_count(usage.raw_estimate, input) && !usage.has_warned_truncated
        {
            usage.has_warned_truncated = true;
            let name = &model.name;
            let message = format!(
                "{name} counted {input} of about {estimate} tokens: its server dropped the oldest part of the conversation."
            );
            let mut notice = Notice::warning(message).with_advice(Advice::Compact);
            if model.provider.truncates_silently() {
                notice =
                    notice.with_advice("A larger `options.num_ctx` in config.json makes room.");
            }
            outputs.push(BudgetOutput::TurnNotice(notice));
        }
        usage.meter = ContextMeter {
            used: input + count.output.unwrap_or(0),
            is_measured: true,
            ..usage.meter
        };
        outputs.push(BudgetOutput::Measured(usage.meter));
        outputs
    }

    /// Suggests `/compact` when usage passes the threshold, and again only after it fell
    /// below. `tools` are those of the next request.
    pub(super) fn compact_suggestion(&mut self, tools: &Toolset) -> Option<Notice> {
        let ContextMeter { used, limit, .. } = self.usage.meter;
        let limit = limit.filter(|limit| *limit > 0)?;
        // Rounded as in the header.
        let percent = (used * 200 + limit) / (limit * 2);
        let is_nearly_full = percent > NEARLY_FULL_PERCENT;
        let had_warned = std::mem::replace(&mut self.usage.has_warned_nearly_full, is_nearly_full);
        if !is_nearly_full || had_warned {
            return None;
        }
        let notice = Notice::info(format!("The context is {percent} % full."));
        Some(match self.usage.dominant_tool_cost(tools, used) {
            Some(cost) => cost.explain(notice),
            None => notice
                .with_advice(Advice::Compact)
                .with_advice("The session file keeps everything."),
        })
    }
}

/// Estimates a conversation without its next prompt.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionEstimator {
    dialect: Dialect,
    vocabulary: Vocabulary,
}

impl SessionEstimator {
    pub(super) fn estimate(self, system: &str, offered: &Toolset, history: &[SavedMessage]) -> u64 {
        let empty_request = assemble_messages(system, self.dialect, offered, &[], "", &[]);
        let tools = (self.dialect == Dialect::Native).then_some(offered);
        let overhead = window::raw_estimate(&empty_request, tools, self.vocabulary);
        overhead + window::raw_estimate_history(history, self.vocabulary)
    }
}

fn send(unsent: UnsentRequest, facts: &ModelInfo, num_ctx: u32) -> BudgetOutput {
    let UnsentRequest {
        model,
        messages,
        tools,
    } = unsent;
    BudgetOutput::Send(ChatRequest {
        model: with_tool_role(&model, facts),
        messages,
        tools,
        num_ctx,
    })
}

fn too_long_notice(
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

fn over_limit_notice(
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

/// Sends tool results in the role `user` to a model whose template does not support tools: it
/// would silently drop messages of the role `tool`.
pub(super) fn with_tool_role(model: &Arc<ModelConfig>, facts: &ModelInfo) -> Arc<ModelConfig> {
    let drops_tool_role =
        facts.template_supports_tools == Some(false) && model.dialect != Dialect::Native;
    if model.tool_role.is_some() || !drops_tool_role {
        return Arc::clone(model);
    }
    let mut model = ModelConfig::clone(model);
    model.tool_role = Some(ToolRole::User);
    Arc::new(model)
}
