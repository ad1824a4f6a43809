//! `/compact`: in requests, a summary written by the model replaces older messages. The
//! session file keeps all messages.

use super::attachment::prompt_with_files;
use super::session::{
    Compaction, ConversationSummary, MessageRole, StoredSummary, SummarizedPrefix,
};
use super::{Notice, SavedMessage, Session};
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt::Write;

/// Messages at the end that are never summarized: the last prompt and its answer.
const KEPT_MESSAGES: usize = 2;
/// In the summarization request, no message is truncated to fewer characters than this.
const MESSAGE_CHARS_MIN: usize = 80;

const SUMMARY_INSTRUCTION: &str = "Summarize the conversation below so that it can continue from your summary \
alone. \
Keep requests, decisions, findings, names, numbers, paths, code that is still needed, open questions, and the language in which the user writes. \
Write only the summary, in the language of the conversation.";
const SUMMARY_INTRODUCTION: &str = "A summary of our conversation so far:";
const SUMMARY_ACKNOWLEDGMENT: &str = "I will continue from this summary.";

impl SummarizedPrefix {
    fn from_messages(messages: &[SavedMessage]) -> Self {
        let mut hash = Sha256::new();
        for message in messages {
            hash.update((message.content.len() as u64).to_le_bytes());
        }
        // Branches almost always differ in the length of a message or in the text of the last ones,
        // so the other texts need not be hashed.
        for message in messages.iter().rev().take(KEPT_MESSAGES) {
            hash.update(message.content.as_bytes());
        }
        let digest = hash
            .finalize()
            .iter()
            .take(8)
            .fold(String::new(), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            });
        Self {
            message_count: messages.len(),
            digest,
        }
    }
}

/// The prompts and answers sent to a model: either all, or a summary and the messages after
/// it.
pub fn request_history(session: &Session) -> Vec<SavedMessage> {
    build_history(session, &session.messages)
}

/// Like [`request_history`], but for the first `count` messages only.
pub fn request_history_until(session: &Session, count: usize) -> Vec<SavedMessage> {
    let messages = &session.messages;
    build_history(session, messages.get(..count).unwrap_or(messages))
}

fn build_history(session: &Session, messages: &[SavedMessage]) -> Vec<SavedMessage> {
    let Some(ConversationSummary { prefix, text, .. }) = matching_summary(session, messages) else {
        return messages.to_vec();
    };
    let mut history = vec![
        SavedMessage::user(format!("{SUMMARY_INTRODUCTION}\n\n{text}")),
        SavedMessage::assistant(SUMMARY_ACKNOWLEDGMENT),
    ];
    history.extend_from_slice(&messages[prefix.message_count..]);
    history
}

/// The stored summary, if the session still starts with the messages it covers.
fn current_summary(session: &Session) -> Option<&ConversationSummary> {
    matching_summary(session, &session.messages)
}

/// The stored summary, if `messages` start with the messages it covers.
fn matching_summary<'a>(
    session: &'a Session,
    messages: &[SavedMessage],
) -> Option<&'a ConversationSummary> {
    let Compaction::Stored(stored) = &session.metadata.compaction else {
        return None;
    };
    let summary = stored.summary.as_ref()?;
    let current_prefix =
        SummarizedPrefix::from_messages(messages.get(..summary.prefix.message_count)?);
    (summary.prefix == current_prefix).then_some(summary)
}

/// The index at which the current summary ends, and the notice to show there.
pub fn summary_notice(session: &Session) -> Option<(usize, Notice)> {
    let summary = current_summary(session)?;
    let notice = summary_in_use_notice().with_reason(&*summary.text);
    Some((summary.prefix.message_count, notice))
}

/// The notice shown after the last summarized message.
pub fn summary_in_use_notice() -> Notice {
    Notice::info("The model now receives a summary instead of the messages above.")
}

/// Drops the current summary, so requests use the previous one or all messages again. Returns
/// false if there was no summary.
pub fn drop_summary(session: &mut Session) -> bool {
    let compaction = &mut session.metadata.compaction;
    let Compaction::Stored(stored) = compaction else {
        return false;
    };
    *compaction = stored
        .previous
        .take()
        .map_or(Compaction::Dropped, Compaction::Stored);
    true
}

/// Stores a summary of the messages in `prefix` with the session.
pub fn store_summary(session: &mut Session, prefix: SummarizedPrefix, text: &str, model: &str) {
    let compaction = &mut session.metadata.compaction;
    let previous = match std::mem::take(compaction) {
        Compaction::Stored(previous) => Some(previous),
        Compaction::Absent | Compaction::Dropped => None,
    };
    let summary = ConversationSummary {
        prefix,
        text: text.to_owned(),
        model: model.to_owned(),
        created_at: Some(Timestamp::now()),
    };
    *compaction = Compaction::Stored(Box::new(StoredSummary {
        summary: Some(summary),
        previous,
        original: None,
    }));
}

/// The summarization request, in about `chars_max` characters, and the prefix it covers.
/// `None` if there is nothing to summarize.
pub fn summary_prompt(session: &Session, chars_max: usize) -> Option<(String, SummarizedPrefix)> {
    let summarized_end = session.messages.len().checked_sub(KEPT_MESSAGES)?;
    let history = request_history(session);
    let older = &history[..history.len().checked_sub(KEPT_MESSAGES)?];
    let previous_end = current_summary(session).map_or(0, |summary| summary.prefix.message_count);
    if summarized_end <= previous_end || older.is_empty() {
        return None;
    }
    let texts: Vec<(&str, Cow<str>)> = older.iter().filter_map(labeled_message).collect();
    let message_chars = message_chars_max(&texts, chars_max);
    let mut request = format!("{SUMMARY_INSTRUCTION}\n");
    for (speaker, text) in texts {
        let _ = write!(
            request,
            "\n{speaker}:\n{}\n",
            truncate_middle(&text, message_chars)
        );
    }
    Some((
        request,
        SummarizedPrefix::from_messages(&session.messages[..summarized_end]),
    ))
}

