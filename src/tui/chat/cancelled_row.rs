//! What the row `(cancelled)` says about the turn: it stays on the screen, but no request contains it.

use crate::domain::{CANCELLED_NOTE, EntryBody, TranscriptEntry};
use crate::text::grapheme::width;
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::row_context::RowContext;

/// Below a stopped answer that the user made part of the conversation.
const KEPT_ROWS: [&str; 2] = ["(stopped) The model sees it up to here.", "(stopped)"];

/// The text of the row below a cancelled answer.
pub fn text(context: &RowContext, input: &LayoutInput, index: usize, columns: u16) -> String {
    if is_kept(input, index) {
        let mut rows = KEPT_ROWS.into_iter();
        let fitting = rows.find(|row| width(row) <= usize::from(columns));
        return fitting.unwrap_or_default().to_owned();
    }
    match explanation(context, input, index, columns) {
        Some(explanation) => format!("{CANCELLED_NOTE} {explanation}"),
        None => CANCELLED_NOTE.to_owned(),
    }
}

/// What follows `(cancelled)` in its row, as far as it fits. `None` for a stopped continuation or
/// summary: what it would have continued or summarized is still sent.
pub fn explanation(
    context: &RowContext,
    input: &LayoutInput,
    index: usize,
    columns: u16,
) -> Option<String> {
    let entry = input.entry(index).filter(|entry| is_marked(entry))?;
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
    let is_last = input.entries.last().is_some_and(|last| last.turn == turn);
    let again = context.ask_again_key.filter(|_| is_last);
    let again = again.map(|key| format!("{key} asks again"));
    let has_text = match &entry.body {
        EntryBody::Text { text, .. } => !text.trim().is_empty(),
        _ => false,
    };
    let keep = context.edit_key.filter(|_| has_text);
    let keep = keep.map(|key| format!("{key} in the chat keeps it"));
    let both = sentence(again.iter().chain(&keep));
    let again = sentence(again.iter());
    let room = usize::from(columns).saturating_sub(width(CANCELLED_NOTE) + 1);
    let forms = [
        format!("The model does not see this turn.{both}"),
        format!("Unseen by the model.{both}"),
        format!("The model does not see this turn.{again}"),
        format!("Not seen by the model.{again}"),
        "Not seen by the model.".to_owned(),
    ];
    forms.into_iter().find(|form| width(form) <= room)
}

/// Whether the answer at `index` is part of the saved conversation, whose prompts and answers have
/// turns of their own.
fn is_kept(input: &LayoutInput, index: usize) -> bool {
    let mut earlier = (0..=index).rev().map_while(|index| input.entry(index));
    let prompt = earlier.find(|entry| matches!(entry.body, EntryBody::Prompt { .. }));
    let answer = input.entry(index);
    prompt
        .zip(answer)
        .is_some_and(|(prompt, answer)| prompt.turn != answer.turn)
}

/// Joins clauses to a sentence after a space. Empty if there are none.
fn sentence<'a>(clauses: impl Iterator<Item = &'a String>) -> String {
    let clauses: Vec<&str> = clauses.map(String::as_str).collect();
    match clauses.is_empty() {
        true => String::new(),
        false => format!(" {}.", clauses.join(", ")),
    }
}

fn is_marked(entry: &TranscriptEntry) -> bool {
    match &entry.body {
        EntryBody::Text { is_cancelled, .. } => *is_cancelled,
        EntryBody::Note(notice) => notice.what == CANCELLED_NOTE,
        _ => false,
    }
}
