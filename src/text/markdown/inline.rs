//! The text of one leaf: emphasis, code, links and the rest, as stretches with a
//! look. Parsed by pulldown-cmark; what a leaf is was decided before.

use super::emphasis::emphasis_runs;
use super::line_syntax::setext_level;
use super::style::{MarkdownGlyphs, StyleRole, TextStyle};
use pulldown_cmark::{BrokenLink, CowStr, Event, Options, Parser, Tag, TagEnd};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Bytes of a link's target that are shown.
const TARGET_BYTES_MAX: usize = 400;
/// Labels of references that are remembered.
const LABELS_MAX: usize = 4_096;
/// Stands where a run of signs closes or opens though no space is there. Nothing
/// sanitised holds one.
const INVISIBLE_SPACE: &str = "\u{2028}";
/// A full stop in front of a leaf keeps its first word from meaning a block.
const LEADING_GUARD: &str = ".";

/// Link reference definitions: those that came, and labels that wait for one.
#[derive(Debug, Clone, Default)]
pub struct LinkDefinitions {
    targets: HashMap<String, String>,
    unresolved: HashSet<String>,
}

impl LinkDefinitions {
    /// Labels are compared without regard to case and spaces.
    fn key(label: &str) -> String {
        let words: Vec<_> = label.split_whitespace().collect();
        words.join(" ").to_lowercase()
    }

    fn target(&mut self, label: &str) -> Option<String> {
        let key = Self::key(label);
        let found = self.targets.get(&key).cloned();
        if found.is_none() && self.unresolved.len() < LABELS_MAX {
            self.unresolved.insert(key);
        }
        found
    }

    /// Adds a definition; the first of a label counts. True where text that was
    /// laid out before waits for it.
    pub fn define(&mut self, definition: LinkDefinition) -> bool {
        let key = Self::key(&definition.label);
        // A footnote is none.
        if key.starts_with('^')
            || self.targets.len() >= LABELS_MAX
            || self.targets.contains_key(&key)
        {
            return false;
        }
        let awaited = self.unresolved.remove(&key);
        self.targets.insert(key, definition.target);
        awaited
    }

    pub fn clear_unresolved(&mut self) {
        self.unresolved.clear();
    }
}

/// Takes stretches in the order of the text: the words, their look, and the byte
/// of the leaf that they stand at.
pub trait InlineSink {
    fn push_text(&mut self, words: &str, look: TextStyle, at: usize);
}

/// Where nothing in a text means anything but itself.
fn is_plain(text: &str) -> bool {
    !text.bytes().any(|byte| {
        matches!(
            byte,
            b'\\' | b'`' | b'*' | b'_' | b'[' | b'<' | b'&' | b'~' | b'$'
        )
    })
}

/// Inks the text of a leaf, whose lines end in `\n`, and returns the definitions in
/// it. O(len).
pub fn write_inline(
    text: &str,
    base: TextStyle,
    marks: &MarkdownGlyphs,
    links: &mut LinkDefinitions,
    ink: &mut impl InlineSink,
) -> Vec<LinkDefinition> {
    if is_plain(text) {
        let mut at = 0;
        for line in text.split('\n') {
            if at > 0 {
                ink.push_text("\n", base, at);
            }
            let indent = line.len() - line.trim_start_matches(' ').len();
            ink.push_text(line.trim_matches(' '), base, at + indent);
            at += line.len() + 1;
        }
        return Vec::new();
    }
    // A definition is one only at the start of its paragraph.
    let guard = if text.starts_with('[') {
        ""
    } else {
        LEADING_GUARD
    };
    let (guarded, gaps) = insert_invisible_spaces(guard, text);
    let options = Options::ENABLE_STRIKETHROUGH;
    let resolve = |link: BrokenLink| {
        let target = links.target(&link.reference)?;
        Some((CowStr::from(target), CowStr::from("")))
    };
    let parser = Parser::new_with_broken_link_callback(&guarded, options, Some(resolve));
    let mut events = parser.into_offset_iter();
    let definitions = events.reference_definitions().iter();
    let own = definitions
        .map(|(label, link)| (label.to_owned(), link.dest.to_string(), link.span.clone()));
    let mut definitions: Vec<_> = own.collect();
    definitions.sort_by_key(|(_, _, span)| span.start);
    let mut writer = InlineWriter {
        ink,
        marks,
        styles: vec![base],
        links: Vec::new(),
        guard_bytes_left: guard.len(),
        guard_bytes: guard.len(),
        invisible_spaces: gaps,
        has_output: false,
        after_line_break: false,
    };
    for (_, _, span) in &definitions {
        writer.begin_block(span.start);
        let look = TextStyle::from_role(StyleRole::Dim);
        writer.put(guarded[span.clone()].trim_end(), look, span.start);
    }
    for (event, at) in &mut events {
        writer.push_event(event, at);
    }
    definitions
        .into_iter()
        .map(|(label, target, _)| LinkDefinition { label, target })
        .collect()
}

