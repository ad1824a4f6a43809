//! Sends what a turn asks for: finds out what the model's server has, makes sure that
//! the conversation fits, or asks the person before any of it would be cut (S2.7).

use super::active_turn::ActiveTurn;
use super::actor::{Actor, Done};
use super::asking::Pending;
use super::context;
use super::quotes::Quote;
use super::saver::Epoch;
use super::turn::Input;
use super::window::{self, Bounds, Fit};
use crate::domain::compact;
use crate::domain::model::ToolRole;
use crate::domain::{
    Dialect, Message, ModelConfig, ModelFacts, Notice, Offered, ProviderKind, Usage,
};
use crate::protocol::{Ask, Choice, Event, Job, Meter, Owner};
use crate::provider::Request;
use crate::text::tokens::Vocabulary;
use std::sync::Arc;

/// What the meter passes when it is worth a word.
const NEARLY_FULL_PERCENT: u64 = 80;

/// A request that cannot be sent yet.
#[derive(Debug, Clone)]
pub(super) struct PendingRequest {
    messages: Vec<Message>,
    tools: Arc<Offered>,
}

/// The context of the present conversation with the present model.
#[derive(Debug, Clone, Default)]
pub(super) struct Fill {
    /// Model and address that all of this is about.
    of: Option<(String, String)>,
    /// What the server says of the model; None until it was asked.
    facts: Option<Arc<ModelFacts>>,
    /// Ollama's `num_ctx` of the last request; 0 before the first.
    num_ctx: u32,
    gauge: window::Gauge,
    /// The weight of the request whose count is to come.
    pub(super) weight: u64,
    /// The context that the person agreed to.
    agreed: u64,
    /// The person knows that a part is cut, and does not want a larger context.
    sends_anyway: bool,
    /// It was said that the conversation is longer than its context.
    too_long_is_said: bool,
    /// It was said that the server cuts the conversation.
    cut_is_said: bool,
    /// It was said that the context is nearly full.
    full_is_said: bool,
    meter: Meter,
}

impl Actor {
    /// Another conversation or another model: nothing of the context holds any more.
    pub(super) fn empty_context(&mut self) {
        self.fill = Fill::default();
        self.outbox.push(Event::ContextMeasured(self.fill.meter));
    }

    pub(super) fn request(&mut self, messages: Vec<Message>, tools: Arc<Offered>) {
        let Some(turn) = &mut self.turn else {
            return;
        };
        turn.unsent = Some(PendingRequest { messages, tools });
        if turn.reading.is_none() {
            self.weigh_unsent();
        }
    }

    /// What came with the prompt was read for calls: now the model may see it.
    pub(super) fn context_read(&mut self, quote: Arc<Quote>) {
        self.quotes.add(Arc::clone(&quote));
        self.feed(Input::Quoted(quote));
        self.weigh_unsent();
    }

    fn weigh_unsent(&mut self) {
        let Some(turn) = &mut self.turn else {
            return;
        };
        // A turn goes on with its model though another was chosen meanwhile.
        let of = Some((turn.model.model.clone(), turn.model.base_url.clone()));
        if self.fill.of != of {
            self.fill = Fill {
                of,
                ..Fill::default()
            };
        }
        // Only Ollama cuts without a word: no other server is asked before the prompt.
        if turn.model.provider == ProviderKind::Ollama && self.fill.facts.is_none() {
            let (provider, model) = (self.provider.clone(), Arc::clone(&turn.model));
            turn.facts = Some(Box::pin(async move { provider.facts(&model).await.ok() }));
        } else {
            self.send_unsent();
        }
    }

    /// What the server says of the model; None where it said nothing in time, and the
    /// request itself will show why.
    pub(super) fn facts_came(&mut self, facts: Option<ModelFacts>) {
        self.fill.facts = facts.map(Arc::new);
        self.send_unsent();
    }

