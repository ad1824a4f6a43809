//! Rewinding, branching and switching, with the records of turns.

use super::super::session::{CancelledTurn, StoredRecord, StoredRecords};
use super::*;
use serde_json::json;

fn add_turn(session: &mut Session, prompt: &str, answer: &str) {
    add_turn_ended_at(session, prompt, answer, None);
}

fn add_turn_ended_at(
    session: &mut Session,
    prompt: &str,
    answer: &str,
    ended_at: Option<Timestamp>,
) {
    session.messages.push(SavedMessage::user(prompt));
    session.messages.push(SavedMessage::assistant(answer));
    session.metadata.turns.push(TurnRecord {
        ended_at,
        ..TurnRecord::new(session.messages.len() - 1, answer)
    });
}

fn session_with(turns: &[(&str, &str)]) -> Session {
    let mut session = Session::new("m");
    turns
        .iter()
        .for_each(|(prompt, answer)| add_turn(&mut session, prompt, answer));
    session
}

/// Every branch as the text of its messages and the models of its records.
fn branch_texts(session: &Session) -> Vec<String> {
    let text = |messages: &[SavedMessage]| {
        let texts = messages.iter().map(|message| message.content.to_string());
        texts.collect::<Vec<_>>().join(" ")
    };
    let models = |turns: &StoredRecords<TurnRecord>| {
        let names = turns.iter().map(|turn| &*turn.model);
        names.collect::<Vec<_>>().join(" ")
    };
    let active_models = models(&session.metadata.turns);
    let active = format!("{} ({active_models})", text(&session.messages));
    let others = session.branches.iter().map(|branch| {
        let tail = text(&branch.messages);
        format!("{}+ {tail} ({})", branch.fork_index, models(&branch.turns))
    });
    std::iter::once(active).chain(others).collect()
}

fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

#[test]
fn rewound_turns_become_a_branch_with_their_records() {
    let mut session = session_with(&[("p", "a"), ("q", "b")]);
    session.rewind(2, now());
    add_turn(&mut session, "q", "c");
    assert_eq!(branch_texts(&session), ["p a q c (a c)", "2+ q b (b)"]);
    assert!(session.switch_branch(0, now()));
    assert_eq!(branch_texts(&session), ["p a q b (a b)", "2+ q c (c)"]);
    assert!(!session.switch_branch(1, now()), "no branch has this index");
}

fn cancel_turn(session: &mut Session, prompt: &str) {
    session.metadata.add_cancelled(CancelledTurn {
        cancelled_at: now(),
        messages_before: session.messages.len(),
        prompt: prompt.to_owned(),
        attachments: Vec::new(),
        partial_answer: String::new(),
        calls: Vec::new(),
        was_interrupted: false,
        replaced_turns: 0,
    });
}

/// The prompts of the cancelled turns of each branch, the active one first.
fn cancelled_prompts(session: &Session) -> Vec<Vec<&str>> {
    let others = session.branches.iter().map(|branch| &branch.cancelled);
    std::iter::once(&session.metadata.cancelled)
        .chain(others)
        .map(|turns| turns.iter().map(|turn| &*turn.prompt).collect())
        .collect()
}

#[test]
fn cancelled_turns_move_with_the_turn_before_them() {
    let mut session = session_with(&[("p", "a")]);
    cancel_turn(&mut session, "x");
    add_turn(&mut session, "q", "b");
    cancel_turn(&mut session, "y");
    session.rewind(2, now());
    assert_eq!(cancelled_prompts(&session), [vec!["x"], vec!["y"]]);
    add_turn(&mut session, "q", "c");
    cancel_turn(&mut session, "z");
    session.rewind(0, now());
    assert_eq!(
        cancelled_prompts(&session),
        [vec![], vec!["x", "y"], vec!["x", "z"]]
    );
    assert!(session.switch_branch(0, now()));
    assert_eq!(
        cancelled_prompts(&session),
        [vec!["x", "y"], vec!["x", "z"]]
    );
}

#[test]
fn turns_rewound_one_by_one_form_a_single_branch() {
    let mut session = session_with(&[("p", "a"), ("q", "b"), ("r", "c")]);
    session.rewind(4, now());
    session.rewind(2, now());
    session.rewind(0, now());
    session.rewind(0, now());
    assert_eq!(branch_texts(&session), [" ()", "0+ p a q b r c (a b c)"]);
    assert!(session.switch_branch(0, now()));
    assert_eq!(branch_texts(&session), ["p a q b r c (a b c)"]);
}

#[test]
fn a_branch_of_rewound_turns_keeps_its_earlier_messages() {
    let mut session = session_with(&[("p", "a"), ("q", "b")]);
    session.rewind(2, now());
    add_turn(&mut session, "q", "c");
    session.rewind(0, now());
    add_turn(&mut session, "x", "y");
    let expected = ["x y (y)", "0+ p a q b (a b)", "0+ p a q c (a c)"];
    assert_eq!(branch_texts(&session), expected);
    assert!(session.switch_branch(0, now()));
    let expected = ["p a q b (a b)", "0+ p a q c (a c)", "0+ x y (y)"];
    assert_eq!(branch_texts(&session), expected);
}

