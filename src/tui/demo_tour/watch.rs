//! Detects finished steps of the tour by observing the model, and renders the tour's line.
//! Never changes what a key does.

use crate::domain::{ToolOutcome, ToolState, TurnEnd};
use crate::text::grapheme::width;
use crate::tui::demo_tour::state::{ASK, DECIDE, STEPS, STOP};
use crate::tui::demo_tour::words;
use crate::tui::demo_tour::words::{offers_a_tool, open};
use crate::tui::model::Model;

/// Minimum width for `1 of 7` instead of `1/7`.
const WORDS_FROM: u16 = 40;

/// Runs after each update of the model: marks finished steps and types the next prompt.
pub fn follow(model: &mut Model) {
    let Some(mut guide) = model.guide.take() else {
        return;
    };
    if model.conversation.last_turn.is_some() && !guide.done[ASK] {
        guide.did(ASK);
    }
    if !guide.done[DECIDE] && has_decided(model) {
        guide.did(DECIDE);
    }
    if let Some(step) = open(model).filter(|step| !guide.done[*step]) {
        guide.did(step);
    }
    let is_idle = model.running().is_none() && model.composer.queue.prompts.is_empty();
    if guide.due && is_idle && guide.type_ahead(&mut model.composer.editor) {
        model.composer.leave_history();
    }
    model.guide = Some(guide);
}

/// Updates the tour when a turn ends.
pub fn ended(model: &mut Model, end: &TurnEnd) {
    let no_tool = !offers_a_tool(model);
    let Some(guide) = &mut model.guide else {
        return;
    };
    let prompt = model.conversation.last_prompt();
    let is = |wanted: &str| prompt == Some(wanted);
    let answered = matches!(end, TurnEnd::Answered { .. });
    guide.answered |= answered;
    guide.due = true;
    // A story that ran to its end leaves nothing to stop.
    if *end == TurnEnd::Cancelled || answered && is(guide.prompts.story) {
        guide.did(STOP);
    }
    // Without an available tool there is nothing to decide.
    if guide.at == DECIDE && answered && no_tool {
        guide.did(DECIDE);
    }
    if guide.at == STEPS && answered && is(guide.prompts.connect) {
        guide.due = false;
        guide.prompts.connect = "";
    }
}

/// Has any call been decided? A call interrupted with Ctrl+C does not count.
fn has_decided(model: &Model) -> bool {
    let transcript = &model.chat.transcript;
    model
        .chat
        .known_calls()
        .any(|id| match transcript.call(id).map(|call| &call.state) {
            None | Some(ToolState::Proposed | ToolState::AwaitingApproval) => false,
            Some(ToolState::Done(ToolOutcome::Interrupted)) => false,
            Some(ToolState::Running { .. } | ToolState::Done(_)) => true,
        })
}

/// The tour's line, in the longest form that fits into `columns`; the shortest form may be
/// wider. None outside the tour.
pub fn line(model: &Model, columns: u16) -> Option<String> {
    let guide = model.guide.as_ref()?;
    let (step, forms) = words::scene(guide, model);
    let count = match (step + 1, columns >= WORDS_FROM) {
        (number, true) if number <= STEPS => format!("{number} of {STEPS}  "),
        (number, false) if number <= STEPS => format!("{number}/{STEPS} "),
        _ => String::new(),
    };
    let room = usize::from(columns).saturating_sub(width(&count));
    let fits = forms.into_iter().find(|form| width(form) <= room);
    Some(count + fits.unwrap_or(forms[2]))
}
