//! What the chat says about a turn that the user stopped.

use super::*;
use crate::domain::session::{CancelledTurn, TurnRecord};
use crate::domain::{ReplacedAnswer, SavedMessage, StoppedAnswer};

const NOT_SEEN: &str = "(cancelled) The model does not see this turn.";

#[test]
fn a_stopped_answer_says_that_the_model_does_not_see_it_and_which_key_asks_again() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_says("Half");
    chat.turn_ends(TurnEnd::Cancelled).wait(2_000);
    let screen = chat.screen();
    let with_keys = "(cancelled) Unseen by the model. Alt+R asks again, e in the chat keeps it.";
    assert!(screen.contains(with_keys), "{screen}");
    chat.keys("two<Enter>").model_answers("Whole").wait(2_000);
    let screen = chat.screen();
    assert!(screen.contains(NOT_SEEN), "{screen}");
    assert!(
        !screen.contains("asks again"),
        "only the last turn: {screen}"
    );
}

#[test]
fn a_turn_stopped_before_any_text_says_that_the_model_does_not_see_it() {
    let mut chat = chat();
    chat.keys("one<Enter>").turn_ends(TurnEnd::Cancelled);
    let screen = chat.wait(2_000).screen();
    let with_key = format!("{NOT_SEEN} Alt+R asks again.");
    assert!(screen.contains(&with_key), "{screen}");
}

#[test]
fn narrow_screens_shorten_the_row_of_a_stopped_turn() {
    for (columns, shown) in [
        (50, "(cancelled) Not seen by the model."),
        (40, "(cancelled) Not seen by the model."),
        (24, "(cancelled)"),
    ] {
        let mut chat = chat();
        chat.size(columns, 20).keys("one<Enter>").model_says("Half");
        chat.turn_ends(TurnEnd::Cancelled).wait(2_000);
        let screen = chat.screen();
        assert!(screen.contains(shown), "{columns}: {screen}");
    }
}

#[test]
fn a_stopped_continuation_does_not_say_that_the_model_does_not_see_the_turn() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_says("Half");
    let end = TurnEnd::Answered {
        text: "Half".into(),
        is_truncated: true,
    };
    chat.turn_ends(end).wait(2_000);
    chat.keys("<Alt+c>").turn_event(TurnEvent::Delta {
        piece: PieceId(9),
        kind: PieceKind::Text,
        text: " more".into(),
    });
    chat.turn_ends(TurnEnd::Cancelled).wait(2_000);
    let screen = chat.screen();
    assert!(screen.contains("(cancelled)"), "{screen}");
    assert!(!screen.contains("does not see"), "{screen}");
}

/// A chat with an answered turn and one that was stopped.
fn stopped_chat() -> ChatHarness {
    let mut chat = chat();
    chat.keys("one<Enter>").model_answers("1");
    chat.keys("two<Enter>").turn_event(TurnEvent::Delta {
        piece: PieceId(7),
        kind: PieceKind::Text,
        text: "Half an answer".into(),
    });
    chat.turn_ends(TurnEnd::Cancelled).wait(2_000);
    chat
}

#[test]
fn a_stopped_answer_can_be_edited_and_made_part_of_the_conversation() {
    let mut chat = stopped_chat();
    let screen = chat.screen();
    let row = "(cancelled) Unseen by the model. Alt+R asks again, e in the chat keeps it.";
    assert!(screen.contains(row), "{screen}");
    chat.keys("<Alt+c>");
    let notice = chat.notice();
    assert!(
        notice.ends_with("To keep it, select it in the chat and press e."),
        "{notice}"
    );
    chat.keys("<Tab><Up>");
    assert!(chat.screen().contains("e edit the answer"));
    chat.keys("e");
    assert_eq!(chat.message(), "Half an answer");
    let screen = chat.screen();
    assert!(screen.contains("Editing the answer to: two"), "{screen}");
    assert!(screen.contains("nothing is sent"), "{screen}");
    chat.commands();
    chat.keys("!<Enter>");
    let stopped = StoppedAnswer {
        prompt: "two".into(),
        text: "Half an answer".into(),
        answered_after: 0,
    };
    let expected = Command::ReplaceAnswer {
        replaced: ReplacedAnswer::Stopped(stopped),
        answer: "Half an answer!".into(),
    };
    assert_eq!(chat.commands(), [expected]);
    assert_eq!(chat.message(), "");
    let mut session = Session::new("m");
    for (prompt, answer) in [("one", "1"), ("two", "Half an answer!")] {
        session.messages.push(SavedMessage::user(prompt));
        session.messages.push(SavedMessage::assistant(answer));
    }
    chat.engine_event(Event::SessionOpened(Arc::new(session.clone())));
    assert!(!chat.screen().contains("continue the answer"));
    session.metadata.turns.push(TurnRecord {
        is_stopped: true,
        ..TurnRecord::new(3, "m")
    });
    chat.engine_event(Event::SessionOpened(Arc::new(session.clone())));
    let screen = chat.screen();
    assert!(screen.contains("continue the answer"), "{screen}");
    assert!(!screen.contains("ask again"), "{screen}");
    assert!(
        screen.contains("(stopped) The model sees it up to here."),
        "{screen}"
    );
    chat.keys("<Tab><Up>");
    assert!(chat.screen().contains("e edit the answer"));
    chat.keys("<Esc>");
    session.metadata.add_cancelled(CancelledTurn {
        cancelled_at: jiff::Timestamp::UNIX_EPOCH,
        messages_before: 4,
        prompt: "three".into(),
        attachments: Vec::new(),
        partial_answer: "Half".into(),
        calls: Vec::new(),
        was_interrupted: false,
        replaced_turns: 0,
    });
    chat.engine_event(Event::SessionOpened(Arc::new(session)));
    let screen = chat.screen();
    assert!(!screen.contains("continue the answer"), "{screen}");
}

#[test]
fn the_hints_offer_editing_only_where_it_works() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_answers("1");
    chat.keys("two<Enter>").turn_event(TurnEvent::Delta {
        piece: PieceId(8),
        kind: PieceKind::Text,
        text: "Streaming".into(),
    });
    chat.keys("<Tab><Up>");
    let screen = chat.screen();
    assert!(screen.contains("y copy"), "{screen}");
    assert!(!screen.contains("e edit"), "while it streams: {screen}");
    chat.keys("<Esc>").turn_ends(TurnEnd::Failed {
        notice: Notice::warning("Broken."),
    });
    chat.wait(2_000).keys("<Tab><Up><Up>");
    let screen = chat.screen();
    assert!(screen.contains("y copy"), "{screen}");
    assert!(!screen.contains("e edit"), "a failed answer: {screen}");
    chat.keys("<Up>");
    assert!(chat.screen().contains("e edit your message"));
}
