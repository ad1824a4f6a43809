//! The list of branches: what tells them apart, and when they were answered.

use crate::domain::{EntryBody, Notice};
use crate::front_end::conversation_state::BranchRequest;
use crate::protocol::{BranchSummary, bounded_line};
use crate::text::grapheme::{truncate_to_width, width};
use crate::text::markdown::{MarkdownGlyphs, MarkdownView};
use crate::tui::chat::entry_rows::prompt_text;
use crate::tui::keymap::Action;
use crate::tui::layer::PickedItem;
use crate::tui::ui_model::UiModel;
use crate::tui::widgets::picker::{Picker, PickerRow};
use jiff::tz::TimeZone;

/// Limits of the width of a branch's prompt and answer in the list.
const PREVIEW_COLUMNS_MIN: usize = 20;
const PREVIEW_COLUMNS_MAX: usize = 48;
/// Wider than any first line of an answer.
const LINE_COLUMNS: u16 = 1_000;
/// Columns for the margin, the mark, the number and the gaps.
const OTHER_COLUMNS: usize = 12;
/// Maximum width of the prompt beside an answer.
const PROMPT_COLUMNS_MAX: usize = 20;
/// Maximum width of a model's name.
const MODEL_COLUMNS_MAX: usize = 16;

/// Picks the branch that the user named, or opens the list.
pub fn show(model: &mut UiModel, branches: Vec<BranchSummary>) {
    let Some(wanted) = model.conversation.requested_branch.take() else {
        return;
    };
    let is_of_message = wanted == BranchRequest::OfMessage;
    if branches.is_empty() {
        let notice = match is_of_message {
            true => {
                let edit = model
                    .keymap
                    .hint(Action::EditMessage, "edits it into a new one.");
                Notice::info("This message has no other branches.")
                    .with_advice(edit.unwrap_or_default())
            }
            false => Notice::info("There are no other branches.")
                .with_advice("/retry, /edit and /undo keep the answered turn that they replace."),
        };
        return model.notify(notice);
    }
    let columns = BranchColumns::new(model, &branches, is_of_message);
    let screen_columns = usize::from(model.screen.size.0);
    let rows = branches.into_iter().map(|branch| {
        let note = columns.note(&branch);
        // The selected row must have room for its note too.
        let room = screen_columns.saturating_sub(width(&note) + OTHER_COLUMNS);
        let room = room.clamp(PREVIEW_COLUMNS_MIN, PREVIEW_COLUMNS_MAX);
        let name = shortened(&columns.name(&branch), room);
        PickerRow::new(PickedItem::Branch(branch), &name, &note)
    });
    let rows: Vec<PickerRow> = rows.collect();
    let title = match is_of_message {
        true => "Other branches from this message on",
        false => "Branches",
    };
    let picker = Picker::new(title, "Keep the current branch", rows);
    let argument = match wanted {
        BranchRequest::Any(argument) => argument,
        BranchRequest::OfMessage => String::new(),
    };
    model.with_context(|cx| picker.pick_or_open(&argument, cx));
}

/// What the rows show besides the answers.
struct BranchColumns {
    /// Counts messages rather than turns.
    counts_messages: bool,
    shows_prompts: bool,
    /// Width of the column of models, 0 without one.
    model_columns: usize,
    dot: &'static str,
    glyphs: MarkdownGlyphs,
}

impl BranchColumns {
    fn new(model: &UiModel, branches: &[BranchSummary], is_of_message: bool) -> Self {
        let selected = is_of_message.then(|| selected_prompt_line(model)).flatten();
        let is_same = |branch: &BranchSummary| {
            selected.is_some_and(|line| bounded_line(line) == branch.first_prompt_line)
        };
        let shows_prompts = !branches.iter().all(is_same);
        let entries = model.chat.transcript.entries().iter().rev();
        let mut models = entries.filter_map(|entry| match &entry.body {
            EntryBody::Text { model, .. } if !model.is_empty() => Some(model.as_str()),
            _ => None,
        });
        let current = models.next().unwrap_or_default();
        let mut models = branches.iter().map(|branch| branch.model.as_str());
        let has_other = models
            .clone()
            .any(|name| !name.is_empty() && name != current);
        let widest = models.by_ref().map(width).max().unwrap_or(0);
        Self {
            counts_messages: is_of_message,
            shows_prompts,
            model_columns: if has_other {
                widest.min(MODEL_COLUMNS_MAX)
            } else {
                0
            },
            dot: model.screen.glyphs.dot,
            glyphs: model.screen.markdown_glyphs(),
        }
    }

    /// The answer, with the prompt before it unless all branches begin with the prompt of the selected
    /// message.
    fn name(&self, branch: &BranchSummary) -> String {
        let prompt = &branch.first_prompt_line;
        let answer = plain_text(&branch.first_answer_line, self.glyphs);
        match (self.shows_prompts, answer.is_empty()) {
            (_, true) => prompt.clone(),
            (true, false) if prompt.is_empty() => answer,
            (false, false) => answer,
            (true, false) => {
                let shown = shortened(prompt, PROMPT_COLUMNS_MAX);
                format!("{shown} {} {answer}", self.dot)
            }
        }
    }

    /// The number of turns or messages, the model if any branch has another one than the chat, and
    /// when the first prompt was answered; in older files, when the user left the branch.
    fn note(&self, branch: &BranchSummary) -> String {
        let (count, word) = match self.counts_messages {
            true => (branch.own_messages, "message"),
            false => (branch.own_messages.div_ceil(2), "turn"),
        };
        let turns = match count {
            1 => format!("1 {word}"),
            count => format!("{count} {word}s"),
        };
        let mut note = format!("{turns:<8}");
        if self.model_columns > 0 {
            let name = truncate_to_width(&branch.model, self.model_columns);
            let blanks = " ".repeat(self.model_columns - width(name));
            note.push_str(&format!("  {name}{blanks}"));
        }
        if let Some(time) = branch.answered_at.or(branch.left_at) {
            let local = time.to_zoned(TimeZone::system());
            note.push_str(&format!("  {}", local.strftime("%d %b %H:%M")));
        }
        note.trim_end().to_owned()
    }
}

/// A line of Markdown without its markup. A line that is only markup stays as it is.
fn plain_text(line: &str, glyphs: MarkdownGlyphs) -> String {
    let view = MarkdownView::new(line, LINE_COLUMNS, glyphs, false);
    let mut rows = (0..view.len()).map(|row| view.row(row).text.trim());
    let has_words = |row: &&str| row.chars().any(char::is_alphanumeric);
    rows.find(has_words).unwrap_or(line).to_owned()
}

/// The beginning of a text, with an ellipsis if it is longer than `columns`.
fn shortened(text: &str, columns: usize) -> String {
    match width(text) <= columns {
        true => text.to_owned(),
        false => format!("{}…", truncate_to_width(text, columns - 1)),
    }
}

/// The first line of the prompt of the selected message.
fn selected_prompt_line(model: &UiModel) -> Option<&str> {
    let transcript = &model.chat.transcript;
    let prompt = transcript.prompt_of(model.chat.viewport.stop?.index)?;
    let text = prompt_text(transcript.entries().get(prompt)?)?;
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    Some(line.trim())
}
