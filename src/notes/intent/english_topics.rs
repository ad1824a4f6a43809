//! Decides whether English words are a self-contained topic: they neither contain nor refer to other
//! text, and make no second request.

use super::english_lookalikes::DETERMINERS;
use super::topic::RequestTopic;

/// A topic must not consist of only these words, which refer to something outside the prompt.
const REFERENCES: &[&str] = &[
    "this",
    "that",
    "it",
    "these",
    "those",
    "them",
    "him",
    "her",
    "above",
    "below",
    "me",
    "you",
    "us",
    "yourself",
    "everything",
    "something",
    "anything",
    "conversation",
    "chat",
    "stuff",
    "things",
    "our",
    "the",
    "my",
    "all",
    "of",
];

/// Signs that the prompt contains or points to other text, or that no note is to be saved here.
const TEXT_SIGNS: &[&str] = &[
    "this text",
    "the text",
    "following",
    "this list",
    "this document",
    "below",
    "this page",
    "the above",
    "attached",
    "behalf of",
    "my behalf",
    "of this ",
    "in this ",
    "from this ",
    "what we",
    "what you",
    "what i said",
    "to the readme",
    "in the readme",
    "in the doc",
    "in src/",
    "to the docs",
    "to the doc",
    "to the wiki",
    "to the changelog",
    "to the file",
    "to the code",
    "in the code",
    "to the document",
    "to the essay",
    "to the email",
    "this conversation",
    "this chat",
    "this error",
    "i attached",
    "without saving",
    "don't save",
    "do not save",
    "not saving",
    " to slack",
    " to notion",
    " to evernote",
    " to onenote",
    " to obsidian",
    " to jira",
];

/// After one of [`HISTORY_OWNERS`], these refer to the conversation.
const HISTORY: &[&str] = &[
    "conversation",
    "conversations",
    "chat",
    "chats",
    "discussion",
    "discussions",
    "session",
    "answer",
    "reply",
    "response",
    "output",
];
const HISTORY_OWNERS: &[&str] = &[
    "this",
    "that",
    "our",
    "the",
    "your",
    "yesterday's",
    "today's",
    "last",
    "previous",
    "earlier",
];
/// After `you` or `we`, with or without `just`, these refer to the conversation.
const HISTORY_VERBS: &[&str] = &[
    "found", "said", "told", "wrote", "gave", "made", "did", "saw", "built", "ran",
];

/// Words of a second request, as in `and VERB them`.
const SECOND_REQUEST_OBJECTS: &[&str] = &["it", "them", "me", "these", "those", "each", "all"];
const SECOND_REQUEST_VERBS: &[&str] = &[
    "add",
    "append",
    "compare",
    "convert",
    "copy",
    "delete",
    "edit",
    "email",
    "explain",
    "export",
    "fix",
    "give",
    "highlight",
    "list",
    "make",
    "merge",
    "move",
    "open",
    "post",
    "print",
    "put",
    "read",
    "remove",
    "rename",
    "rewrite",
    "save",
    "send",
    "share",
    "show",
    "summarize",
    "summarise",
    "tell",
    "translate",
    "turn",
    "update",
    "upload",
];

/// Words that point to something outside the prompt if a topic begins with them.
const DEMONSTRATIVES: &[&str] = &["this", "that", "these", "those", "line", "page"];

/// Words that point to text around the prompt if a topic ends with them.
const PLACES: &[&str] = &["above", "below"];

/// Whether the topic is self-contained.
pub(super) fn is_topic(topic: &RequestTopic) -> bool {
    let lower = topic.text.to_lowercase();
    let is_reference = lower
        .split_whitespace()
        .all(|word| REFERENCES.contains(&word));
    let has_sign = TEXT_SIGNS.iter().any(|sign| lower.contains(sign));
    let first = lower.split_whitespace().next().unwrap_or_default();
    let begins_outside = lower != first && DEMONSTRATIVES.contains(&first);
    let words: Vec<&str> = lower.split_whitespace().collect();
    let ends_outside = words.len() > 1 && words.last().is_some_and(|last| PLACES.contains(last));
    let points_outside = begins_outside || ends_outside || refers_to_history(&words);
    let has_second_request = has_second_request(&words) || topic.has_second_sentence();
    !is_reference && !points_outside && !has_sign && !has_second_request
}

/// Whether the topic is followed by another request, as in `tea and delete them`.
fn has_second_request(words: &[&str]) -> bool {
    words.windows(3).any(|three| {
        let [conjunction, verb, object] = three else {
            return false;
        };
        let is_conjunction =
            ["and", "then", "but", "or"].contains(conjunction) || conjunction.ends_with(',');
        let has_object = SECOND_REQUEST_OBJECTS.contains(object);
        let has_verb = SECOND_REQUEST_VERBS.contains(verb);
        let begins_object = DETERMINERS.contains(object) || ["to", "into"].contains(object);
        is_conjunction && (has_object || (has_verb && begins_object) || (*verb == "then"))
    })
}

/// Whether the topic is from the conversation, as in `the bug you found`. A note is written without
/// the conversation.
fn refers_to_history(words: &[&str]) -> bool {
    let words: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| *word != "just")
        .collect();
    let is_history = |pair: &[&str]| {
        let word = pair[1].trim_end_matches([',', '.']);
        let is_verb = HISTORY_VERBS.contains(&word) || word.ends_with("ed");
        (HISTORY_OWNERS.contains(&pair[0]) && HISTORY.contains(&word))
            || (["you", "we"].contains(&pair[0]) && is_verb)
    };
    let asks_model = matches!(words[..], ["why" | "how" | "what", "you", ..]);
    asks_model || words.windows(2).any(is_history)
}
