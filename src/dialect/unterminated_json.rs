//! Where JSON that cannot be read any more ends: where its braces balance, or
//! before what plainly is no part of it, so that what follows is not lost.

use super::markers::{CLOSERS, WRAPPERS};

/// A longer line is no closer with white space behind it.
const LINE_BYTES_MAX: usize = 128;
const FENCE: &str = "```";
/// What begins the next message.
const STARTS: [&str; 2] = ["<|start|>", "<|channel|>"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonProgress {
    Incomplete,
    /// The character is its last.
    Complete,
    /// It ended before the character, at this byte.
    EndedBefore(usize),
}

/// Follows JSON from the first character on that cannot stand where it does. O(1) a
/// character.
#[derive(Debug)]
pub(super) struct UnterminatedJson {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Nothing but white space came on this line,
    blank: bool,
    /// and some did.
    indented: bool,
    /// A blank line came before.
    parted: bool,
}

impl UnterminatedJson {
    /// `depth` containers are open; `before` is everything up to the character.
    pub(super) fn new(depth: usize, before: &str) -> Self {
        let white = &before[before.trim_end().len()..];
        Self {
            depth,
            in_string: false,
            escaped: false,
            blank: white.contains('\n'),
            indented: !white.ends_with('\n'),
            parted: white.matches('\n').count() > 1,
        }
    }

    /// Takes `c`, with which `body` ends. It ends where only `rest` containers are open.
    pub(super) fn push(&mut self, c: char, body: &str, rest: usize) -> JsonProgress {
        let before = &body[..body.len() - c.len_utf8()];
        if c.is_whitespace() {
            self.push_whitespace(c, before);
            return JsonProgress::Incomplete;
        }
        let begins_line = std::mem::take(&mut self.blank);
        if !self.in_string {
            if begins_line && !self.may_begin_line(c) {
                return JsonProgress::EndedBefore(before.trim_end().len());
            }
            if let Some(literal) = literal_at_end(c, body) {
                let before = &body[..body.len() - literal.len()];
                return JsonProgress::EndedBefore(before.trim_end().len());
            }
        }
        match c {
            _ if self.escaped => self.escaped = false,
            '\\' => self.escaped = self.in_string,
            '"' => self.in_string = !self.in_string,
            _ if self.in_string => {}
            '{' | '[' => self.depth += 1,
            '}' | ']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        match self.depth > rest {
            true => JsonProgress::Incomplete,
            false => JsonProgress::Complete,
        }
    }

    fn push_whitespace(&mut self, c: char, before: &str) {
        self.escaped = false;
        if c != '\n' {
            self.indented |= self.blank;
            return;
        }
        // A quotation mark too many makes a string of what is none.
        self.in_string &= !ends_in_bracket(before);
        self.parted = self.blank;
        self.blank = true;
        self.indented = false;
    }

    /// Whether a line of the same object may begin with `c`: a closing bracket, a key,
    /// or anything that is indented, but no tag and no fence.
    fn may_begin_line(&self, c: char) -> bool {
        match c {
            '}' | ']' | ',' => true,
            '<' | '`' => false,
            _ if self.parted => false,
            '"' | '\'' | ':' => true,
            _ => self.indented,
        }
    }
}

/// Watches for a quotation mark that nobody closed: a line in a string ends in a
/// bracket, and the next is nothing but what closes a wrapper or a fence.
#[derive(Debug, Default)]
pub(super) struct UnclosedString {
    /// Where the line begins that may be such a closer.
    line: Option<usize>,
}

impl UnclosedString {
    /// Takes `c`, with which `body` ends. Some where the JSON is over, at this byte.
    pub(super) fn push(&mut self, c: char, body: &str, in_string: bool) -> Option<usize> {
        if !in_string {
            self.line = None;
            return None;
        }
        if c == '\n' {
            if let Some(over) = self.end_of_json(body) {
                return Some(over);
            }
            let before = &body[..body.len() - 1];
            self.line = ends_in_bracket(before).then_some(body.len());
        } else if let Some(start) = self.line {
            let part = body[start..].trim_end();
            let mut closers = CLOSERS.iter().chain(&[FENCE]);
            let may = closers.any(|closer| closer.starts_with(part));
            if !may || body.len() - start > LINE_BYTES_MAX {
                self.line = None;
            }
        }
        None
    }

    /// The same where nothing more comes.
    pub(super) fn end_of_json(&self, body: &str) -> Option<usize> {
        let start = self.line?;
        // Where the last character was rejected, the line may not have begun.
        let part = body.get(start..)?.trim_end();
        let closes = CLOSERS.contains(&part) || part == FENCE;
        closes.then(|| body[..start].trim_end().len())
    }
}

fn ends_in_bracket(text: &str) -> bool {
    text.trim_end_matches([' ', '\t', '\r'])
        .ends_with(['}', ']'])
}

/// The literal around calls that `c` completes.
fn literal_at_end(c: char, body: &str) -> Option<&'static str> {
    if !matches!(c, '>' | ']' | '`') {
        return None;
    }
    let opens = WRAPPERS.iter().map(|wrapper| wrapper.opening);
    let mut all = opens
        .chain(CLOSERS.iter().copied())
        .chain(STARTS)
        .chain([FENCE]);
    all.find(|literal| body.ends_with(literal))
}
