//! The block structure of Markdown, line by line (CommonMark 0.31): which
//! containers a line continues or opens, and what leaf its text belongs to. The
//! state is small and cheap to copy, so that a line that is still coming in can be
//! taken as it is now and taken again when it is longer.

use super::block_event::{BlockEvent, Kind};
use super::container::{Container, Rest, continued, fill, mark_task, prefix_of, rest_of, unseen};
use super::line_syntax::{self, Align, CODE_INDENT, Fence};
use std::ops::Range;

/// Containers in containers; markers beyond are text.
const DEPTH_MAX: usize = 48;

#[derive(Debug, Clone, PartialEq, Default)]
enum Leaf {
    #[default]
    None,
    Paragraph {
        /// Its last line, which may turn out to be a table's first.
        last: Range<usize>,
    },
    Fence {
        fence: Fence,
        indent: usize,
    },
    Indented {
        /// Blank lines that belong to it where more code follows.
        blank: Vec<usize>,
    },
    Table,
    /// A line of its own that a longer line goes on with.
    Line,
}

/// A line, or the next part of a long one.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    pub start: usize,
    pub end: usize,
    /// It goes on with a line whose beginning came before.
    pub continues: bool,
    /// The line goes on with another piece, so that only its beginning counts.
    pub cut: bool,
    /// No more is known of this line: it may go on.
    pub partial: bool,
}

#[derive(Debug, Clone, Default)]
pub struct Scanner {
    containers: Vec<Container>,
    leaf: Leaf,
    /// A blank line came since the last leaf.
    blank: bool,
    /// The kind of the last leaf, and the containers around it.
    before: Option<(Kind, usize)>,
    /// Containers of the last leaf that were left since: what is beyond is new.
    kept: usize,
    /// Where the present line begins.
    at: usize,
}

impl Scanner {
    /// Takes one line in and says what it means.
    pub fn line(&mut self, source: &str, piece: Piece, out: &mut impl FnMut(BlockEvent)) {
        if piece.continues {
            return out(BlockEvent::More(piece.start..piece.end));
        }
        self.at = piece.start;
        let mut rest = Rest {
            source,
            at: piece.start,
            end: piece.end,
        };
        let matched = continued(&self.containers, &mut rest);
        let all = matched == self.containers.len();
        if all && self.verbatim(&rest, piece.cut, out) || piece.cut && rest.is_blank() {
            return;
        }
        if rest.is_blank() {
            return self.blank_line(matched, &rest, out);
        }
        let opened = self.open_containers(matched, &mut rest, out);
        let fresh = opened || !matches!(self.leaf, Leaf::Paragraph { .. });
        if !self.own_leaf(matched, opened, &rest, piece, out) {
            self.text(matched, opened, fresh, &rest, out);
        }
        if !rest.is_blank() {
            fill(&mut self.containers);
            self.blank = false;
        }
    }

    /// The text has ended: closes everything.
    pub fn finish(&mut self, out: &mut impl FnMut(BlockEvent)) {
        self.close_to(0, out);
        if self.leaf != Leaf::None {
            self.close_leaf(out);
        }
    }

    /// Could a line that is still coming in, and is `text` so far, close the fence?
    pub fn may_close_fence(&self, text: &str) -> bool {
        let all = |sign: u8| text.trim_matches(' ').bytes().all(|byte| byte == sign);
        matches!(&self.leaf, Leaf::Fence { fence, .. } if all(fence.sign))
    }

    pub fn is_in_fence(&self) -> bool {
        matches!(self.leaf, Leaf::Fence { .. })
    }

    /// A line of open code or of its end. False where it is something else.
    fn verbatim(&mut self, rest: &Rest, cut: bool, out: &mut impl FnMut(BlockEvent)) -> bool {
        match &mut self.leaf {
            Leaf::Fence { fence, indent } => {
                if !cut && fence.is_closed_by(rest.text()) {
                    self.close_leaf(out);
                } else {
                    let strip = rest.indent().min(*indent);
                    out(BlockEvent::Line(rest.at + strip..rest.end));
                }
                self.blank = false;
                true
            }
            Leaf::Indented { blank } if rest.is_blank() => {
                blank.push(rest.end);
                self.blank = true;
                true
            }
            Leaf::Indented { blank } if rest.indent() >= CODE_INDENT => {
                for at in blank.drain(..) {
                    out(BlockEvent::Line(at..at));
                }
                out(BlockEvent::Line(rest.at + CODE_INDENT..rest.end));
                self.blank = false;
                true
            }
            _ => false,
        }
    }

