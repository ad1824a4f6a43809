//! Renders the inline text of one leaf (emphasis, code, links) as styled spans. pulldown-cmark
//! parses it; the block structure is already known.

use super::emphasis::emphasis_runs;
use super::line_syntax::setext_level;
use super::math::mask_math;
use super::style::{MarkdownGlyphs, StyleRole, TextStyle};
use pulldown_cmark::{BrokenLink, CowStr, Event, Options, Parser, Tag, TagEnd};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Maximum number of bytes shown of a link target.
const TARGET_BYTES_MAX: usize = 400;
/// Maximum number of link definitions, and of labels without a definition.
const LABELS_MAX: usize = 4_096;
/// Inserted where a delimiter run should open or close but CommonMark requires a space, and before
/// text that looks like a setext underline. Sanitized text never contains this character.
const INVISIBLE_SPACE: &str = "\u{2028}";
/// A full stop before the leaf prevents its first word from starting a block.
const LEADING_GUARD: &str = ".";

/// Link reference definitions, and labels that were used without a definition.
#[derive(Debug, Clone, Default)]
pub struct LinkDefinitions {
    targets: HashMap<String, String>,
    unresolved: HashSet<String>,
}

impl LinkDefinitions {
    /// Labels are compared regardless of case and spacing.
    fn normalize_label(label: &str) -> String {
        let words: Vec<_> = label.split_whitespace().collect();
        words.join(" ").to_lowercase()
    }

    /// Records the label if it has no target.
    fn resolve(&mut self, label: &str) -> Option<String> {
        let key = Self::normalize_label(label);
        let target = self.targets.get(&key).cloned();
        if target.is_none() && self.unresolved.len() < LABELS_MAX {
            self.unresolved.insert(key);
        }
        target
    }

    /// Adds a definition unless the label already has one. Returns whether text that is already
    /// laid out refers to the label.
    pub fn define(&mut self, definition: LinkDefinition) -> bool {
        let key = Self::normalize_label(&definition.label);
        // A footnote is not a link definition.
        if key.starts_with('^')
            || self.targets.len() >= LABELS_MAX
            || self.targets.contains_key(&key)
        {
            return false;
        }
        let was_unresolved = self.unresolved.remove(&key);
        self.targets.insert(key, definition.target);
        was_unresolved
    }

    pub fn clear_unresolved(&mut self) {
        self.unresolved.clear();
    }
}

/// Receives spans in text order: the text, its style, and its byte offset in the leaf.
pub trait InlineSink {
    fn push_text(&mut self, text: &str, style: TextStyle, offset: usize);
}

/// Whether the text has no inline syntax.
fn is_plain(text: &str) -> bool {
    !text.bytes().any(|byte| {
        matches!(
            byte,
            b'\\' | b'`' | b'*' | b'_' | b'[' | b'<' | b'&' | b'~' | b'$'
        )
    })
}

/// The text of a leaf, whose lines are separated by `\n`, and the ranges of its math.
#[derive(Debug, Clone, Default)]
pub struct LeafText {
    pub text: String,
    pub math: Vec<Range<usize>>,
}

/// Writes the text of a leaf to `sink` and returns its link definitions. O(len).
pub fn write_inline(
    leaf: &LeafText,
    base: TextStyle,
    glyphs: &MarkdownGlyphs,
    links: &mut LinkDefinitions,
    sink: &mut impl InlineSink,
) -> Vec<LinkDefinition> {
    let text = leaf.text.as_str();
    if is_plain(text) {
        let mut line_start = 0;
        for line in text.split('\n') {
            if line_start > 0 {
                sink.push_text("\n", base, line_start);
            }
            let indent = line.len() - line.trim_start_matches(' ').len();
            sink.push_text(line.trim_matches(' '), base, line_start + indent);
            line_start += line.len() + 1;
        }
        return Vec::new();
    }
    // A definition is recognized only at the start of its paragraph, so no guard may precede it.
    let guard = if text.starts_with('[') {
        ""
    } else {
        LEADING_GUARD
    };
    let (guarded, insertions) = prepare_for_parser(guard, leaf);
    let options = Options::ENABLE_STRIKETHROUGH;
    let resolve = |link: BrokenLink| {
        let target = links.resolve(&link.reference)?;
        Some((CowStr::from(target), CowStr::from("")))
    };
    let parser = Parser::new_with_broken_link_callback(&guarded, options, Some(resolve));
    let mut events = parser.into_offset_iter();
    let mut definitions: Vec<_> = events
        .reference_definitions()
        .iter()
        .map(|(label, link)| (label.to_owned(), link.dest.to_string(), link.span.clone()))
        .collect();
    definitions.sort_by_key(|(_, _, span)| span.start);
    let mut writer = InlineWriter {
        sink,
        glyphs,
        styles: vec![base],
        links: Vec::new(),
        guard_bytes_left: guard.len(),
        guard_bytes: guard.len(),
        insertions,
        has_output: false,
        is_after_line_break: false,
    };
    for (_, _, span) in &definitions {
        writer.begin_block(span.start);
        let style = TextStyle::from_role(StyleRole::Dim);
        writer.push_text(guarded[span.clone()].trim_end(), style, span.start);
    }
    for (event, range) in &mut events {
        writer.push_event(event, range);
    }
    definitions
        .into_iter()
        .map(|(label, target, _)| LinkDefinition { label, target })
        .collect()
}

