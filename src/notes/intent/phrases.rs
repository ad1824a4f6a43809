//! The documented phrases: fixed words around a topic.

use std::sync::LazyLock;

pub(super) const PHRASE_FILES: [&str; 2] = [
    include_str!("../../../assets/words/note_phrases.en.txt"),
    include_str!("../../../assets/words/note_phrases.ko.txt"),
];
const TOPIC: &str = "TOPIC";

pub(super) static PHRASES: LazyLock<Vec<Phrase>> =
    LazyLock::new(|| PHRASE_FILES.into_iter().flat_map(parse).collect());

/// What a phrase asks for: the name of its section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PhraseKind {
    Create,
    Find,
    SummarizeOpenNote,
    SummarizeTopic,
    SummarizeFile,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Phrase {
    pub(super) kind: PhraseKind,
    pub(super) style: &'static str,
    before: &'static str,
    /// What follows the topic; `None` for a phrase without topic.
    after: Option<&'static str>,
}

impl PhraseKind {
    fn of_section(name: &str) -> Option<Self> {
        Some(match name {
            "create" => Self::Create,
            "find" => Self::Find,
            "summarize open note" => Self::SummarizeOpenNote,
            "summarize topic" => Self::SummarizeTopic,
            "summarize file" => Self::SummarizeFile,
            _ => return None,
        })
    }
}

impl Phrase {
    /// The topic of a sentence that is this phrase; empty if the phrase has none.
    pub(super) fn topic_in<'a>(&self, sentence: &'a str) -> Option<&'a str> {
        let rest = without_beginning(sentence, self.before)?;
        let Some(after) = self.after else {
            return rest.is_empty().then_some(rest);
        };
        let topic = without_end(rest, after)?.trim();
        topic.contains(char::is_alphanumeric).then_some(topic)
    }

    pub(super) fn fixed_length(&self) -> usize {
        self.before.len() + self.after.map_or(0, str::len)
    }

    /// The extension directly after the topic, such as `.md`.
    pub(super) fn extension(&self) -> &'static str {
        let words = self.after.unwrap_or_default().split(' ');
        words.into_iter().next().unwrap_or_default()
    }
}

/// The phrases of a file. Lines in no known section are left out; a test finds them.
fn parse(file: &'static str) -> Vec<Phrase> {
    let mut section = None;
    let mut phrases = Vec::new();
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            let (name, style) = name.split_once(": ").unwrap_or((name, ""));
            section = PhraseKind::of_section(name).map(|kind| (kind, style));
        } else if let Some((kind, style)) = section.filter(|_| !line.is_empty()) {
            let (before, after) = match line.split_once(TOPIC) {
                Some((before, after)) => (before, Some(after)),
                None => (line, None),
            };
            phrases.push(Phrase {
                kind,
                style,
                before,
                after,
            });
        }
    }
    phrases
}

/// The text after fixed words, letter case and spaces aside. A space that separates the fixed words
/// from the topic must be there.
fn without_beginning<'a>(text: &'a str, fixed: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    let mut letters = fixed.chars().filter(|c| *c != ' ');
    let is_equal = letters.all(|letter| {
        let found = rest.find(|c| !c.is_whitespace());
        found.is_some_and(|found| is_same_letter(found, letter))
    });
    let rest = rest.as_str();
    let is_separate = !fixed.ends_with(' ') || rest.starts_with(char::is_whitespace);
    (is_equal && is_separate).then_some(rest)
}

/// Like [`without_beginning`], for fixed words at the end.
fn without_end<'a>(text: &'a str, fixed: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    let mut letters = fixed.chars().rev().filter(|c| *c != ' ');
    let is_equal = letters.all(|letter| {
        let found = rest.rfind(|c| !c.is_whitespace());
        found.is_some_and(|found| is_same_letter(found, letter))
    });
    let rest = rest.as_str();
    let is_separate = !fixed.starts_with(' ') || rest.ends_with(char::is_whitespace);
    (is_equal && is_separate).then_some(rest)
}

fn is_same_letter(found: char, letter: char) -> bool {
    found == letter || found.to_lowercase().eq(letter.to_lowercase())
}
