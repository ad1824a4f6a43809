//! Making stopped answers part of the conversation.

use super::*;

fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

fn session_with(turns: &[(&str, &str)]) -> Session {
    let mut session = Session::new("m");
    for (prompt, answer) in turns {
        session.messages.push(SavedMessage::user(*prompt));
        session.messages.push(SavedMessage::assistant(*answer));
    }
    session
}

fn stop_turn(session: &mut Session, prompt: &str, text: &str, replaced_turns: usize) {
    session.metadata.add_cancelled(CancelledTurn {
        cancelled_at: now(),
        messages_before: session.messages.len(),
        prompt: prompt.to_owned(),
        attachments: Vec::new(),
        partial_answer: text.to_owned(),
        calls: Vec::new(),
        was_interrupted: false,
        replaced_turns,
    });
}

/// The stopped answer with this text, as the transcript of the session shows it.
fn shown(session: &Session, text: &str) -> StoppedAnswer {
    let transcript = Transcript::from_session(session);
    let mut turns = transcript.entries().iter().map(|entry| entry.turn);
    let stopped = turns.find_map(|turn| {
        let stopped = transcript.stopped_answer(turn)?;
        (stopped.text == text).then_some(stopped)
    });
    stopped.expect("a stopped answer")
}

fn texts(messages: &[SavedMessage]) -> Vec<&str> {
    messages.iter().map(|message| &*message.content).collect()
}

fn branches(session: &Session) -> Vec<(usize, Vec<&str>)> {
    let branches = session.branches.iter();
    let branches = branches.map(|branch| (branch.fork_index, texts(&branch.messages)));
    branches.collect()
}

fn cancelled_count(session: &Session) -> usize {
    session.metadata.cancelled.iter().count()
}

#[test]
fn an_unchanged_answer_is_appended_without_a_branch() {
    let mut session = session_with(&[("p", "a")]);
    stop_turn(&mut session, "q", "half", 0);
    let stopped = shown(&session, "half");
    assert!(session.keep_stopped_answer(&stopped, "half", now()));
    assert_eq!(texts(&session.messages), ["p", "a", "q", "half"]);
    assert_eq!(branches(&session), []);
    assert_eq!(cancelled_count(&session), 0);
    let models = session.metadata.turns.iter().map(|turn| &*turn.model);
    assert_eq!(models.collect::<Vec<_>>(), ["m"]);
    assert!(
        !session.keep_stopped_answer(&stopped, "half", now()),
        "it is no longer stopped"
    );
}

#[test]
fn the_original_text_of_an_edited_stopped_answer_stays_in_a_branch() {
    let mut session = session_with(&[("p", "a")]);
    stop_turn(&mut session, "q", "half", 0);
    let stopped = shown(&session, "half");
    assert!(session.keep_stopped_answer(&stopped, "whole", now()));
    assert_eq!(texts(&session.messages), ["p", "a", "q", "whole"]);
    assert_eq!(branches(&session), [(2, vec!["q", "half"])]);
}

#[test]
fn turns_after_a_kept_answer_become_a_branch() {
    let mut session = session_with(&[("p", "a")]);
    stop_turn(&mut session, "q", "half", 0);
    stop_turn(&mut session, "q", "other half", 0);
    let later = session_with(&[("r", "b"), ("s", "c")]).messages;
    session.messages.extend(later);
    let stopped = shown(&session, "half");
    assert_eq!(stopped.answered_after, 2);
    assert!(session.keep_stopped_answer(&stopped, "half", now()));
    assert_eq!(texts(&session.messages), ["p", "a", "q", "half"]);
    assert_eq!(branches(&session), [(2, vec!["r", "b", "s", "c"])]);
    assert_eq!(cancelled_count(&session), 1, "the other attempt stays");
}

#[test]
fn turns_that_a_kept_answer_was_meant_to_replace_become_a_branch() {
    let mut session = session_with(&[("p", "a"), ("q", "b"), ("r", "c")]);
    stop_turn(&mut session, "q2", "half", 2);
    let stopped = shown(&session, "half");
    assert!(session.keep_stopped_answer(&stopped, "half", now()));
    assert_eq!(texts(&session.messages), ["p", "a", "q2", "half"]);
    assert_eq!(branches(&session), [(2, vec!["q", "b", "r", "c"])]);
}

#[test]
fn turns_without_text_have_no_stopped_answer() {
    let mut session = session_with(&[("p", "a")]);
    stop_turn(&mut session, "q", " ", 0);
    let transcript = Transcript::from_session(&session);
    let mut turns = transcript.entries().iter().map(|entry| entry.turn);
    assert!(turns.all(|turn| transcript.stopped_answer(turn).is_none()));
}
