//! The row that marks a turn which the user stopped: whether the model sees it, and the keys for it.

use crate::domain::{CANCELLED_NOTE, EntryBody, StopMark, TranscriptEntry};
use crate::text::grapheme::width;
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::row_context::RowContext;

const STOPPED_MARK: &str = "(stopped)";

/// The text of the row below a stopped or cancelled answer.
pub fn text(context: &RowContext, input: &LayoutInput, index: usize, columns: u16) -> String {
    let is_stopped = |entry: &&TranscriptEntry| match &entry.body {
        EntryBody::Text { mark, .. } => *mark == StopMark::Stopped,
        _ => false,
    };
    if let Some(entry) = input.entry(index).filter(is_stopped) {
        return stopped_text(context, is_last(input, entry), columns);
    }
    match explanation(context, input, index, columns) {
        Some(explanation) => format!("{CANCELLED_NOTE} {explanation}"),
        None => CANCELLED_NOTE.to_owned(),
    }
}

/// The row below an answer that the user stopped, which is part of the conversation.
fn stopped_text(context: &RowContext, is_last: bool, columns: u16) -> String {
    let clause = |key: Option<&str>, effect: &str| {
        let key = key.filter(|_| is_last);
        key.map(|key| format!("{key} {effect}"))
    };
    let goes_on = clause(context.continue_key, "continues");
    let drops = clause(context.drop_key, "in the chat drops it");
    let both = sentence(goes_on.iter().chain(&drops));
    let goes_on = sentence(goes_on.iter());
    let forms = [
        format!("{STOPPED_MARK} The model sees it up to here.{both}"),
        format!("{STOPPED_MARK} Seen by the model.{both}"),
        format!("{STOPPED_MARK} The model sees it up to here.{goes_on}"),
        format!("{STOPPED_MARK} The model sees it up to here."),
        STOPPED_MARK.to_owned(),
    ];
    let mut forms = forms.into_iter();
    let fitting = forms.find(|form| width(form) <= usize::from(columns));
    fitting.unwrap_or_default()
}

/// What follows `(cancelled)` in its row, as far as it fits. `None` for a stopped continuation or
/// summary: what it would have continued or summarized is still sent.
pub fn explanation(
    context: &RowContext,
    input: &LayoutInput,
    index: usize,
    columns: u16,
) -> Option<String> {
    let entry = input.entry(index).filter(|entry| is_cancelled(entry))?;
    let turn = entry.turn;
    let mut earlier = (0..=index).rev().map_while(|index| input.entry(index));
    let prompt = earlier.find(|entry| matches!(entry.body, EntryBody::Prompt { .. }))?;
    let is_question = match &prompt.body {
        EntryBody::Prompt { kind, .. } => kind.is_typed() && prompt.turn == turn,
        _ => false,
    };
    if !is_question {
        return None;
    }
    let again = context.ask_again_key.filter(|_| is_last(input, entry));
    let again = sentence(again.map(|key| format!("{key} asks again")).iter());
    let room = usize::from(columns).saturating_sub(width(CANCELLED_NOTE) + 1);
    let forms = [
        format!("The model does not see this turn.{again}"),
        format!("Not seen by the model.{again}"),
        "Not seen by the model.".to_owned(),
    ];
    forms.into_iter().find(|form| width(form) <= room)
}

fn is_last(input: &LayoutInput, entry: &TranscriptEntry) -> bool {
    let last = input.entries.last();
    last.is_some_and(|last| last.turn == entry.turn)
}

/// Joins clauses to a sentence after a space. Empty if there are none.
fn sentence<'a>(clauses: impl Iterator<Item = &'a String>) -> String {
    let clauses: Vec<&str> = clauses.map(String::as_str).collect();
    match clauses.is_empty() {
        true => String::new(),
        false => format!(" {}.", clauses.join(", ")),
    }
}

fn is_cancelled(entry: &TranscriptEntry) -> bool {
    match &entry.body {
        EntryBody::Text { mark, .. } => *mark == StopMark::Cancelled,
        EntryBody::Note(notice) => notice.what == CANCELLED_NOTE,
        _ => false,
    }
}
