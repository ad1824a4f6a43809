//! Finds the calls in an untrusted text, as the scanner would read them from a model: also in
//! a code fence or backticks, inside other JSON, escaped, or after a tag that starts thinking.
//! Linear in the text, by a bounded factor.

use crate::dialect::scan::{CallScanner, ScanEvent, TextCall};
use crate::domain::Toolset;
use crate::text::normalize::{self, decode_entity};
use std::sync::Arc;

/// Levels of JSON string escaping that are undone.
const ESCAPES_MAX: usize = 3;
/// Levels of brackets around a call that are removed.
const REMOVED_BRACKETS_MAX: usize = 4;
/// Levels of nested text (thinking, arguments) that are scanned separately.
const NESTED_MAX: usize = 6;
/// Limit on the bytes of separately scanned objects, per byte of text.
const OBJECTS_FACTOR_MAX: usize = 8;
/// A text up to this size is always scanned completely.
const OBJECTS_BYTES_MIN: usize = 16 << 10;

#[derive(Debug, Default)]
pub(super) struct ExtractedCalls {
    pub(super) calls: Vec<TextCall>,
    /// It is nested deeper than any honest text, so its contents are unknown.
    pub(super) is_opaque: bool,
}

pub(super) fn extract_calls(text: &str, offered: &Arc<Toolset>) -> ExtractedCalls {
    let mut found = ExtractedCalls::default();
    scan_all_levels(text, offered, &mut found);
    // The scanner ignores a name that two servers share, but a model may not.
    if let Some(offered) = offered.without_duplicate_names() {
        scan_all_levels(text, &Arc::new(offered), &mut found);
    }
    found
}

fn scan_all_levels(text: &str, offered: &Arc<Toolset>, found: &mut ExtractedCalls) {
    let mut level = text.to_owned();
    for depth in 0..=ESCAPES_MAX {
        scan_variants(&without_backticks(&level), offered, found);
        if level.contains("```") {
            scan_variants(&level, offered, found);
        }
        if let Some(bare) = normalize::strip_line_prefixes(&level) {
            scan_variants(&without_backticks(&bare), offered, found);
        }
        if level.contains('&') {
            let decoded = decode_entities(&level);
            if decoded != level {
                scan_variants(&without_backticks(&decoded), offered, found);
            }
        }
        if depth == ESCAPES_MAX || !level.contains('\\') {
            break;
        }
        level = unescape_once(&level);
    }
}

/// The offered names that occur in the text.
fn names_in<'a>(text: &str, offered: &'a Toolset) -> Vec<&'a str> {
    let tools = offered.tools().iter();
    tools
        .flat_map(|tool| [tool.tool.name.as_str(), &tool.native_name])
        .filter(|name| !name.is_empty() && text.contains(name))
        .collect()
}

/// Scans one spelling of the text: as is, without the outer brackets, and each object that
/// mentions a tool by itself.
fn scan_variants(text: &str, offered: &Arc<Toolset>, found: &mut ExtractedCalls) {
    let names = names_in(text, offered);
    if names.is_empty() {
        return;
    }
    scan(text, offered, 0, found);
    let pairs = BracketPairs::parse(text);
    for peels in 1..=REMOVED_BRACKETS_MAX.min(pairs.depth) {
        scan(
            &pairs.without_outer_brackets(text, peels),
            offered,
            0,
            found,
        );
    }
    let bytes_max = (text.len() * OBJECTS_FACTOR_MAX).max(OBJECTS_BYTES_MIN);
    let mut bytes = 0;
    for object in pairs.objects_mentioning(text, &names) {
        bytes += object.len();
        if bytes > bytes_max {
            found.is_opaque = true;
            return;
        }
        scan(object, offered, 0, found);
    }
}

fn scan(text: &str, offered: &Arc<Toolset>, depth: usize, found: &mut ExtractedCalls) {
    let mut scanner = CallScanner::new(Arc::clone(offered));
    let mut pieces = scanner.push(text);
    pieces.extend(scanner.finish());
    for piece in pieces {
        let hidden = match piece {
            // The scanner does not look for calls inside thinking or arguments.
            ScanEvent::Thinking(text) => text,
            ScanEvent::UnusableCall(call) => call.raw,
            ScanEvent::Call(call) => {
                let raw = call.raw.clone();
                found.calls.push(call);
                raw
            }
            _ => continue,
        };
        let mut inside = hidden.chars();
        inside.next();
        let inside = inside.as_str();
        if inside.len() < 2 || inside.len() >= text.len() {
            continue;
        }
        if depth == NESTED_MAX {
            found.is_opaque = true;
        } else {
            scan(inside, offered, depth + 1, found);
        }
    }
}

