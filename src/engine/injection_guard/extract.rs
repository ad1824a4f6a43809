//! Finds the calls in an untrusted text that the scanner would recognize if a model repeated
//! them, even in a code fence or backticks, inside other JSON, escaped, or after a tag that
//! starts thinking. Takes linear time.

use crate::dialect::scan::{CallScanner, ScanEvent, TextCall};
use crate::domain::Toolset;
use crate::text::normalize::{self, decode_entity};
use std::sync::Arc;

/// Levels of JSON string escaping that are undone.
const ESCAPE_LEVELS_MAX: usize = 3;
/// Levels of brackets around a call that are removed.
const BRACKET_LEVELS_MAX: usize = 4;
/// Levels of nested text (thinking, arguments) that are scanned separately.
const NESTED_LEVELS_MAX: usize = 6;
/// Maximum total size of the separately scanned objects, as a multiple of the text's size.
const OBJECTS_FACTOR_MAX: usize = 8;
/// Objects of this total size are always scanned, however short the text is.
const OBJECTS_BYTES_MIN: usize = 16 << 10;

/// The recipient of a gpt-oss call.
const RECIPIENT: &str = "to=functions.";

#[derive(Debug, Default)]
pub(super) struct ExtractedCalls {
    pub(super) calls: Vec<TextCall>,
    /// The text is nested more deeply than any benign text, so it may contain other calls.
    pub(super) is_opaque: bool,
}

pub(super) fn extract_calls(text: &str, offered: &Arc<Toolset>) -> ExtractedCalls {
    let mut extracted = ExtractedCalls::default();
    scan_all_levels(text, offered, &mut extracted);
    // The scanner ignores a tool name that two servers share, but the model may name the
    // server.
    if let Some(offered) = offered.without_duplicate_names() {
        scan_all_levels(text, &Arc::new(offered), &mut extracted);
    }
    extracted
}

/// Scans the text at each level of JSON string escaping.
fn scan_all_levels(text: &str, offered: &Arc<Toolset>, extracted: &mut ExtractedCalls) {
    let mut level = text.to_owned();
    for depth in 0..=ESCAPE_LEVELS_MAX {
        scan_variants(&without_backticks(&level), offered, extracted);
        if level.contains("```") {
            scan_variants(&level, offered, extracted);
        }
        if let Some(stripped) = normalize::strip_line_prefixes(&level) {
            scan_variants(&without_backticks(&stripped), offered, extracted);
        }
        if level.contains(RECIPIENT) {
            // Within a line, the scanner takes it for prose.
            let lines = level.replace(RECIPIENT, &format!("\n{RECIPIENT}"));
            scan_variants(&without_backticks(&lines), offered, extracted);
        }
        if level.contains('&') {
            let decoded = decode_entities(&level);
            if decoded != level {
                scan_variants(&without_backticks(&decoded), offered, extracted);
            }
        }
        if depth == ESCAPE_LEVELS_MAX || !level.contains('\\') {
            break;
        }
        level = unescape_once(&level);
    }
}

fn names_in<'a>(text: &str, offered: &'a Toolset) -> Vec<&'a str> {
    let tools = offered.tools().iter();
    tools
        .flat_map(|tool| [tool.tool.name.as_str(), &tool.native_name])
        .filter(|name| !name.is_empty() && text.contains(name))
        .collect()
}

/// Scans the text in three ways: as it is; without its outer brackets; and each object that mentions
/// a tool by itself.
fn scan_variants(text: &str, offered: &Arc<Toolset>, extracted: &mut ExtractedCalls) {
    let names = names_in(text, offered);
    if names.is_empty() {
        return;
    }
    scan(text, offered, 0, extracted);
    let pairs = BracketPairs::parse(text);
    for levels in 1..=BRACKET_LEVELS_MAX.min(pairs.depth) {
        scan(
            &pairs.without_outer_brackets(text, levels),
            offered,
            0,
            extracted,
        );
    }
    let bytes_max = (text.len() * OBJECTS_FACTOR_MAX).max(OBJECTS_BYTES_MIN);
    let mut bytes = 0;
    for object in pairs.objects_mentioning(text, &names) {
        bytes += object.len();
        if bytes > bytes_max {
            extracted.is_opaque = true;
            return;
        }
        scan(object, offered, 0, extracted);
    }
}

