//! The rows of an entry: spacing from its neighbors, head and foot rows, and the text in
//! between.

use crate::domain::tool::ToolState;
use crate::domain::{Advice, Attachment, EntryBody, Notice, PromptKind, StopMark, TranscriptEntry};
use crate::front_end::advice;
use crate::front_end::call_text::{argument_lines, unfolded_call_text};
use crate::tui::attachments::describe::attachment_lines;
use crate::tui::chat::agent_line::agent_line;
use crate::tui::chat::entry_layout::LayoutKey;
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::long_prompt::{self, FoldedPrompt, TextFold};
use std::borrow::Cow;
use std::sync::Arc;

/// Indentation of prompts, notices, lines of agents, the text of calls and unfolded thinking.
pub const INDENT: u16 = 2;
/// Maximum number of entries searched backwards for the previous answer.
const MODEL_LOOK_BACK: usize = 20;

/// How an entry is spaced from its neighbors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryShape {
    Hidden,
    /// One foldable line. Adjacent ones of the same round have no gap between them.
    FoldedLine,
    Block,
}

#[cfg(test)]
thread_local! {
    /// Counts the calls of `entry_shape`, for the test that bounds their number.
    static SHAPE_QUERIES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

pub fn entry_shape(entry: &TranscriptEntry, input: &LayoutInput) -> EntryShape {
    #[cfg(test)]
    SHAPE_QUERIES.set(SHAPE_QUERIES.get() + 1);
    let is_blank = |text: &str| text.chars().all(char::is_whitespace);
    match &entry.body {
        EntryBody::Tool(_) => EntryShape::FoldedLine,
        EntryBody::Thinking { text, .. } if is_blank(text) => EntryShape::Hidden,
        EntryBody::Thinking { .. } if input.is_thinking_pane() => EntryShape::Block,
        EntryBody::Thinking { .. } if input.has_thinking_pane => EntryShape::Hidden,
        EntryBody::Thinking { .. } if !input.is_expanded_thinking(entry) => EntryShape::FoldedLine,
        EntryBody::Text { text, mark, .. } if is_blank(text) && *mark == StopMark::None => {
            EntryShape::Hidden
        }
        _ => EntryShape::Block,
    }
}

/// Whether an entry is a single line that can be unfolded, or a long prompt.
pub fn is_foldable(input: &LayoutInput, index: usize) -> bool {
    input.entry(index).is_some_and(|entry| {
        entry_shape(entry, input) == EntryShape::FoldedLine || is_long_prompt(entry)
    })
}

/// Whether an entry is a prompt of which the chat shows only the beginning until it is unfolded.
pub fn is_long_prompt(entry: &TranscriptEntry) -> bool {
    prompt_text(entry).is_some_and(long_prompt::is_long)
}

/// The number of head rows and the number of foot rows.
pub fn head_and_foot_rows(
    entry: &TranscriptEntry,
    input: &LayoutInput,
    is_unfolded: bool,
    names_model: bool,
) -> (usize, usize) {
    match &entry.body {
        EntryBody::Prompt { .. } => (0, usize::from(entry.other_branches > 0)),
        EntryBody::Text { mark, .. } => (
            usize::from(names_model),
            usize::from(*mark != StopMark::None),
        ),
        EntryBody::Thinking { is_open, .. }
            if input.is_thinking_pane() || input.is_expanded_thinking(entry) =>
        {
            (1, usize::from(!is_open))
        }
        // The fold line and the header of the unfolded text.
        EntryBody::Thinking { .. } if is_unfolded => (2, 1),
        EntryBody::Thinking { .. } => (1, 0),
        EntryBody::Tool(call) => match &call.state {
            ToolState::Running { progress: Some(_) } => (2, 0),
            _ => (1, 0),
        },
        EntryBody::Note(_) | EntryBody::Agent(_) => (0, 0),
    }
}

/// The columns to the left of an entry's text.
pub fn indent(entry: &TranscriptEntry, input: &LayoutInput) -> u16 {
    match &entry.body {
        EntryBody::Text { .. } => 0,
        EntryBody::Thinking { .. }
            if input.is_thinking_pane() || input.is_expanded_thinking(entry) =>
        {
            0
        }
        _ => INDENT,
    }
}

/// The raw text between the head and foot rows of an entry.
pub struct BodyText<'a> {
    pub raw: Cow<'a, str>,
    /// Indentation in columns.
    pub indent: u16,
    /// Where a long prompt is folded.
    pub fold: Option<TextFold>,
}

