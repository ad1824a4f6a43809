//! Request assembly and the context limit: `messages` assembles a request, `images` limits its
//! images, `window` does the arithmetic, `calibration` corrects it, `session_estimator` estimates a
//! conversation between requests, `tool_cost` detects tool definitions that fill the context,
//! `tool_role` chooses the role of tool results, and `notices` warns about requests that do not fit.
//! [`ContextBudget`] chooses a context size in which the request fits and asks the user before the
//! context grows too large. Pure: actions are returned as [`BudgetOutput`].

mod calibration;
mod images;
mod messages;
mod notices;
mod session_estimator;
mod tool_cost;
mod tool_role;
mod window;

pub use messages::{Exchange, assemble_messages, result_text, truncate_result, user_message};
pub(super) use window::{
    ANSWER_TOKENS, ContextFit, ContextLimits, NUM_CTX_AUTOMATIC_MAX, raw_estimate,
    raw_estimate_definitions,
};

use crate::domain::{Advice, Dialect, Message, ModelConfig, ModelInfo, Notice, Toolset, Usage};
use crate::protocol::{ContextMeter, ContextShares, Question, UserChoice};
use crate::provider::ChatRequest;
use crate::questions;
use crate::text::token_estimate::Vocabulary;
use calibration::{CountVerdict, TokenCalibration};
use notices::{far_off_notice, over_limit_notice, too_long_notice, truncated_notice};
pub(super) use session_estimator::SessionEstimator;
use std::sync::Arc;
use tool_cost::ToolCost;
pub(super) use tool_role::with_tool_role;

/// Context usage above which `/compact` is suggested.
const NEARLY_FULL_PERCENT: u64 = 80;

#[derive(Debug)]
struct UnsentRequest {
    model: Arc<ModelConfig>,
    messages: Vec<Message>,
    tools: Arc<Toolset>,
    has_prompt_images: bool,
}

/// An action for the engine. Actions are carried out in order.
#[derive(Debug)]
pub(super) enum BudgetOutput {
    /// Query the server's information about this model, then call
    /// [`ContextBudget::handle_model_info`].
    FetchModelInfo(Arc<ModelConfig>),
    /// Ask the user whether the context may grow to `to`, then call
    /// [`ContextBudget::handle_grow_answer`].
    AskUser {
        question: Question,
        to: u64,
    },
    /// Add a notice to the conversation.
    TurnNotice(Notice),
    /// Show a transient notice.
    Notice(Notice),
    /// Explain the number on the meter.
    MeterNotice(Notice),
    Measured(ContextMeter),
    Send(ChatRequest),
    /// End the turn with this failure: the model cannot take the prompt.
    Refuse(Notice),
    /// Stop the turn: the user chose not to send the request.
    Stop,
}

#[derive(Debug, Default)]
pub(super) struct ContextBudget {
    unsent: Option<UnsentRequest>,
    usage: ContextUsage,
    /// A turn has queued requests and may queue more.
    is_in_turn: bool,
    /// Another model was selected during the turn, whose requests still go to the old one.
    resets_after_turn: bool,
}

#[derive(Debug, Default)]
struct ContextUsage {
    /// The model and address that these values belong to.
    model_key: Option<(String, String)>,
    /// The server's information about the model; `None` while the server has given none.
    model_info: Option<Arc<ModelInfo>>,
    has_asked_for_model_info: bool,
    /// Ollama's `num_ctx` of the last request; 0 before the first.
    num_ctx: u32,
    calibration: TokenCalibration,
    /// The raw estimates of the last request.
    shares: ContextShares,
    approved_num_ctx: u64,
    /// The user declined a larger context and accepts truncation.
    accepts_truncation: bool,
    has_warned_too_long: bool,
    has_warned_truncated: bool,
    has_reported_far_off: bool,
    has_reported_left_out_images: bool,
    was_nearly_full: bool,
    meter: ContextMeter,
}

impl ContextUsage {
    fn model_info_or_default(&self) -> Arc<ModelInfo> {
        self.model_info.clone().unwrap_or_default()
    }

    fn set_estimate(
        &mut self,
        used: u64,
        limit: Option<u64>,
        shares: ContextShares,
    ) -> BudgetOutput {
        self.meter = ContextMeter {
            used,
            limit,
            is_measured: false,
            shares,
        };
        BudgetOutput::Measured(self.meter)
    }

    fn dominant_tool_cost(&self, tools: &Toolset, estimate: u64) -> Option<ToolCost> {
        ToolCost::if_dominant(tools, self.shares.total, estimate)
    }
}

impl ContextBudget {
    /// Resets the usage for another conversation or model. Returns the empty meter.
    pub(super) fn reset(&mut self) -> ContextMeter {
        self.usage = ContextUsage::default();
        self.resets_after_turn = false;
        self.usage.meter
    }

