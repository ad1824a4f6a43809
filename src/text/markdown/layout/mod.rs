//! Lays out leaf blocks as rows. Each line of code, and each row of a table with settled columns,
//! is laid out once. A paragraph is laid out again whenever it grows, so a long one is split into
//! parts.

mod prefixes;

use super::block::BlockKind;
use super::block_event::{BlockEvent, BlockPrefix, LeafKind, PrefixPart};
use super::code::CodeLayout;
use super::inline::{LinkDefinitions, write_inline};
use super::row_buffer::{BreakMode, PrefixId, RowBuffer, RowStart};
use super::source_map::{self, ParagraphText};
use super::style::{MarkdownGlyphs, StyleRole, TextStyle};
use super::table::{TableLayout, TableOutput, TableRow};
use std::num::NonZeroU16;
use std::ops::Range;

/// Indentation of code and tables.
pub const INSET: &str = "  ";

/// The prefixes of a leaf's remaining rows: of the next row, and of those after it.
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

/// The open leaf, which receives lines.
#[derive(Debug, Clone)]
pub struct OpenLeaf {
    pub layout: LeafLayout,
    pub prefixes: RowPrefixes,
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
    pub row_buffer: RowBuffer,
    pub glyphs: MarkdownGlyphs,
    pub links: LinkDefinitions,
    width: NonZeroU16,
    /// A link was defined that earlier text refers to.
    pub needs_relayout: bool,
    /// The current line may continue.
    pub is_line_partial: bool,
}

impl MarkdownLayout {
    pub fn new(width: NonZeroU16, glyphs: MarkdownGlyphs) -> Self {
        let mut row_buffer = RowBuffer::default();
        // Prefix 0 is empty.
        row_buffer.intern_prefix("");
        Self {
            row_buffer,
            glyphs,
            links: LinkDefinitions::default(),
            width,
            needs_relayout: false,
            is_line_partial: false,
        }
    }

    pub fn width(&self) -> NonZeroU16 {
        self.width
    }

    /// Clears the rows but keeps the link definitions.
    pub fn clear(&mut self) {
        let mut links = std::mem::take(&mut self.links);
        links.clear_unresolved();
        *self = Self::new(self.width, self.glyphs);
        self.links = links;
    }

    /// Applies an event of the scanner. With `is_streaming`, the text ends here only for now, so
    /// unfinished syntax is shown as if complete.
    pub fn apply(
        &mut self,
        leaf: &mut OpenLeaf,
        source: &str,
        event: BlockEvent,
        is_streaming: bool,
    ) {
        match event {
            BlockEvent::OpenLeaf {
                source_start,
                kind,
                prefix,
                blank_row_prefix,
            } => {
                self.close_leaf(leaf, source, false);
                leaf.source_start = source_start;
                self.open_leaf(leaf, source, kind, &prefix, blank_row_prefix);
            }
            BlockEvent::Line(range) => self.push_line(leaf, source, range),
            BlockEvent::ContinueLine(range) => self.continue_line(leaf, source, range),
            BlockEvent::ChangeKind(LeafKind::Table(aligns)) => {
                self.become_table(leaf, source, aligns)
            }
            BlockEvent::ChangeKind(kind) => {
                if let LeafLayout::Paragraph(paragraph) = &mut leaf.layout {
                    paragraph.kind = kind;
                }
            }
            BlockEvent::CloseLeaf => self.close_leaf(leaf, source, is_streaming),
        }
    }

