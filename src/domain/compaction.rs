//! `/compact`: a summary written by the model replaces older messages in requests. The
//! session file keeps all messages. Pure.

use super::session::{CompactedRange, Compaction, Role, StoredSummary, Summary};
use super::{Notice, SavedMessage, Session};
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The latest messages are kept: the last prompt and its answer.
const KEPT: usize = 2;
/// Messages are never truncated below this many characters.
const CHARS_MIN: usize = 80;

const INSTRUCTION: &str = "Summarize the conversation below so that it can continue from your summary alone. \
Keep requests, decisions, findings, names, numbers, paths, code that is still needed, open questions, and the language in which the user writes. \
Write only the summary, in the language of the conversation.";
const BEFORE_SUMMARY: &str = "A summary of our conversation so far:";
const AFTER_SUMMARY: &str = "I will continue from this summary.";

impl CompactedRange {
    fn of(messages: &[SavedMessage]) -> Self {
        let mut hash = Sha256::new();
        for message in messages {
            hash.update((message.content.len() as u64).to_le_bytes());
        }
        // Branches differ from their fork to the end, so the last messages identify the
        // branch.
        for message in messages.iter().rev().take(KEPT) {
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
            messages: messages.len(),
            digest,
        }
    }
}

/// The prompts and answers sent to a model: either all, or a summary and the messages after
/// it.
pub fn history(session: &Session) -> Vec<SavedMessage> {
    history_of(session, &session.messages)
}

/// As [`request_history`], for the first `count` messages only.
pub fn history_until(session: &Session, count: usize) -> Vec<SavedMessage> {
    let messages = &session.messages;
    history_of(session, messages.get(..count).unwrap_or(messages))
}

fn history_of(session: &Session, messages: &[SavedMessage]) -> Vec<SavedMessage> {
    let Some(Summary { covers, text, .. }) = read_of(session, messages) else {
        return messages.to_vec();
    };
    let mut history = vec![
        SavedMessage::user(format!("{BEFORE_SUMMARY}\n\n{text}")),
        SavedMessage::assistant(AFTER_SUMMARY),
    ];
    history.extend_from_slice(&messages[covers.messages..]);
    history
}

/// The current summary, if the messages it covers are still there.
fn read(session: &Session) -> Option<&Summary> {
    read_of(session, &session.messages)
}

fn read_of<'a>(session: &'a Session, said: &[SavedMessage]) -> Option<&'a Summary> {
    let Compaction::Stored(stored) = &session.metadata.compaction else {
        return None;
    };
    let summary = stored.summary.as_ref()?;
    let now = CompactedRange::of(said.get(..summary.covers.messages)?);
    (summary.covers == now).then_some(summary)
}

/// The index at which the current summary ends, and the notice to show there.
pub fn summary_notice(session: &Session) -> Option<(usize, Notice)> {
    let summary = read(session)?;
    let notice = sent_instead().because(&*summary.text);
    Some((summary.covers.messages, notice))
}

/// Marks the position up to which messages are summarized.
pub fn sent_instead() -> Notice {
    Notice::info("The model now receives a summary instead of the messages above.")
}

/// Restores the previous summary, or all messages. Returns false if there was no summary.
pub fn drop_summary(session: &mut Session) -> bool {
    let compaction = &mut session.metadata.compaction;
    let Compaction::Stored(stored) = compaction else {
        return false;
    };
    *compaction = stored
        .before
        .take()
        .map_or(Compaction::Dropped, Compaction::Stored);
    true
}

/// Stores a summary with the session.
pub fn store_summary(session: &mut Session, covers: CompactedRange, text: &str, model: &str) {
    let compaction = &mut session.metadata.compaction;
    let before = match std::mem::take(compaction) {
        Compaction::Stored(before) => Some(before),
        Compaction::Never | Compaction::Dropped => None,
    };
    let summary = Summary {
        covers,
        text: text.to_owned(),
        model: model.to_owned(),
        at: Some(Timestamp::now()),
    };
    *compaction = Compaction::Stored(Box::new(StoredSummary {
        summary: Some(summary),
        before,
        original: None,
    }));
}

/// The summarization request, in about `chars_max` characters, and the range it covers.
/// `None` if there is nothing to summarize.
pub fn summary_prompt(session: &Session, chars_max: usize) -> Option<(String, CompactedRange)> {
    let kept_from = session.messages.len().checked_sub(KEPT)?;
    let history = history(session);
    let older = &history[..history.len().checked_sub(KEPT)?];
    let already = read(session).map_or(0, |summary| summary.covers.messages);
    if kept_from <= already || older.is_empty() {
        return None;
    }
    let texts: Vec<(&str, &str)> = older.iter().filter_map(said).collect();
    let cap = cap(&texts, chars_max);
    let mut request = format!("{INSTRUCTION}\n");
    for (who, text) in texts {
        let _ = write!(request, "\n{who}:\n{}\n", shortened(text, cap));
    }
    Some((request, CompactedRange::of(&session.messages[..kept_from])))
}

