//! Turns that replace an answered turn or continue its answer.

use super::*;
use crate::domain::{Advice, Notice, PieceKind, Prompt, PromptKind, TurnEnd, TurnEvent, Usage};

const TRUNCATED: &str = "The answer was truncated.";

fn last_prompt(transcript: &Transcript) -> Option<(&str, bool)> {
    let prompt = transcript.last_prompt()?;
    Some((prompt.text, prompt.is_answered))
}

fn begin(transcript: &mut Transcript, id: u64, prompt: Prompt) {
    let model = "m".to_owned();
    transcript.apply(TurnId(id), &TurnEvent::Started { prompt, model });
}

fn add_text(transcript: &mut Transcript, id: u64, text: &str) {
    let delta = TurnEvent::Delta {
        piece: PieceId(id),
        kind: PieceKind::Text,
        text: text.to_owned(),
    };
    transcript.apply(TurnId(id), &delta);
}

fn ends(transcript: &mut Transcript, id: u64, end: TurnEnd) {
    let usage = Usage::default();
    transcript.apply(TurnId(id), &TurnEvent::Ended { end, usage });
}

fn answers(transcript: &mut Transcript, id: u64, text: &str, is_truncated: bool) {
    add_text(transcript, id, text);
    if is_truncated {
        let notice = Notice::warning(TRUNCATED).with_advice(Advice::Continue);
        transcript.apply(TurnId(id), &TurnEvent::Noted(notice));
    }
    let text = text.to_owned();
    ends(transcript, id, TurnEnd::Answered { text, is_truncated });
}

fn fails(transcript: &mut Transcript, id: u64) {
    let notice = Notice::failure("failed");
    ends(transcript, id, TurnEnd::Failed { notice });
}

fn replacement(text: &str) -> Prompt {
    Prompt::new(text).with_kind(PromptKind::Replace)
}

fn entry_texts(transcript: &Transcript) -> Vec<&str> {
    let entry_text = |entry| match entry {
        &TranscriptEntry {
            body: EntryBody::Prompt { ref text, .. } | EntryBody::Text { ref text, .. },
            ..
        } => text.as_str(),
        TranscriptEntry {
            body: EntryBody::Note(notice),
            ..
        } => notice.what.as_str(),
        _ => "?",
    };
    transcript.entries().iter().map(entry_text).collect()
}

fn two_turn_transcript() -> Transcript {
    let mut transcript = Transcript::default();
    for (id, prompt, answer) in [(1, "p", "a"), (2, "q", "b")] {
        begin(&mut transcript, id, Prompt::new(prompt));
        answers(&mut transcript, id, answer, false);
    }
    transcript
}

#[test]
fn a_replaced_turn_is_restored_if_its_replacement_ends_unanswered() {
    let mut transcript = two_turn_transcript();
    begin(&mut transcript, 3, replacement("q"));
    add_text(&mut transcript, 3, "half");
    assert_eq!(entry_texts(&transcript), ["p", "a", "q", "half"]);
    fails(&mut transcript, 3);
    assert_eq!(
        entry_texts(&transcript),
        ["p", "a", "q", "b", "q", "half", "failed"]
    );
    assert_eq!(last_prompt(&transcript), Some(("q", false)));
    assert_eq!(transcript.turns_replaced_by_last(), Some(1));
    assert_eq!(transcript.reindex_count(), 2);
}

#[test]
fn a_second_replacement_replaces_the_answered_turn_and_the_failed_attempt() {
    let mut transcript = two_turn_transcript();
    begin(&mut transcript, 3, replacement("q"));
    fails(&mut transcript, 3);
    begin(&mut transcript, 4, replacement("q"));
    answers(&mut transcript, 4, "c", false);
    assert_eq!(entry_texts(&transcript), ["p", "a", "q", "c"]);
    assert_eq!(transcript.turns_replaced_by_last(), None);
}

#[test]
fn events_still_reach_their_entries_after_a_replaced_turn_is_restored() {
    let mut transcript = two_turn_transcript();
    begin(&mut transcript, 3, replacement("q"));
    add_text(&mut transcript, 3, "half");
    fails(&mut transcript, 3);
    begin(&mut transcript, 4, Prompt::new("r"));
    add_text(&mut transcript, 4, "c");
    add_text(&mut transcript, 4, "d");
    add_text(&mut transcript, 3, "!");
    add_text(&mut transcript, 2, "!");
    assert_eq!(
        entry_texts(&transcript),
        ["p", "a", "q", "b!", "q", "half!", "failed", "r", "cd"]
    );
    assert_eq!(transcript.settled_len(), 7);
}

#[test]
fn a_continuation_is_joined_with_the_answer_it_continues() {
    let mut transcript = two_turn_transcript();
    begin(&mut transcript, 3, Prompt::new("r"));
    answers(&mut transcript, 3, "one ", true);
    begin(&mut transcript, 4, Prompt::continuation());
    add_text(&mut transcript, 4, "two");
    assert_eq!(
        entry_texts(&transcript)[4..],
        ["r", "one ", TRUNCATED, "", "two"]
    );
    let text = "two".to_owned();
    ends(
        &mut transcript,
        4,
        TurnEnd::Answered {
            text,
            is_truncated: false,
        },
    );
    assert_eq!(entry_texts(&transcript)[4..], ["r", "one two"]);
    assert_eq!(last_prompt(&transcript), Some(("r", true)));
}

#[test]
fn a_failed_continuation_leaves_the_truncated_answer_unchanged() {
    let mut transcript = Transcript::default();
    begin(&mut transcript, 1, Prompt::new("r"));
    answers(&mut transcript, 1, "one ", true);
    begin(&mut transcript, 2, Prompt::continuation());
    fails(&mut transcript, 2);
    assert_eq!(
        entry_texts(&transcript),
        ["r", "one ", TRUNCATED, "", "failed"]
    );
    assert_eq!(transcript.last_typed_prompt(), Some("r"));
    begin(&mut transcript, 3, Prompt::continuation());
    answers(&mut transcript, 3, "two", false);
    assert_eq!(entry_texts(&transcript), ["r", "one two"]);
    assert_eq!(last_prompt(&transcript), Some(("r", true)));
}

#[test]
fn a_detached_summary_leaves_a_notice_and_is_restored() {
    let mut transcript = two_turn_transcript();
    begin(&mut transcript, 3, Prompt::compaction());
    answers(&mut transcript, 3, "summary", false);
    begin(&mut transcript, 4, replacement("q"));
    let notice = compaction::summary_in_use_notice().what;
    assert_eq!(entry_texts(&transcript), ["p", "a", notice.as_str(), "q"]);
    fails(&mut transcript, 4);
    let expected = ["p", "a", "q", "b", "", "summary", "q", "failed"];
    assert_eq!(entry_texts(&transcript), expected);
}