    fn open_leaf(
        &mut self,
        leaf: &mut OpenLeaf,
        source: &str,
        kind: LeafKind,
        prefix: &BlockPrefix,
        blank_row_prefix: Option<Vec<PrefixPart>>,
    ) {
        let start = self.row_buffer.end();
        if let Some(parts) = blank_row_prefix {
            let text = self.prefix_text(&parts);
            let id = self.row_buffer.intern_prefix(text.trim_end());
            self.row_buffer.push_row(start, id, leaf.source_start);
        }
        leaf.prefixes = self.intern_prefixes(prefix, "");
        leaf.layout = match kind {
            LeafKind::Paragraph | LeafKind::Heading(_) | LeafKind::EmptyItem => {
                LeafLayout::Paragraph(ParagraphText::new(kind))
            }
            LeafKind::Code { info } => {
                let bar = self.code_bar();
                leaf.prefixes = self.intern_prefixes(prefix, &bar);
                if !source[info.clone()].trim().is_empty() {
                    // The name of the language is above the bar.
                    leaf.prefixes.next = self.intern_prefixes(prefix, INSET).next;
                }
                self.row_buffer.open_block(BlockKind::Code);
                let code = self.open_code(leaf, source, info);
                self.row_buffer.end_block_label();
                LeafLayout::Code(code)
            }
            LeafKind::Rule => {
                let columns = self.prose_width(leaf.prefixes);
                let rule = self.glyphs.rule.to_string().repeat(columns.get().into());
                self.row_buffer
                    .push_text(&rule, TextStyle::from_role(StyleRole::Dim));
                let id = leaf.prefixes.take_next();
                self.row_buffer.push_row(start, id, leaf.source_start);
                LeafLayout::None
            }
            LeafKind::Table(_) => LeafLayout::None,
        };
    }

