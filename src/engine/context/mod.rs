//! What a model is sent, and whether it fits: `messages` assembles a request, `window` is the
//! arithmetic of context windows, `tool_cost` finds out whether tool definitions fill them.
//! [`ContextBudget`] makes sure that a request fits, or asks before any of it would be cut.
//! All of it is pure: what is to be done comes back as [`BudgetOutput`].

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

/// Context usage (percent) above which we suggest `/compact`.
const NEARLY_FULL_PERCENT: u64 = 80;

/// A request that is not sent yet.
#[derive(Debug)]
struct UnsentRequest {
    model: Arc<ModelConfig>,
    messages: Vec<Message>,
    tools: Arc<Toolset>,
}

/// What is to be done for a request, in this order.
#[derive(Debug)]
pub(super) enum BudgetOutput {
    /// The server is to be asked about this model; [`ContextBudget::facts_came`] goes on.
    FetchFacts(Arc<ModelConfig>),
    /// The user is to be asked whether the context may grow to this;
    /// [`ContextBudget::answered`] goes on.
    AskUser {
        question: Ask,
        to: u64,
    },
    /// To be said in the conversation.
    TurnNotice(Notice),
    /// To be said in passing.
    Notice(Notice),
    Measured(ContextMeter),
    Send(ChatRequest),
    /// The user does not want the request to be sent.
    Stop,
}

/// The context of the present conversation with the present model.
#[derive(Debug, Default)]
pub(super) struct ContextBudget {
    unsent: Option<UnsentRequest>,
    usage: ContextUsage,
}

#[derive(Debug, Default)]
struct ContextUsage {
    /// Model and address that all of this is about.
    model_key: Option<(String, String)>,
    /// What the server says of the model; None until it was asked.
    facts: Option<Arc<ModelInfo>>,
    /// Ollama's `num_ctx` of the last request; 0 before the first.
    num_ctx: u32,
    calibration: TokenCalibration,
    /// The weight of the request whose count is to come.
    raw_estimate: u64,
    /// The context that the user agreed to.
    approved_num_ctx: u64,
    /// The user knows that a part is cut, and does not want a larger context.
    send_anyway: bool,
    /// It was said that the conversation is longer than its context.
    has_warned_too_long: bool,
    /// It was said that the server cuts the conversation.
    has_warned_truncated: bool,
    /// It was said that the context is nearly full.
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
    /// Another conversation or another model: nothing of the context holds any more.
    pub(super) fn reset(&mut self) -> ContextMeter {
        self.usage = ContextUsage::default();
        self.usage.meter
    }

    /// Takes a request that is to be sent; [`Self::go_on`] begins with it.
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

    /// Nothing waits to be sent any more.
    pub(super) fn drop_unsent(&mut self) {
        self.unsent = None;
    }

    /// Prepares the queued request.
    pub(super) fn prepare_request(&mut self) -> Vec<BudgetOutput> {
        let Some(UnsentRequest { model, .. }) = &self.unsent else {
            return Vec::new();
        };
        // A turn goes on with its model though another was chosen meanwhile.
        let of = Some((model.model.clone(), model.base_url.clone()));
        if self.usage.model_key != of {
            self.usage = ContextUsage {
                model_key: of,
                ..ContextUsage::default()
            };
        }
        // A server that reports an overflow is not asked before the prompt.
        if model.provider.truncates_silently() && self.usage.facts.is_none() {
            return vec![BudgetOutput::FetchFacts(Arc::clone(model))];
        }
        self.fit()
    }

    /// What the server says of the model; None where it said nothing in time, and the
    /// request itself will show why.
    pub(super) fn facts_received(&mut self, facts: Option<ModelInfo>) -> Vec<BudgetOutput> {
        self.usage.facts = facts.map(Arc::new);
        self.fit()
    }

