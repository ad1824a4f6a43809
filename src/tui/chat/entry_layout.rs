//! The cached layout of one entry and the inputs that it depends on.

use crate::domain::{EntryBody, TranscriptEntry};
use crate::tui::chat::entry_rows::{
    BodyText, EntryShape, body_text, entry_shape, head_and_foot_rows,
};
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::long_prompt::TextFold;
use crate::tui::chat::rendered_text::RenderedText;

/// Everything that a layout depends on: equal keys mean equal layouts.
#[derive(Debug, Clone, PartialEq)]
pub struct LayoutKey {
    /// Index in the transcript.
    pub entry: usize,
    pub revision: u64,
    pub append_only_since: u64,
    pub width: u16,
    pub has_thinking_pane: bool,
    pub is_unfolded: bool,
    pub gap_rows: usize,
    /// Whether the entry shows the name of its model.
    pub names_model: bool,
    /// Whether this reports the work of a note agent in the last turn.
    pub is_last_agent_line: bool,
    /// Whether the raw text is shown instead of rendered Markdown.
    pub shows_raw_text: bool,
    /// Whether the entry may still grow, or was cancelled in the middle.
    pub is_open: bool,
    /// Whether this is thinking that is shown in full without being unfolded by the user.
    pub is_expanded_thinking: bool,
}

#[derive(Debug, Clone)]
pub struct EntryLayout {
    pub key: LayoutKey,
    pub head_rows: usize,
    /// Whether the text can only grow at its end: an answer or thinking, streaming or complete.
    pub is_append_only: bool,
    pub text: Option<RenderedText>,
    /// Where the text of a long prompt is folded.
    pub fold: Option<TextFold>,
    pub height: usize,
}

impl EntryLayout {
    pub fn memory_bytes(&self) -> usize {
        self.text.as_ref().map_or(0, RenderedText::memory_bytes)
    }

    /// Text size in bytes if [`Self::is_append_only`], else 0.
    pub fn streamed_bytes(&self) -> usize {
        let text = self.text.as_ref().filter(|_| self.is_append_only);
        text.map_or(0, RenderedText::text_bytes)
    }

    /// The row of the label of a folded text, counted from the first row of the text.
    pub fn fold_row(&self) -> Option<usize> {
        let text = self.text.as_ref()?;
        Some(text.row_of_plain_line(self.fold?.label_line))
    }

    pub fn new(
        entry: &TranscriptEntry,
        input: &LayoutInput,
        key: LayoutKey,
        old: Option<Self>,
    ) -> Self {
        let (head, foot) = head_and_foot_rows(entry, input, key.is_unfolded, key.names_model);
        let is_append_only = matches!(
            entry.body,
            EntryBody::Thinking { .. } | EntryBody::Text { .. }
        );
        let body = body_text(entry, input, &key);
        let fold = body.as_ref().and_then(|body| body.fold);
        let text = body.map(|BodyText { raw, indent, .. }| {
            let width = key.width.saturating_sub(indent).max(1);
            let reusable = old.filter(|old| {
                old.is_append_only
                    && is_append_only
                    && old.key.width == key.width
                    && old.key.entry == key.entry
                    && old.key.append_only_since == key.append_only_since
                    && old.key.is_unfolded == key.is_unfolded
                    && old.key.shows_raw_text == key.shows_raw_text
            });
            match reusable.and_then(|old| old.text) {
                Some(mut text) if text.raw_bytes() <= raw.len() && text.width() == width => {
                    text.extend_to(&raw, key.is_open);
                    text
                }
                _ if is_append_only && !key.shows_raw_text => {
                    RenderedText::markdown(&raw, width, input.markdown_glyphs, key.is_open)
                }
                _ => RenderedText::plain(&raw, width),
            }
        });
        let rows = text.as_ref().map_or(0, RenderedText::len);
        let height = match entry_shape(entry, input) {
            EntryShape::Hidden => 0,
            EntryShape::FoldedLine | EntryShape::Block => key.gap_rows + head + rows + foot,
        };
        Self {
            key,
            head_rows: head,
            is_append_only,
            text,
            fold,
            height,
        }
    }
}
