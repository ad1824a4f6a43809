//! Approval dialogs: keyboard focus and the meaning of each key.

use crate::domain::SchemaCheck;
use crate::tui::update::tests::*;

#[test]
fn what_cannot_be_read_cannot_be_allowed_but_refused() {
    for size in [(80, 3), (11, 24), (1, 1)] {
        for keys in ["y", "1", "s", "ㅛ", "<Down><Enter>"] {
            let mut chat = Chat::approving(&[1]);
            chat.size(size.0, size.1).keys(keys);
            assert_eq!(chat.commands(), [], "{keys} at {size:?}");
            assert_eq!(chat.notice(), "Make the window larger to answer.");
        }
        let mut chat = Chat::approving(&[1]);
        chat.size(size.0, size.1).keys("n");
        assert_eq!(chat.decided(), [Decision::Refuse]);
        let mut chat = Chat::approving(&[1]);
        chat.size(size.0, size.1).keys("<Esc>");
        assert_eq!(chat.decided(), [Decision::Refuse]);
    }
    let mut chat = Chat::approving(&[1]);
    chat.keys("e").size(80, 3).keys("<Enter>");
    assert_eq!(chat.commands(), []);
    let mut chat = Chat::approving(&[1]);
    chat.size(12, 4).keys("y");
    assert_eq!(chat.decided(), [Decision::Run]);
}

#[test]
fn y_runs_a_call_once_the_dialog_has_the_keyboard() {
    let mut chat = Chat::approving(&[1]);
    chat.keys("y");
    assert_eq!(chat.decided(), [Decision::Run]);
}

#[test]
fn keys_before_half_a_second_go_to_the_message() {
    let mut chat = chat();
    chat.keys("sum<Enter>").asks(&[1]).keys("yes");
    assert_eq!(
        (chat.message().as_str(), chat.model.dialogs.asks().len()),
        ("yes", 1)
    );
}

#[test]
fn every_key_puts_the_dialog_off() {
    let mut chat = chat();
    chat.keys("sum<Enter>")
        .asks(&[1])
        .wait(400)
        .keys("a")
        .wait(400)
        .keys("y");
    assert_eq!(chat.message(), "ay");
}

#[test]
fn pasted_text_never_answers() {
    let mut chat = Chat::approving(&[1]);
    chat.input(Input::Paste("y".into())).at_once("yyyyy");
    assert_eq!(
        (chat.commands().len(), chat.model.dialogs.asks().len()),
        (0, 1)
    );
}

#[test]
fn a_key_that_repeats_never_answers() {
    let mut chat = Chat::approving(&[1]);
    let repeated =
        KeyEvent::new_with_kind(KeyCode::Char('y'), KeyModifiers::NONE, KeyEventKind::Repeat);
    chat.input(Input::Key(repeated));
    assert_eq!(chat.model.dialogs.asks().len(), 1);
}

#[test]
fn jamo_capitals_digits_and_arrows_answer_too() {
    for script in ["ㅛ", "Y", "1", "<Down><Enter>"] {
        let mut chat = Chat::approving(&[1]);
        chat.keys(script);
        assert_eq!(chat.decided(), [Decision::Run], "{script}");
    }
}

#[test]
fn nothing_is_preselected() {
    let mut chat = Chat::approving(&[1]);
    chat.keys("<Enter>");
    assert_eq!(chat.model.dialogs.asks().len(), 1);
}

#[test]
fn calls_are_decided_one_after_another_and_answered_together() {
    let mut chat = Chat::approving(&[1, 2]);
    chat.keys("y");
    assert!(chat.commands().is_empty());
    chat.wait(600).keys("u");
    assert_eq!(chat.decided(), [Decision::Run, Decision::UseFirst]);
}

#[test]
fn a_key_struck_twice_does_not_decide_about_the_next_call() {
    let mut chat = Chat::approving(&[1, 2]);
    chat.keys("yy");
    assert!(chat.commands().is_empty());
    assert_eq!(
        chat.model.composer.editor.text(),
        "y",
        "the second key goes to the message"
    );
}

#[test]
fn a_refusal_refuses_all() {
    let mut chat = Chat::approving(&[1, 2]);
    chat.keys("y").wait(600).keys("n");
    assert_eq!(chat.decided(), [Decision::Refuse, Decision::Refuse]);
}

