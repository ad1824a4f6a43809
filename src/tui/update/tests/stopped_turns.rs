//! What the chat says about a turn that the user stopped.

use super::*;

const NOT_SEEN: &str = "(cancelled) The model does not see this turn.";

#[test]
fn a_stopped_answer_says_that_the_model_does_not_see_it_and_which_key_asks_again() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_says("Half");
    chat.turn_ends(TurnEnd::Cancelled).wait(2_000);
    let screen = chat.screen();
    let with_key = format!("{NOT_SEEN} Alt+R asks again.");
    assert!(screen.contains(&with_key), "{screen}");
    chat.keys("two<Enter>").model_answers("Whole").wait(2_000);
    let screen = chat.screen();
    assert!(screen.contains(NOT_SEEN), "{screen}");
    assert!(
        !screen.contains("asks again"),
        "only the last turn: {screen}"
    );
}

#[test]
fn a_turn_stopped_before_any_text_says_so_too() {
    let mut chat = chat();
    chat.keys("one<Enter>").turn_ends(TurnEnd::Cancelled);
    let screen = chat.wait(2_000).screen();
    let with_key = format!("{NOT_SEEN} Alt+R asks again.");
    assert!(screen.contains(&with_key), "{screen}");
}

#[test]
fn narrow_screens_show_a_short_form() {
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
