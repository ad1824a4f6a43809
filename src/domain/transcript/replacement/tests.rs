//! Turns that replace an answered turn or continue its answer.

use super::*;
use crate::domain::{Advice, Notice, PieceKind, Prompt, PromptKind, TurnEnd, TurnEvent, Usage};

const CUT: &str = "The answer was cut.";

fn last(transcript: &Transcript) -> Option<(&str, bool)> {
    let last = transcript.last_prompt()?;
    Some((last.text, last.is_answered))
}

fn begin(transcript: &mut Transcript, id: u64, prompt: Prompt) {
    let model = "m".to_owned();
    transcript.apply(TurnId(id), &TurnEvent::Started { prompt, model });
}

fn says(transcript: &mut Transcript, id: u64, text: &str) {
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

fn answers(transcript: &mut Transcript, id: u64, text: &str, cut: bool) {
    says(transcript, id, text);
    if cut {
        let notice = Notice::warning(CUT).with_advice(Advice::Continue);
        transcript.apply(TurnId(id), &TurnEvent::Noted(notice));
    }
    let text = text.to_owned();
    ends(
        transcript,
        id,
        TurnEnd::Answered {
            text,
            is_truncated: cut,
        },
    );
}

fn fails(transcript: &mut Transcript, id: u64) {
    let notice = Notice::failure("failed");
    ends(transcript, id, TurnEnd::Failed { notice });
}

fn retry(text: &str) -> Prompt {
    Prompt::new(text).with_kind(PromptKind::Replace)
}

fn texts(transcript: &Transcript) -> Vec<&str> {
    let texts = |entry| match entry {
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
    transcript.entries().iter().map(texts).collect()
}

fn talk() -> Transcript {
    let mut transcript = Transcript::default();
    for (id, prompt, answer) in [(1, "p", "a"), (2, "q", "b")] {
        begin(&mut transcript, id, Prompt::new(prompt));
        answers(&mut transcript, id, answer, false);
    }
    transcript
}

#[test]
fn a_replaced_turn_returns_if_its_replacement_ends_unanswered() {
    let mut transcript = talk();
    begin(&mut transcript, 3, retry("q"));
    says(&mut transcript, 3, "half");
    assert_eq!(texts(&transcript), ["p", "a", "q", "half"]);
    fails(&mut transcript, 3);
    assert_eq!(
        texts(&transcript),
        ["p", "a", "q", "b", "q", "half", "failed"]
    );
    assert_eq!(last(&transcript), Some(("q", false)));
    assert!(transcript.is_last_turn_replacement());
    assert_eq!(transcript.reindex_count(), 2);
}

#[test]
fn a_second_retry_replaces_the_answered_turn_and_the_failed_attempt() {
    let mut transcript = talk();
    begin(&mut transcript, 3, retry("q"));
    fails(&mut transcript, 3);
    begin(&mut transcript, 4, retry("q"));
    answers(&mut transcript, 4, "c", false);
    assert_eq!(texts(&transcript), ["p", "a", "q", "c"]);
    assert!(!transcript.is_last_turn_replacement());
}

#[test]
fn events_after_restoring_entries_still_reach_their_own_entries() {
    let mut transcript = talk();
    begin(&mut transcript, 3, retry("q"));
    says(&mut transcript, 3, "half");
    fails(&mut transcript, 3);
    begin(&mut transcript, 4, Prompt::new("r"));
    says(&mut transcript, 4, "c");
    says(&mut transcript, 4, "d");
    says(&mut transcript, 3, "!");
    says(&mut transcript, 2, "!");
    assert_eq!(
        texts(&transcript),
        ["p", "a", "q", "b!", "q", "half!", "failed", "r", "cd"]
    );
    assert_eq!(transcript.settled_len(), 7);
}

#[test]
fn a_continued_answer_becomes_one_answer() {
    let mut transcript = talk();
    begin(&mut transcript, 3, Prompt::new("r"));
    answers(&mut transcript, 3, "one ", true);
    begin(&mut transcript, 4, Prompt::continuation());
    says(&mut transcript, 4, "two");
    assert_eq!(texts(&transcript)[4..], ["r", "one ", CUT, "", "two"]);
    let text = "two".to_owned();
    ends(
        &mut transcript,
        4,
        TurnEnd::Answered {
            text,
            is_truncated: false,
        },
    );
    assert_eq!(texts(&transcript)[4..], ["r", "one two"]);
    assert_eq!(last(&transcript), Some(("r", true)));
}

#[test]
fn a_failed_continuation_leaves_the_first_half_unchanged() {
    let mut transcript = Transcript::default();
    begin(&mut transcript, 1, Prompt::new("r"));
    answers(&mut transcript, 1, "one ", true);
    begin(&mut transcript, 2, Prompt::continuation());
    fails(&mut transcript, 2);
    assert_eq!(texts(&transcript), ["r", "one ", CUT, "", "failed"]);
    assert_eq!(transcript.last_typed_prompt(), Some("r"));
    begin(&mut transcript, 3, Prompt::continuation());
    answers(&mut transcript, 3, "two", false);
    assert_eq!(texts(&transcript), ["r", "one two"]);
    assert_eq!(last(&transcript), Some(("r", true)));
}

#[test]
fn a_detached_summary_leaves_a_note_and_is_restored() {
    let mut transcript = talk();
    begin(&mut transcript, 3, Prompt::compaction());
    answers(&mut transcript, 3, "summary", false);
    begin(&mut transcript, 4, retry("q"));
    let note = compaction::summary_in_use_notice().what;
    assert_eq!(texts(&transcript), ["p", "a", note.as_str(), "q"]);
    fails(&mut transcript, 4);
    let expected = ["p", "a", "q", "b", "", "summary", "q", "failed"];
    assert_eq!(texts(&transcript), expected);
}
