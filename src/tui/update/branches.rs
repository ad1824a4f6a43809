//! Undo, retry and edit of the last turn, switching branches, and private conversations.
//! None of them runs during a turn.

use crate::domain::{LastPrompt, Notice, Prompt, PromptKind, Wait};
use crate::protocol::{BranchSummary, Command};
use crate::text::grapheme::{truncate_to_width, width};
use crate::tui::conversation::{Replacing, title_of};
use crate::tui::keymap::Action;
use crate::tui::layer::Picked;
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::panes::Focus;
use crate::tui::update::submit;
use crate::tui::widgets::picker::Picker;
use jiff::tz::TimeZone;

/// Maximum width of a branch's preview in the list.
const WORDS_MAX: usize = 48;

/// Runs an action on the whole conversation. Returns false for any other action.
pub fn run(model: &mut Model, action: Action, argument: &str, effects: &mut Vec<Effect>) -> bool {
    match action {
        Action::Retry => retry(model, effects),
        Action::EditLast => edit(model),
        Action::Undo => undo(model, effects),
        Action::Branches => list(model, argument, effects),
        Action::Fork => submit::when_idle(model, Command::ForkSession, effects),
        Action::Rename => {
            effects.push(Effect::Send(Command::RenameSession(argument.to_owned())));
        }
        Action::Private => private(model, argument, effects),
        Action::Back => return keeps_as_it_was(model),
        _ => return false,
    }
    true
}

/// Retries the last prompt. An existing answer becomes another branch.
pub fn retry(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.chat.transcript.wait() == Some(Wait::Retrying) {
        return effects.push(Effect::Send(Command::RetryNow));
    }
    if submit::is_busy(model) {
        return;
    }
    if model.chat.transcript.last_summary() == Some(false) {
        return submit::compact(model, effects);
    }
    let Some(last) = model.chat.transcript.last_prompt() else {
        return model.notify(Notice::info("Nothing to retry yet."));
    };
    let text = last.text.to_owned();
    let prompt = match last.kind {
        PromptKind::Continue => Prompt::continuing(),
        _ => replacing(model, text, "Earlier version kept in /branches."),
    };
    submit::submit(model, prompt, effects);
}

/// Makes `prompt` replace the last turn if that turn was answered or was itself a
/// replacement. The conversation stays unchanged until the new answer arrives; only then is
/// the given notice shown.
fn replacing(model: &mut Model, prompt: String, kept: &'static str) -> Prompt {
    let prompt = Prompt::new(prompt);
    // A failed continuation belongs to the answer above it.
    let is_there = |last: LastPrompt| last.is_answered || last.kind == PromptKind::Continue;
    let transcript = &model.chat.transcript;
    let replaces = transcript.last_prompt().is_some_and(is_there) || transcript.last_replaces();
    let Some(old) = model.chat.transcript.last_typed().filter(|_| replaces) else {
        return prompt;
    };
    let title = title_of(old).to_owned();
    model.conversation.replacing = Some(Replacing { kept, title });
    prompt.of_kind(PromptKind::Replace)
}

/// Loads the last prompt into the message. Nothing changes until it is sent.
pub fn edit(model: &mut Model) {
    if submit::is_busy(model) {
        return;
    }
    let Some(prompt) = model.chat.transcript.last_typed() else {
        return model.notify(Notice::info("Nothing to edit yet."));
    };
    let prompt = prompt.to_owned();
    model.composer.edit_last(&prompt);
    model.panes.focus = Focus::Message;
}

/// Cancels editing the last prompt. Returns false if it was not being edited.
pub fn keeps_as_it_was(model: &mut Model) -> bool {
    let was_edited = model.composer.stop_editing();
    if was_edited {
        model.notify(Notice::info("Edit discarded."));
    }
    was_edited
}

/// The prompt to send: an edited prompt replaces the original.
pub fn edited(model: &mut Model, text: String) -> Prompt {
    if !model.composer.send_edited() || model.running().is_some() {
        return Prompt::new(text);
    }
    replacing(model, text, "Earlier version kept in /branches.")
}