    /// The user decided about a conversation that does not fit.
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
        let (model, facts, fill) = (&unsent.model, self.usage.facts(), &mut self.usage);
        let native = (model.dialect == Dialect::Native).then_some(&*unsent.tools);
        let vocabulary = Vocabulary::for_model(facts.family.as_deref(), &model.model);
        fill.raw_estimate = window::raw_estimate(&unsent.messages, native, vocabulary);
        let estimate = fill.calibration.estimate(fill.raw_estimate);
        let mut outputs = Vec::new();
        if !model.provider.truncates_silently() {
            let limit = window::limit(model, &facts, 0);
            outputs.push(fill.measure(estimate, limit));
            let exceeded = limit.filter(|limit| estimate > *limit);
            outputs.extend(exceeded.map(|limit| {
                let cost = fill.dominant_tool_cost(&unsent.tools, estimate);
                BudgetOutput::Notice(over_limit_notice(model, estimate, limit, cost))
            }));
            outputs.push(send(unsent, &facts, 0));
            return outputs;
        }
        let bounds = ContextLimits::new(model, &facts, fill.num_ctx, fill.approved_num_ctx);
        let num_ctx = match bounds.fit(estimate) {
            ContextFit::Fits { num_ctx } => num_ctx,
            ContextFit::Grows { from, to } if !fill.send_anyway => {
                let question = Ask::GrowContext { estimate, from, to };
                self.unsent = Some(unsent);
                return vec![BudgetOutput::AskUser { question, to }];
            }
            ContextFit::TooLong { num_ctx } | ContextFit::Grows { from: num_ctx, .. } => {
                let cost = fill.dominant_tool_cost(&unsent.tools, estimate);
                let notice = too_long_notice(model, &bounds, estimate, num_ctx, cost);
                // In the conversation once, and passing by later.
                let is_said = std::mem::replace(&mut fill.has_warned_too_long, true);
                outputs.push(match is_said {
                    true => BudgetOutput::Notice(notice),
                    false => BudgetOutput::TurnNotice(notice),
                });
                num_ctx
            }
        };
        let num_ctx = u32::try_from(num_ctx).unwrap_or(u32::MAX);
        let before = std::mem::replace(&mut fill.num_ctx, num_ctx);
        if before != 0 && num_ctx > before {
            outputs.push(BudgetOutput::Notice(Notice::info(format!(
                "The context grows from {before} to {num_ctx} tokens; {} loads the model again.",
                model.provider.label()
            ))));
        }
        outputs.push(fill.measure(estimate, Some(u64::from(num_ctx))));
        outputs.push(send(unsent, &facts, num_ctx));
        outputs
    }

    /// Ollama's `num_ctx` of this conversation's last request to a model, and the one that
    /// was agreed to.
    pub(super) fn num_ctx_of(&self, model: &ModelConfig) -> (u32, u64) {
        let of = Some((model.model.clone(), model.base_url.clone()));
        match self.usage.model_key == of {
            true => (self.usage.num_ctx, self.usage.approved_num_ctx),
            false => (0, 0),
        }
    }

    /// Tokens that the model takes at most, as far as that needs no question.
    pub(super) fn tokens_max(&self, model: &ModelConfig) -> Option<u64> {
        let facts = self.usage.facts();
        match model.provider.truncates_silently() {
            true => {
                let bounds = ContextLimits::new(
                    model,
                    &facts,
                    self.usage.num_ctx,
                    self.usage.approved_num_ctx,
                );
                let most = bounds.automatic_max.max(bounds.floor);
                Some(most.min(bounds.limit.unwrap_or(u64::MAX)))
            }
            false => window::limit(model, &facts, 0),
        }
    }

    /// How a conversation is weighed between two requests. The result is for the
    /// background: a conversation may be long.
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

    /// The server's own count replaces the estimate.
    pub(super) fn record_usage(&mut self, model: &ModelConfig, usage: Usage) -> Vec<BudgetOutput> {
        let Some(input) = usage.input else {
            return Vec::new();
        };
        let fill = &mut self.usage;
        // Whoever answers, and would not say what the model has, is not asked in each round.
        fill.facts.get_or_insert_default();
        let estimate = fill.calibration.estimate(fill.raw_estimate);
        let mut outputs = Vec::new();
        if fill.calibration.record_count(fill.raw_estimate, input) && !fill.has_warned_truncated {
            fill.has_warned_truncated = true;
            let name = &model.name;
            let words = format!(
                "{name} counted {input} of about {estimate} tokens: its server cut the oldest part of the conversation."
            );
            let mut notice = Notice::warning(words).with_advice(Advice::Compact);
            if model.provider.truncates_silently() {
                notice = notice.with_advice("`options.num_ctx` makes room.");
            }
            outputs.push(BudgetOutput::TurnNotice(notice));
        }
        fill.meter = ContextMeter {
            used: input + usage.output.unwrap_or(0),
            is_measured: true,
            ..fill.meter
        };
        outputs.push(BudgetOutput::Measured(fill.meter));
        outputs
    }

    /// Offers `/compact` once the meter passes its mark; again only after it fell. `tools`
    /// are those of the next request.
    pub(super) fn compact_suggestion(&mut self, tools: &Toolset) -> Option<Notice> {
        let ContextMeter { used, limit, .. } = self.usage.meter;
        let limit = limit.filter(|limit| *limit > 0)?;
        // Rounded as the header does it.
        let percent = (used * 200 + limit) / (limit * 2);
        let is_nearly_full = percent > NEARLY_FULL_PERCENT;
        let was_said = std::mem::replace(&mut self.usage.has_warned_nearly_full, is_nearly_full);
        if !is_nearly_full || was_said {
            return None;
        }
        let notice = Notice::info(format!("The context is {percent} % full."));
        Some(match self.usage.dominant_tool_cost(tools, used) {
            Some(cost) => cost.explain(notice),
            None => notice
                .with_advice(Advice::Compact)
                .with_advice("The file keeps all of it."),
        })
    }
}

