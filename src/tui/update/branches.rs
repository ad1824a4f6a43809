//! Taking the last turn back in its three ways, going over to another branch, and
//! conversations that are not saved. Nothing of it happens while a turn is under way.

use crate::domain::{AnswerPlace, Body, CONTINUE, Notice, Prompt, Wait};
use crate::protocol::{BranchSummary, Command};
use crate::text::grapheme::{truncate, width};
use crate::tui::chat::viewport::Flow;
use crate::tui::keymap::Action;
use crate::tui::layer::Picked;
use crate::tui::model::{Focus, Model, Replacing};
use crate::tui::msg::Effect;
use crate::tui::update::{composer, engine};
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
        Action::Fork => when_idle(model, Command::ForkSession, effects),
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
    if model.transcript.wait() == Some(Wait::Retrying) {
        return effects.push(Effect::Send(Command::RetryNow));
    }
    if is_busy(model) {
        return;
    }
    if model.transcript.last_summary() == Some(false) {
        return composer::compact(model, effects);
    }
    let Some((prompt, _)) = last(model) else {
        return model.notify(Notice::info("Nothing to retry: nothing was asked yet."));
    };
    let prompt = match prompt.as_str() {
        CONTINUE => Prompt::continuing(),
        _ => replacing(model, prompt, "The other answer is kept: /branches."),
    };
    composer::submit(model, prompt, effects);
}

/// The prompt, to be asked in place of the last turn where that has an answer, or was
/// itself an attempt to replace one. `kept` is said once the new answer is there: until
/// then the conversation stays as it is.
fn replacing(model: &mut Model, prompt: String, kept: &'static str) -> Prompt {
    let prompt = Prompt::new(prompt);
    // A continuation that failed belongs to the answer above it.
    let is_there = |(last, answered): (String, bool)| answered || last == CONTINUE;
    let replaces = last(model).is_some_and(is_there) || model.transcript.last_replaces();
    let Some(old) = model.transcript.last_typed().filter(|_| replaces) else {
        return prompt;
    };
    let title = engine::title_of(old).to_owned();
    model.replacing = Some(Replacing { kept, title });
    prompt.at(AnswerPlace::InsteadOfLast)
}

/// The turn that was to replace another one has ended.
pub fn replaced(model: &mut Model, prompt: &str, answered: bool) {
    let Some(replacing) = model.replacing.take().filter(|_| answered) else {
        return;
    };
    model.branched = true;
    model.notify(Notice::info(replacing.kept));
    let first = model.transcript.entries().first().map(|entry| &entry.body);
    let is_first = matches!(first, Some(Body::Prompt { text }) if text == prompt);
    // The conversation was named after the prompt that made room.
    if is_first && model.title == replacing.title {
        engine::title_of(prompt).clone_into(&mut model.title);
    }
}

/// Puts the last prompt into the message. Nothing changes before it is sent.
pub fn edit(model: &mut Model) {
    if is_busy(model) {
        return;
    }
    let Some(prompt) = model.transcript.last_typed() else {
        return model.notify(Notice::info("Nothing to edit: nothing was asked yet."));
    };
    let prompt = prompt.to_owned();
    // Twice in a row, the text of before the first time is what comes back.
    let before = model.editor.text();
    model.editing.get_or_insert(before);
    model.editor.set(&prompt);
    model.focus = Focus::Message;
}

/// Leaves the last prompt as it was. False where none was being changed.
pub fn keeps_as_it_was(model: &mut Model) -> bool {
    let before = model.editing.take();
    if let Some(before) = &before {
        model.editor.set(before);
        model.notify(Notice::info("Everything stays as it was."));
    }
    before.is_some()
}

/// What is sent: a changed prompt takes the place of the one it was made of.
pub fn edited(model: &mut Model, text: String) -> Prompt {
    if model.editing.take().is_none() || model.running().is_some() {
        return Prompt::new(text);
    }
    replacing(model, text, "What was asked before is kept: /branches.")
}

/// Takes the last turn back; its prompt is where Up finds it.
pub fn undo(model: &mut Model, effects: &mut Vec<Effect>) {
    if is_busy(model) {
        return;
    }
    if let Some(came) = model.transcript.last_summary() {
        return undo_summary(model, came, effects);
    }
    let Some((prompt, answered)) = last(model) else {
        return model.notify(nothing_left(model));
    };
    if answered {
        shorten(model);
        model.branched = true;
        effects.push(Effect::Send(Command::Rewind));
        let taken = Notice::info("The last turn is taken back: Up brings its prompt.");
        let taken = match model.transcript.last_prompt() {
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
    if prompt != CONTINUE {
        composer::remember(model, &prompt);
    }
}

fn nothing_left(model: &Model) -> Notice {
    let nothing = Notice::info("Nothing is left to undo.");
    match (model.branched, model.taken_back) {
        (true, _) => nothing.advise("/branches leads back."),
        (false, true) => nothing,
        (false, false) => Notice::info("Nothing to undo: nothing was asked yet."),
    }
}

/// A summary is the last thing that was asked for: it goes, and the turns stay.
fn undo_summary(model: &mut Model, came: bool, effects: &mut Vec<Effect>) {
    model.transcript.take_back_summary();
    lay_out_anew(model);
    let said = if came {
        effects.push(Effect::Send(Command::DropSummary));
        "The summary is taken back: the model is sent what it was before."
    } else {
        "The summary that was not written is off the screen."
    };
    model.notify(Notice::info(said));
}

/// The last prompt, and whether it was answered.
fn last(model: &Model) -> Option<(String, bool)> {
    let (prompt, answered) = model.transcript.last_prompt()?;
    Some((prompt.to_owned(), answered))
}

/// Takes the last turn off the screen.
fn shorten(model: &mut Model) {
    model.transcript.take_back();
    model.taken_back = true;
    lay_out_anew(model);
}

fn lay_out_anew(model: &mut Model) {
    let left = model.transcript.entries().len();
    entries_moved(model);
    model.cut = false;
    model.last_turn = None;
    if left == 0 {
        model.title.clear();
    }
}

/// Entries have other places now: nothing kept by their index holds any more. Rows are
/// made again for what is in view alone.
pub fn entries_moved(model: &mut Model) {
    engine::note_thoughts(model, 0);
    model.round_from = model.transcript.entries().len();
    model.chat = Flow::default();
    model.thinking = Flow::default();
}

/// Asks for the other branches.
pub fn list(model: &mut Model, argument: &str, effects: &mut Vec<Effect>) {
    model.wants_branch = Some(argument.to_owned());
    when_idle(model, Command::ListBranches, effects);
}

pub fn listed(model: &mut Model, list: Vec<BranchSummary>) {
    let Some(wanted) = model.wants_branch.take() else {
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
    truncate(&branch.words, WORDS_MAX)
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
    if model.editor.is_blank() {
        model.editor.set(prompt);
        model.focus = Focus::Message;
        // It was to replace the last turn, and still does.
        if model.transcript.last_replaces() {
            model.editing = Some(String::new());
        }
    } else {
        composer::remember(model, prompt);
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

/// Sends a command that waits for no turn.
pub fn when_idle(model: &mut Model, command: Command, effects: &mut Vec<Effect>) {
    if !is_busy(model) {
        effects.push(Effect::Send(command));
    }
}

/// Is the model taken? Then a notice says by what.
pub(super) fn is_busy(model: &mut Model) -> bool {
    let what = match model.running() {
        Some(_) => "The present turn is still under way.",
        None if model.is_busy() => "The model is being probed.",
        None => return false,
    };
    model.notify(Notice::info(what).advise("Ctrl+C stops it."));
    true
}
