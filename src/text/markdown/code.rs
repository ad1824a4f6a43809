//! Code as rows: line by line, for good. A line that is too long is broken where the
//! width ends, or behind a space not far from there, and goes on behind a sign.

use super::layout::{Body, INSET, Layout, Leaf};
use super::row_buffer::{Breaks, PrefixId};
use super::style::{Look, Role};
use crate::text::highlight::Highlighter;
use std::ops::Range;

/// The last row of a line that may go on.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    /// Where its text begins, and the byte of the source that it came from.
    start: usize,
    from: usize,
    /// Rows of its line came before.
    begun: bool,
}

#[derive(Debug, Clone)]
pub struct Code {
    highlighter: Option<Highlighter>,
    pub held: Option<Held>,
    /// What stands in front of rows that a line goes on with.
    wrapped: PrefixId,
}

impl Layout {
    /// Code, with the name of its language above it.
    pub fn code(&mut self, leaf: &mut Leaf, source: &str, info: Range<usize>) -> Code {
        let rest = self.arena.prefix_of(leaf.prefixes.rest);
        let wrapped = match rest.strip_suffix(INSET) {
            Some(rest) => format!("{rest}{} ", self.marks.wrapped),
            None => rest.to_owned(),
        };
        let wrapped = self.arena.prefix(&wrapped);
        let (start, from) = (self.arena.end(), info.start);
        let info = source[info].trim();
        if !info.is_empty() {
            self.arena.put(info, Look::of(Role::Dim));
            let begun = false;
            let label = Held { start, from, begun };
            self.wrap_code(label, wrapped, false, leaf);
        }
        Code {
            highlighter: Highlighter::new(info),
            held: None,
            wrapped,
        }
    }

    /// The text from `held` on as rows. With `hold` the last one is held back.
    fn wrap_code(&mut self, held: Held, wrapped: PrefixId, hold: bool, leaf: &mut Leaf) -> Held {
        let room = self.room(leaf.prefixes);
        let prefixes = &mut leaf.prefixes;
        let Held { start, from, .. } = held;
        let mut begun = held.begun;
        let row = self.arena.wrap(
            start,
            (room, Breaks::Anywhere),
            hold,
            || match std::mem::replace(&mut begun, true) {
                true => wrapped,
                false => prefixes.take(),
            },
            |at| from + (at - start),
        );
        Held {
            start: row,
            from: from + (row - start),
            begun,
        }
    }

    /// The line is whole.
    pub fn end_code_line(&mut self, code: &mut Code, leaf: &mut Leaf) {
        if let Some(held) = code.held.take() {
            self.wrap_code(held, code.wrapped, false, leaf);
        }
    }

    /// A line of code, or with `more` the next part of one. Its last row waits for
    /// what follows.
    pub fn code_line(&mut self, leaf: &mut Leaf, source: &str, range: Range<usize>, more: bool) {
        let Body::Code(mut code) = std::mem::take(&mut leaf.body) else {
            return;
        };
        if !more {
            self.end_code_line(&mut code, leaf);
        }
        let held = code.held.take().unwrap_or(Held {
            start: self.arena.end(),
            from: range.start,
            begun: false,
        });
        let line = &source[range];
        let mut tokens = Vec::new();
        match &mut code.highlighter {
            Some(highlighter) if !more => highlighter.line(line, &mut tokens),
            _ => tokens.push((line.len() as u32, Default::default())),
        }
        let mut at = 0;
        for (end, token) in tokens {
            let end = end as usize;
            self.arena.put(&line[at..end], Look::of(Role::Token(token)));
            at = end;
        }
        code.held = Some(self.wrap_code(held, code.wrapped, true, leaf));
        leaf.body = Body::Code(code);
    }
}
