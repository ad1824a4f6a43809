//! Detects finished steps of the tour by observing the model, and renders the tour's line.
//! Never changes what a key does.

use crate::domain::{ToolOutcome, ToolState, TurnEnd};
use crate::text::grapheme::width;
use crate::tui::demo_tour::state::{STEP_ASK, STEP_COUNT, STEP_DECIDE, STEP_STOP};
use crate::tui::demo_tour::step_text;
use crate::tui::demo_tour::step_text::{has_available_tool, visible_step};
use crate::tui::ui_model::UiModel;

/// Minimum width for `1 of 7` instead of `1/7`.
const WORDS_FROM: u16 = 40;

/// Runs after each update of the model: marks finished steps and types the next prompt.
pub fn update_progress(model: &mut UiModel) {
    let Some(mut guide) = model.tour.take() else {
        return;
    };
    if model.conversation.last_turn.is_some() && !guide.done[STEP_ASK] {
        guide.complete(STEP_ASK);
    }
    if !guide.done[STEP_DECIDE] && has_decided(model) {
        guide.complete(STEP_DECIDE);
    }
    if let Some(step) = visible_step(model).filter(|step| !guide.done[*step]) {
        guide.complete(step);
    }
    let is_idle = model.running_turn().is_none() && model.composer.queue.prompts.is_empty();
    if guide.prompt_is_due && is_idle && guide.type_ahead(&mut model.composer.editor) {
        model.composer.reset_history_position();
    }
    model.tour = Some(guide);
}

/// Updates the tour when a turn ends.
pub fn turn_ended(model: &mut UiModel, end: &TurnEnd) {
    let no_tool = !has_available_tool(model);
    let Some(guide) = &mut model.tour else {
        return;
    };
    let prompt = model.conversation.last_prompt();
    let is = |wanted: &str| prompt == Some(wanted);
    let answered = matches!(end, TurnEnd::Answered { .. });
    guide.has_answer |= answered;
    guide.prompt_is_due = true;
    // A story that ran to its end leaves nothing to stop.
    if *end == TurnEnd::Cancelled || answered && is(guide.prompts.story) {
        guide.complete(STEP_STOP);
    }
    // Without an available tool there is nothing to decide.
    if guide.step == STEP_DECIDE && answered && no_tool {
        guide.complete(STEP_DECIDE);
    }
    if guide.step == STEP_COUNT && answered && is(guide.prompts.setup) {
        guide.prompt_is_due = false;
        guide.prompts.setup = "";
    }
}

/// Has any call been decided? A call interrupted with Ctrl+C does not count.
fn has_decided(model: &UiModel) -> bool {
    let transcript = &model.chat.transcript;
    model
        .chat
        .tracked_calls()
        .any(|id| match transcript.call(id).map(|call| &call.state) {
            None | Some(ToolState::Proposed | ToolState::AwaitingApproval) => false,
            Some(ToolState::Done(ToolOutcome::Interrupted)) => false,
            Some(ToolState::Running { .. } | ToolState::Done(_)) => true,
        })
}

/// The tour's line, in the longest form that fits into `columns`; the shortest form may be
/// wider. None outside the tour.
pub fn line(model: &UiModel, columns: u16) -> Option<String> {
    let guide = model.tour.as_ref()?;
    let (step, forms) = step_text::step_and_text(guide, model);
    let count = match (step + 1, columns >= WORDS_FROM) {
        (number, true) if number <= STEP_COUNT => format!("{number} of {STEP_COUNT}  "),
        (number, false) if number <= STEP_COUNT => format!("{number}/{STEP_COUNT} "),
        _ => String::new(),
    };
    let room = usize::from(columns).saturating_sub(width(&count));
    let fits = forms.into_iter().find(|form| width(form) <= room);
    Some(count + fits.unwrap_or(forms[2]))
}