fn said(message: &SavedMessage) -> Option<(&'static str, &str)> {
    match message.role {
        Role::User => Some(("User", &message.content)),
        Role::Assistant => Some(("Assistant", &message.content)),
        Role::Other(_) => None,
    }
}

/// The longest allowed message in characters, so that all messages fit.
fn cap(texts: &[(&str, &str)], chars_max: usize) -> usize {
    let mut lengths: Vec<usize> = texts.iter().map(|(_, text)| text.chars().count()).collect();
    lengths.sort_unstable();
    let (mut budget, mut left) = (chars_max, lengths.len());
    for length in lengths {
        // Short messages leave their unused share to long ones.
        let share = budget / left;
        if length > share {
            return share.max(CHARS_MIN);
        }
        budget -= length;
        left -= 1;
    }
    usize::MAX
}

/// Removes the middle of a long text.
fn shortened(text: &str, chars_max: usize) -> String {
    let count = text.chars().count();
    if count <= chars_max {
        return text.to_owned();
    }
    let (head, tail) = (chars_max / 2, chars_max - chars_max / 2);
    let at = |chars: usize| {
        text.char_indices()
            .nth(chars)
            .map_or(text.len(), |(at, _)| at)
    };
    format!(
        "{}\n[{} characters omitted]\n{}",
        &text[..at(head)],
        count - chars_max,
        &text[at(count - tail)..]
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
    fn the_older_part_gives_way_to_its_summary_and_the_messages_stay() {
        let mut session = conversation(3);
        let (asked, covered) = summary_prompt(&session, 10_000).expect("something to summarize");
        assert!(asked.contains("User:\nquestion 1\n") && !asked.contains("question 2"));
        store_summary(&mut session, covered, "두 질문과 두 답.", "m");
        let history = history(&session);
        let expected = [
            "A summary of our conversation so far:\n\n두 질문과 두 답.",
            AFTER_SUMMARY,
            "question 2",
            "answer 2",
        ];
        assert_eq!(texts(&history), expected);
        assert_eq!(session.messages.len(), 6);
    }

    #[test]
    fn a_second_summary_is_made_of_the_first_and_what_came_since() {
        let mut session = conversation(3);
        let (_, covered) = summary_prompt(&session, 10_000).expect("something to summarize");
        store_summary(&mut session, covered, "FIRST", "m");
        assert_eq!(summary_prompt(&session, 10_000), None, "nothing new");
        session.messages.extend(conversation(1).messages);
        let (asked, _) = summary_prompt(&session, 10_000).expect("one more turn");
        assert!(asked.contains("FIRST") && asked.contains("question 2"));
        assert!(!asked.contains("question 1"));
    }

    #[test]
    fn a_summary_that_is_forgotten_gives_way_to_the_one_before_it() {
        let mut session = conversation(3);
        let (_, covered) = summary_prompt(&session, 10_000).expect("something to summarize");
        store_summary(&mut session, covered, "FIRST", "m");
        session.messages.extend(conversation(1).messages);
        let first = history(&session);
        let (_, covered) = summary_prompt(&session, 10_000).expect("one more turn");
        store_summary(&mut session, covered, "SECOND", "m");
        assert!(history(&session)[0].content.ends_with("SECOND"));
        assert!(drop_summary(&mut session));
        assert_eq!(history(&session), first);
        assert!(drop_summary(&mut session));
        assert_eq!(history(&session), session.messages);
        assert!(!drop_summary(&mut session), "no summary is left");
    }

    #[test]
    fn a_summary_of_messages_that_are_gone_is_not_used() {
        let mut session = conversation(3);
        let (_, covered) = summary_prompt(&session, 10_000).expect("something to summarize");
        store_summary(&mut session, covered, "S", "m");
        let mut other = session.clone();
        other.messages[2] = SavedMessage::user("another question");
        assert_eq!(history(&other), other.messages);
        session.messages.truncate(2);
        assert_eq!(history(&session), session.messages);
    }

    #[test]
    fn a_conversation_of_one_turn_has_no_older_part() {
        assert_eq!(summary_prompt(&conversation(1), 10_000), None);
        assert_eq!(summary_prompt(&conversation(0), 10_000), None);
    }

    #[test]
    fn what_is_too_long_loses_its_middle_and_the_short_stays_whole() {
        let mut session = conversation(3);
        session.messages[1] = SavedMessage::assistant("한".repeat(50_000));
        let (asked, _) = summary_prompt(&session, 2_000).expect("something to summarize");
        assert!(asked.contains("question 1") && asked.contains("characters omitted"));
        assert!(asked.chars().count() < 3_000, "{}", asked.chars().count());
    }
}
