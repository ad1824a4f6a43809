//! Detects finished steps of the tour by observing the model, and renders the tour's line.
//! Never changes the effect of a key.

use crate::domain::{ToolOutcome, ToolState, TurnEnd};
use crate::text::grapheme::width;
use crate::tui::demo_tour::state::{STEP_ASK, STEP_COUNT, STEP_DECIDE, STEP_HELP, STEP_STOP};
use crate::tui::demo_tour::step_text;
use crate::tui::demo_tour::step_text::{has_available_tool, visible_step};
use crate::tui::ui_model::UiModel;

/// Minimum width for `1 of 7` instead of `1/7`.
const LONG_COUNT_COLUMNS_MIN: u16 = 40;

/// Runs after each update of the model: marks finished steps and types the next prompt.
pub fn update_progress(model: &mut UiModel) {
    let Some(mut tour) = model.tour.take() else {
        return;
    };
    if model.conversation.last_prompt.is_some() && !tour.done[STEP_ASK] {
        tour.complete(STEP_ASK);
    }
    if !tour.done[STEP_DECIDE] && has_decided(model) {
        tour.complete(STEP_DECIDE);
    }
    if let Some(step) = visible_step(model).filter(|step| !tour.done[*step]) {
        tour.complete(step);
    }
    let is_idle = model.running_turn().is_none() && model.composer.queue.is_empty();
    if tour.prompt_is_due && is_idle && tour.type_step_prompt(&mut model.composer.editor) {
        model.composer.reset_history_position();
    }
    model.tour = Some(tour);
}

pub fn turn_ended(model: &mut UiModel, end: &TurnEnd) {
    let has_no_tool = !has_available_tool(model);
    let Some(tour) = &mut model.tour else {
        return;
    };
    let prompt = model.conversation.last_prompt_text();
    let was_prompt = |text: &str| prompt == Some(text);
    let is_answered = matches!(end, TurnEnd::Answered { .. });
    tour.has_answer |= is_answered;
    tour.prompt_is_due = true;
    // A story that ran to its end leaves nothing to stop.
    if *end == TurnEnd::Cancelled || is_answered && was_prompt(tour.prompts.story) {
        tour.complete(STEP_STOP);
    }
    // Without an available tool there is nothing to decide.
    if tour.step == STEP_DECIDE && is_answered && has_no_tool {
        tour.complete(STEP_DECIDE);
    }
    if tour.step == STEP_COUNT && is_answered && was_prompt(tour.prompts.setup) {
        tour.prompt_is_due = false;
        tour.prompts.setup = "";
    }
}

/// Whether a call has been decided. One that was interrupted or not run does not count.
fn has_decided(model: &UiModel) -> bool {
    let transcript = &model.chat.transcript;
    model
        .chat
        .tracked_calls()
        .any(|id| match transcript.call(id).map(|call| &call.state) {
            None | Some(ToolState::Proposed | ToolState::AwaitingApproval) => false,
            Some(ToolState::Done(ToolOutcome::Interrupted | ToolOutcome::NotRun { .. })) => false,
            Some(ToolState::Running { .. } | ToolState::Done(_)) => true,
        })
}

/// The tour's line, in the longest form that fits into `columns`; the shortest form may be
/// wider. None outside the tour.
pub fn line(model: &UiModel, columns: u16) -> Option<String> {
    let tour = model.tour.as_ref()?;
    let (step, forms) = step_text::step_and_text(tour, model);
    // Help that is opened early is not progress.
    let is_early_help = step == STEP_HELP && tour.step < STEP_HELP;
    let count = match (step + 1, columns >= LONG_COUNT_COLUMNS_MIN) {
        _ if is_early_help => String::new(),
        (number, true) if number <= STEP_COUNT => format!("{number} of {STEP_COUNT}  "),
        (number, false) if number <= STEP_COUNT => format!("{number}/{STEP_COUNT} "),
        _ => String::new(),
    };
    let text_columns = usize::from(columns).saturating_sub(width(&count));
    let fitting = forms.into_iter().find(|form| width(form) <= text_columns);
    Some(count + fitting.unwrap_or(forms[2]))
}
