//! Code as rows: line by line, for good, broken where the width ends.

use super::arena::Breaks;
use super::layout::{Body, Layout, Leaf};
use super::look::{Look, Role};
use crate::text::highlight::Highlighter;
use std::ops::Range;

#[derive(Debug, Clone)]
pub struct Code {
    highlighter: Option<Highlighter>,
    /// The row that a long line goes on with: where its text begins, and what came
    /// from where.
    pub held: Option<(usize, usize)>,
}

impl Layout {
    /// Code, with the name of its language above it.
    pub fn code(&mut self, leaf: &mut Leaf, source: &str, info: Range<usize>) -> Code {
        let from = info.start;
        let info = source[info].trim();
        if !info.is_empty() {
            let start = self.arena.end();
            self.arena.put(info, Look::of(Role::Dim));
            self.wrap_code(start, from, false, leaf);
        }
        Code {
            highlighter: Highlighter::new(info),
            held: None,
        }
    }

    pub fn wrap_code(&mut self, start: usize, from: usize, hold: bool, leaf: &mut Leaf) -> usize {
        let room = self.room(leaf.prefixes);
        let prefixes = &mut leaf.prefixes;
        self.arena.wrap(
            start,
            (room, Breaks::Anywhere),
            hold,
            || prefixes.take(),
            |at| from + (at - start),
        )
    }

    /// A line of code, or with `more` the next part of one. Its last row waits for
    /// what follows.
    pub fn code_line(&mut self, leaf: &mut Leaf, source: &str, range: Range<usize>, more: bool) {
        let Body::Code(code) = &mut leaf.body else {
            return;
        };
        let mut code = code.clone();
        let (start, from) = match code.held.take() {
            Some(held) if more => held,
            Some((start, from)) => {
                self.wrap_code(start, from, false, leaf);
                (self.arena.end(), range.start)
            }
            None => (self.arena.end(), range.start),
        };
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
        let row = self.wrap_code(start, from, true, leaf);
        code.held = Some((row, from + (row - start)));
        leaf.body = Body::Code(code);
    }
}