    /// Like [`Self::reset`], because another model was selected. During a turn, which keeps its model,
    /// returns `None` and leaves this to [`Self::end_turn`].
    pub(super) fn reset_for_model(&mut self) -> Option<ContextMeter> {
        self.resets_after_turn = self.is_in_turn;
        (!self.is_in_turn).then(|| self.reset())
    }

    /// Ends the turn. Returns the empty meter if another model was selected during it.
    pub(super) fn end_turn(&mut self) -> Option<ContextMeter> {
        self.is_in_turn = false;
        self.drop_unsent();
        self.resets_after_turn.then(|| self.reset())
    }

    /// Queues a request for [`Self::prepare_request`].
    pub(super) fn queue(
        &mut self,
        model: Arc<ModelConfig>,
        messages: Vec<Message>,
        tools: Arc<Toolset>,
        has_prompt_images: bool,
    ) {
        self.is_in_turn = true;
        self.unsent = Some(UnsentRequest {
            model,
            messages,
            tools,
            has_prompt_images,
        });
    }

    pub(super) fn drop_unsent(&mut self) {
        self.unsent = None;
    }

    /// Queries the server's information first if it is needed and missing.
    pub(super) fn prepare_request(&mut self) -> Vec<BudgetOutput> {
        let Some(UnsentRequest {
            model, messages, ..
        }) = &self.unsent
        else {
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
        // Other servers report an overflow, so they need not be asked first.
        let needs_model_info =
            model.provider.truncates_silently() || images::needs_support(messages, model);
        if needs_model_info && self.usage.model_info.is_none() {
            self.usage.has_asked_for_model_info = true;
            return vec![BudgetOutput::FetchModelInfo(Arc::clone(model))];
        }
        self.fit_request()
    }

    /// `None` means that the server gave no answer; the request itself will then report why.
    pub(super) fn handle_model_info(&mut self, model_info: Option<ModelInfo>) -> Vec<BudgetOutput> {
        self.usage.model_info = model_info.map(Arc::new);
        self.fit_request()
    }

    pub(super) fn handle_grow_answer(&mut self, to: u64, choice: UserChoice) -> Vec<BudgetOutput> {
        match choice {
            UserChoice::Grow => self.usage.approved_num_ctx = to,
            UserChoice::SendAnyway => self.usage.accepts_truncation = true,
            _ => return vec![BudgetOutput::Stop],
        }
        self.fit_request()
    }

    /// Chooses the context size for the queued request and sends it, or asks the user.
    fn fit_request(&mut self) -> Vec<BudgetOutput> {
        let Some(mut unsent) = self.unsent.take() else {
            return Vec::new();
        };
        let mut outputs = Vec::new();
        match self.usage.apply_image_support(&mut unsent) {
            Some(BudgetOutput::Refuse(notice)) => return vec![BudgetOutput::Refuse(notice)],
            notice => outputs.extend(notice),
        }
        let (model, model_info, usage) = (
            &unsent.model,
            self.usage.model_info_or_default(),
            &mut self.usage,
        );
        let native_tools = (model.dialect == Dialect::Native).then_some(&*unsent.tools);
        let vocabulary = Vocabulary::for_model(model_info.family.as_deref(), &model.model);
        usage.shares = window::raw_shares(&unsent.messages, native_tools, vocabulary);
        let estimate = usage.calibration.estimate(usage.shares.total);
        if !model.provider.truncates_silently() {
            let limit = window::displayed_limit(model, &model_info, 0);
            outputs.push(usage.set_estimate(estimate, limit, usage.shares));
            let exceeded_limit = limit.filter(|limit| estimate > *limit);
            outputs.extend(exceeded_limit.map(|limit| {
                let cost = usage.dominant_tool_cost(&unsent.tools, estimate);
                BudgetOutput::Notice(over_limit_notice(model, estimate, limit, cost))
            }));
            outputs.push(send_request(unsent, &model_info, 0));
            return outputs;
        }
        let limits = ContextLimits::new(model, &model_info, usage.num_ctx, usage.approved_num_ctx);
        let num_ctx = match limits.fit(estimate) {
            ContextFit::Fits { num_ctx } => num_ctx,
            ContextFit::Grows { from, to } if !usage.accepts_truncation => {
                let question = questions::grow_context(estimate, from, to);
                self.unsent = Some(unsent);
                outputs.push(BudgetOutput::AskUser { question, to });
                return outputs;
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
        let previous_num_ctx = std::mem::replace(&mut usage.num_ctx, num_ctx);
        if previous_num_ctx != 0 && num_ctx > previous_num_ctx {
            outputs.push(BudgetOutput::Notice(Notice::info(format!(
                "The context grows from {previous_num_ctx} to {num_ctx} tokens; {} reloads the model.",
                model.provider.label()
            ))));
        }
        outputs.push(usage.set_estimate(estimate, Some(u64::from(num_ctx)), usage.shares));
        outputs.push(send_request(unsent, &model_info, num_ctx));
        outputs
    }

    /// Ollama's `num_ctx` of this conversation's last request to `model`, and the size that
    /// the user allowed; zeros before the first request.
    pub(super) fn num_ctx_of(&self, model: &ModelConfig) -> (u32, u64) {
        let model_key = Some((model.model.clone(), model.base_url.clone()));
        match self.usage.model_key == model_key {
            true => (self.usage.num_ctx, self.usage.approved_num_ctx),
            false => (0, 0),
        }
    }

    /// The largest context for this model that needs no consent; `None` if it is unknown.
    pub(super) fn tokens_max(&self, model: &ModelConfig) -> Option<u64> {
        let model_info = self.usage.model_info_or_default();
        match model.provider.truncates_silently() {
            true => {
                let (num_ctx, approved) = (self.usage.num_ctx, self.usage.approved_num_ctx);
                let limits = ContextLimits::new(model, &model_info, num_ctx, approved);
                let tokens_max = limits.automatic_max.max(limits.floor);
                Some(tokens_max.min(limits.limit.unwrap_or(u64::MAX)))
            }
            false => window::displayed_limit(model, &model_info, 0),
        }
    }

    /// An estimator for the conversation between two requests, to be run in the background.
    pub(super) fn session_estimator(&self, model: &ModelConfig) -> SessionEstimator {
        SessionEstimator {
            dialect: model.dialect,
            vocabulary: Vocabulary::for_model(
                self.usage.model_info_or_default().family.as_deref(),
                &model.model,
            ),
        }
    }

    pub(super) fn handle_session_estimate(
        &mut self,
        model: &ModelConfig,
        shares: ContextShares,
    ) -> BudgetOutput {
        let limit = window::displayed_limit(
            model,
            &self.usage.model_info_or_default(),
            self.usage.num_ctx,
        );
        let estimate = self.usage.calibration.estimate(shares.total);
        self.usage
            .set_estimate(estimate, limit.filter(|limit| *limit > 0), shares)
    }

    /// Replaces the estimate with the server's count if that is plausible. Reports once if the server
    /// truncated the conversation, and once if the two differ widely for another reason.
    pub(super) fn record_usage(&mut self, model: &ModelConfig, counts: Usage) -> Vec<BudgetOutput> {
        let Some(input) = counts.input else {
            return Vec::new();
        };
        let usage = &mut self.usage;
        // If the server gave no information, do not ask again in each round.
        if usage.has_asked_for_model_info {
            usage.model_info.get_or_insert_default();
        }
        let estimate = usage.calibration.estimate(usage.shares.total);
        let mut outputs = Vec::new();
        let verdict = usage.calibration.record_count(usage.shares.total, input);
        if verdict == CountVerdict::Truncated {
            if !std::mem::replace(&mut usage.has_warned_truncated, true) {
                let notice = truncated_notice(model, estimate, input);
                outputs.push(BudgetOutput::TurnNotice(notice));
            }
        } else if calibration::is_far_off(estimate, input)
            && !std::mem::replace(&mut usage.has_reported_far_off, true)
        {
            let notice = far_off_notice(model, estimate, input, verdict);
            outputs.push(BudgetOutput::MeterNotice(notice));
        }
        // Otherwise the meter would contradict the warnings, which go by the estimate.
        if verdict == CountVerdict::Plausible {
            usage.meter = ContextMeter {
                used: input + counts.output.unwrap_or(0),
                is_measured: true,
                ..usage.meter
            };
            outputs.push(BudgetOutput::Measured(usage.meter));
        }
        outputs
    }

    /// Suggests `/compact`, or fewer tools if their definitions take most of the context. Does so once
    /// usage passes the threshold, and again only if it has been below the threshold since then.
    /// `tools` are those of the next request.
    pub(super) fn compact_suggestion(&mut self, tools: &Toolset) -> Option<Notice> {
        let ContextMeter { used, limit, .. } = self.usage.meter;
        let limit = limit.filter(|limit| *limit > 0)?;
        // Rounded as in the header.
        let percent = (used * 200 + limit) / (limit * 2);
        let is_nearly_full = percent > NEARLY_FULL_PERCENT;
        let was_nearly_full = std::mem::replace(&mut self.usage.was_nearly_full, is_nearly_full);
        if !is_nearly_full || was_nearly_full {
            return None;
        }
        let notice = Notice::info(format!("The context is {percent} % full."));
        Some(match self.usage.dominant_tool_cost(tools, used) {
            Some(cost) => cost.explain(notice),
            None => notice
                .with_advice(Advice::Compact)
                .with_advice("Nothing is deleted."),
        })
    }
}

fn send_request(unsent: UnsentRequest, model_info: &ModelInfo, num_ctx: u32) -> BudgetOutput {
    let UnsentRequest {
        model,
        messages,
        tools,
        ..
    } = unsent;
    BudgetOutput::Send(ChatRequest {
        model: with_tool_role(&model, model_info),
        messages,
        tools,
        num_ctx,
        temperature: None,
    })
}