/// The text of an entry as it is laid out; `None` if only its head is shown.
pub fn body_text<'a>(
    entry: &'a TranscriptEntry,
    input: &LayoutInput,
    key: &LayoutKey,
) -> Option<BodyText<'a>> {
    let is_unfolded = key.is_unfolded;
    let mut fold = None;
    let raw: Cow<str> = match &entry.body {
        EntryBody::Prompt { attachments, .. } => match folded_prompt(entry, key) {
            Some(prompt) => {
                fold = Some(prompt.fold);
                let shown = format!("{}\n{}", prompt.shown, prompt.label());
                with_files(shown.into(), attachments)
            }
            None => unfolded_text(entry),
        },
        EntryBody::Text { text, .. } => text.into(),
        EntryBody::Thinking { text, .. }
            if is_unfolded || input.is_thinking_pane() || input.is_expanded_thinking(entry) =>
        {
            text.into()
        }
        EntryBody::Tool(call) if is_unfolded => unfolded_call_text(call).into(),
        EntryBody::Tool(call) if input.auto_approved.contains(&call.id) => {
            let columns = input.width.saturating_sub(INDENT).max(1);
            argument_lines(call, columns.into()).into()
        }
        EntryBody::Thinking { .. } | EntryBody::Tool(_) => return None,
        EntryBody::Note(_) => unfolded_text(entry),
        EntryBody::Agent(result) => agent_line(result, key.is_last_agent_line).into(),
    };
    let indent = indent(entry, input);
    Some(BodyText { raw, indent, fold })
}

/// The two parts of a long prompt that is not unfolded.
pub fn folded_prompt(entry: &TranscriptEntry, key: &LayoutKey) -> Option<FoldedPrompt> {
    let text = prompt_text(entry)?;
    let columns = key.width.saturating_sub(INDENT).max(1);
    let is_folded = !key.is_unfolded && long_prompt::is_long(text);
    is_folded.then(|| FoldedPrompt::new(text, columns))
}

/// A text with a line for each attached file below it.
fn with_files<'a>(text: Cow<'a, str>, attachments: &[Arc<Attachment>]) -> Cow<'a, str> {
    match attachments.is_empty() {
        true => text,
        false => format!("{text}\n{}", attachment_lines(attachments)).into(),
    }
}

/// Whether the entry at `index` reports the work of a note agent in the last turn. Looks at most at
/// the entries up to the next prompt.
pub fn is_last_agent_line(input: &LayoutInput, index: usize) -> bool {
    let is_prompt = |entry: &TranscriptEntry| matches!(entry.body, EntryBody::Prompt { .. });
    let is_agent_line = |entry: &TranscriptEntry| matches!(entry.body, EntryBody::Agent(_));
    let mut later = (index + 1..input.count()).filter_map(|index| input.entry(index));
    input.entry(index).is_some_and(is_agent_line) && !later.any(is_prompt)
}

/// The raw text of a prompt with its files, of a notice or of an agent's line without `/undo`; empty
/// for other entries.
pub fn unfolded_text(entry: &TranscriptEntry) -> Cow<'_, str> {
    match &entry.body {
        EntryBody::Prompt { attachments, .. } => {
            with_files(prompt_text(entry).unwrap_or_default().into(), attachments)
        }
        EntryBody::Note(notice) => notice_text(notice).into(),
        EntryBody::Agent(result) => agent_line(result, false).into(),
        _ => "".into(),
    }
}

/// Whether the answer at `index` shows the name of its model, because the previous answer came
/// from a different model.
pub fn names_model(input: &LayoutInput, index: usize) -> bool {
    let model_at = |index: usize| match &input.entry(index)?.body {
        EntryBody::Text { model, .. } => Some(model),
        _ => None,
    };
    let Some(model) = model_at(index).filter(|model| !model.trim().is_empty()) else {
        return false;
    };
    let earlier = (index.saturating_sub(MODEL_LOOK_BACK)..index).rev();
    let previous = earlier.filter_map(model_at).next();
    previous.is_some_and(|previous| previous != model)
}

/// Blank rows above an entry: none above the first entry, between the folded lines of a round, or
/// above a notice about the text before it; otherwise one.
pub fn gap_rows_before(input: &LayoutInput, index: usize) -> usize {
    let Some(entry) = input.entry(index) else {
        return 0;
    };
    let before = last_visible_before(input, index)
        .and_then(|index| input.entry(index))
        .map(|entry| (entry_shape(entry, input), entry));
    // Thinking after a call begins another round of the turn.
    let is_tool = |entry: &TranscriptEntry| matches!(entry.body, EntryBody::Tool(_));
    let is_folded = entry_shape(entry, input) == EntryShape::FoldedLine;
    match before {
        None => 0,
        Some((EntryShape::FoldedLine, before))
            if is_folded && (is_tool(entry) || !is_tool(before)) =>
        {
            0
        }
        Some((_, before)) => usize::from(!is_notice_about(entry, before)),
    }
}

/// Index of the last visible entry before `end`. There may be thousands of consecutive hidden
/// entries, so `hidden_run` caches the last run that was searched.
fn last_visible_before(input: &LayoutInput, end: usize) -> Option<usize> {
    let (run_start, run_end) = input.hidden_run.get();
    // All entries from `start` to `end` are hidden.
    let mut start = end;
    loop {
        if (run_start..=run_end).contains(&start) {
            start = run_start;
        }
        let index = start.checked_sub(1);
        let entry = index.and_then(|index| input.entry(index));
        if entry.is_none_or(|entry| entry_shape(entry, input) != EntryShape::Hidden) {
            // Keep the stored run if it covers this one.
            if start != run_start || end > run_end {
                input.hidden_run.set((start, end));
            }
            return index;
        }
        start -= 1;
    }
}