#[test]
fn an_edited_answer_leaves_the_original_in_a_branch() {
    let mut session = session_with(&[("p", "a"), ("q", "b"), ("r", "c")]);
    assert!(session.replace_answer(2, "B", now()));
    assert_eq!(
        branch_texts(&session),
        ["p a q B (a b)", "2+ q b r c (b c)"]
    );
    assert_eq!(session.branches_at(1).len(), 1);
    assert_eq!(session.branches_at(2).len(), 0);
    assert!(session.switch_branch(0, now()));
    assert_eq!(
        branch_texts(&session),
        ["p a q b r c (a b c)", "2+ q B (b)"]
    );
    assert_eq!(session.branches_at(2).len(), 1);
    assert!(!session.replace_answer(4, "x", now()), "no such prompt");
    session.messages.push(SavedMessage::user("s"));
    assert!(!session.replace_answer(1, "x", now()), "no answer yet");
}

#[test]
fn records_of_unknown_shape_survive_a_branch_switch() {
    let mut session = session_with(&[("p", "a")]);
    session.rewind(0, now());
    session.branches[0].turns = StoredRecords::UnknownShape(json!("soon"));
    let unknown = StoredRecord {
        record: None,
        message_index: Some(1),
        original: Some(json!({ "message": 1, "kind": "new" })),
    };
    session.metadata.turns = StoredRecords::List(vec![unknown.clone()]);
    assert!(session.switch_branch(0, now()));
    let converted = StoredRecord {
        record: None,
        message_index: None,
        original: Some(json!("soon")),
    };
    assert_eq!(
        session.metadata.turns,
        StoredRecords::List(vec![unknown, converted])
    );
}

#[test]
fn a_version_of_a_session_is_preserved_only_if_all_of_its_branches_are() {
    let mut ours = session_with(&[("p", "a"), ("q", "b")]);
    ours.rewind(2, now());
    add_turn(&mut ours, "q", "c");
    let prompt = SavedMessage::user;
    let answer = SavedMessage::assistant;
    let branch = |fork_index: usize, messages: &[SavedMessage]| Branch {
        fork_index,
        messages: messages.to_vec(),
        ..Branch::default()
    };
    let undone_turn = [prompt("q"), answer("b")];
    assert!(ours.preserves_branches(4, &[], &[]), "identical");
    assert!(ours.preserves_branches(2, &[], &[]), "a prefix of ours");
    assert!(
        ours.preserves_branches(2, &undone_turn, &[]),
        "our branch, active there"
    );
    assert!(
        ours.preserves_branches(3, &[answer("b")], &[]),
        "our branch, sharing one more message"
    );
    assert!(
        ours.preserves_branches(4, &[], &[branch(2, &undone_turn)]),
        "the same branches"
    );
    assert!(ours.preserves_branches(2, &undone_turn, &[branch(2, &[prompt("q")])]));
    assert!(
        !ours.preserves_branches(4, &[prompt("r")], &[]),
        "their active branch has one more prompt"
    );
    assert!(
        !ours.preserves_branches(2, &[prompt("r")], &[]),
        "an unknown active branch"
    );
    assert!(!ours.preserves_branches(4, &[], &[branch(2, &[prompt("z")])]));
    assert!(!ours.preserves_branches(0, &[prompt("z")], &[]));
    assert!(
        ours.preserves_branches(0, &[prompt("p"), answer("")], &[]),
        "our answer continues theirs"
    );
    let other = [prompt("p"), answer(""), prompt("q")];
    assert!(
        !ours.preserves_branches(0, &other, &[]),
        "another prompt follows their answer"
    );
    assert!(
        !ours.preserves_branches(2, &[prompt("")], &[]),
        "a prompt cannot continue another"
    );
}

#[test]
fn an_unfinished_turn_replaces_nothing_once_later_turns_were_answered() {
    let at = |second| Some(Timestamp::from_second(second).expect("a time"));
    let mut session = session_with(&[("a", "A")]);
    add_turn_ended_at(&mut session, "b", "B", at(50));
    assert_eq!(
        session.prompts_replaced_by(4, at(100)),
        0,
        "an ordinary prompt"
    );
    assert_eq!(session.prompts_replaced_by(2, at(100)), 1);
    assert_eq!(session.prompts_replaced_by(0, at(100)), 2);
    add_turn_ended_at(&mut session, "c", "C", at(150));
    assert_eq!(session.prompts_replaced_by(2, at(100)), 0);
}

#[test]
fn other_branches_are_counted_at_the_prompt_where_they_fork() {
    let mut session = session_with(&[("a", "1"), ("b", "2"), ("c", "3")]);
    assert_eq!(session.branch_counts(), [0, 0, 0]);
    assert!(session.replace_answer(2, "two", now()));
    add_turn(&mut session, "c2", "4");
    assert_eq!(session.branch_counts(), [0, 1, 0]);
    session.rewind(4, now());
    assert_eq!(
        session.branch_counts(),
        [0, 1],
        "no turn has taken the place of the undone one"
    );
    add_turn(&mut session, "c3", "5");
    assert_eq!(session.branch_counts(), [0, 1, 1]);
}