fn labeled_message(message: &SavedMessage) -> Option<(&'static str, Cow<'_, str>)> {
    match message.role {
        MessageRole::User => {
            let text = prompt_with_files(&message.content, &message.attachments);
            Some(("User", text))
        }
        MessageRole::Assistant => Some(("Assistant", Cow::Borrowed(&message.content))),
        MessageRole::Other(_) => None,
    }
}

/// The length in characters to which messages must be truncated, so that together they fit
/// into `chars_max`.
fn message_chars_max(texts: &[(&str, Cow<str>)], chars_max: usize) -> usize {
    let mut lengths: Vec<usize> = texts.iter().map(|(_, text)| text.chars().count()).collect();
    lengths.sort_unstable();
    let (mut budget, mut remaining) = (chars_max, lengths.len());
    for length in lengths {
        // Short messages leave their unused share to long ones.
        let share = budget / remaining;
        if length > share {
            return share.max(MESSAGE_CHARS_MIN);
        }
        budget -= length;
        remaining -= 1;
    }
    usize::MAX
}

fn truncate_middle(text: &str, chars_max: usize) -> String {
    let count = text.chars().count();
    if count <= chars_max {
        return text.to_owned();
    }
    let (head, tail) = (chars_max / 2, chars_max - chars_max / 2);
    let byte_offset = |chars: usize| {
        text.char_indices()
            .nth(chars)
            .map_or(text.len(), |(offset, _)| offset)
    };
    format!(
        "{}\n[{} characters omitted]\n{}",
        &text[..byte_offset(head)],
        count - chars_max,
        &text[byte_offset(count - tail)..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(turns: usize) -> Session {
        let mut session = Session::new("m");
        for turn in 0..turns {
            session
                .messages
                .push(SavedMessage::user(format!("question {turn}")));
            session
                .messages
                .push(SavedMessage::assistant(format!("answer {turn}")));
        }
        session
    }

    fn texts(messages: &[SavedMessage]) -> Vec<&str> {
        messages.iter().map(|message| &*message.content).collect()
    }

    #[test]
    fn a_summary_replaces_older_messages_in_requests_but_not_in_the_session() {
        let mut session = conversation(3);
        let (prompt, prefix) = summary_prompt(&session, 10_000).expect("something to summarize");
        assert!(prompt.contains("User:\nquestion 1\n") && !prompt.contains("question 2"));
        store_summary(&mut session, prefix, "두 질문과 두 답.", "m");
        let history = request_history(&session);
        let expected = [
            "A summary of our conversation so far:\n\n두 질문과 두 답.",
            SUMMARY_ACKNOWLEDGMENT,
            "question 2",
            "answer 2",
        ];
        assert_eq!(texts(&history), expected);
        assert_eq!(session.messages.len(), 6);
    }

    #[test]
    fn a_second_summary_covers_the_first_summary_and_later_messages() {
        let mut session = conversation(3);
        let (_, prefix) = summary_prompt(&session, 10_000).expect("something to summarize");
        store_summary(&mut session, prefix, "FIRST", "m");
        assert_eq!(summary_prompt(&session, 10_000), None, "nothing new");
        session.messages.extend(conversation(1).messages);
        let (prompt, _) = summary_prompt(&session, 10_000).expect("one more turn");
        assert!(prompt.contains("FIRST") && prompt.contains("question 2"));
        assert!(!prompt.contains("question 1"));
    }

    #[test]
    fn dropping_a_summary_restores_the_previous_one() {
        let mut session = conversation(3);
        let (_, prefix) = summary_prompt(&session, 10_000).expect("something to summarize");
        store_summary(&mut session, prefix, "FIRST", "m");
        session.messages.extend(conversation(1).messages);
        let history_with_first = request_history(&session);
        let (_, prefix) = summary_prompt(&session, 10_000).expect("one more turn");
        store_summary(&mut session, prefix, "SECOND", "m");
        assert!(request_history(&session)[0].content.ends_with("SECOND"));
        assert!(drop_summary(&mut session));
        assert_eq!(request_history(&session), history_with_first);
        assert!(drop_summary(&mut session));
        assert_eq!(request_history(&session), session.messages);
        assert!(!drop_summary(&mut session), "no summary is left");
    }

    #[test]
    fn a_summary_of_changed_or_removed_messages_is_ignored() {
        let mut session = conversation(3);
        let (_, prefix) = summary_prompt(&session, 10_000).expect("something to summarize");
        store_summary(&mut session, prefix, "S", "m");
        let mut other = session.clone();
        other.messages[2] = SavedMessage::user("another question");
        assert_eq!(request_history(&other), other.messages);
        session.messages.truncate(2);
        assert_eq!(request_history(&session), session.messages);
    }

    #[test]
    fn a_single_turn_cannot_be_compacted() {
        assert_eq!(summary_prompt(&conversation(1), 10_000), None);
        assert_eq!(summary_prompt(&conversation(0), 10_000), None);
    }

    #[test]
    fn long_messages_lose_their_middle_and_short_ones_are_kept() {
        let mut session = conversation(3);
        session.messages[1] = SavedMessage::assistant("한".repeat(50_000));
        let (prompt, _) = summary_prompt(&session, 2_000).expect("something to summarize");
        assert!(prompt.contains("question 1") && prompt.contains("characters omitted"));
        assert!(prompt.chars().count() < 3_000, "{}", prompt.chars().count());
    }
}
