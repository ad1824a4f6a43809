//! What the engine reports, folded into the model.

use crate::domain::{
    Body, CONTINUE, Notice, Session, ToolMode, ToolState, Transcript, TurnEnd, TurnEvent, TurnId,
    Wait,
};
use crate::protocol::Event;
use crate::tui::chat::viewport::Flow;
use crate::tui::composer::draft;
use crate::tui::demo_tour;
use crate::tui::dialog::edit_check;
use crate::tui::dialog::state::OpenAsk;
use crate::tui::model::{Clock, Model, Retry};
use crate::tui::msg::Effect;
use crate::tui::servers::commands as servers;
use crate::tui::update::{branches, composer, probe};
use std::time::Duration;

/// A turn of at least this length calls the person back when it ends.
const LONG_TURN: Duration = Duration::from_secs(10);

pub fn apply(model: &mut Model, event: Event, effects: &mut Vec<Effect>) {
    model.with_layer(|layer, cx| layer.event(&event, cx));
    let Some(event) = model.engine.apply(event) else {
        return;
    };
    match event {
        Event::Turn(id, event) => turn(model, id, &event, effects),
        Event::Asked { ask, question, .. } => {
            if model.asks.iter().all(|open| open.id != ask) {
                model.asks.push(OpenAsk::new(ask, question, model.now));
            }
        }
        Event::AskClosed(ask) => close(model, |open| open.id == ask),
        Event::SessionOpened(session) => opened(model, &session),
        Event::SessionSaved(session) => {
            model.session = Some(session);
            demo_tour::saved(model);
        }
        Event::SessionDeleted(session) => {
            model.notify(Notice::info(format!("Deleted {session}.")));
        }
        Event::SessionRenamed(title) => {
            model.notify(Notice::info("The conversation has its new title."));
            model.title = title;
        }
        Event::BranchesListed(list) => branches::listed(model, list),
        Event::PrivateChanged(private) => draft::private_changed(model, private),
        Event::PromptOffered(prompt) => branches::offered(model, &prompt),
        Event::StocksChanged(stocks) => {
            let before = std::mem::replace(&mut model.engine.stocks, stocks);
            let after = &model.engine.stocks;
            model.first_run.follow(&before, after, model.now);
        }
        Event::ProbeChanged(state) => probe::changed(model, state, effects),
        Event::ServersListed(servers) => model.sidebar.replace(servers),
        Event::ServerChanged(server) => {
            model.with_servers(|sidebar, cx| servers::changed(sidebar, server, cx));
        }
        Event::TrustChanged(list) => {
            servers::trust_changed(&mut model.sidebar, &list);
            model.engine.trusted = list;
        }
        Event::HistoryLoaded { prompts, draft } => history(model, &prompts, draft),
        Event::Noticed(notice) => model.notify(notice),
        Event::Mentioned(notice) => model.notices.wait(notice),
        Event::ArgumentsChecked { query, check } => {
            edit_check::checked(model, query, check, effects);
        }
        Event::InterruptTaken => model.interrupt_sent = None,
        Event::ShutDown => effects.push(Effect::Quit),
        // Layers and the state of the engine have taken in the others.
        _ => {}
    }
}

/// Removes asks. The next one waits for its own moment without a key.
fn close(model: &mut Model, closed: impl Fn(&OpenAsk) -> bool) {
    let first = model.asks.first().map(|ask| ask.id);
    model.asks.retain(|ask| !closed(ask));
    let now = model.now;
    if let Some(next) = model.asks.first_mut().filter(|ask| Some(ask.id) != first) {
        next.opened = now;
        next.is_seen = false;
    }
}

/// Takes an answered ask away at once; its `AskClosed` finds nothing left.
pub fn answered(model: &mut Model) {
    if let Some(id) = model.asks.first().map(|ask| ask.id) {
        close(model, |ask| ask.id == id);
    }
}

fn opened(model: &mut Model, session: &Session) {
    branches::keeps_as_it_was(model);
    composer::unqueue(model);
    model.asked.clear();
    model.unasked.clear();
    model.unread.clear();
    model.transcript = Transcript::from_session(session);
    note_thoughts(model, 0);
    model.chat = Flow::default();
    model.thinking = Flow::default();
    model.clock = Clock::default();
    model.title = session.title().to_owned();
    model.session = session.id.clone();
    model.branched = !session.branches.is_empty();
    model.taken_back = false;
    model.replacing = None;
    model.last_turn = None;
    model.cut = false;
    model.interrupting = false;
    model.engine.trace = None;
    model.layer = None;
}

fn history(model: &mut Model, prompts: &[String], draft: Option<String>) {
    let typed = std::mem::take(&mut model.history.prompts);
    model.history.prompts = prompts.to_vec();
    model.history.prompts.extend(typed);
    let draft = draft.filter(|draft| !draft.trim().is_empty());
    let Some(draft) = draft else { return };
    if model.editor.is_empty() || demo_tour::owns(model) {
        model.editor.set(&draft);
        model.draft.on_disk = true;
        model.notify(Notice::info("What you were typing last time is back."));
    } else {
        composer::remember(model, &draft);
        let words = "What you were typing last time is one Up away.";
        model.notify(Notice::info(words));
    }
}