/// Undoes the last turn; its prompt goes to the history.
pub fn undo(model: &mut Model, effects: &mut Vec<Effect>) {
    if submit::is_busy(model) {
        return;
    }
    if let Some(came) = model.chat.transcript.last_summary() {
        return undo_summary(model, came, effects);
    }
    let Some(last) = model.chat.transcript.last_prompt() else {
        return model.notify(nothing_left(model));
    };
    let prompt = Prompt::new(last.text).of_kind(last.kind);
    if last.is_answered {
        shorten(model);
        model.conversation.branched = true;
        effects.push(Effect::Send(Command::Rewind));
        let undone = Notice::info("Undone. Up restores the prompt.");
        let undone = match model.chat.transcript.last_prompt() {
            Some(_) => undone,
            None => undone.because("The session file keeps the turn until the next answer."),
        };
        model.notify(undone.advise("/branches restores the whole turn."));
    } else {
        shorten(model);
        effects.push(Effect::Send(Command::DropCancelled(prompt.clone())));
        model.notify(Notice::info("Undone. Up restores the prompt."));
    }
    if prompt.kind.is_typed() {
        submit::remember(model, prompt.typed());
    }
}

fn nothing_left(model: &Model) -> Notice {
    let nothing = Notice::info("Nothing left to undo.");
    match (model.conversation.branched, model.conversation.taken_back) {
        (true, _) => nothing.advise("/branches restores undone turns."),
        (false, true) => nothing,
        (false, false) => Notice::info("Nothing to undo yet."),
    }
}

/// Removes the summary, which was the last request; the turns stay.
fn undo_summary(model: &mut Model, came: bool, effects: &mut Vec<Effect>) {
    model.chat.transcript.take_back_summary();
    lay_out_anew(model);
    if came {
        effects.push(Effect::Send(Command::DropSummary));
        model.notify(Notice::info(
            "Summary removed. The model gets the earlier messages again.",
        ));
    }
}

/// Removes the last turn from the screen.
fn shorten(model: &mut Model) {
    model.chat.transcript.take_back();
    model.conversation.taken_back = true;
    lay_out_anew(model);
}

fn lay_out_anew(model: &mut Model) {
    let left = model.chat.transcript.entries().len();
    model.chat.entries_moved();
    model.conversation.cut = false;
    model.conversation.last_turn = None;
    if left == 0 {
        model.conversation.title.clear();
    }
}

/// Requests the list of branches.
pub fn list(model: &mut Model, argument: &str, effects: &mut Vec<Effect>) {
    model.conversation.wants_branch = Some(argument.to_owned());
    submit::when_idle(model, Command::ListBranches, effects);
}

pub fn listed(model: &mut Model, list: Vec<BranchSummary>) {
    let Some(wanted) = model.conversation.wants_branch.take() else {
        return;
    };
    if list.is_empty() {
        let notice = Notice::info("There are no other versions yet.");
        return model.notify(notice.advise("/retry, /edit and /undo create them."));
    }
    let words = list.iter().map(|branch| width(words_of(branch)));
    let columns = words.max().unwrap_or(0);
    let rows = list.into_iter().map(|branch| {
        let label = label(&branch, columns);
        (Picked::Branch(branch), label)
    });
    let picker = Picker::new("Branches", "Keep the current version", rows);
    model.cx(|cx| picker.open(&wanted, cx));
}

fn words_of(branch: &BranchSummary) -> &str {
    truncate_to_width(&branch.words, WORDS_MAX)
}

/// `columns` is the width of the longest preview, so that the counts align.
fn label(branch: &BranchSummary, columns: usize) -> String {
    let words = words_of(branch);
    let gap = " ".repeat(columns.saturating_sub(width(words)));
    let turns = match branch.messages.div_ceil(2) {
        1 => "1 turn".to_owned(),
        turns => format!("{turns} turns"),
    };
    let left = branch.left_at.map_or_else(String::new, |at| {
        let local = at.to_zoned(TimeZone::system());
        format!("  {}", local.strftime("%d %b %H:%M"))
    });
    format!("{words}{gap}  {turns:<8}{left}")
        .trim_end()
        .to_owned()
}

/// Offers a prompt from an earlier run without overwriting the message.
pub fn offered(model: &mut Model, prompt: &str) {
    if model.composer.editor.is_blank() {
        model.composer.editor.set(prompt);
        model.panes.focus = Focus::Message;
        // It was meant to replace the last turn and still is.
        if model.chat.transcript.last_replaces() {
            model.composer.edit_offered();
        }
    } else {
        submit::remember(model, prompt);
    }
}

pub fn private(model: &mut Model, argument: &str, effects: &mut Vec<Effect>) {
    let private = match argument {
        "" | "on" => true,
        "off" => false,
        _ => return model.notify(Notice::warning("Usage: /private [off]")),
    };
    effects.push(Effect::Send(Command::SetPrivate(private)));
}