    /// Nothing waits to be sent any more, and nobody is asked about it.
    pub(super) fn drop_unsent(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.unsent = None;
            turn.facts = None;
        }
        let asked = self.asked.iter();
        let asked = asked.filter(|(_, pending)| matches!(pending, Pending::Context { .. }));
        let asked: Vec<_> = asked.map(|(ask, _)| *ask).collect();
        for ask in asked {
            self.withdraw(ask);
        }
    }

    fn send_unsent(&mut self) {
        let Some(ActiveTurn {
            model,
            unsent: Some(unsent),
            ..
        }) = &self.turn
        else {
            return;
        };
        let (model, facts) = (
            Arc::clone(model),
            self.fill.facts.clone().unwrap_or_default(),
        );
        let native = (model.dialect == Dialect::Native).then_some(&*unsent.tools);
        let vocabulary = Vocabulary::of(facts.family.as_deref(), &model.model);
        let weight = window::weigh(&unsent.messages, native, vocabulary);
        let estimate = self.fill.gauge.estimate(weight);
        self.fill.weight = weight;
        if model.provider != ProviderKind::Ollama {
            let limit = window::limit(&model, &facts, 0);
            self.measure(estimate, limit);
            self.warn_of_length(&model, estimate, limit);
            return self.open(&model, 0);
        }
        let bounds = Bounds::new(&model, &facts, self.fill.num_ctx, self.fill.agreed);
        match bounds.fit(estimate) {
            Fit::Fits { num_ctx } => self.open_with(&model, estimate, num_ctx),
            Fit::TooLong { num_ctx } => {
                self.tell_too_long(&model, &bounds, estimate, num_ctx);
                self.open_with(&model, estimate, num_ctx);
            }
            Fit::Grows { from, .. } if self.fill.sends_anyway => {
                self.tell_too_long(&model, &bounds, estimate, from);
                self.open_with(&model, estimate, from);
            }
            Fit::Grows { from, to } => {
                let question = Ask::GrowContext { estimate, from, to };
                self.ask_about_context(question, to);
            }
        }
    }

    /// Before anything is cut (S2.7): in the conversation once, and passing by later.
    fn tell_too_long(&mut self, model: &ModelConfig, bounds: &Bounds, estimate: u64, num_ctx: u64) {
        let name = &model.name;
        let whose = match bounds.limit {
            Some(_) if bounds.limit_is_configured => "`contextLength` in config.json bounds it to",
            Some(limit) if limit == num_ctx => "the model takes no more than",
            _ => "the context has",
        };
        let costly = self.costly(self.unsent_tools(), estimate);
        let what = costly
            .as_ref()
            .map_or("The conversation", |_| "The request");
        let notice = Notice::warning(format!(
            "{what} takes about {estimate} tokens, and {whose} {num_ctx}: Ollama drops the oldest part of it before {name} sees it."
        ));
        let notice = match costly {
            Some(costly) => costly.explain(notice),
            None => notice.advise("/compact or /new makes it shorter."),
        };
        if std::mem::replace(&mut self.fill.too_long_is_said, true) {
            self.notice(notice);
        } else {
            self.feed(Input::Noted(notice));
        }
    }

    fn unsent_tools(&self) -> Option<&Offered> {
        let unsent = self.turn.as_ref()?.unsent.as_ref()?;
        Some(&unsent.tools)
    }

    fn ask_about_context(&mut self, question: Ask, to: u64) {
        if let Some(turn) = &self.turn {
            let owner = Owner::Job(Job::Turn(turn.id));
            self.ask(owner, question, Pending::Context { to });
        }
    }

    /// The person decided about a conversation that does not fit.
    pub(super) fn context_answered(&mut self, to: u64, choice: Choice) {
        match choice {
            Choice::Grow => self.fill.agreed = to,
            Choice::SendAnyway => self.fill.sends_anyway = true,
            _ => return self.feed(Input::Stopped),
        }
        self.send_unsent();
    }

    fn open_with(&mut self, model: &Arc<ModelConfig>, estimate: u64, num_ctx: u64) {
        let num_ctx = u32::try_from(num_ctx).unwrap_or(u32::MAX);
        let before = self.fill.num_ctx;
        if before != 0 && num_ctx > before {
            let words = format!(
                "The context grows from {before} to {num_ctx} tokens; Ollama loads the model again."
            );
            self.notice(Notice::info(words));
        }
        self.fill.num_ctx = num_ctx;
        self.measure(estimate, Some(u64::from(num_ctx)));
        self.open(model, num_ctx);
    }

    fn measure(&mut self, used: u64, limit: Option<u64>) {
        self.fill.meter = Meter {
            used,
            limit,
            measured: false,
        };
        self.outbox.push(Event::ContextMeasured(self.fill.meter));
    }

    fn warn_of_length(&mut self, model: &ModelConfig, estimate: u64, limit: Option<u64>) {
        let Some(limit) = limit.filter(|limit| estimate > *limit) else {
            return;
        };
        let words = format!(
            "About {estimate} tokens are sent, and {} takes {limit}: its server will cut or refuse the conversation.",
            model.name
        );
        let notice = Notice::warning(words);
        self.notice(match self.costly(self.unsent_tools(), estimate) {
            Some(costly) => costly.explain(notice),
            None => notice.advise("/compact makes it shorter."),
        });
    }

    fn open(&mut self, model: &Arc<ModelConfig>, num_ctx: u32) {
        let facts = self.fill.facts.clone().unwrap_or_default();
        let Some(turn) = &mut self.turn else {
            return;
        };
        let Some(PendingRequest { messages, tools }) = turn.unsent.take() else {
            return;
        };
        turn.driver.send(Request {
            model: with_tool_role(model, &facts),
            messages,
            tools,
            num_ctx,
        });
    }

    /// What this conversation asks of Ollama for a model, and what was agreed to.
    pub(super) fn context_of(&self, model: &ModelConfig) -> (u32, u64) {
        let of = Some((model.model.clone(), model.base_url.clone()));
        match self.fill.of == of {
            true => (self.fill.num_ctx, self.fill.agreed),
            false => (0, 0),
        }
    }

    /// Tokens that the model takes at most, as far as that needs no question.
    pub(super) fn context_max(&self) -> Option<u64> {
        let model = self.model.as_ref()?;
        let facts = self.fill.facts.clone().unwrap_or_default();
        match model.provider {
            ProviderKind::Ollama => {
                let bounds = Bounds::new(model, &facts, self.fill.num_ctx, self.fill.agreed);
                let most = bounds.unasked.max(bounds.floor);
                Some(most.min(bounds.limit.unwrap_or(u64::MAX)))
            }
            _ => window::limit(model, &facts, 0),
        }
    }

    /// Estimates what the conversation takes, between two requests and beside the
    /// actor: it may be long.
    pub(super) fn weigh_session(&mut self) {
        let Some(model) = &self.model else { return };
        let facts = self.fill.facts.clone().unwrap_or_default();
        let vocabulary = Vocabulary::of(facts.family.as_deref(), &model.model);
        let native = model.dialect == Dialect::Native;
        let (dialect, epoch) = (model.dialect, self.epoch);
        let (system, offered) = (self.system_text(), self.offered_now());
        let session = self.session.clone();
        self.jobs.spawn_blocking(move || {
            let history = compact::history(&session);
            let around = context::assemble(&system, dialect, &offered, &[], "", &[]);
            let tools = native.then_some(&*offered);
            let around = window::weigh(&around, tools, vocabulary);
            Done::Weighed(epoch, around + window::weigh_history(&history, vocabulary))
        });
    }

    pub(super) fn session_weighed(&mut self, epoch: Epoch, weight: u64) {
        let Some(model) = self.model.clone() else {
            return;
        };
        if epoch != self.epoch || self.turn.is_some() {
            return;
        }
        let facts = self.fill.facts.clone().unwrap_or_default();
        let limit = window::limit(&model, &facts, self.fill.num_ctx);
        let estimate = self.fill.gauge.estimate(weight);
        self.measure(estimate, limit.filter(|limit| *limit > 0));
    }

    /// The server's own count replaces the estimate.
    pub(super) fn measured(&mut self, usage: Usage) {
        let Some(input) = usage.input else { return };
        let Some(model) = self.turn.as_ref().map(|turn| Arc::clone(&turn.model)) else {
            return;
        };
        // Whoever answers, and would not say what the model has, is not asked in each round.
        self.fill.facts.get_or_insert_default();
        let estimate = self.fill.gauge.estimate(self.fill.weight);
        if self.fill.gauge.shows_a_cut(self.fill.weight, input) && !self.fill.cut_is_said {
            self.fill.cut_is_said = true;
            let name = &model.name;
            let words = format!(
                "{name} counted {input} of about {estimate} tokens: its server cut the oldest part of the conversation."
            );
            let is_ollama = model.provider == ProviderKind::Ollama;
            let notice = Notice::warning(words).advise(if is_ollama {
                "/compact makes the conversation shorter; `options.num_ctx` makes room."
            } else {
                "/compact makes the conversation shorter."
            });
            self.feed(Input::Noted(notice));
        }
        self.fill.meter = Meter {
            used: input + usage.output.unwrap_or(0),
            measured: true,
            ..self.fill.meter
        };
        self.outbox.push(Event::ContextMeasured(self.fill.meter));
    }

    /// Offers `/compact` once the meter passes its mark; again only after it fell.
    pub(super) fn offer_to_compact(&mut self) {
        let Meter { used, limit, .. } = self.fill.meter;
        let Some(limit) = limit.filter(|limit| *limit > 0) else {
            return;
        };
        // Rounded as the header does it.
        let percent = (used * 200 + limit) / (limit * 2);
        let is_nearly_full = percent > NEARLY_FULL_PERCENT;
        if is_nearly_full && !self.fill.full_is_said {
            let words = format!("The context is {percent} % full.");
            let notice = Notice::info(words);
            self.notice(match self.costly(None, used) {
                Some(costly) => costly.explain(notice),
                None => notice
                    .advise("/compact replaces the older part by a summary; the file keeps all."),
            });
        }
        self.fill.full_is_said = is_nearly_full;
    }
}

/// A model whose template knows no tools would drop a message of the role `tool`
/// without a word (S5.3).
pub(super) fn with_tool_role(model: &Arc<ModelConfig>, facts: &ModelFacts) -> Arc<ModelConfig> {
    let drops = facts.template_takes_tools == Some(false) && model.dialect != Dialect::Native;
    if model.tool_role.is_some() || !drops {
        return Arc::clone(model);
    }
    let mut model = ModelConfig::clone(model);
    model.tool_role = Some(ToolRole::User);
    Arc::new(model)
}
