//! Leaves as rows of a width. Code and settled tables are laid out a line at a
//! time, for good; a paragraph when it ends, and as often as it grows until then,
//! which is why a long one is laid out in parts.

use super::block_event::{BlockEvent, Kind, Part, Prefix};
use super::code::Code;
use super::inline::{Links, ink_inline};
use super::row_buffer::{Breaks, PrefixId, RowBuffer};
use super::source_map::{self, Words};
use super::style::{Look, Marks, Role};
use super::table::{Sheet, Table, TableRow};
use std::num::NonZeroU16;
use std::ops::Range;

/// Columns in front of code and tables.
pub const INSET: &str = "  ";

/// What stands in front of a leaf's rows; the first is used once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prefixes {
    pub next: PrefixId,
    pub rest: PrefixId,
}

impl Prefixes {
    pub fn take(&mut self) -> PrefixId {
        std::mem::replace(&mut self.next, self.rest)
    }
}

#[derive(Debug, Clone, Default)]
pub enum Body {
    #[default]
    None,
    Words(Words),
    Code(Code),
    Table(Table),
}

/// The leaf that lines go to.
#[derive(Debug, Clone)]
pub struct Leaf {
    pub body: Body,
    pub prefixes: Prefixes,
    /// Where it begins in the source.
    at: usize,
}