#[derive(Debug, Clone, PartialEq)]
pub struct LinkDefinition {
    label: String,
    target: String,
}

struct OpenLink {
    target: String,
    text: String,
    is_image: bool,
}

struct InlineWriter<'a, I: InlineSink> {
    sink: &'a mut I,
    glyphs: &'a MarkdownGlyphs,
    styles: Vec<TextStyle>,
    links: Vec<OpenLink>,
    /// Bytes of the guard still to skip.
    guard_bytes_left: usize,
    guard_bytes: usize,
    /// Each insertion: its offset, and the number of bytes inserted up to and including it.
    insertions: Vec<(usize, usize)>,
    has_output: bool,
    is_after_line_break: bool,
}

impl<I: InlineSink> InlineWriter<'_, I> {
    fn current_style(&self) -> TextStyle {
        self.styles.last().copied().unwrap_or_default()
    }

    fn push_style(&mut self, change: impl FnOnce(&mut TextStyle)) {
        let mut style = self.current_style();
        change(&mut style);
        self.styles.push(style);
    }

    fn push_text(&mut self, text: &str, style: TextStyle, offset: usize) {
        // Drop spaces after a line break.
        let text = match self.is_after_line_break {
            true => text.trim_start_matches(' '),
            false => text,
        };
        if !text.is_empty() {
            self.is_after_line_break = text == "\n";
        }
        for link in &mut self.links {
            link.text.push_str(text);
        }
        self.has_output |= !text.is_empty();
        let next = self.insertions.partition_point(|(at, _)| *at < offset);
        let last = next.checked_sub(1).map(|last| self.insertions[last]);
        let inserted = last.map_or(0, |(_, bytes)| bytes);
        let offset = offset.saturating_sub(self.guard_bytes + inserted);
        if text.contains(INVISIBLE_SPACE) {
            self.sink
                .push_text(&text.replace(INVISIBLE_SPACE, ""), style, offset);
        } else {
            self.sink.push_text(text, style, offset);
        }
    }

    fn begin_block(&mut self, offset: usize) {
        if self.has_output {
            self.push_text("\n", TextStyle::default(), offset);
        }
    }

    fn push_event(&mut self, event: Event, range: Range<usize>) {
        let guard = std::mem::take(&mut self.guard_bytes_left);
        let start = range.start;
        match event {
            Event::Start(tag) => {
                // The guard comes later, in the text of this block.
                self.guard_bytes_left = guard;
                self.start_tag(tag, start);
            }
            Event::End(tag) => self.end_tag(tag, range.end),
            Event::Text(text) => self.push_text(
                &text[guard.min(text.len())..],
                self.current_style(),
                start + guard,
            ),
            Event::Code(text) => {
                let mut style = self.current_style();
                style.role = StyleRole::Code;
                self.push_text(self.glyphs.code_quote, style, start);
                self.push_text(&text, style, start);
                self.push_text(self.glyphs.code_quote, style, start);
            }
            // Cannot occur: math is not enabled.
            Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.push_text(&text, self.current_style(), start);
            }
            Event::Html(text) | Event::InlineHtml(text) => self.push_html(&text, start),
            Event::SoftBreak | Event::HardBreak => {
                self.push_text("\n", self.current_style(), start)
            }
            Event::Rule => {
                self.begin_block(start);
                self.push_text("---", TextStyle::from_role(StyleRole::Dim), start);
            }
            Event::FootnoteReference(text) => self.push_text(&text, self.current_style(), start),
            Event::TaskListMarker(_) => {}
        }
    }

    fn push_html(&mut self, text: &str, offset: usize) {
        let name = text
            .trim_start_matches('<')
            .trim_end()
            .trim_end_matches('>');
        let is_break = name.trim_end_matches('/').trim().eq_ignore_ascii_case("br");
        if is_break {
            return self.push_text("\n", self.current_style(), offset);
        }
        let style = TextStyle {
            role: StyleRole::Dim,
            ..self.current_style()
        };
        self.push_text(text, style, offset);
    }

    fn start_tag(&mut self, tag: Tag, offset: usize) {
        match tag {
            Tag::Strong => self.push_style(|style| style.bold = true),
            Tag::Emphasis => self.push_style(|style| style.italic = true),
            Tag::Strikethrough => self.push_style(|style| style.strikethrough = true),
            Tag::Link { dest_url, .. } => self.open_link(&dest_url, false),
            Tag::Image { dest_url, .. } => self.open_link(&dest_url, true),
            _ => self.begin_block(offset),
        }
    }

    fn open_link(&mut self, target: &str, is_image: bool) {
        self.links.push(OpenLink {
            target: target.to_owned(),
            text: String::new(),
            is_image,
        });
        self.push_style(|style| {
            style.role = StyleRole::Link;
            style.underlined = true;
        });
    }

    fn end_tag(&mut self, tag: TagEnd, offset: usize) {
        match tag {
            TagEnd::Strong | TagEnd::Emphasis | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                self.styles.pop();
                let Some(link) = self.links.pop() else { return };
                if link.is_image || !text_is_target(&link.text, &link.target) {
                    self.push_link_target(&link, offset);
                }
            }
            _ => {}
        }
    }

    /// Shows the target of a link, after its text if it has any. Images are labeled `image`.
    fn push_link_target(&mut self, link: &OpenLink, offset: usize) {
        let end = link.target.floor_char_boundary(TARGET_BYTES_MAX);
        let ellipsis = if end < link.target.len() { "…" } else { "" };
        let target = link.target[..end].replace(['\n', '\r'], " ");
        let is_text_target = text_is_target(&link.text, &link.target);
        let text = match (link.text.trim().is_empty(), link.is_image) {
            (true, false) => format!("{target}{ellipsis}"),
            (true, true) => format!("image: {target}{ellipsis}"),
            (false, false) => format!(" ({target}{ellipsis})"),
            (false, true) if is_text_target => " (image)".to_owned(),
            (false, true) => format!(" (image: {target}{ellipsis})"),
        };
        self.push_text(&text, TextStyle::from_role(StyleRole::Dim), offset);
    }
}