/// Weighs a conversation without its next prompt.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionEstimator {
    dialect: Dialect,
    vocabulary: Vocabulary,
}

impl SessionEstimator {
    pub(super) fn estimate(self, system: &str, offered: &Toolset, history: &[SavedMessage]) -> u64 {
        let around = assemble_messages(system, self.dialect, offered, &[], "", &[]);
        let tools = (self.dialect == Dialect::Native).then_some(offered);
        let around = window::raw_estimate(&around, tools, self.vocabulary);
        around + window::raw_estimate_history(history, self.vocabulary)
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
    bounds: &ContextLimits,
    estimate: u64,
    num_ctx: u64,
    cost: Option<ToolCost>,
) -> Notice {
    let name = &model.name;
    let whose = match bounds.limit {
        Some(_) if bounds.limit_is_configured => "`contextLength` in config.json bounds it to",
        Some(limit) if limit == num_ctx => "the model takes no more than",
        _ => "the context has",
    };
    let what = match cost {
        Some(_) => "The request",
        None => "The conversation",
    };
    let notice = Notice::warning(format!(
        "{what} takes about {estimate} tokens, and {whose} {num_ctx}: {} drops the oldest part of it before {name} sees it.",
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
        "About {estimate} tokens are sent, and {} takes {limit}: its server will cut or refuse the conversation.",
        model.name
    ));
    match cost {
        Some(cost) => cost.explain(notice),
        None => notice.with_advice(Advice::Compact),
    }
}

/// A model whose template knows no tools would drop a message of the role `tool`
/// without a word.
pub(super) fn with_tool_role(model: &Arc<ModelConfig>, facts: &ModelInfo) -> Arc<ModelConfig> {
    let drops = facts.template_supports_tools == Some(false) && model.dialect != Dialect::Native;
    if model.tool_role.is_some() || !drops {
        return Arc::clone(model);
    }
    let mut model = ModelConfig::clone(model);
    model.tool_role = Some(ToolRole::User);
    Arc::new(model)
}
