//! Code as rows: line by line, for good. A line that is too long is broken where the
//! width ends, or behind a space not far from there, and goes on behind a sign.

use super::layout::{INSET, LeafLayout, MarkdownLayout, OpenLeaf};
use super::row_buffer::{BreakMode, PrefixId};
use super::style::{StyleRole, TextStyle};
use crate::text::highlight::Highlighter;
use std::ops::Range;

/// The last row of a line that may go on.
#[derive(Debug, Clone, Copy)]
pub struct PendingCodeRow {
    /// Where its text begins, and the byte of the source that it came from.
    start: usize,
    source_start: usize,
    /// Rows of its line came before.
    is_continuation: bool,
}

#[derive(Debug, Clone)]
pub struct CodeLayout {
    highlighter: Option<Highlighter>,
    pub pending_row: Option<PendingCodeRow>,
    /// What stands in front of rows that a line goes on with.
    continuation_prefix: PrefixId,
}

impl MarkdownLayout {
    /// Code, with the name of its language above it.
    pub fn open_code(
        &mut self,
        leaf: &mut OpenLeaf,
        source: &str,
        info: Range<usize>,
    ) -> CodeLayout {
        let rest = self.rows.prefix(leaf.prefixes.rest);
        let wrapped = match rest.strip_suffix(INSET) {
            Some(rest) => format!("{rest}{} ", self.glyphs.continuation),
            None => rest.to_owned(),
        };
        let wrapped = self.rows.intern_prefix(&wrapped);
        let (start, from) = (self.rows.end(), info.start);
        let info = source[info].trim();
        if !info.is_empty() {
            self.rows
                .push_text(info, TextStyle::from_role(StyleRole::Dim));
            let begun = false;
            let label = PendingCodeRow {
                start,
                source_start: from,
                is_continuation: begun,
            };
            self.wrap_code(label, wrapped, false, leaf);
        }
        CodeLayout {
            highlighter: Highlighter::new(info),
            pending_row: None,
            continuation_prefix: wrapped,
        }
    }

    /// The text from `held` on as rows. With `hold` the last one is held back.
    fn wrap_code(
        &mut self,
        held: PendingCodeRow,
        wrapped: PrefixId,
        hold: bool,
        leaf: &mut OpenLeaf,
    ) -> PendingCodeRow {
        let room = self.content_width(leaf.prefixes);
        let prefixes = &mut leaf.prefixes;
        let PendingCodeRow {
            start,
            source_start: from,
            ..
        } = held;
        let mut begun = held.is_continuation;
        let row = self.rows.wrap(
            start,
            (room, BreakMode::Code),
            hold,
            || match std::mem::replace(&mut begun, true) {
                true => wrapped,
                false => prefixes.take_next(),
            },
            |at| from + (at - start),
        );
        PendingCodeRow {
            start: row,
            source_start: from + (row - start),
            is_continuation: begun,
        }
    }

    /// The line is whole.
    pub fn end_code_line(&mut self, code: &mut CodeLayout, leaf: &mut OpenLeaf) {
        if let Some(held) = code.pending_row.take() {
            self.wrap_code(held, code.continuation_prefix, false, leaf);
        }
    }

    /// A line of code, or with `more` the next part of one. Its last row waits for
    /// what follows.
    pub fn code_line(
        &mut self,
        leaf: &mut OpenLeaf,
        source: &str,
        range: Range<usize>,
        more: bool,
    ) {
        let LeafLayout::Code(mut code) = std::mem::take(&mut leaf.layout) else {
            return;
        };
        if !more {
            self.end_code_line(&mut code, leaf);
        }
        let held = code.pending_row.take().unwrap_or(PendingCodeRow {
            start: self.rows.end(),
            source_start: range.start,
            is_continuation: false,
        });
        let line = &source[range];
        let mut tokens = Vec::new();
        match &mut code.highlighter {
            Some(highlighter) if !more => highlighter.highlight_line(line, &mut tokens),
            _ => tokens.push((line.len() as u32, Default::default())),
        }
        let mut at = 0;
        for (end, token) in tokens {
            let end = end as usize;
            self.rows.push_text(
                &line[at..end],
                TextStyle::from_role(StyleRole::Token(token)),
            );
            at = end;
        }
        code.pending_row = Some(self.wrap_code(held, code.continuation_prefix, true, leaf));
        leaf.layout = LeafLayout::Code(code);
    }
}