    fn blank_line(&mut self, matched: usize, rest: &Rest, out: &mut impl FnMut(BlockEvent)) {
        match &mut self.leaf {
            Leaf::Indented { blank } => blank.push(rest.end),
            Leaf::None => {}
            _ => self.close_leaf(out),
        }
        // A quote ends at a blank line without its sign; an item goes on.
        let quote = self.containers[matched..].first() == Some(&Container::Quote);
        let empty = matches!(
            self.containers.get(matched),
            Some(Container::Item { empty: true, .. })
        );
        if quote || empty {
            self.close_to(matched, out);
        }
        self.blank = true;
    }

    /// Opens the quotes and items that the line begins. Containers that it left are
    /// closed first.
    fn open_containers(
        &mut self,
        matched: usize,
        rest: &mut Rest,
        out: &mut impl FnMut(BlockEvent),
    ) -> bool {
        let mut depth = matched;
        let mut opened = false;
        while rest.indent() < CODE_INDENT && depth < DEPTH_MAX {
            let inner = rest.inner();
            let container = if inner.starts_with('>') {
                rest.at += rest.indent() + 1;
                rest.at += usize::from(rest.text().starts_with(' '));
                Container::Quote
            } else {
                let interrupts = !opened && matched == self.containers.len();
                match self.item(depth, interrupts, rest) {
                    Some(item) => item,
                    None => break,
                }
            };
            if !opened {
                self.close_to(matched, out);
                self.close_leaf(out);
            }
            // A container in an item is something in it.
            fill(&mut self.containers);
            self.containers.push(container);
            opened = true;
            depth += 1;
        }
        opened
    }

    /// The item that the line begins. `interrupts`: an open paragraph would go on
    /// otherwise.
    fn item(&self, depth: usize, interrupts: bool, rest: &mut Rest) -> Option<Container> {
        let (indent, inner) = (rest.indent(), rest.inner());
        let mut marker = line_syntax::marker(inner).filter(|_| !line_syntax::is_rule(inner))?;
        let after = &inner[marker.columns..];
        let blank = line_syntax::is_blank(after);
        let in_paragraph = interrupts && matches!(self.leaf, Leaf::Paragraph { .. });
        if in_paragraph && (blank || marker.number.is_some_and(|number| number != 1)) {
            return None;
        }
        let spaces = match line_syntax::indent(after) {
            _ if blank => 1,
            spaces @ 1..=CODE_INDENT => spaces,
            _ => 1,
        };
        // Numbers count on from the item before, whatever they say.
        if let Some(Container::Item { marker: before, .. }) = self.containers.get(depth)
            && before.sign == marker.sign
        {
            marker.number = before.number.map(|number| number.saturating_add(1));
        }
        let columns = indent + marker.columns + spaces;
        rest.at = (rest.at + columns).min(rest.end);
        Some(Container::Item {
            columns,
            marker,
            shown: false,
            task: None,
            empty: true,
            at: self.at,
            blank: self.blank,
        })
    }

    /// Headings, fences, rules, indented code, tables. False where it is text.
    fn own_leaf(
        &mut self,
        matched: usize,
        opened: bool,
        rest: &Rest,
        piece: Piece,
        out: &mut impl FnMut(BlockEvent),
    ) -> bool {
        if rest.is_blank() {
            return true;
        }
        let (indent, inner) = (rest.indent(), rest.inner());
        let at = rest.at + indent;
        let in_place = !opened && matched == self.containers.len();
        let paragraph = match &self.leaf {
            Leaf::Paragraph { last } => Some(last.clone()),
            _ => None,
        };
        if indent >= CODE_INDENT {
            if paragraph.is_some() && !opened {
                return false;
            }
            self.open(matched, opened, Kind::Code { info: 0..0 }, out);
            out(BlockEvent::Line(rest.at + CODE_INDENT..rest.end));
            self.leaf = Leaf::Indented { blank: Vec::new() };
        } else if let Some((level, words)) = line_syntax::heading(inner) {
            self.open(matched, opened, Kind::Heading(level), out);
            out(BlockEvent::Line(at + words.start..at + words.end));
            self.leaf = Leaf::Line;
        } else if piece.cut {
            return false;
        } else if let Some((fence, info)) = line_syntax::fence(inner) {
            let info = at + info.start..at + info.end;
            self.open(matched, opened, Kind::Code { info }, out);
            self.leaf = Leaf::Fence { fence, indent };
        } else if let Some(level) =
            line_syntax::underline(inner).filter(|_| in_place && paragraph.is_some())
        {
            out(BlockEvent::Become(Kind::Heading(level)));
            self.before = Some((Kind::Heading(level), self.containers.len()));
            self.close_leaf(out);
        } else if line_syntax::is_rule(inner) {
            self.open(matched, opened, Kind::Rule, out);
            self.leaf = Leaf::Line;
        } else if let Some(columns) = paragraph
            .filter(|_| in_place)
            .and_then(|header| table_columns(&rest.source[header], inner, piece.partial))
        {
            out(BlockEvent::Become(Kind::Table(columns)));
            self.before = Some((Kind::Table(Vec::new()), self.containers.len()));
            self.leaf = Leaf::Table;
        } else {
            return false;
        }
        true
    }