/// Replaces backticks with newlines, so that a call in a fence or a code span starts a line.
fn without_backticks(text: &str) -> String {
    text.replace('`', "\n")
}

/// Undoes one level of JSON string escaping.
fn unescape_once(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n' | 'r') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('u') => {
                let digits = chars.as_str().get(..4).unwrap_or_default();
                let unit = u32::from_str_radix(digits, 16)
                    .ok()
                    .and_then(char::from_u32);
                if let Some(c) = unit {
                    out.push(c);
                    chars = chars.as_str()[4..].chars();
                }
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

fn decode_entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match decode_entity(rest) {
            Some((c, after)) => {
                out.push(c);
                rest = after;
            }
            None => out.push('&'),
        }
    }
    out.push_str(rest);
    out
}

/// The matching brackets of a text, whatever is between them.
struct BracketPairs {
    /// Start and end of each object, ordered by end.
    objects: Vec<(usize, usize)>,
    /// Every bracket with the number of pairs around it; 0 if unmatched.
    brackets: Vec<(usize, usize)>,
    depth: usize,
}

impl BracketPairs {
    fn parse(text: &str) -> Self {
        let mut open: Vec<(usize, u8, usize)> = Vec::new();
        let (mut objects, mut brackets) = (Vec::new(), Vec::new());
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'{' | b'[' => {
                    open.push((at, byte, brackets.len()));
                    brackets.push((at, 0));
                }
                b'}' | b']' => {
                    let opener = if byte == b'}' { b'{' } else { b'[' };
                    if open
                        .last()
                        .is_some_and(|(_, open_byte, _)| *open_byte == opener)
                        && let Some((start, _, index)) = open.pop()
                    {
                        // Its depth is computed once all brackets are matched.
                        brackets[index].1 = usize::MAX;
                        brackets.push((at, usize::MAX));
                        if byte == b'}' {
                            objects.push((start, at + 1));
                        }
                    } else {
                        brackets.push((at, 0));
                    }
                }
                _ => {}
            }
        }
        let (mut depth, mut deepest) = (0, 0);
        for (at, around) in &mut brackets {
            if *around == 0 {
                continue;
            }
            let closes = matches!(text.as_bytes()[*at], b'}' | b']');
            depth -= usize::from(closes);
            *around = depth + 1;
            depth += usize::from(!closes);
            deepest = deepest.max(depth);
        }
        Self {
            objects,
            brackets,
            depth: deepest,
        }
    }

    /// The text without the outermost `peels` levels of brackets and without unmatched
    /// brackets.
    fn without_outer_brackets(&self, text: &str, peels: usize) -> String {
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for (at, around) in &self.brackets {
            if *around <= peels {
                out.push_str(&text[from..*at]);
                out.push('\n');
                from = at + 1;
            }
        }
        out.push_str(&text[from..]);
        out
    }

    /// The objects that contain the name of a tool outside any nested object.
    fn objects_mentioning<'a>(&self, text: &'a str, names: &[&str]) -> Vec<&'a str> {
        let mut mentions: Vec<usize> = names
            .iter()
            .flat_map(|name| text.match_indices(name).map(|(at, _)| at))
            .collect();
        mentions.sort_unstable();
        let mut starts: Vec<(usize, usize)> = self.objects.clone();
        starts.sort_unstable();
        let (mut open, mut starts) = (Vec::new(), starts.into_iter().peekable());
        let mut objects: Vec<(usize, usize)> = Vec::new();
        for at in mentions {
            while let Some(object) = starts.next_if(|(start, _)| *start < at) {
                // Objects that ended before this one starts contain no later mention.
                while open.last().is_some_and(|(_, end)| *end <= object.0) {
                    open.pop();
                }
                open.push(object);
            }
            while open.last().is_some_and(|(_, end)| *end <= at) {
                open.pop();
            }
            objects.extend(open.last());
        }
        objects.sort_unstable();
        objects.dedup();
        objects
            .into_iter()
            .map(|(start, end)| &text[start..end])
            .collect()
    }
}