impl Default for Leaf {
    fn default() -> Self {
        Self {
            body: Body::None,
            prefixes: Prefixes { next: 0, rest: 0 },
            at: 0,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Layout {
    pub arena: RowBuffer,
    pub marks: Marks,
    pub links: Links,
    width: NonZeroU16,
    /// A definition came that earlier text waited for.
    pub outdated: bool,
    /// The line that is taken in may go on.
    pub partial: bool,
}

impl Layout {
    pub fn new(width: NonZeroU16, marks: Marks) -> Self {
        let mut arena = RowBuffer::default();
        // The empty prefix has the number 0.
        arena.prefix("");
        Self {
            arena,
            marks,
            links: Links::default(),
            width,
            outdated: false,
            partial: false,
        }
    }

    pub fn width(&self) -> NonZeroU16 {
        self.width
    }

    /// Starts anew; definitions stay.
    pub fn clear(&mut self) {
        let mut links = std::mem::take(&mut self.links);
        links.forget_missing();
        *self = Self::new(self.width, self.marks);
        self.links = links;
    }

    /// Does what the scanner says. `ending`: nothing follows for now, and what is
    /// begun may be completed.
    pub fn apply(&mut self, leaf: &mut Leaf, source: &str, op: BlockEvent, ending: bool) {
        match op {
            BlockEvent::Open {
                at,
                kind,
                prefix,
                gap,
            } => {
                self.close(leaf, source, false);
                leaf.at = at;
                self.open(leaf, source, kind, &prefix, gap);
            }
            BlockEvent::Line(range) => self.line(leaf, source, range),
            BlockEvent::More(range) => self.more(leaf, source, range),
            BlockEvent::Become(Kind::Table(aligns)) => self.become_table(leaf, source, aligns),
            BlockEvent::Become(kind) => {
                if let Body::Words(words) = &mut leaf.body {
                    words.kind = kind;
                }
            }
            BlockEvent::Close => self.close(leaf, source, ending),
        }
    }

    fn open(
        &mut self,
        leaf: &mut Leaf,
        source: &str,
        kind: Kind,
        prefix: &Prefix,
        gap: Option<Vec<Part>>,
    ) {
        let at = self.arena.end();
        if let Some(parts) = gap {
            let words = self.words_of(&parts);
            let id = self.arena.prefix(words.trim_end());
            self.arena.row(at, id, leaf.at);
        }
        leaf.prefixes = self.prefixes(prefix, "");
        leaf.body = match kind {
            Kind::Paragraph | Kind::Heading(_) | Kind::Empty => Body::Words(Words::new(kind)),
            Kind::Code { info } => {
                leaf.prefixes = self.prefixes(prefix, INSET);
                Body::Code(self.code(leaf, source, info))
            }
            Kind::Rule => {
                let columns = self.room(leaf.prefixes);
                let rule = self.marks.rule.to_string().repeat(columns.get().into());
                self.arena.put(&rule, Look::of(Role::Dim));
                let id = leaf.prefixes.take();
                self.arena.row(at, id, leaf.at);
                Body::None
            }
            Kind::Table(_) => Body::None,
        };
    }

    /// The columns behind a prefix.
    pub fn room(&self, prefixes: Prefixes) -> NonZeroU16 {
        let used = self.arena.prefix_of(prefixes.rest).chars().count();
        let left = usize::from(self.width.get()).saturating_sub(used);
        let left = u16::try_from(left).unwrap_or(u16::MAX);
        NonZeroU16::new(left).unwrap_or(NonZeroU16::MIN)
    }

    fn prefixes(&mut self, prefix: &Prefix, inset: &str) -> Prefixes {
        let [next, rest] = [&prefix.first, &prefix.rest].map(|parts| {
            let words = self.words_of(parts) + inset;
            self.arena.prefix(self.cut(&words))
        });
        Prefixes { next, rest }
    }

    /// Text keeps at least half of the width: what stands before it loses its
    /// beginning. Each of its characters takes one column.
    fn cut<'a>(&self, words: &'a str) -> &'a str {
        let most = usize::from(self.width.get() / 2);
        let drop = words.chars().count().saturating_sub(most);
        let at = words.char_indices().nth(drop);
        at.map_or("", |(at, _)| &words[at..])
    }

    fn words_of(&self, parts: &[Part]) -> String {
        let mut words = String::new();
        for part in parts {
            match *part {
                Part::Quote => words.extend([self.marks.quote, ' ']),
                Part::Bullet => words.extend([self.marks.bullet, ' ']),
                Part::Number(number, sign) => {
                    words.push_str(&format!("{number}{} ", char::from(sign)));
                }
                Part::Task(done) => words.push_str(if done { "[x] " } else { "[ ] " }),
                Part::Space(columns) => words.push_str(&" ".repeat(columns)),
            }
        }
        words
    }

    fn line(&mut self, leaf: &mut Leaf, source: &str, range: Range<usize>) {
        match &mut leaf.body {
            Body::None => self.stray(leaf, source, range),
            Body::Words(words) => {
                if words.is_full() {
                    self.lay_words(leaf, source, false);
                }
                if let Body::Words(words) = &mut leaf.body {
                    words.add(range);
                }
            }
            Body::Code(_) => self.code_line(leaf, source, range, false),
            Body::Table(table) => {
                let columns = table.columns();
                let row = self.row(source, range, columns);
                self.table_row(leaf, row);
            }
        }
    }

    /// A line of a leaf that has no text shows all the same: nothing is lost.
    fn stray(&mut self, leaf: &mut Leaf, source: &str, range: Range<usize>) {
        if !source[range.clone()].trim().is_empty() {
            let mut words = Words::new(Kind::Paragraph);
            words.add(range);
            leaf.body = Body::Words(words);
        }
    }

    fn more(&mut self, leaf: &mut Leaf, source: &str, range: Range<usize>) {
        match &mut leaf.body {
            Body::Words(_) => {
                self.lay_words(leaf, source, true);
                if let Body::Words(words) = &mut leaf.body {
                    words.add(range);
                }
            }
            Body::Code(_) => self.code_line(leaf, source, range, true),
            _ => self.line(leaf, source, range),
        }
    }

    fn row(&mut self, source: &str, range: Range<usize>, columns: usize) -> TableRow {
        let at = range.start;
        let (marks, links) = (&self.marks, &mut self.links);
        TableRow::new(&source[range], at, columns, self.partial, marks, links)
    }

    fn become_table(
        &mut self,
        leaf: &mut Leaf,
        source: &str,
        aligns: Vec<super::line_syntax::Align>,
    ) {
        let Body::Words(words) = &mut leaf.body else {
            return;
        };
        let Some(header) = words.take_last() else {
            return;
        };
        if !words.is_empty() {
            self.lay_words(leaf, source, false);
            let at = self.arena.end();
            self.arena.row(at, leaf.prefixes.rest, header.start);
        }
        let header = self.row(source, header, aligns.len());
        leaf.body = Body::Table(Table::new(aligns, header));
        let [next, rest] = [leaf.prefixes.next, leaf.prefixes.rest].map(|id| {
            let words = self.arena.prefix_of(id).to_owned() + INSET;
            self.arena.prefix(self.cut(&words))
        });
        leaf.prefixes = Prefixes { next, rest };
    }

    fn table_row(&mut self, leaf: &mut Leaf, row: TableRow) {
        let room = self.room(leaf.prefixes);
        let Body::Table(table) = &mut leaf.body else {
            return;
        };
        let mut sheet = Sheet {
            arena: &mut self.arena,
            marks: &self.marks,
            width: room.get().into(),
            prefixes: &mut leaf.prefixes,
        };
        table.push(row, self.partial, &mut sheet);
    }

    fn close(&mut self, leaf: &mut Leaf, source: &str, ending: bool) {
        let room = self.room(leaf.prefixes);
        match std::mem::take(&mut leaf.body) {
            Body::None => return,
            Body::Words(words) => {
                leaf.body = Body::Words(words);
                self.end_words(leaf, source, ending);
            }
            Body::Code(mut code) => self.end_code_line(&mut code, leaf),
            Body::Table(mut table) => table.finish(&mut Sheet {
                arena: &mut self.arena,
                marks: &self.marks,
                width: room.get().into(),
                prefixes: &mut leaf.prefixes,
            }),
        }
        leaf.body = Body::None;
        // An item with nothing to show still shows its marker.
        if leaf.prefixes.next != leaf.prefixes.rest {
            let at = self.arena.end();
            let id = leaf.prefixes.take();
            self.arena.row(at, id, leaf.at);
        }
    }

    fn end_words(&mut self, leaf: &mut Leaf, source: &str, ending: bool) {
        if let Body::Words(words) = &leaf.body
            && ending
            && words.begins_table(source)
        {
            let line = words.first_line();
            let columns = super::line_syntax::cells(&source[line]).count();
            self.become_table(leaf, source, vec![Default::default(); columns]);
            return self.close(leaf, source, ending);
        }
        if let Body::Words(words) = &mut leaf.body {
            words.ending = ending;
        }
        self.lay_words(leaf, source, false);
    }

    /// Lays out what a paragraph holds. With `hold` its last row waits for more.
    fn lay_words(&mut self, leaf: &mut Leaf, source: &str, hold: bool) {
        let room = self.room(leaf.prefixes);
        let Body::Words(words) = &mut leaf.body else {
            return;
        };
        let text = words.text(source);
        let start = self.arena.end();
        let mut ink = source_map::ArenaInk::new(&mut self.arena);
        let look = words.look();
        let definitions = ink_inline(&text.text, look, &self.marks, &mut self.links, &mut ink);
        let places = ink.finish();
        // While it comes in, nobody knows where a target ends.
        for definition in definitions.into_iter().filter(|_| !words.ending) {
            self.outdated |= self.links.define(definition);
        }
        if !hold {
            self.arena.trim_end(start);
        } else if text.text.ends_with(' ') {
            self.arena.put(" ", look);
        }
        let held = words.held.take();
        if held.is_none() && self.arena.end() == start {
            words.clear();
            return;
        }
        let prefixes = &mut leaf.prefixes;
        let from = held.map_or(start, |(at, _)| at);
        let origin = held.map(|(_, source)| source);
        let row = self.arena.wrap(
            from,
            (room, Breaks::Words),
            hold,
            || prefixes.take(),
            |at| match origin {
                Some(origin) if at < start => origin,
                _ => text.source_of(places.at(at)),
            },
        );
        words.clear();
        if hold {
            let source = match origin {
                Some(origin) if row < start => origin,
                _ => text.source_of(places.at(row)),
            };
            words.held = Some((row, source));
        }
    }
}
