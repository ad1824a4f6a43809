//! English topics that name notes directly: by their topic, as in `my tax notes`, or by their file
//! name.

use super::english_lookalikes::is_music;
use super::topic::RequestTopic;

/// Words before `notes` that name something else, or select notes by something other than their topic.
const NOT_TOPICS: &[&str] = &[
    "release",
    "patch",
    "update",
    "liner",
    "program",
    "sticky",
    "bank",
    "cliff",
    "cliffs",
    "credit",
    "promissory",
    "voice",
    "foot",
    "musical",
    "music",
    "sheet",
    "grace",
    "apple",
    "google",
    "onenote",
    "evernote",
    "notion",
    "obsidian",
    "keep",
    "last",
    "latest",
    "recent",
    "newest",
    "oldest",
    "old",
    "new",
    "previous",
    "first",
    "second",
    "third",
    "final",
    "own",
    "best",
    "worst",
    "other",
    "next",
    "longest",
    "shortest",
    "untagged",
    "unread",
    "important",
    "current",
    "open",
    "private",
    "public",
    "hidden",
    "empty",
    "duplicate",
    "duplicated",
    "handwritten",
    "paper",
    "deleted",
    "archived",
    "shared",
    "unsaved",
    "unfinished",
    "existing",
    "above",
    "following",
    "attached",
    "pasted",
    "typed",
    "scanned",
    "entire",
    "whole",
    "full",
    "daily",
    "weekly",
    "monthly",
    "many",
    "few",
    "more",
    "most",
    "three",
    "two",
    "ten",
    "five",
    "thank-you",
    "love",
    "sick",
    "suicide",
    "doctor's",
    "side",
    "quick",
    "rough",
    "messy",
    "raw",
    "these",
    "those",
    "this",
    "that",
    "doctor",
    "teacher",
    "editor",
    "author",
    "translator",
    "delivery",
    "discharge",
    "cover",
    "thank",
    "farewell",
    "goodbye",
    "ransom",
    "root",
    "top",
    "bass",
    "pinned",
    "linked",
    "selected",
    "highlighted",
    "quoted",
    "long",
    "short",
    "low",
    "high",
    "wrong",
    "missing",
];
/// Maximum number of words before `notes`.
const KIND_WORDS_MAX: usize = 3;
/// Words which show that the words before `notes` are part of a sentence, not a topic.
const FUNCTION_WORDS: &[&str] = &[
    "in", "on", "of", "for", "from", "to", "with", "and", "or", "but", "the", "a", "an", "not",
    "is", "are", "by", "about", "into", "at", "as", "than",
];
/// Files of software projects, which are not notes unless the user says so.
const PROJECT_FILES: &[&str] = &[
    "readme",
    "changelog",
    "contributing",
    "license",
    "security",
    "code_of_conduct",
    "agents",
    "claude",
];

/// Whether `TOPIC notes` names notes by their topic, as in `my tax notes`.
pub(super) fn is_kind_of_note(topic: &RequestTopic) -> bool {
    let lower = topic.text.to_lowercase();
    let mut words = lower.split_whitespace();
    let is_other = |word: &str| {
        NOT_TOPICS.contains(&word) || FUNCTION_WORDS.contains(&word) || word.contains(',')
    };
    lower.split_whitespace().count() <= KIND_WORDS_MAX
        && !is_music(topic)
        && !words.any(|word| is_other(word.trim_end_matches("'s")))
}

/// Whether the topic is the name of a Markdown file that may be a note.
pub(super) fn is_note_file(topic: &RequestTopic) -> bool {
    let lower = topic.text.to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let stem = name
        .strip_suffix(".md")
        .or_else(|| name.strip_suffix(".markdown"));
    let is_one_name = topic.is_quoted || !lower.contains(char::is_whitespace);
    is_one_name && stem.is_some_and(|stem| !stem.is_empty() && !PROJECT_FILES.contains(&stem))
}