/// Whether `entry` is a notice that follows a text of the same turn. It is shown without a gap.
fn is_notice_about(entry: &TranscriptEntry, before: &TranscriptEntry) -> bool {
    matches!(
        (&entry.body, &before.body),
        (EntryBody::Note(_), EntryBody::Text { .. })
    ) && entry.turn == before.turn
}

/// The text of a prompt, or the command for a prompt that `humble` generated; `None` for other
/// entries.
pub fn prompt_text(entry: &TranscriptEntry) -> Option<&str> {
    let EntryBody::Prompt { kind, text, .. } = &entry.body else {
        return None;
    };
    Some(match kind {
        PromptKind::Ask | PromptKind::Replace | PromptKind::Retry => text,
        PromptKind::Continue => "/continue",
        PromptKind::Compact => "/compact",
    })
}

fn notice_text(notice: &Notice) -> String {
    let mut first = notice.what.clone();
    let mut advice = notice.advice.as_slice();
    // The advice to choose a model goes on the first line.
    if let ([select @ Advice::SelectModel, more @ ..], None) = (advice, &notice.why) {
        first.extend([
            " ",
            &advice::advice_line(std::slice::from_ref(select)).unwrap_or_default(),
        ]);
        advice = more;
    }
    let rest = [notice.why.clone(), advice::advice_line(advice)];
    let rest: Vec<_> = rest.into_iter().flatten().collect();
    if rest.is_empty() {
        first
    } else {
        format!("{first}\n{}", rest.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{CallId, PieceId, TurnId};
    use crate::text::markdown::MarkdownGlyphs;
    use crate::tui::chat::viewport::Viewport;
    use std::cell::Cell;
    use std::collections::HashSet;

    fn thinking(text: &str) -> EntryBody {
        EntryBody::Thinking {
            piece: PieceId(1),
            text: text.to_owned(),
            is_open: false,
        }
    }

    fn text(text: &str) -> EntryBody {
        EntryBody::Text {
            piece: PieceId(2),
            round: 1,
            model: String::new(),
            text: text.to_owned(),
            mark: StopMark::None,
        }
    }

    fn entries(bodies: impl IntoIterator<Item = EntryBody>) -> Vec<TranscriptEntry> {
        let entry = |body| TranscriptEntry {
            turn: TurnId(1),
            revision: 1,
            append_only_since: 0,
            other_branches: 0,
            body,
        };
        bodies.into_iter().map(entry).collect()
    }

    fn input<'a>(
        entries: &'a [TranscriptEntry],
        auto_approved: &'a HashSet<CallId>,
    ) -> LayoutInput<'a> {
        LayoutInput {
            entries,
            visible_indices: None,
            width: 40,
            has_thinking_pane: true,
            auto_approved,
            tail_rows: 0,
            shows_raw_text: false,
            open_entry: None,
            expanded_thinking: None,
            markdown_glyphs: MarkdownGlyphs::new(false, true),
            hidden_run: Cell::default(),
        }
    }

    #[test]
    fn drawing_visits_each_hidden_entry_a_bounded_number_of_times() {
        let pairs = (0..1_000).flat_map(|_| [thinking("a"), text(" ")]);
        let entries = entries([text("first")].into_iter().chain(pairs));
        let auto_approved = HashSet::new();
        let mut viewport = Viewport::default();
        let frame = |viewport: &mut Viewport| {
            let input = input(&entries, &auto_approved);
            SHAPE_QUERIES.set(0);
            let top = viewport.top_position(&input, 20);
            viewport.visible_rows(&input, top, 20);
            viewport.rows_below(&input, top, 20);
            SHAPE_QUERIES.get()
        };
        frame(&mut viewport);
        let query_count = frame(&mut viewport);
        assert!(
            query_count < 16 * entries.len(),
            "{query_count} entries visited"
        );
    }

    #[test]
    fn the_gap_before_an_entry_depends_on_the_previous_visible_entry() {
        let bodies = [
            text(" "),
            text("a"),
            thinking("b"),
            text(""),
            text("c"),
            thinking("d"),
            text("e"),
        ];
        let entries = entries(bodies);
        let auto_approved = HashSet::new();
        let expected = [0, 0, 1, 1, 1, 1, 1];
        // The result must not depend on the order of the queries.
        let upwards: Vec<usize> = (0..7).rev().collect();
        for order in [(0..7).collect(), upwards, vec![4, 6, 2, 1, 3, 0, 5, 3]] {
            let input = input(&entries, &auto_approved);
            for index in order {
                assert_eq!(gap_rows_before(&input, index), expected[index], "{index}");
            }
        }
    }
}
