//! What the chat says about a turn that the user stopped.

use super::*;
use crate::domain::SavedMessage;
use crate::domain::session::{CancelledTurn, TurnRecord};

const NOT_SEEN: &str = "(cancelled) The model does not see this turn.";

#[test]
fn a_stopped_answer_says_that_the_model_sees_it_and_which_keys_continue_or_drop_it() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_says("Half");
    chat.turn_ends(TurnEnd::Cancelled).wait(2_000);
    let screen = chat.screen();
    let with_keys = "(stopped) Seen by the model. Alt+C continues, u in the chat drops it.";
    assert!(screen.contains(with_keys), "{screen}");
    chat.keys("two<Enter>").model_answers("Whole").wait(2_000);
    let screen = chat.screen();
    let without_keys = "(stopped) The model sees it up to here.";
    assert!(screen.contains(without_keys), "{screen}");
    assert!(
        !screen.contains("continues"),
        "only the last turn: {screen}"
    );
}

#[test]
fn the_key_that_drops_a_stopped_turn_selects_it_first() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_says("Half");
    chat.turn_ends(TurnEnd::Cancelled).wait(2_000);
    chat.keys("<Tab>u");
    assert_eq!(chat.message(), "");
    assert!(chat.screen().contains("u drop the turn"));
    chat.keys("u");
    assert!(!chat.screen().contains("Half"));
    // Without a stopped turn, it is text.
    chat.keys("two<Enter>").model_answers("2").keys("<Tab>u");
    assert_eq!(chat.message(), "u");
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
        (
            62,
            "(stopped) The model sees it up to here. Alt+C continues.",
        ),
        (50, "(stopped) The model sees it up to here."),
        (24, "(stopped)"),
    ] {
        let mut chat = chat();
        chat.size(columns, 20).keys("one<Enter>").model_says("Half");
        chat.turn_ends(TurnEnd::Cancelled).wait(2_000);
        let screen = chat.screen();
        assert!(screen.contains(shown), "{columns}: {screen}");
    }
}

#[test]
fn a_continuation_stopped_before_any_text_does_not_say_that_the_model_does_not_see_the_turn() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_says("Half");
    let end = TurnEnd::Answered {
        text: "Half".into(),
        is_truncated: true,
    };
    chat.turn_ends(end).wait(2_000);
    chat.keys("<Alt+c>");
    chat.turn_ends(TurnEnd::Cancelled).wait(2_000);
    let screen = chat.screen();
    assert!(screen.contains("(cancelled)"), "{screen}");
    assert!(!screen.contains("does not see"), "{screen}");
    assert!(screen.contains("continue the answer"), "{screen}");
}

#[test]
fn a_stopped_answer_is_edited_like_any_other() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_answers("1");
    chat.keys("two<Enter>").turn_event(TurnEvent::Delta {
        piece: PieceId(7),
        kind: PieceKind::Text,
        text: "Half an answer".into(),
    });
    chat.turn_ends(TurnEnd::Cancelled).wait(2_000);
    chat.keys("<Tab><Up>");
    assert!(chat.screen().contains("e edit the answer"));
    chat.keys("e");
    assert_eq!(chat.message(), "Half an answer");
    chat.commands();
    chat.keys("!<Enter>");
    let expected = Command::ReplaceAnswer {
        turns_from_end: 1,
        answer: "Half an answer!".into(),
    };
    assert_eq!(chat.commands(), [expected]);
}

#[test]
fn an_opened_conversation_offers_to_continue_its_last_answer_only_if_that_was_stopped() {
    let mut chat = chat();
    let mut session = Session::new("m");
    for (prompt, answer) in [("one", "1"), ("two", "Half")] {
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
    assert!(screen.contains("(stopped) Seen by the model."), "{screen}");
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
