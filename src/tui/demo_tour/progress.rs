//! The guide of `humble demo`: one line above the message that teaches the keys in
//! turn. It only watches: whatever the person does instead works as ever, in any
//! order, and counts where it is a step of the guide's.

use crate::domain::{ToolOutcome, ToolState, TurnEnd};
use crate::text::grapheme::width;
use crate::tui::demo_tour::state::{STEP_ASK, STEP_COUNT, STEP_DECIDE, STEP_STOP};
use crate::tui::demo_tour::step_text;
use crate::tui::demo_tour::step_text::{has_available_tool, visible_step};
use crate::tui::ui_model::UiModel;

/// From this width on the step is counted in words.
const WORDS_FROM: u16 = 40;

/// Looks at what the last message made of the model: which steps are done, and what
/// to type ahead.
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

/// The end of a turn that was under way.
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
    // Whoever heard the whole story has nothing left to stop.
    if *end == TurnEnd::Cancelled || answered && is(guide.prompts.story) {
        guide.complete(STEP_STOP);
    }
    // Where no tool is on offer there is nothing to decide.
    if guide.step == STEP_DECIDE && answered && no_tool {
        guide.complete(STEP_DECIDE);
    }
    if guide.step == STEP_COUNT && answered && is(guide.prompts.setup) {
        guide.prompt_is_due = false;
        guide.prompts.setup = "";
    }
}

/// Was a call decided, in whichever way? One that Ctrl+C took away was not.
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

/// The guide's line, in the longest form that is at most `columns` wide; the shortest
/// may be wider. None where nobody is guided.
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