/// A link reference definition.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkDefinition {
    label: String,
    target: String,
}

struct OpenLink {
    target: String,
    words: String,
}

struct InlineWriter<'a, I: InlineSink> {
    ink: &'a mut I,
    marks: &'a MarkdownGlyphs,
    styles: Vec<TextStyle>,
    links: Vec<OpenLink>,
    /// Bytes of the guard that are still to be skipped.
    guard_bytes_left: usize,
    /// Bytes of the guard.
    guard_bytes: usize,
    /// Where gaps were put into the text.
    invisible_spaces: Vec<usize>,
    has_output: bool,
    /// The last thing was a line end.
    after_line_break: bool,
}

impl<I: InlineSink> InlineWriter<'_, I> {
    fn current_style(&self) -> TextStyle {
        self.styles.last().copied().unwrap_or_default()
    }

    fn push_style(&mut self, change: impl FnOnce(&mut TextStyle)) {
        let mut look = self.current_style();
        change(&mut look);
        self.styles.push(look);
    }

    fn put(&mut self, words: &str, look: TextStyle, at: usize) {
        // A line does not begin with the space that stood behind a break.
        let words = match self.after_line_break {
            true => words.trim_start_matches(' '),
            false => words,
        };
        if !words.is_empty() {
            self.after_line_break = words == "\n";
        }
        for link in &mut self.links {
            link.words.push_str(words);
        }
        self.has_output |= !words.is_empty();
        let before = self.invisible_spaces.partition_point(|gap| *gap < at);
        let at = at.saturating_sub(self.guard_bytes + before * INVISIBLE_SPACE.len());
        if words.contains(INVISIBLE_SPACE) {
            self.ink
                .push_text(&words.replace(INVISIBLE_SPACE, ""), look, at);
        } else {
            self.ink.push_text(words, look, at);
        }
    }

    fn begin_block(&mut self, at: usize) {
        if self.has_output {
            self.put("\n", TextStyle::default(), at);
        }
    }

    fn push_event(&mut self, event: Event, at: Range<usize>) {
        let guard = std::mem::take(&mut self.guard_bytes_left);
        let start = at.start;
        match event {
            Event::Start(tag) => {
                // The paragraph of the guard itself.
                self.guard_bytes_left = guard;
                self.start(tag, start);
            }
            Event::End(tag) => self.end(tag, at.end),
            Event::Text(words) => self.put(
                &words[guard.min(words.len())..],
                self.current_style(),
                start + guard,
            ),
            Event::Code(words) => {
                let mut look = self.current_style();
                look.role = StyleRole::Code;
                self.put(self.marks.code_quote, look, start);
                self.put(&words, look, start);
                self.put(self.marks.code_quote, look, start);
            }
            // Not asked for.
            Event::InlineMath(words) | Event::DisplayMath(words) => {
                self.put(&words, self.current_style(), start);
            }
            Event::Html(words) | Event::InlineHtml(words) => self.html(&words, start),
            Event::SoftBreak | Event::HardBreak => self.put("\n", self.current_style(), start),
            Event::Rule => {
                self.begin_block(start);
                self.put("---", TextStyle::from_role(StyleRole::Dim), start);
            }
            Event::FootnoteReference(words) => self.put(&words, self.current_style(), start),
            Event::TaskListMarker(_) => {}
        }
    }

    fn html(&mut self, words: &str, at: usize) {
        let name = words
            .trim_start_matches('<')
            .trim_end()
            .trim_end_matches('>');
        let is_break = name.trim_end_matches('/').trim().eq_ignore_ascii_case("br");
        if is_break {
            return self.put("\n", self.current_style(), at);
        }
        let look = TextStyle {
            role: StyleRole::Dim,
            ..self.current_style()
        };
        self.put(words, look, at);
    }

    fn start(&mut self, tag: Tag, at: usize) {
        match tag {
            Tag::Strong => self.push_style(|look| look.bold = true),
            Tag::Emphasis => self.push_style(|look| look.italic = true),
            Tag::Strikethrough => self.push_style(|look| look.strikethrough = true),
            Tag::Link { dest_url, .. } => self.open_link(&dest_url),
            Tag::Image { dest_url, .. } => {
                self.put("image: ", TextStyle::from_role(StyleRole::Dim), at);
                self.open_link(&dest_url);
            }
            _ => self.begin_block(at),
        }
    }

    fn open_link(&mut self, target: &str) {
        self.links.push(OpenLink {
            target: target.to_owned(),
            words: String::new(),
        });
        self.push_style(|look| {
            look.role = StyleRole::Link;
            look.underlined = true;
        });
    }

    fn end(&mut self, tag: TagEnd, at: usize) {
        match tag {
            TagEnd::Strong | TagEnd::Emphasis | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                self.styles.pop();
                let Some(link) = self.links.pop() else { return };
                if !text_names_target(&link.words, &link.target) {
                    self.push_link_target(&link, at);
                }
            }
            _ => {}
        }
    }

    /// Where a link leads, unless its words say so already.
    fn push_link_target(&mut self, link: &OpenLink, at: usize) {
        let shown = link.target.floor_char_boundary(TARGET_BYTES_MAX);
        let more = if shown < link.target.len() { "…" } else { "" };
        let target = link.target[..shown].replace(['\n', '\r'], " ");
        let words = if link.words.trim().is_empty() {
            format!("{target}{more}")
        } else {
            format!(" ({target}{more})")
        };
        self.put(&words, TextStyle::from_role(StyleRole::Dim), at);
    }
}