/// One event of a turn: the transcript's own fold, and the times beside it.
pub fn turn(model: &mut Model, id: TurnId, event: &TurnEvent, effects: &mut Vec<Effect>) {
    let known = model.transcript.entries().len();
    let was_running = model.running();
    let (lingering, moves) = (model.lingering(), model.transcript.moves());
    let newest = model.thoughts.last().copied();
    model.transcript.apply(id, event);
    if let TurnEvent::RoundStarted { .. } = event {
        model.round_from = known;
    }
    if model.transcript.moves() == moves {
        // Entries before the turn under way are settled.
        let from = match event {
            TurnEvent::Reclassified { .. } => model.transcript.settled().min(known),
            _ => known,
        };
        note_thoughts(model, from);
        if let (Some(_), Some(newest)) = (lingering, newest)
            && model.lingering() != lingering
        {
            model.chat.folds(newest);
        }
    } else {
        branches::entries_moved(model);
    }
    note_unasked(model, event);
    keep_time(model, id, event, was_running);
    match event {
        TurnEvent::Tool(call) => model.asks.iter_mut().for_each(|ask| ask.changed(call.id)),
        TurnEvent::Started { prompt, .. } => {
            model.last_turn = Some((prompt.shown().to_owned(), false));
        }
        TurnEvent::Ended { end, .. } if was_running == Some(id) => ended(model, end, effects),
        _ => {}
    }
}

/// Which entries, from this one on, are thinking.
pub(super) fn note_thoughts(model: &mut Model, from: usize) {
    let keep = model.thoughts.partition_point(|index| *index < from);
    model.thoughts.truncate(keep);
    let entries = model.transcript.entries().iter().enumerate().skip(from);
    let thinking = entries.filter(|(_, entry)| matches!(entry.body, Body::Thinking { .. }));
    model.thoughts.extend(thinking.map(|(index, _)| index));
}

/// Which calls ran though nobody was asked: their arguments stand in the chat.
fn note_unasked(model: &mut Model, event: &TurnEvent) {
    let TurnEvent::Tool(call) = event else { return };
    match call.state {
        ToolState::AwaitingApproval => {
            model.asked.insert(call.id);
        }
        ToolState::Running { .. }
            if model.engine.mode == ToolMode::Auto && !model.asked.contains(&call.id) =>
        {
            model.unasked.insert(call.id);
        }
        _ => {}
    }
}

fn stream_ended(clock: &mut Clock, now: Duration) {
    let first = clock.first_text.take();
    clock.streamed += first.map_or(Duration::ZERO, |first| now - first);
}

fn keep_time(model: &mut Model, id: TurnId, event: &TurnEvent, was_running: Option<TurnId>) {
    let now = model.now;
    let clock = &mut model.clock;
    clock.heard = now;
    if let Some(times) = clock
        .thinking
        .and_then(|piece| clock.thoughts.get_mut(&piece))
    {
        times.1 = now;
    }
    match event {
        TurnEvent::Started { .. } if was_running != Some(id) => {
            clock.turn_started = now;
            clock.round_started = now;
            clock.first_text = None;
            clock.streamed = Duration::ZERO;
            clock.speed = None;
            clock.calls.clear();
        }
        TurnEvent::RoundStarted { .. }
        | TurnEvent::Waiting {
            wait: Wait::Response,
        } => clock.round_started = now,
        TurnEvent::Retrying {
            after,
            attempt,
            attempts_max,
            ..
        } => {
            clock.retry = Retry {
                at: now + *after,
                attempt: *attempt,
                attempts_max: *attempts_max,
            };
        }
        TurnEvent::Tool(call) if matches!(call.state, ToolState::Running { .. }) => {
            clock.calls.entry(call.id).or_insert(now);
        }
        // Only the model's own time counts: not a tool's, not the person's.
        TurnEvent::RoundEnded { .. } => stream_ended(clock, now),
        TurnEvent::Ended { end, usage } => {
            stream_ended(clock, now);
            clock.ended = Some(now);
            let seconds = clock.streamed.as_secs_f64();
            let answered = matches!(end, TurnEnd::Answered { .. }) && seconds > 0.2;
            let tokens = usage.output.filter(|_| answered);
            clock.speed = tokens.map(|tokens| (tokens as f64 / seconds, now - clock.turn_started));
        }
        TurnEvent::Delta { .. } => {
            clock.first_text.get_or_insert(now);
        }
        _ => {}
    }
    let newest = model
        .thoughts
        .last()
        .map(|index| &model.transcript.entries()[*index].body);
    model.clock.thinking = match newest {
        Some(Body::Thinking {
            piece, open: true, ..
        }) => {
            model.clock.thoughts.entry(*piece).or_insert((now, now));
            Some(*piece)
        }
        _ => None,
    };
}

/// The first line of a first prompt.
pub(super) fn title_of(prompt: &str) -> &str {
    let first = prompt.lines().find(|line| !line.trim().is_empty());
    first.unwrap_or_default().trim()
}

fn ended(model: &mut Model, end: &TurnEnd, effects: &mut Vec<Effect>) {
    let answered = matches!(end, TurnEnd::Answered { .. });
    let replaces = model.replacing.is_some();
    if let Some((prompt, done)) = &mut model.last_turn {
        *done = answered;
        // The title that the session's file will have.
        if answered && model.title.is_empty() {
            title_of(prompt).clone_into(&mut model.title);
        }
        let prompt = prompt.clone();
        model.cut = match end {
            TurnEnd::Answered { cut, .. } => *cut,
            // The answer that was cut is still the last one.
            _ => model.cut && (replaces || prompt == CONTINUE),
        };
        branches::replaced(model, &prompt, answered);
    }
    model.interrupting = false;
    demo_tour::ended(model, end);
    let stopped = matches!(
        end,
        TurnEnd::Cancelled | TurnEnd::Refused | TurnEnd::Stopped | TurnEnd::Failed { .. }
    );
    model.queue.paused |= stopped && !model.queue.prompts.is_empty();
    let took = model.now.saturating_sub(model.clock.turn_started);
    if !model.focused && took >= LONG_TURN {
        effects.push(Effect::CallBack("humble: the turn has ended"));
    }
    composer::send_queued(model, effects);
}
