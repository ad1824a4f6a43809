//! Leaves as rows of a width. Code and settled tables are laid out a line at a
//! time, for good; a paragraph when it ends, and as often as it grows until then,
//! which is why a long one is laid out in parts.

use super::block_event::{BlockEvent, BlockPrefix, LeafKind, PrefixPart};
use super::code::CodeLayout;
use super::inline::{LinkDefinitions, write_inline};
use super::row_buffer::{BreakMode, PrefixId, RowBuffer};
use super::source_map::{self, ParagraphText};
use super::style::{MarkdownGlyphs, StyleRole, TextStyle};
use super::table::{TableLayout, TableOutput, TableRow};
use std::num::NonZeroU16;
use std::ops::Range;

/// Columns in front of code and tables.
pub const INSET: &str = "  ";

/// What stands in front of a leaf's rows; the first is used once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowPrefixes {
    pub next: PrefixId,
    pub rest: PrefixId,
}

impl RowPrefixes {
    pub fn take_next(&mut self) -> PrefixId {
        std::mem::replace(&mut self.next, self.rest)
    }
}

#[derive(Debug, Clone, Default)]
pub enum LeafLayout {
    #[default]
    None,
    Paragraph(ParagraphText),
    Code(CodeLayout),
    Table(TableLayout),
}

/// The leaf that lines go to.
#[derive(Debug, Clone)]
pub struct OpenLeaf {
    pub layout: LeafLayout,
    pub prefixes: RowPrefixes,
    /// Where it begins in the source.
    source_start: usize,
}

impl Default for OpenLeaf {
    fn default() -> Self {
        Self {
            layout: LeafLayout::None,
            prefixes: RowPrefixes { next: 0, rest: 0 },
            source_start: 0,
        }
    }
}

#[derive(Debug, Clone)]
pub struct MarkdownLayout {
    pub rows: RowBuffer,
    pub glyphs: MarkdownGlyphs,
    pub links: LinkDefinitions,
    width: NonZeroU16,
    /// A definition came that earlier text waited for.
    pub needs_relayout: bool,
    /// The line that is taken in may go on.
    pub is_line_partial: bool,
}

impl MarkdownLayout {
    pub fn new(width: NonZeroU16, marks: MarkdownGlyphs) -> Self {
        let mut row_buffer = RowBuffer::default();
        // The empty prefix has the number 0.
        row_buffer.intern_prefix("");
        Self {
            rows: row_buffer,
            glyphs: marks,
            links: LinkDefinitions::default(),
            width,
            needs_relayout: false,
            is_line_partial: false,
        }
    }

    pub fn width(&self) -> NonZeroU16 {
        self.width
    }

    /// Starts anew; definitions stay.
    pub fn clear(&mut self) {
        let mut links = std::mem::take(&mut self.links);
        links.clear_unresolved();
        *self = Self::new(self.width, self.glyphs);
        self.links = links;
    }

    /// Does what the scanner says. `ending`: nothing follows for now, and what is
    /// begun may be completed.
    pub fn apply(&mut self, leaf: &mut OpenLeaf, source: &str, op: BlockEvent, ending: bool) {
        match op {
            BlockEvent::OpenLeaf {
                at,
                kind,
                prefix,
                blank_row_prefix: gap,
            } => {
                self.close(leaf, source, false);
                leaf.source_start = at;
                self.open(leaf, source, kind, &prefix, gap);
            }
            BlockEvent::Line(range) => self.line(leaf, source, range),
            BlockEvent::ContinueLine(range) => self.continue_line(leaf, source, range),
            BlockEvent::ChangeKind(LeafKind::Table(aligns)) => {
                self.become_table(leaf, source, aligns)
            }
            BlockEvent::ChangeKind(kind) => {
                if let LeafLayout::Paragraph(words) = &mut leaf.layout {
                    words.kind = kind;
                }
            }
            BlockEvent::CloseLeaf => self.close(leaf, source, ending),
        }
    }

    fn open(
        &mut self,
        leaf: &mut OpenLeaf,
        source: &str,
        kind: LeafKind,
        prefix: &BlockPrefix,
        gap: Option<Vec<PrefixPart>>,
    ) {
        let at = self.rows.end();
        if let Some(parts) = gap {
            let words = self.prefix_text(&parts);
            let id = self.rows.intern_prefix(words.trim_end());
            self.rows.push_row(at, id, leaf.source_start);
        }
        leaf.prefixes = self.prefixes(prefix, "");
        leaf.layout = match kind {
            LeafKind::Paragraph | LeafKind::Heading(_) | LeafKind::EmptyItem => {
                LeafLayout::Paragraph(ParagraphText::new(kind))
            }
            LeafKind::Code { info } => {
                leaf.prefixes = self.prefixes(prefix, INSET);
                LeafLayout::Code(self.open_code(leaf, source, info))
            }
            LeafKind::Rule => {
                let columns = self.content_width(leaf.prefixes);
                let rule = self.glyphs.rule.to_string().repeat(columns.get().into());
                self.rows
                    .push_text(&rule, TextStyle::from_role(StyleRole::Dim));
                let id = leaf.prefixes.take_next();
                self.rows.push_row(at, id, leaf.source_start);
                LeafLayout::None
            }
            LeafKind::Table(_) => LeafLayout::None,
        };
    }