/// The text behind its guard, with gaps where runs of signs need one, and where they
/// are in it. A line that would make a heading of those above has one too: were it
/// one, it would not be in this leaf.
fn insert_invisible_spaces(guard: &str, text: &str) -> (String, Vec<usize>) {
    let mut places = Vec::new();
    if !text.is_ascii() && text.contains(['*', '_', '~']) {
        places = emphasis_runs(text).invisible_spaces;
    }
    for (at, _) in text.match_indices('\n') {
        let line = text[at + 1..].split('\n').next().unwrap_or_default();
        if setext_level(line.trim_start_matches(' ')).is_some() {
            places.push(at + 1);
        }
    }
    places.sort_unstable();
    let mut gaps = Vec::with_capacity(places.len());
    let mut spaced = String::with_capacity(text.len() + 8);
    spaced.push_str(guard);
    let mut from = 0;
    for at in places {
        spaced.push_str(&text[from..at]);
        gaps.push(spaced.len());
        spaced.push_str(INVISIBLE_SPACE);
        from = at;
    }
    spaced.push_str(&text[from..]);
    (spaced, gaps)
}

fn text_names_target(words: &str, target: &str) -> bool {
    let (words, target) = [words, target]
        .map(|text| text.trim().trim_end_matches('/'))
        .into();
    let schemes = ["https://", "http://", "mailto:"];
    let bare = schemes
        .iter()
        .find_map(|scheme| target.strip_prefix(scheme));
    target.is_empty() || words == target || bare == Some(words)
}

#[cfg(test)]
mod tests;
