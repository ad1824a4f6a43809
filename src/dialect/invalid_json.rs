//! Finds the end of invalid JSON, so the text after it is not lost. The JSON ends where its brackets
//! balance, or before text that clearly does not belong to it.

use super::markers::{CLOSERS, WRAPPERS};

/// Maximum length of a closing marker with trailing whitespace.
const MARKER_LINE_BYTES_MAX: usize = 128;
const FENCE: &str = "```";
const MESSAGE_STARTS: [&str; 2] = ["<|start|>", "<|channel|>"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonProgress {
    Incomplete,
    /// The character just pushed is the last one of the JSON.
    Complete,
    /// The JSON ended at this byte offset, before the character just pushed.
    EndedBefore(usize),
}

/// Tracks JSON from its first invalid character onward. O(1) per character.
#[derive(Debug)]
pub(super) struct InvalidJson {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    /// The current line contains only whitespace so far.
    is_blank_so_far: bool,
    is_indented: bool,
    is_after_blank_line: bool,
}

impl InvalidJson {
    /// `depth` containers are open; `before` is the text up to the invalid character.
    pub(super) fn new(depth: usize, before: &str) -> Self {
        let whitespace = &before[before.trim_end().len()..];
        Self {
            depth,
            is_in_string: false,
            is_escaped: false,
            is_blank_so_far: whitespace.contains('\n'),
            is_indented: !whitespace.ends_with('\n'),
            is_after_blank_line: whitespace.matches('\n').count() > 1,
        }
    }

    /// Consumes `c`, the last character of `body`. The JSON is complete when at most `outer_depth`
    /// containers are open.
    pub(super) fn push(&mut self, c: char, body: &str, outer_depth: usize) -> JsonProgress {
        let before = &body[..body.len() - c.len_utf8()];
        if c.is_whitespace() {
            self.push_whitespace(c, before);
            return JsonProgress::Incomplete;
        }
        let begins_line = std::mem::take(&mut self.is_blank_so_far);
        if !self.is_in_string {
            if begins_line && !self.may_begin_line(c) {
                return JsonProgress::EndedBefore(before.trim_end().len());
            }
            if let Some(marker) = marker_at_end(c, body) {
                let before = &body[..body.len() - marker.len()];
                return JsonProgress::EndedBefore(before.trim_end().len());
            }
        }
        match c {
            _ if self.is_escaped => self.is_escaped = false,
            '\\' => self.is_escaped = self.is_in_string,
            '"' => self.is_in_string = !self.is_in_string,
            _ if self.is_in_string => {}
            '{' | '[' => self.depth += 1,
            '}' | ']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        match self.depth > outer_depth {
            true => JsonProgress::Incomplete,
            false => JsonProgress::Complete,
        }
    }

    fn push_whitespace(&mut self, c: char, before: &str) {
        self.is_escaped = false;
        if c != '\n' {
            self.is_indented |= self.is_blank_so_far;
            return;
        }
        // If the line ends with a bracket, a stray quote probably opened this string: close it.
        self.is_in_string &= !ends_with_bracket(before);
        self.is_after_blank_line = self.is_blank_so_far;
        self.is_blank_so_far = true;
        self.is_indented = false;
    }

    /// Whether `c` may begin a line of the JSON. After a blank line, only a closing bracket or a
    /// comma may; otherwise also a quote, a colon or anything indented, but never a tag or a code
    /// fence.
    fn may_begin_line(&self, c: char) -> bool {
        match c {
            '}' | ']' | ',' => true,
            '<' | '`' => false,
            _ if self.is_after_blank_line => false,
            '"' | '\'' | ':' => true,
            _ => self.is_indented,
        }
    }
}

/// Detects an unclosed string: a line inside it ends with a bracket, and the next line contains
/// only a closing marker or a code fence.
#[derive(Debug, Default)]
pub(super) struct UnclosedString {
    /// The start of the current line, as long as it may be a closing marker.
    marker_start: Option<usize>,
}

impl UnclosedString {
    /// Consumes `c`, the last character of `body`. Returns the end of the JSON once it is known.
    pub(super) fn push(&mut self, c: char, body: &str, is_in_string: bool) -> Option<usize> {
        if !is_in_string {
            self.marker_start = None;
            return None;
        }
        if c == '\n' {
            if let Some(end) = self.end_of_json(body) {
                return Some(end);
            }
            let before = &body[..body.len() - 1];
            self.marker_start = ends_with_bracket(before).then_some(body.len());
        } else if let Some(start) = self.marker_start {
            let line = body[start..].trim_end();
            let mut closers = CLOSERS.iter().chain(&[FENCE]);
            let may_be_marker = closers.any(|closer| closer.starts_with(line));
            if !may_be_marker || body.len() - start > MARKER_LINE_BYTES_MAX {
                self.marker_start = None;
            }
        }
        None
    }

    /// Returns the end of the JSON if the last line of `body` is a closing marker. Also called at
    /// the end of the stream.
    pub(super) fn end_of_json(&self, body: &str) -> Option<usize> {
        let start = self.marker_start?;
        // `body` may end before this line if the last character was rejected.
        let line = body.get(start..)?.trim_end();
        let is_marker = CLOSERS.contains(&line) || line == FENCE;
        is_marker.then(|| body[..start].trim_end().len())
    }
}

fn ends_with_bracket(text: &str) -> bool {
    text.trim_end_matches([' ', '\t', '\r'])
        .ends_with(['}', ']'])
}

/// The marker that ends with `c`, the last character of `body`.
fn marker_at_end(c: char, body: &str) -> Option<&'static str> {
    if !matches!(c, '>' | ']' | '`') {
        return None;
    }
    let openers = WRAPPERS.iter().map(|wrapper| wrapper.opening);
    let mut markers = openers
        .chain(CLOSERS.iter().copied())
        .chain(MESSAGE_STARTS)
        .chain([FENCE]);
    markers.find(|marker| body.ends_with(marker))
}
