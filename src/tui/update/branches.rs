//! Taking the last turn back in its three ways, going over to another branch, and
//! conversations that are not saved. Nothing of it happens while a turn is under way.

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

/// Columns of a branch's first words in the list.
const WORDS_MAX: usize = 48;

/// The actions on the conversation as a whole. False for any other.
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

/// Asks the last prompt again. An answer that it has becomes another branch.
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
        return model.notify(Notice::info("Nothing to retry: nothing was asked yet."));
    };
    let text = last.text.to_owned();
    let prompt = match last.kind {
        PromptKind::Continue => Prompt::continuing(),
        _ => replacing(model, text, "The other answer is kept: /branches."),
    };
    submit::submit(model, prompt, effects);
}

/// The prompt, to be asked in place of the last turn where that has an answer, or was
/// itself an attempt to replace one. `kept` is said once the new answer is there: until
/// then the conversation stays as it is.
fn replacing(model: &mut Model, prompt: String, kept: &'static str) -> Prompt {
    let prompt = Prompt::new(prompt);
    // A continuation that failed belongs to the answer above it.
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

/// Puts the last prompt into the message. Nothing changes before it is sent.
pub fn edit(model: &mut Model) {
    if submit::is_busy(model) {
        return;
    }
    let Some(prompt) = model.chat.transcript.last_typed() else {
        return model.notify(Notice::info("Nothing to edit: nothing was asked yet."));
    };
    let prompt = prompt.to_owned();
    model.composer.edit_last(&prompt);
    model.panes.focus = Focus::Message;
}

/// Leaves the last prompt as it was. False where none was being changed.
pub fn keeps_as_it_was(model: &mut Model) -> bool {
    let was_edited = model.composer.stop_editing();
    if was_edited {
        model.notify(Notice::info("Everything stays as it was."));
    }
    was_edited
}

/// What is sent: a changed prompt takes the place of the one it was made of.
pub fn edited(model: &mut Model, text: String) -> Prompt {
    if !model.composer.send_edited() || model.running().is_some() {
        return Prompt::new(text);
    }
    replacing(model, text, "What was asked before is kept: /branches.")
}

/// Takes the last turn back; its prompt is where Up finds it.
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
        let taken = Notice::info("The last turn is taken back: Up brings its prompt.");
        let taken = match model.chat.transcript.last_prompt() {
            Some(_) => taken,
            None => taken.because("Its file keeps it until another answer comes."),
        };
        model.notify(taken.advise("/branches leads back to it."));
    } else {
        shorten(model);
        effects.push(Effect::Send(Command::DropCancelled(prompt.clone())));
        model.notify(Notice::info(
            "The last turn is taken back: Up brings its prompt.",
        ));
    }
    if prompt.kind.is_typed() {
        submit::remember(model, prompt.typed());
    }
}

fn nothing_left(model: &Model) -> Notice {
    let nothing = Notice::info("Nothing is left to undo.");
    match (model.conversation.branched, model.conversation.taken_back) {
        (true, _) => nothing.advise("/branches leads back."),
        (false, true) => nothing,
        (false, false) => Notice::info("Nothing to undo: nothing was asked yet."),
    }
}

/// A summary is the last thing that was asked for: it goes, and the turns stay.
fn undo_summary(model: &mut Model, came: bool, effects: &mut Vec<Effect>) {
    model.chat.transcript.take_back_summary();
    lay_out_anew(model);
    let said = if came {
        effects.push(Effect::Send(Command::DropSummary));
        "The summary is taken back: the model is sent what it was before."
    } else {
        "The summary that was not written is off the screen."
    };
    model.notify(Notice::info(said));
}

/// Takes the last turn off the screen.
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

/// Asks for the other branches.
pub fn list(model: &mut Model, argument: &str, effects: &mut Vec<Effect>) {
    model.conversation.wants_branch = Some(argument.to_owned());
    submit::when_idle(model, Command::ListBranches, effects);
}

pub fn listed(model: &mut Model, list: Vec<BranchSummary>) {
    let Some(wanted) = model.conversation.wants_branch.take() else {
        return;
    };
    if list.is_empty() {
        let notice = Notice::info("There is no other branch.");
        return model.notify(notice.advise("/retry, /edit and /undo make one."));
    }
    let words = list.iter().map(|branch| width(words_of(branch)));
    let columns = words.max().unwrap_or(0);
    let rows = list.into_iter().map(|branch| {
        let label = label(&branch, columns);
        (Picked::Branch(branch), label)
    });
    let picker = Picker::new("Branches", "Stay in this one", rows);
    model.cx(|cx| picker.open(&wanted, cx));
}

fn words_of(branch: &BranchSummary) -> &str {
    truncate_to_width(&branch.words, WORDS_MAX)
}

/// `columns` is the width of the longest words, which the counts stand behind.
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

/// A prompt of an earlier run, for the message; what stands there is not lost.
pub fn offered(model: &mut Model, prompt: &str) {
    if model.composer.editor.is_blank() {
        model.composer.editor.set(prompt);
        model.panes.focus = Focus::Message;
        // It was to replace the last turn, and still does.
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
        _ => return model.notify(Notice::warning("Please enter /private or /private off.")),
    };
    effects.push(Effect::Send(Command::SetPrivate(private)));
}
