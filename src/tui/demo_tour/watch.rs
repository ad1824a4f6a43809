//! The guide of `humble demo`: one line above the message that teaches the keys in
//! turn. It only watches: whatever the person does instead works as ever, in any
//! order, and counts where it is a step of the guide's.

use crate::domain::{ToolOutcome, ToolState, TurnEnd};
use crate::text::grapheme::width;
use crate::tui::demo_tour::state::{ASK, DECIDE, STEPS, STOP};
use crate::tui::demo_tour::words;
use crate::tui::demo_tour::words::{offers_a_tool, open};
use crate::tui::model::Model;

/// From this width on the step is counted in words.
const WORDS_FROM: u16 = 40;

/// Looks at what the last message made of the model: which steps are done, and what
/// to type ahead.
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

/// The end of a turn that was under way.
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
    // Whoever heard the whole story has nothing left to stop.
    if *end == TurnEnd::Cancelled || answered && is(guide.prompts.story) {
        guide.did(STOP);
    }
    // Where no tool is on offer there is nothing to decide.
    if guide.at == DECIDE && answered && no_tool {
        guide.did(DECIDE);
    }
    if guide.at == STEPS && answered && is(guide.prompts.connect) {
        guide.due = false;
        guide.prompts.connect = "";
    }
}

/// Was a call decided, in whichever way? One that Ctrl+C took away was not.
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

/// The guide's line, in the longest form that is at most `columns` wide; the shortest
/// may be wider. None where nobody is guided.
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
