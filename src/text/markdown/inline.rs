//! The text of one leaf: emphasis, code, links and the rest, as stretches with a
//! look. Parsed by pulldown-cmark; what a leaf is was decided before.

use super::emphasis::delimiters;
use super::line_syntax::underline;
use super::style::{Look, Marks, Role};
use pulldown_cmark::{BrokenLink, CowStr, Event, Options, Parser, Tag, TagEnd};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Bytes of a link's target that are shown.
const TARGET_BYTES_MAX: usize = 400;
/// Labels of references that are remembered.
const LABELS_MAX: usize = 4_096;
/// Stands where a run of signs closes or opens though no space is there. Nothing
/// sanitised holds one.
const GAP: &str = "\u{2028}";
/// A full stop in front of a leaf keeps its first word from meaning a block.
const GUARD: &str = ".";

/// Link reference definitions: those that came, and labels that wait for one.
#[derive(Debug, Clone, Default)]
pub struct Links {
    known: HashMap<String, String>,
    missing: HashSet<String>,
}

impl Links {
    /// Labels are compared without regard to case and spaces.
    fn key(label: &str) -> String {
        let words: Vec<_> = label.split_whitespace().collect();
        words.join(" ").to_lowercase()
    }

    fn target(&mut self, label: &str) -> Option<String> {
        let key = Self::key(label);
        let found = self.known.get(&key).cloned();
        if found.is_none() && self.missing.len() < LABELS_MAX {
            self.missing.insert(key);
        }
        found
    }

    /// Adds a definition; the first of a label counts. True where text that was
    /// laid out before waits for it.
    pub fn define(&mut self, definition: Definition) -> bool {
        let key = Self::key(&definition.label);
        // A footnote is none.
        if key.starts_with('^') || self.known.len() >= LABELS_MAX || self.known.contains_key(&key) {
            return false;
        }
        let awaited = self.missing.remove(&key);
        self.known.insert(key, definition.target);
        awaited
    }

    pub fn forget_missing(&mut self) {
        self.missing.clear();
    }
}

/// Takes stretches in the order of the text: the words, their look, and the byte
/// of the leaf that they stand at.
pub trait Ink {
    fn put(&mut self, words: &str, look: Look, at: usize);
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
pub fn ink_inline(
    text: &str,
    base: Look,
    marks: &Marks,
    links: &mut Links,
    ink: &mut impl Ink,
) -> Vec<Definition> {
    if is_plain(text) {
        let mut at = 0;
        for line in text.split('\n') {
            if at > 0 {
                ink.put("\n", base, at);
            }
            let indent = line.len() - line.trim_start_matches(' ').len();
            ink.put(line.trim_matches(' '), base, at + indent);
            at += line.len() + 1;
        }
        return Vec::new();
    }
    // A definition is one only at the start of its paragraph.
    let guard = if text.starts_with('[') { "" } else { GUARD };
    let (guarded, gaps) = spaced(guard, text);
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
    let mut writer = Writer {
        ink,
        marks,
        looks: vec![base],
        links: Vec::new(),
        guard: guard.len(),
        offset: guard.len(),
        gaps,
        inked: false,
        broke: false,
    };
    for (_, _, span) in &definitions {
        writer.block_begins(span.start);
        let look = Look::of(Role::Dim);
        writer.put(guarded[span.clone()].trim_end(), look, span.start);
    }
    for (event, at) in &mut events {
        writer.take(event, at);
    }
    definitions
        .into_iter()
        .map(|(label, target, _)| Definition { label, target })
        .collect()
}

/// A link reference definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    label: String,
    target: String,
}

struct OpenLink {
    target: String,
    words: String,
}

struct Writer<'a, I: Ink> {
    ink: &'a mut I,
    marks: &'a Marks,
    looks: Vec<Look>,
    links: Vec<OpenLink>,
    /// Bytes of the guard that are still to be skipped.
    guard: usize,
    /// Bytes of the guard.
    offset: usize,
    /// Where gaps were put into the text.
    gaps: Vec<usize>,
    inked: bool,
    /// The last thing was a line end.
    broke: bool,
}

