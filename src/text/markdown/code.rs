//! Lays out code blocks without laying out any line twice. A long line is broken at the width, or
//! after a space close to it, and every row but its first begins with a continuation marker.

use super::layout::{LeafLayout, MarkdownLayout, OpenLeaf};
use super::row_buffer::{BreakMode, PrefixId, RowStart};
use super::style::{StyleRole, TextStyle};
use crate::text::highlight::Highlighter;
use std::ops::Range;

/// The last row of a line that may continue.
#[derive(Debug, Clone, Copy)]
pub struct PendingCodeRow {
    start: RowStart,
    source_start: usize,
}

#[derive(Debug, Clone)]
pub struct CodeLayout {
    highlighter: Option<Highlighter>,
    pub pending_row: Option<PendingCodeRow>,
    continuation_prefix: PrefixId,
}

impl MarkdownLayout {
    /// Starts a code block and shows its info string, if it has one.
    pub fn open_code(
        &mut self,
        leaf: &mut OpenLeaf,
        source: &str,
        info: Range<usize>,
    ) -> CodeLayout {
        let prefix = self.row_buffer.prefix(leaf.prefixes.rest);
        let continuation = match prefix.strip_suffix(&self.code_bar()) {
            Some(without_bar) => format!("{without_bar}{} ", self.glyphs.continuation),
            None => prefix.to_owned(),
        };
        let continuation_prefix = self.row_buffer.intern_prefix(&continuation);
        let (start, source_start) = (self.row_buffer.end(), info.start);
        let info = source[info].trim();
        if !info.is_empty() {
            self.row_buffer
                .push_text(info, TextStyle::from_role(StyleRole::Dim));
            let label = PendingCodeRow {
                start: RowStart::of_line(start),
                source_start,
            };
            self.wrap_code(label, continuation_prefix, false, leaf);
        }
        CodeLayout {
            highlighter: Highlighter::new(info),
            pending_row: None,
            continuation_prefix,
        }
    }

    /// With `hold_last`, the last row stays pending.
    fn wrap_code(
        &mut self,
        pending: PendingCodeRow,
        continuation_prefix: PrefixId,
        hold_last: bool,
        leaf: &mut OpenLeaf,
    ) -> PendingCodeRow {
        let width = self.content_width(leaf.prefixes);
        let prefixes = &mut leaf.prefixes;
        let PendingCodeRow {
            start,
            source_start,
        } = pending;
        let mut continues_line = start.continues_line;
        let last_row_start = self.row_buffer.wrap(
            start,
            (width, BreakMode::Code),
            hold_last,
            || match std::mem::replace(&mut continues_line, true) {
                true => continuation_prefix,
                false => prefixes.take_next(),
            },
            |offset| source_start + (offset - start.offset),
        );
        PendingCodeRow {
            start: last_row_start,
            source_start: source_start + (last_row_start.offset - start.offset),
        }
    }

    pub fn end_code_line(&mut self, code: &mut CodeLayout, leaf: &mut OpenLeaf) {
        if let Some(pending) = code.pending_row.take() {
            self.wrap_code(pending, code.continuation_prefix, false, leaf);
        }
    }

    /// Adds a line of code, or the next part of one. Its last row stays pending until the line
    /// ends.
    pub fn code_line(
        &mut self,
        leaf: &mut OpenLeaf,
        source: &str,
        range: Range<usize>,
        is_continuation: bool,
    ) {
        let LeafLayout::Code(mut code) = std::mem::take(&mut leaf.layout) else {
            return;
        };
        if !is_continuation {
            self.end_code_line(&mut code, leaf);
        }
        let pending = code.pending_row.take().unwrap_or(PendingCodeRow {
            start: RowStart::of_line(self.row_buffer.end()),
            source_start: range.start,
        });
        let line = &source[range];
        let mut tokens = Vec::new();
        match &mut code.highlighter {
            Some(highlighter) if !is_continuation => highlighter.highlight_line(line, &mut tokens),
            _ => tokens.push((line.len() as u32, Default::default())),
        }
        let mut token_start = 0;
        for (end, token) in tokens {
            let end = end as usize;
            self.row_buffer.push_text(
                &line[token_start..end],
                TextStyle::from_role(StyleRole::Token(token)),
            );
            token_start = end;
        }
        code.pending_row = Some(self.wrap_code(pending, code.continuation_prefix, true, leaf));
        leaf.layout = LeafLayout::Code(code);
    }
}