    /// The columns behind a prefix.
    pub fn content_width(&self, prefixes: RowPrefixes) -> NonZeroU16 {
        let used = self.rows.prefix(prefixes.rest).chars().count();
        let left = usize::from(self.width.get()).saturating_sub(used);
        let left = u16::try_from(left).unwrap_or(u16::MAX);
        NonZeroU16::new(left).unwrap_or(NonZeroU16::MIN)
    }

    fn prefixes(&mut self, prefix: &BlockPrefix, inset: &str) -> RowPrefixes {
        let [next, rest] = [&prefix.first, &prefix.rest].map(|parts| {
            let words = self.prefix_text(parts) + inset;
            self.rows.intern_prefix(self.limit_prefix(&words))
        });
        RowPrefixes { next, rest }
    }

    /// Text keeps at least half of the width: what stands before it loses its
    /// beginning. Each of its characters takes one column.
    fn limit_prefix<'a>(&self, words: &'a str) -> &'a str {
        let most = usize::from(self.width.get() / 2);
        let drop = words.chars().count().saturating_sub(most);
        let at = words.char_indices().nth(drop);
        at.map_or("", |(at, _)| &words[at..])
    }

    fn prefix_text(&self, parts: &[PrefixPart]) -> String {
        let mut words = String::new();
        for part in parts {
            match *part {
                PrefixPart::Quote => words.extend([self.glyphs.quote, ' ']),
                PrefixPart::Bullet => words.extend([self.glyphs.bullet, ' ']),
                PrefixPart::Number(number, sign) => {
                    words.push_str(&format!("{number}{} ", char::from(sign)));
                }
                PrefixPart::Task(done) => words.push_str(if done { "[x] " } else { "[ ] " }),
                PrefixPart::Space(columns) => words.push_str(&" ".repeat(columns)),
            }
        }
        words
    }

    fn line(&mut self, leaf: &mut OpenLeaf, source: &str, range: Range<usize>) {
        match &mut leaf.layout {
            LeafLayout::None => self.push_stray_line(leaf, source, range),
            LeafLayout::Paragraph(words) => {
                if words.is_full() {
                    self.lay_out_paragraph(leaf, source, false);
                }
                if let LeafLayout::Paragraph(words) = &mut leaf.layout {
                    words.push_line(range);
                }
            }
            LeafLayout::Code(_) => self.code_line(leaf, source, range, false),
            LeafLayout::Table(table) => {
                let columns = table.columns();
                let row = self.parse_table_row(source, range, columns);
                self.push_table_row(leaf, row);
            }
        }
    }

    /// A line of a leaf that has no text shows all the same: nothing is lost.
    fn push_stray_line(&mut self, leaf: &mut OpenLeaf, source: &str, range: Range<usize>) {
        if !source[range.clone()].trim().is_empty() {
            let mut words = ParagraphText::new(LeafKind::Paragraph);
            words.push_line(range);
            leaf.layout = LeafLayout::Paragraph(words);
        }
    }

    fn continue_line(&mut self, leaf: &mut OpenLeaf, source: &str, range: Range<usize>) {
        match &mut leaf.layout {
            LeafLayout::Paragraph(_) => {
                self.lay_out_paragraph(leaf, source, true);
                if let LeafLayout::Paragraph(words) = &mut leaf.layout {
                    words.push_line(range);
                }
            }
            LeafLayout::Code(_) => self.code_line(leaf, source, range, true),
            _ => self.line(leaf, source, range),
        }
    }

    fn parse_table_row(&mut self, source: &str, range: Range<usize>, columns: usize) -> TableRow {
        let at = range.start;
        let (marks, links) = (&self.glyphs, &mut self.links);
        TableRow::new(
            &source[range],
            at,
            columns,
            self.is_line_partial,
            marks,
            links,
        )
    }

    fn become_table(
        &mut self,
        leaf: &mut OpenLeaf,
        source: &str,
        aligns: Vec<super::line_syntax::ColumnAlign>,
    ) {
        let LeafLayout::Paragraph(words) = &mut leaf.layout else {
            return;
        };
        let Some(header) = words.pop_line() else {
            return;
        };
        if !words.is_empty() {
            self.lay_out_paragraph(leaf, source, false);
            let at = self.rows.end();
            self.rows.push_row(at, leaf.prefixes.rest, header.start);
        }
        let header = self.parse_table_row(source, header, aligns.len());
        leaf.layout = LeafLayout::Table(TableLayout::new(aligns, header));
        let [next, rest] = [leaf.prefixes.next, leaf.prefixes.rest].map(|id| {
            let words = self.rows.prefix(id).to_owned() + INSET;
            self.rows.intern_prefix(self.limit_prefix(&words))
        });
        leaf.prefixes = RowPrefixes { next, rest };
    }

    fn push_table_row(&mut self, leaf: &mut OpenLeaf, row: TableRow) {
        let room = self.content_width(leaf.prefixes);
        let LeafLayout::Table(table) = &mut leaf.layout else {
            return;
        };
        let mut sheet = TableOutput {
            rows: &mut self.rows,
            glyphs: &self.glyphs,
            width: room.get().into(),
            prefixes: &mut leaf.prefixes,
        };
        table.push(row, self.is_line_partial, &mut sheet);
    }

    fn close(&mut self, leaf: &mut OpenLeaf, source: &str, ending: bool) {
        let room = self.content_width(leaf.prefixes);
        match std::mem::take(&mut leaf.layout) {
            LeafLayout::None => return,
            LeafLayout::Paragraph(words) => {
                leaf.layout = LeafLayout::Paragraph(words);
                self.close_paragraph(leaf, source, ending);
            }
            LeafLayout::Code(mut code) => self.end_code_line(&mut code, leaf),
            LeafLayout::Table(mut table) => table.finish(&mut TableOutput {
                rows: &mut self.rows,
                glyphs: &self.glyphs,
                width: room.get().into(),
                prefixes: &mut leaf.prefixes,
            }),
        }
        leaf.layout = LeafLayout::None;
        // An item with nothing to show still shows its marker.
        if leaf.prefixes.next != leaf.prefixes.rest {
            let at = self.rows.end();
            let id = leaf.prefixes.take_next();
            self.rows.push_row(at, id, leaf.source_start);
        }
    }

    fn close_paragraph(&mut self, leaf: &mut OpenLeaf, source: &str, ending: bool) {
        if let LeafLayout::Paragraph(words) = &leaf.layout
            && ending
            && words.looks_like_table(source)
        {
            let line = words.first_line();
            let columns = super::line_syntax::table_cells(&source[line]).count();
            self.become_table(leaf, source, vec![Default::default(); columns]);
            return self.close(leaf, source, ending);
        }
        if let LeafLayout::Paragraph(words) = &mut leaf.layout {
            words.is_streaming = ending;
        }
        self.lay_out_paragraph(leaf, source, false);
    }

    /// Lays out what a paragraph holds. With `hold` its last row waits for more.
    fn lay_out_paragraph(&mut self, leaf: &mut OpenLeaf, source: &str, hold: bool) {
        let room = self.content_width(leaf.prefixes);
        let LeafLayout::Paragraph(words) = &mut leaf.layout else {
            return;
        };
        let text = words.join(source);
        let start = self.rows.end();
        let mut ink = source_map::RowBufferSink::new(&mut self.rows);
        let look = words.base_style();
        let definitions = write_inline(&text.text, look, &self.glyphs, &mut self.links, &mut ink);
        let places = ink.finish();
        // While it comes in, nobody knows where a target ends.
        for definition in definitions.into_iter().filter(|_| !words.is_streaming) {
            self.needs_relayout |= self.links.define(definition);
        }
        if !hold {
            self.rows.trim_end(start);
        } else if text.text.ends_with(' ') {
            self.rows.push_text(" ", look);
        }
        let held = words.pending_row.take();
        if held.is_none() && self.rows.end() == start {
            words.clear();
            return;
        }
        let prefixes = &mut leaf.prefixes;
        let from = held.map_or(start, |(at, _)| at);
        let origin = held.map(|(_, source)| source);
        let row = self.rows.wrap(
            from,
            (room, BreakMode::Prose),
            hold,
            || prefixes.take_next(),
            |at| match origin {
                Some(origin) if at < start => origin,
                _ => text.source_byte(places.source_byte(at)),
            },
        );
        words.clear();
        if hold {
            let source = match origin {
                Some(origin) if row < start => origin,
                _ => text.source_byte(places.source_byte(row)),
            };
            words.pending_row = Some((row, source));
        }
    }
}
