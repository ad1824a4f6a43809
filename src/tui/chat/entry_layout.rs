//! The cached layout of one entry and the inputs that it depends on.

use crate::domain::{EntryBody, TranscriptEntry};
use crate::tui::chat::entry_rows::{EntryShape, body_text, entry_shape, head_and_foot_rows};
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::rendered_text::RenderedText;

/// The inputs of a layout: equal keys mean equal layouts.
#[derive(Debug, Clone, PartialEq)]
pub struct LayoutKey {
    /// Index in the transcript.
    pub entry: usize,
    pub revision: u64,
    pub grows_since: u64,
    pub width: u16,
    pub has_thinking_pane: bool,
    pub unfolded: bool,
    pub gap_rows: usize,
    /// The answer comes from another model than the one before.
    pub names_model: bool,
    /// Show the raw text instead of rendered Markdown.
    pub raw: bool,
    /// The entry may still grow, or was cancelled in the middle.
    pub is_open: bool,
    /// The thinking is shown unfolded.
    pub is_expanded_thinking: bool,
}

#[derive(Debug, Clone)]
pub struct EntryLayout {
    pub key: LayoutKey,
    pub head_rows: usize,
    /// The text only grows at its end.
    pub is_streaming: bool,
    pub text: Option<RenderedText>,
    pub height: usize,
}

impl EntryLayout {
    pub fn memory_bytes(&self) -> usize {
        self.text.as_ref().map_or(0, RenderedText::memory_bytes)
    }

    /// Text size in bytes if the entry streams, else 0.
    pub fn streamed_bytes(&self) -> usize {
        let text = self.text.as_ref().filter(|_| self.is_streaming);
        text.map_or(0, RenderedText::text_bytes)
    }

    pub fn new(
        entry: &TranscriptEntry,
        source: &LayoutInput,
        stamp: LayoutKey,
        old: Option<Self>,
    ) -> Self {
        let (head, foot) = head_and_foot_rows(entry, source, stamp.unfolded, stamp.names_model);
        let streams = matches!(
            entry.body,
            EntryBody::Thinking { .. } | EntryBody::Text { .. }
        );
        let text = body_text(entry, source, stamp.unfolded).map(|(raw, indent)| {
            let width = stamp.width.saturating_sub(indent).max(1);
            let kept = old.filter(|old| {
                old.is_streaming
                    && streams
                    && old.key.width == stamp.width
                    && old.key.entry == stamp.entry
                    && old.key.grows_since == stamp.grows_since
                    && old.key.unfolded == stamp.unfolded
                    && old.key.raw == stamp.raw
            });
            match kept.and_then(|old| old.text) {
                Some(mut text) if text.raw_bytes() <= raw.len() && text.width() == width => {
                    text.extend_to(&raw, stamp.is_open);
                    text
                }
                _ if streams && !stamp.raw => {
                    RenderedText::markdown(&raw, width, source.markdown_glyphs, stamp.is_open)
                }
                _ => RenderedText::plain(&raw, width),
            }
        });
        let rows = text.as_ref().map_or(0, RenderedText::len);
        let height = match entry_shape(entry, source) {
            EntryShape::Hidden => 0,
            EntryShape::FoldedLine | EntryShape::Block => stamp.gap_rows + head + rows + foot,
        };
        Self {
            key: stamp,
            head_rows: head,
            is_streaming: streams,
            text,
            height,
        }
    }
}
