//! Finds the end of invalid JSON: where its braces balance, or before text that clearly does not
//! belong to it, so the text after it is not lost.

use super::markers::{CLOSERS, WRAPPERS};

/// A longer line is not a closing marker followed by whitespace.
const LINE_BYTES_MAX: usize = 128;
const FENCE: &str = "```";
/// Markers that begin the next message.
const STARTS: [&str; 2] = ["<|start|>", "<|channel|>"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonProgress {
    Incomplete,
    /// The character is the last one of the JSON.
    Complete,
    /// The JSON ended before the character, at this byte.
    EndedBefore(usize),
}

/// Reads JSON from the first invalid character on. O(1) per character.
#[derive(Debug)]
pub(super) struct UnterminatedJson {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Only whitespace so far on this line.
    only_whitespace: bool,
    /// The line begins with whitespace.
    indented: bool,
    /// A blank line precedes this line.
    after_blank_line: bool,
}

impl UnterminatedJson {
    /// `depth` containers are open; `before` is the text up to the invalid character.
    pub(super) fn new(depth: usize, before: &str) -> Self {
        let white = &before[before.trim_end().len()..];
        Self {
            depth,
            in_string: false,
            escaped: false,
            only_whitespace: white.contains('\n'),
            indented: !white.ends_with('\n'),
            after_blank_line: white.matches('\n').count() > 1,
        }
    }

    /// Consumes `c`, the last character of `body`. The JSON ends when only `rest` containers remain
    /// open.
    pub(super) fn push(&mut self, c: char, body: &str, rest: usize) -> JsonProgress {
        let before = &body[..body.len() - c.len_utf8()];
        if c.is_whitespace() {
            self.push_whitespace(c, before);
            return JsonProgress::Incomplete;
        }
        let begins_line = std::mem::take(&mut self.only_whitespace);
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
            self.indented |= self.only_whitespace;
            return;
        }
        // An extra quote makes a string of text that is none; end the string here.
        self.in_string &= !ends_in_bracket(before);
        self.after_blank_line = self.only_whitespace;
        self.only_whitespace = true;
        self.indented = false;
    }

    /// Whether `c` may begin another line of the object: a closing bracket, a key, or anything
    /// indented, but not a tag or a fence.
    fn may_begin_line(&self, c: char) -> bool {
        match c {
            '}' | ']' | ',' => true,
            '<' | '`' => false,
            _ if self.after_blank_line => false,
            '"' | '\'' | ':' => true,
            _ => self.indented,
        }
    }
}

/// Detects an unclosed string: a line inside a string ends with a bracket, and the next line is
/// only a closing marker or a fence.
#[derive(Debug, Default)]
pub(super) struct UnclosedString {
    /// Start of the line that may be such a marker.
    line: Option<usize>,
}

impl UnclosedString {
    /// Consumes `c`, the last character of `body`. Returns the end of the JSON if it is over.
    pub(super) fn push(&mut self, c: char, body: &str, in_string: bool) -> Option<usize> {
        if !in_string {
            self.line = None;
            return None;
        }
        if c == '\n' {
            if let Some(end) = self.end_of_json(body) {
                return Some(end);
            }
            let before = &body[..body.len() - 1];
            self.line = ends_in_bracket(before).then_some(body.len());
        } else if let Some(start) = self.line {
            let part = body[start..].trim_end();
            let mut closers = CLOSERS.iter().chain(&[FENCE]);
            let possible = closers.any(|closer| closer.starts_with(part));
            if !possible || body.len() - start > LINE_BYTES_MAX {
                self.line = None;
            }
        }
        None
    }

    /// The same at the end of the stream.
    pub(super) fn end_of_json(&self, body: &str) -> Option<usize> {
        let start = self.line?;
        // If the last character was rejected, the line may not have begun.
        let part = body.get(start..)?.trim_end();
        let closes = CLOSERS.contains(&part) || part == FENCE;
        closes.then(|| body[..start].trim_end().len())
    }
}

fn ends_in_bracket(text: &str) -> bool {
    text.trim_end_matches([' ', '\t', '\r'])
        .ends_with(['}', ']'])
}

/// The marker that `c` completes.
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