#[test]
fn all_can_be_run_once_each_was_shown() {
    let mut chat = Chat::approving(&[1, 2]);
    chat.keys("0");
    assert_eq!(chat.model.dialogs.asks().len(), 1);
    chat.keys("<Right>").wait(600).keys("0");
    assert_eq!(chat.decided(), [Decision::Run, Decision::Run]);
}

#[test]
fn a_denial_can_carry_a_word() {
    let mut chat = Chat::approving(&[1]);
    chat.keys("dnot now<Enter>");
    let word = Some("not now".to_owned());
    assert_eq!(chat.decided(), [Decision::Deny { word }]);
}

#[test]
fn edited_arguments_are_checked() {
    let mut chat = Chat::approving(&[1]);
    chat.keys("e<Ctrl+u><Ctrl+k>x<Enter>");
    assert_eq!(chat.model.dialogs.asks().len(), 1);
    let mut chat = Chat::approving(&[1]);
    chat.keys("e<Up><End>2<Enter>");
    let query = chat.checking();
    let check = SchemaCheck::Invalid("12 is too large".to_owned());
    chat.engine(Event::ArgumentsChecked { query, check });
    assert!(chat.screen().contains("12 is too large"));
    assert!(chat.commands().is_empty(), "no decision yet");
    chat.keys("<Enter>");
    let query = chat.checking();
    let check = SchemaCheck::Valid;
    chat.engine(Event::ArgumentsChecked { query, check });
    assert!(matches!(&chat.decided()[0], Decision::Edit { .. }));
}

#[test]
fn arguments_that_changed_while_they_were_checked_are_not_decided() {
    for change in ["3", "<Esc>"] {
        let mut chat = Chat::approving(&[1]);
        chat.keys("e<Up><End>2<Enter>");
        let query = chat.checking();
        chat.keys(change);
        let check = SchemaCheck::Valid;
        chat.engine(Event::ArgumentsChecked { query, check });
        assert!(chat.commands().is_empty(), "{change}");
    }
}

#[test]
fn an_engine_that_does_not_respond_to_ctrl_c_is_left_by_the_next_one() {
    let mut chat = chat();
    chat.keys("sum<Enter><Ctrl+c>").wait(900);
    chat.keys("<Ctrl+c>");
    assert!(
        !chat.sent.contains(&Effect::Quit),
        "the engine still has time"
    );
    chat.wait(200);
    assert!(
        chat.notice().contains("is not responding"),
        "{}",
        chat.notice()
    );
    chat.keys("<Ctrl+c>");
    assert!(chat.sent.contains(&Effect::Quit));
}

#[test]
fn an_engine_that_acknowledged_ctrl_c_may_take_its_time() {
    let mut chat = chat();
    chat.keys("sum<Enter><Ctrl+c>");
    chat.engine(Event::InterruptTaken).wait(5_000);
    assert_eq!(chat.notice(), "");
    chat.keys("<Ctrl+c>");
    assert!(!chat.sent.contains(&Effect::Quit));
}

#[test]
fn ctrl_c_interrupts_though_a_dialog_is_not_ready() {
    let mut chat = chat();
    chat.keys("sum<Enter>").asks(&[1]).keys("<Ctrl+ㅊ>");
    assert!(chat.commands().contains(&Command::Interrupt));
}

#[test]
fn a_question_that_closes_leaves_nothing() {
    let mut chat = Chat::approving(&[1]);
    chat.engine(Event::AskClosed(AskId(7))).keys("y");
    assert_eq!(chat.message(), "y");
}

#[test]
fn other_questions_take_their_own_keys() {
    let mut chat = chat();
    chat.keys("sum<Enter>")
        .asked(Ask::Bound {
            rounds: 10,
            again: false,
        })
        .wait(600);
    chat.sent.clear();
    chat.keys("2");
    let answer = Answer::Choice(Choice::NoBound);
    assert_eq!(
        chat.commands(),
        [Command::Answer {
            ask: AskId(7),
            answer
        }]
    );
}

#[test]
fn a_tool_line_unfolds_with_the_keyboard_alone() {
    let mut chat = chat();
    chat.keys("sum<Enter>").asks(&[1]);
    chat.engine(Event::AskClosed(AskId(7)));
    chat.keys("<Tab><Up><Enter>");
    assert_eq!(
        (
            chat.model.panes.focus,
            chat.model.chat.viewport.is_unfolded(1)
        ),
        (Focus::Chat, true)
    );
}
