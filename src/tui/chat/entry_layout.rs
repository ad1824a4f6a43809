//! The cached layout of one entry and the inputs that it depends on.

use crate::domain::{Body, Entry};
use crate::tui::chat::entry_rows::{Shape, frame_of, shape, text_of};
use crate::tui::chat::layout_input::Source;
use crate::tui::chat::rendered_text::Laid;

/// The inputs of a layout: equal keys mean equal layouts.
#[derive(Debug, Clone, PartialEq)]
pub struct Stamp {
    /// Index in the transcript.
    pub entry: usize,
    pub revision: u64,
    pub grows_since: u64,
    pub width: u16,
    pub aside: bool,
    pub unfolded: bool,
    pub gap: usize,
    /// Show the raw text instead of rendered Markdown.
    pub raw: bool,
    /// The entry may still grow.
    pub open: bool,
    /// The thinking is shown unfolded.
    pub lingers: bool,
}

#[derive(Debug, Clone)]
pub struct Slot {
    pub stamp: Stamp,
    pub head: usize,
    /// The text only grows at its end.
    pub streams: bool,
    pub text: Option<Laid>,
    pub height: usize,
}

impl Slot {
    pub fn cost(&self) -> usize {
        self.text.as_ref().map_or(0, Laid::cost)
    }

    /// Text size in bytes if the entry streams, else 0.
    pub fn streamed(&self) -> usize {
        let text = self.text.as_ref().filter(|_| self.streams);
        text.map_or(0, Laid::bytes)
    }

    pub fn new(entry: &Entry, source: &Source, stamp: Stamp, old: Option<Self>) -> Self {
        let (head, foot) = frame_of(entry, source, stamp.unfolded);
        let streams = matches!(entry.body, Body::Thinking { .. } | Body::Text { .. });
        let text = text_of(entry, source, stamp.unfolded).map(|(raw, indent)| {
            let width = stamp.width.saturating_sub(indent).max(1);
            let kept = old.filter(|old| {
                old.streams
                    && streams
                    && old.stamp.width == stamp.width
                    && old.stamp.entry == stamp.entry
                    && old.stamp.grows_since == stamp.grows_since
                    && old.stamp.unfolded == stamp.unfolded
                    && old.stamp.raw == stamp.raw
            });
            match kept.and_then(|old| old.text) {
                Some(mut text) if text.raw_bytes() <= raw.len() && text.width() == width => {
                    text.extend_to(&raw, stamp.open);
                    text
                }
                _ if streams && !stamp.raw => Laid::marked(&raw, width, source.marks, stamp.open),
                _ => Laid::written(&raw, width),
            }
        });
        let rows = text.as_ref().map_or(0, Laid::len);
        let height = match shape(entry, source) {
            Shape::Hidden => 0,
            Shape::Line | Shape::Block => stamp.gap + head + rows + foot,
        };
        Self {
            stamp,
            head,
            streams,
            text,
            height,
        }
    }
}