    /// A line of a paragraph, or a table's row.
    fn text(
        &mut self,
        matched: usize,
        opened: bool,
        fresh: bool,
        rest: &Rest,
        out: &mut impl FnMut(BlockEvent),
    ) {
        let all = matched == self.containers.len();
        if self.leaf == Leaf::Table && all && fresh {
            return out(BlockEvent::Line(rest.at + rest.indent()..rest.end));
        }
        // Deep indentation stays: it is what keeps a sign from meaning something.
        let indent = rest.indent();
        let kept = if indent >= CODE_INDENT { 0 } else { indent };
        let mut line = rest.at + kept..rest.end;
        if fresh {
            if opened {
                line.start += mark_task(&mut self.containers, &rest.source[line.clone()]);
            }
            self.open(matched, opened, Kind::Paragraph, out);
        }
        out(BlockEvent::Line(line.clone()));
        self.leaf = Leaf::Paragraph { last: line };
    }

    fn open(&mut self, matched: usize, opened: bool, kind: Kind, out: &mut impl FnMut(BlockEvent)) {
        if !opened {
            self.close_to(matched, out);
            self.close_leaf(out);
        }
        let depth = self.containers.len();
        let gap = self.before.as_ref().is_some_and(|(before, around)| {
            self.blank || depth.min(*around) == 0 && stands_apart(before, &kind)
        });
        let prefix = prefix_of(&mut self.containers);
        let kept = if gap { self.kept.min(depth) } else { 0 };
        let gap = gap.then(|| rest_of(&self.containers[..kept]));
        self.kept = depth;
        self.before = Some((kind.clone(), depth));
        let at = self.at;
        out(BlockEvent::Open {
            at,
            kind,
            prefix,
            gap,
        });
    }

    fn close_leaf(&mut self, out: &mut impl FnMut(BlockEvent)) {
        if self.leaf != Leaf::None {
            self.leaf = Leaf::None;
            out(BlockEvent::Close);
        }
    }

    /// Leaves all containers but the first `depth`. One whose marker is not on
    /// screen yet shows it now.
    fn close_to(&mut self, depth: usize, out: &mut impl FnMut(BlockEvent)) {
        if self.containers.len() <= depth {
            return;
        }
        self.close_leaf(out);
        if let Some((at, before)) = unseen(&self.containers[depth..]) {
            let line = std::mem::replace(&mut self.at, at);
            let blank = std::mem::replace(&mut self.blank, before);
            self.open(self.containers.len(), true, Kind::Empty, out);
            (self.blank, self.at) = (blank, line);
            out(BlockEvent::Close);
        }
        self.containers.truncate(depth);
        self.kept = self.kept.min(depth);
    }
}

/// Blocks that a blank row sets off, even where the source has none.
fn stands_apart(before: &Kind, kind: &Kind) -> bool {
    let apart = |kind: &Kind| matches!(kind, Kind::Code { .. } | Kind::Table(_) | Kind::Rule);
    apart(before) || apart(kind) || matches!(kind, Kind::Heading(_))
}

/// The columns of a table whose first row is `header`. While its second row comes
/// in, what could become one counts.
fn table_columns(header: &str, row: &str, partial: bool) -> Option<Vec<Align>> {
    let count = line_syntax::cells(header).count();
    if !header.contains('|') && !row.contains('|') {
        return None;
    }
    if partial
        && header.contains('|')
        && row
            .bytes()
            .all(|byte| matches!(byte, b'|' | b':' | b'-' | b' '))
    {
        let mut columns = line_syntax::delimiters(row).unwrap_or_default();
        columns.resize(count, Align::Left);
        return Some(columns);
    }
    line_syntax::delimiters(row).filter(|columns| columns.len() == count)
}