/// Prepends `guard` to the text, escapes its math so that the parser keeps it, and inserts
/// invisible spaces where delimiter runs need them. Also inserts one before each line that looks
/// like a setext underline: the block scanner has already decided that it is text. Returns the new
/// text and, for each insertion, its offset and the number of bytes inserted so far.
fn prepare_for_parser(guard: &str, leaf: &LeafText) -> (String, Vec<(usize, usize)>) {
    let text = leaf.text.as_str();
    let mut positions: Vec<(usize, &str)> = Vec::new();
    if !text.is_ascii() && text.contains(['*', '_', '~']) {
        let runs = emphasis_runs(&mask_math(text, &leaf.math));
        let spaces = runs.invisible_spaces.into_iter();
        positions.extend(spaces.map(|position| (position, INVISIBLE_SPACE)));
    }
    for (position, _) in text.match_indices('\n') {
        let line = text[position + 1..].split('\n').next().unwrap_or_default();
        if setext_level(line.trim_start_matches(' ')).is_some() {
            positions.push((position + 1, INVISIBLE_SPACE));
        }
    }
    for span in &leaf.math {
        let bytes = text[span.clone()].bytes().zip(span.clone());
        let punctuation = bytes.filter(|(byte, _)| byte.is_ascii_punctuation());
        positions.extend(punctuation.map(|(_, position)| (position, "\\")));
    }
    // The sort is stable: a space precedes the backslash at its position.
    positions.sort_by_key(|(position, _)| *position);
    let mut insertions = Vec::with_capacity(positions.len());
    let mut prepared = String::with_capacity(text.len() + positions.len() + 8);
    prepared.push_str(guard);
    let (mut copied, mut inserted) = (0, 0);
    for (position, insertion) in positions {
        prepared.push_str(&text[copied..position]);
        inserted += insertion.len();
        insertions.push((prepared.len(), inserted));
        prepared.push_str(insertion);
        copied = position;
    }
    prepared.push_str(&text[copied..]);
    (prepared, insertions)
}

/// Whether the text is the target itself, regardless of scheme and trailing slash, or there is no
/// target.
fn text_is_target(text: &str, target: &str) -> bool {
    let (text, target) = [text, target]
        .map(|text| text.trim().trim_end_matches('/'))
        .into();
    let schemes = ["https://", "http://", "mailto:"];
    let bare = schemes
        .iter()
        .find_map(|scheme| target.strip_prefix(scheme));
    target.is_empty() || text == target || bare == Some(text)
}

#[cfg(test)]
mod tests;
