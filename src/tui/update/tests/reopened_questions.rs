//! Server questions that wait after the turn and are opened again.

use super::*;
use crate::domain::ElicitationForm;
use crate::questions;

/// A question that accepted keys before its turn ended, and has waited since.
fn set_aside() -> ChatHarness {
    let params = json!({ "message": "Agreed?", "requestedSchema": { "properties": {} } });
    let form = ElicitationForm::from_params(&params).expect("a valid form");
    let question = questions::fill_form(&"parcels".into(), &Arc::new(form));
    let mut chat = chat();
    chat.size(80, 24).keys("go<Enter>");
    chat.engine_event(Event::Asked {
        ask: AskId(7),
        owner: QuestionOwner::Server("parcels".into()),
        question,
    });
    chat.screen();
    chat.wait(600).screen();
    assert!(chat.model.dialogs.accepts_keys());
    chat.model_answers("Done.");
    chat.commands();
    chat
}

fn has_answered(chat: &mut ChatHarness) -> bool {
    let is_answer = |command: &Command| matches!(command, Command::Answer { .. });
    chat.commands().iter().any(is_answer)
}

#[test]
fn a_question_that_is_opened_again_takes_no_key_at_once() {
    let mut chat = set_aside();
    chat.wait(300).keys("<Alt+q>").screen();
    assert!(!chat.model.dialogs.accepts_keys());
    chat.keys("n").wait(400);
    assert_eq!(chat.message(), "n");
    assert!(!has_answered(&mut chat));
}

#[test]
fn a_key_for_a_question_that_closes_does_not_answer_the_one_behind_it() {
    let mut chat = set_aside();
    chat.engine_event(Event::Asked {
        ask: AskId(8),
        owner: QuestionOwner::Program,
        question: questions::stalled(120),
    });
    chat.model.dialogs.open_waiting(chat.model.now);
    chat.screen();
    chat.wait(600).screen();
    assert!(chat.model.dialogs.accepts_keys());
    chat.engine_event(Event::AskClosed(AskId(8)));
    chat.screen();
    assert!(!chat.model.dialogs.accepts_keys());
    chat.keys("n").wait(400);
    assert!(!has_answered(&mut chat));
}