/// Scans the text, and the thinking and calls in it separately.
fn scan(text: &str, offered: &Arc<Toolset>, depth: usize, extracted: &mut ExtractedCalls) {
    let mut scanner = CallScanner::new(Arc::clone(offered));
    let mut events = scanner.push(text);
    events.extend(scanner.finish());
    for event in events {
        let unscanned = match event {
            // The scanner does not look for calls inside thinking or arguments.
            ScanEvent::Thinking(text) => text,
            ScanEvent::UnusableCall(call) => call.raw,
            ScanEvent::Call(call) => {
                let raw = call.raw.clone();
                extracted.calls.push(call);
                raw
            }
            _ => continue,
        };
        // Without its first character, the text is not read as the same call again.
        let mut chars = unscanned.chars();
        chars.next();
        let inner = chars.as_str();
        if inner.len() < 2 || inner.len() >= text.len() {
            continue;
        }
        if depth == NESTED_LEVELS_MAX {
            extracted.is_opaque = true;
        } else {
            scan(inner, offered, depth + 1, extracted);
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
                let decoded = u32::from_str_radix(digits, 16)
                    .ok()
                    .and_then(char::from_u32);
                if let Some(c) = decoded {
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
    while let Some(offset) = rest.find('&') {
        out.push_str(&rest[..offset]);
        rest = &rest[offset + 1..];
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

/// The matching brackets of a text, found without parsing the text between them.
struct BracketPairs {
    /// Start and end of each object, ordered by end.
    objects: Vec<(usize, usize)>,
    /// The offset of every bracket and its nesting level; 1 for an outermost pair, 0 if
    /// unmatched.
    brackets: Vec<(usize, usize)>,
    depth: usize,
}

impl BracketPairs {
    fn parse(text: &str) -> Self {
        let mut open: Vec<(usize, u8, usize)> = Vec::new();
        let (mut objects, mut brackets) = (Vec::new(), Vec::new());
        for (offset, byte) in text.bytes().enumerate() {
            match byte {
                b'{' | b'[' => {
                    open.push((offset, byte, brackets.len()));
                    brackets.push((offset, 0));
                }
                b'}' | b']' => {
                    let opener = if byte == b'}' { b'{' } else { b'[' };
                    if open
                        .last()
                        .is_some_and(|(_, open_byte, _)| *open_byte == opener)
                        && let Some((start, _, index)) = open.pop()
                    {
                        // The level is computed once all brackets are matched.
                        brackets[index].1 = usize::MAX;
                        brackets.push((offset, usize::MAX));
                        if byte == b'}' {
                            objects.push((start, offset + 1));
                        }
                    } else {
                        brackets.push((offset, 0));
                    }
                }
                _ => {}
            }
        }
        let (mut depth, mut deepest) = (0, 0);
        for (offset, level) in &mut brackets {
            if *level == 0 {
                continue;
            }
            let closes = matches!(text.as_bytes()[*offset], b'}' | b']');
            depth -= usize::from(closes);
            *level = depth + 1;
            depth += usize::from(!closes);
            deepest = deepest.max(depth);
        }
        Self {
            objects,
            brackets,
            depth: deepest,
        }
    }

    /// The text without the outermost `levels` levels of brackets and without unmatched
    /// brackets.
    fn without_outer_brackets(&self, text: &str, levels: usize) -> String {
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for (offset, level) in &self.brackets {
            if *level <= levels {
                out.push_str(&text[from..*offset]);
                out.push('\n');
                from = offset + 1;
            }
        }
        out.push_str(&text[from..]);
        out
    }

    /// The objects that contain the name of a tool outside any nested object.
    fn objects_mentioning<'a>(&self, text: &'a str, names: &[&str]) -> Vec<&'a str> {
        let mut mentions: Vec<usize> = names
            .iter()
            .flat_map(|name| text.match_indices(name).map(|(offset, _)| offset))
            .collect();
        mentions.sort_unstable();
        let mut by_start: Vec<(usize, usize)> = self.objects.clone();
        by_start.sort_unstable();
        // The objects that contain the current mention, outermost first.
        let mut open: Vec<(usize, usize)> = Vec::new();
        let mut unopened = by_start.into_iter().peekable();
        let mut mentioning: Vec<(usize, usize)> = Vec::new();
        for offset in mentions {
            while let Some(object) = unopened.next_if(|(start, _)| *start < offset) {
                // Objects that end before this one starts contain no later mention.
                while open.last().is_some_and(|(_, end)| *end <= object.0) {
                    open.pop();
                }
                open.push(object);
            }
            while open.last().is_some_and(|(_, end)| *end <= offset) {
                open.pop();
            }
            mentioning.extend(open.last());
        }
        mentioning.sort_unstable();
        mentioning.dedup();
        mentioning
            .into_iter()
            .map(|(start, end)| &text[start..end])
            .collect()
    }
}