impl<I: Ink> Writer<'_, I> {
    fn look(&self) -> Look {
        self.looks.last().copied().unwrap_or_default()
    }

    fn with(&mut self, change: impl FnOnce(&mut Look)) {
        let mut look = self.look();
        change(&mut look);
        self.looks.push(look);
    }

    fn put(&mut self, words: &str, look: Look, at: usize) {
        // A line does not begin with the space that stood behind a break.
        let words = match self.broke {
            true => words.trim_start_matches(' '),
            false => words,
        };
        if !words.is_empty() {
            self.broke = words == "\n";
        }
        for link in &mut self.links {
            link.words.push_str(words);
        }
        self.inked |= !words.is_empty();
        let before = self.gaps.partition_point(|gap| *gap < at);
        let at = at.saturating_sub(self.offset + before * GAP.len());
        if words.contains(GAP) {
            self.ink.put(&words.replace(GAP, ""), look, at);
        } else {
            self.ink.put(words, look, at);
        }
    }

    fn block_begins(&mut self, at: usize) {
        if self.inked {
            self.put("\n", Look::default(), at);
        }
    }

    fn take(&mut self, event: Event, at: Range<usize>) {
        let guard = std::mem::take(&mut self.guard);
        let start = at.start;
        match event {
            Event::Start(tag) => {
                // The paragraph of the guard itself.
                self.guard = guard;
                self.start(tag, start);
            }
            Event::End(tag) => self.end(tag, at.end),
            Event::Text(words) => {
                self.put(&words[guard.min(words.len())..], self.look(), start + guard)
            }
            Event::Code(words) => {
                let mut look = self.look();
                look.role = Role::Code;
                self.put(self.marks.tick, look, start);
                self.put(&words, look, start);
                self.put(self.marks.tick, look, start);
            }
            // Not asked for.
            Event::InlineMath(words) | Event::DisplayMath(words) => {
                self.put(&words, self.look(), start);
            }
            Event::Html(words) | Event::InlineHtml(words) => self.html(&words, start),
            Event::SoftBreak | Event::HardBreak => self.put("\n", self.look(), start),
            Event::Rule => {
                self.block_begins(start);
                self.put("---", Look::of(Role::Dim), start);
            }
            Event::FootnoteReference(words) => self.put(&words, self.look(), start),
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
            return self.put("\n", self.look(), at);
        }
        let look = Look {
            role: Role::Dim,
            ..self.look()
        };
        self.put(words, look, at);
    }

    fn start(&mut self, tag: Tag, at: usize) {
        match tag {
            Tag::Strong => self.with(|look| look.bold = true),
            Tag::Emphasis => self.with(|look| look.italic = true),
            Tag::Strikethrough => self.with(|look| look.struck = true),
            Tag::Link { dest_url, .. } => self.open_link(&dest_url),
            Tag::Image { dest_url, .. } => {
                self.put("image: ", Look::of(Role::Dim), at);
                self.open_link(&dest_url);
            }
            _ => self.block_begins(at),
        }
    }

    fn open_link(&mut self, target: &str) {
        self.links.push(OpenLink {
            target: target.to_owned(),
            words: String::new(),
        });
        self.with(|look| {
            look.role = Role::Link;
            look.underlined = true;
        });
    }

    fn end(&mut self, tag: TagEnd, at: usize) {
        match tag {
            TagEnd::Strong | TagEnd::Emphasis | TagEnd::Strikethrough => {
                self.looks.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                self.looks.pop();
                let Some(link) = self.links.pop() else { return };
                if !leads_to(&link.words, &link.target) {
                    self.target(&link, at);
                }
            }
            _ => {}
        }
    }

    /// Where a link leads, unless its words say so already.
    fn target(&mut self, link: &OpenLink, at: usize) {
        let shown = link.target.floor_char_boundary(TARGET_BYTES_MAX);
        let more = if shown < link.target.len() { "…" } else { "" };
        let target = link.target[..shown].replace(['\n', '\r'], " ");
        let words = if link.words.trim().is_empty() {
            format!("{target}{more}")
        } else {
            format!(" ({target}{more})")
        };
        self.put(&words, Look::of(Role::Dim), at);
    }
}

/// The text behind its guard, with gaps where runs of signs need one, and where they
/// are in it. A line that would make a heading of those above has one too: were it
/// one, it would not be in this leaf.
fn spaced(guard: &str, text: &str) -> (String, Vec<usize>) {
    let mut places = Vec::new();
    if !text.is_ascii() && text.contains(['*', '_', '~']) {
        places = delimiters(text).gaps;
    }
    for (at, _) in text.match_indices('\n') {
        let line = text[at + 1..].split('\n').next().unwrap_or_default();
        if underline(line.trim_start_matches(' ')).is_some() {
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
        spaced.push_str(GAP);
        from = at;
    }
    spaced.push_str(&text[from..]);
    (spaced, gaps)
}

fn leads_to(words: &str, target: &str) -> bool {
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