    fn push_line(&mut self, leaf: &mut OpenLeaf, source: &str, range: Range<usize>) {
        match &mut leaf.layout {
            LeafLayout::None => self.push_stray_line(leaf, source, range),
            LeafLayout::Paragraph(paragraph) => {
                if paragraph.is_full() {
                    self.lay_out_paragraph(leaf, source, false);
                }
                if let LeafLayout::Paragraph(paragraph) = &mut leaf.layout {
                    paragraph.push_line(range);
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

    /// A text line in a leaf without text is shown as a paragraph, so nothing is lost.
    fn push_stray_line(&mut self, leaf: &mut OpenLeaf, source: &str, range: Range<usize>) {
        if !source[range.clone()].trim().is_empty() {
            let mut paragraph = ParagraphText::new(LeafKind::Paragraph);
            paragraph.push_line(range);
            leaf.layout = LeafLayout::Paragraph(paragraph);
        }
    }

    fn continue_line(&mut self, leaf: &mut OpenLeaf, source: &str, range: Range<usize>) {
        match &mut leaf.layout {
            LeafLayout::Paragraph(_) => {
                self.lay_out_paragraph(leaf, source, true);
                if let LeafLayout::Paragraph(paragraph) = &mut leaf.layout {
                    paragraph.push_line(range);
                }
            }
            LeafLayout::Code(_) => self.code_line(leaf, source, range, true),
            _ => self.push_line(leaf, source, range),
        }
    }

    fn parse_table_row(&mut self, source: &str, range: Range<usize>, columns: usize) -> TableRow {
        let start = range.start;
        let (glyphs, links) = (&self.glyphs, &mut self.links);
        TableRow::new(
            &source[range],
            start,
            columns,
            self.is_line_partial,
            glyphs,
            links,
        )
    }

    fn become_table(
        &mut self,
        leaf: &mut OpenLeaf,
        source: &str,
        aligns: Vec<super::line_syntax::ColumnAlign>,
    ) {
        let LeafLayout::Paragraph(paragraph) = &mut leaf.layout else {
            return;
        };
        let Some(header) = paragraph.pop_line() else {
            return;
        };
        if !paragraph.is_empty() {
            self.lay_out_paragraph(leaf, source, false);
            let start = self.row_buffer.end();
            self.row_buffer
                .push_row(start, leaf.prefixes.rest, header.start);
        }
        let header = self.parse_table_row(source, header, aligns.len());
        leaf.layout = LeafLayout::Table(TableLayout::new(aligns, header));
        self.row_buffer.open_block(BlockKind::Table);
        let [next, rest] = [leaf.prefixes.next, leaf.prefixes.rest].map(|id| {
            let text = self.row_buffer.prefix(id).to_owned() + INSET;
            self.row_buffer.intern_prefix(self.limit_prefix(&text))
        });
        leaf.prefixes = RowPrefixes { next, rest };
    }

    fn push_table_row(&mut self, leaf: &mut OpenLeaf, row: TableRow) {
        let width = self.content_width(leaf.prefixes);
        let LeafLayout::Table(table) = &mut leaf.layout else {
            return;
        };
        let mut output = TableOutput {
            row_buffer: &mut self.row_buffer,
            glyphs: &self.glyphs,
            width: width.get().into(),
            prefixes: &mut leaf.prefixes,
        };
        table.push(row, self.is_line_partial, &mut output);
    }

    fn close_leaf(&mut self, leaf: &mut OpenLeaf, source: &str, is_streaming: bool) {
        let width = self.content_width(leaf.prefixes);
        match std::mem::take(&mut leaf.layout) {
            LeafLayout::None => return,
            LeafLayout::Paragraph(paragraph) => {
                leaf.layout = LeafLayout::Paragraph(paragraph);
                self.close_paragraph(leaf, source, is_streaming);
            }
            LeafLayout::Code(mut code) => {
                self.end_code_line(&mut code, leaf);
                self.row_buffer.close_block();
            }
            LeafLayout::Table(mut table) => {
                table.finish(&mut TableOutput {
                    row_buffer: &mut self.row_buffer,
                    glyphs: &self.glyphs,
                    width: width.get().into(),
                    prefixes: &mut leaf.prefixes,
                });
                self.row_buffer.close_block();
            }
        }
        leaf.layout = LeafLayout::None;
        // An item without content still shows its marker.
        if leaf.prefixes.next != leaf.prefixes.rest {
            let start = self.row_buffer.end();
            let id = leaf.prefixes.take_next();
            self.row_buffer.push_row(start, id, leaf.source_start);
        }
    }

    fn close_paragraph(&mut self, leaf: &mut OpenLeaf, source: &str, is_streaming: bool) {
        if let LeafLayout::Paragraph(paragraph) = &leaf.layout
            && is_streaming
            && paragraph.looks_like_table(source)
        {
            let line = paragraph.first_line();
            let columns = super::line_syntax::table_cells(&source[line]).count();
            self.become_table(leaf, source, vec![Default::default(); columns]);
            return self.close_leaf(leaf, source, is_streaming);
        }
        if let LeafLayout::Paragraph(paragraph) = &mut leaf.layout {
            paragraph.is_streaming = is_streaming;
        }
        self.lay_out_paragraph(leaf, source, false);
    }

    /// With `hold_last`, the last row is kept pending, because more text may extend it.
    fn lay_out_paragraph(&mut self, leaf: &mut OpenLeaf, source: &str, hold_last: bool) {
        let width = self.prose_width(leaf.prefixes);
        let LeafLayout::Paragraph(paragraph) = &mut leaf.layout else {
            return;
        };
        let text = paragraph.join(source);
        let start = self.row_buffer.end();
        let mut sink = source_map::RowBufferSink::new(&mut self.row_buffer);
        let style = paragraph.base_style();
        let definitions = write_inline(&text.leaf, style, &self.glyphs, &mut self.links, &mut sink);
        let map = sink.finish();
        // While streaming, the target of a link may be incomplete.
        for definition in definitions.into_iter().filter(|_| !paragraph.is_streaming) {
            self.needs_relayout |= self.links.define(definition);
        }
        if !hold_last {
            self.row_buffer.trim_end(start);
        } else if text.leaf.text.ends_with(' ') {
            self.row_buffer.push_text(" ", style);
        }
        let pending_row = paragraph.pending_row.take();
        if pending_row.is_none() && self.row_buffer.end() == start {
            paragraph.clear();
            return;
        }
        let prefixes = &mut leaf.prefixes;
        let wrap_start = pending_row.map_or(RowStart::of_line(start), |(start, _)| start);
        let pending_source = pending_row.map(|(_, source)| source);
        let last_row_start = self.row_buffer.wrap(
            wrap_start,
            (width, BreakMode::Prose),
            hold_last,
            || prefixes.take_next(),
            |offset| match pending_source {
                Some(pending_source) if offset < start => pending_source,
                _ => text.source_byte(map.leaf_byte(offset)),
            },
        );
        paragraph.clear();
        if hold_last {
            let source = match pending_source {
                Some(pending_source) if last_row_start.offset < start => pending_source,
                _ => text.source_byte(map.leaf_byte(last_row_start.offset)),
            };
            paragraph.pending_row = Some((last_row_start, source));
        }
    }
}
