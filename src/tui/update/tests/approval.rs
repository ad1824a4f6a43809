//! Approval dialogs: when they accept keys, and the effect of each key.

use crate::domain::SchemaCheck;
use crate::questions;
use crate::tui::dialog::state::DialogMode;
use crate::tui::update::tests::*;

#[test]
fn call_on_a_tiny_screen_can_be_refused_but_not_run() {
    for size in [(80, 3), (19, 24), (1, 1)] {
        for keys in ["y", "1", "s", "ㅛ", "<Enter>"] {
            let mut chat = ChatHarness::with_approval_dialog(&[1]);
            chat.size(size.0, size.1)
                .keys("<Down>")
                .wait(600)
                .keys(keys);
            assert_eq!(chat.commands(), [], "{keys} at {size:?}");
            assert_eq!(chat.notice(), "Make the window larger to answer.");
        }
        let mut chat = ChatHarness::with_approval_dialog(&[1]);
        chat.size(size.0, size.1).keys("n");
        assert_eq!(chat.decisions(), [Decision::Refuse]);
        let mut chat = ChatHarness::with_approval_dialog(&[1]);
        chat.size(size.0, size.1).keys("<Esc>");
        assert_eq!(chat.decisions(), [Decision::Refuse]);
    }
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys("e").size(80, 3).keys("<Enter>");
    assert_eq!(chat.commands(), []);
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.size(20, 4).keys("y");
    assert_eq!(chat.decisions(), [Decision::Run]);
}

#[test]
fn y_runs_a_call_once_the_dialog_accepts_keys() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys("y");
    assert_eq!(chat.decisions(), [Decision::Run]);
}

#[test]
fn keys_in_the_first_half_second_of_a_dialog_go_to_the_message() {
    let mut chat = chat();
    chat.keys("sum<Enter>").ask_about_calls(&[1]).keys("yes");
    assert_eq!(
        (chat.message().as_str(), chat.model.dialogs.queued().len()),
        ("yes", 1)
    );
}

#[test]
fn a_typed_letter_postpones_when_the_dialog_accepts_keys() {
    let mut chat = chat();
    chat.keys("sum<Enter>")
        .ask_about_calls(&[1])
        .wait(400)
        .keys("a")
        .wait(400)
        .keys("y");
    assert_eq!(chat.message(), "ay");
}

#[test]
fn pasted_text_never_answers() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.input(UiInput::Paste("y".into())).type_at_once("yyyyy");
    assert_eq!(
        (chat.commands().len(), chat.model.dialogs.queued().len()),
        (0, 1)
    );
}

#[test]
fn repeated_key_never_answers() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    let repeated =
        KeyEvent::new_with_kind(KeyCode::Char('y'), KeyModifiers::NONE, KeyEventKind::Repeat);
    chat.input(UiInput::Key(repeated));
    assert_eq!(chat.model.dialogs.queued().len(), 1);
}

#[test]
fn jamo_capitals_digits_and_arrows_also_answer() {
    for script in ["ㅛ", "Y", "1", "<Enter>"] {
        let mut chat = ChatHarness::with_approval_dialog(&[1]);
        chat.keys("<Down>").wait(600).keys(script);
        assert_eq!(chat.decisions(), [Decision::Run], "{script}");
    }
}

#[test]
fn no_choice_of_an_approval_is_preselected() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys("<Enter>");
    assert_eq!(chat.model.dialogs.queued().len(), 1);
}

#[test]
fn calls_are_decided_one_by_one_and_answered_together() {
    let mut chat = ChatHarness::with_approval_dialog(&[1, 2]);
    chat.keys("y");
    assert!(chat.commands().is_empty());
    chat.wait(600).keys("u");
    assert_eq!(chat.decisions(), [Decision::Run, Decision::ReuseResult]);
}

#[test]
fn double_key_press_does_not_decide_the_next_call() {
    let mut chat = ChatHarness::with_approval_dialog(&[1, 2]);
    chat.keys("y").keys("y").wait(1_000);
    assert!(chat.commands().is_empty());
    assert_eq!(chat.message(), "");
}

#[test]
fn refusing_one_call_refuses_all_calls() {
    let mut chat = ChatHarness::with_approval_dialog(&[1, 2]);
    chat.keys("y").wait(600).keys("n");
    assert_eq!(chat.decisions(), [Decision::Refuse, Decision::Refuse]);
}

#[test]
fn run_all_works_only_after_every_call_was_shown() {
    let mut chat = ChatHarness::with_approval_dialog(&[1, 2]);
    chat.keys("0");
    assert_eq!(chat.notice(), "See all calls first: Left and Right.");
    assert_eq!(chat.model.dialogs.queued().len(), 1);
    chat.keys("<Right>").wait(600).keys("0");
    assert_eq!(chat.decisions(), [Decision::Run, Decision::Run]);
}

#[test]
fn denial_can_carry_a_reason() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    // Leaving the field keeps the text.
    chat.keys("dnot <Esc>").wait(1_000).keys("dnow<Enter>");
    let message = Some("not now".to_owned());
    assert_eq!(chat.decisions(), [Decision::Deny { message }]);
}

#[test]
fn edited_arguments_are_validated_before_running() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys("e<Ctrl+u><Ctrl+k>x<Enter>");
    assert_eq!(chat.model.dialogs.queued().len(), 1);
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys("e<Down><End>2<Enter>");
    let query = chat.pending_check();
    let check = SchemaCheck::Invalid("12 is too large".to_owned());
    chat.engine_event(Event::ArgumentsChecked { query, check });
    assert!(chat.screen().contains("12 is too large"));
    assert!(chat.commands().is_empty(), "no decision yet");
    chat.keys("<Enter>");
    let query = chat.pending_check();
    let check = SchemaCheck::Valid;
    chat.engine_event(Event::ArgumentsChecked { query, check });
    assert_eq!(chat.commands(), [], "the edited call was not read yet");
    chat.wait(1_000).keys("y");
    assert!(matches!(&chat.decisions()[0], Decision::Edit { .. }));
}

#[test]
fn arguments_changed_during_the_check_are_not_submitted() {
    for change in ["3", "<Esc>"] {
        let mut chat = ChatHarness::with_approval_dialog(&[1]);
        chat.keys("e<Down><End>2<Enter>");
        let query = chat.pending_check();
        chat.keys(change);
        let check = SchemaCheck::Valid;
        chat.engine_event(Event::ArgumentsChecked { query, check });
        assert!(chat.commands().is_empty(), "{change}");
    }
}

#[test]
fn second_ctrl_c_quits_when_the_engine_does_not_respond() {
    let mut chat = chat();
    chat.keys("sum<Enter><Ctrl+c>").wait(900);
    chat.keys("<Ctrl+c>");
    assert!(
        !chat.sent.contains(&UiEffect::Quit),
        "the engine still has time"
    );
    chat.wait(200);
    assert!(
        chat.notice().contains("is not responding"),
        "{}",
        chat.notice()
    );
    chat.keys("<Ctrl+c>");
    assert!(chat.sent.contains(&UiEffect::Quit));
}

#[test]
fn acknowledged_ctrl_c_does_not_quit_on_timeout() {
    let mut chat = chat();
    chat.keys("sum<Enter><Ctrl+c>");
    chat.engine_event(Event::InterruptAcknowledged).wait(5_000);
    assert_eq!(chat.notice(), "");
    chat.keys("<Ctrl+c>");
    assert!(!chat.sent.contains(&UiEffect::Quit));
}

#[test]
fn ctrl_c_interrupts_before_a_dialog_accepts_keys() {
    let mut chat = chat();
    chat.keys("sum<Enter>")
        .ask_about_calls(&[1])
        .keys("<Ctrl+ㅊ>");
    assert!(chat.commands().contains(&Command::Interrupt));
}

#[test]
fn keys_go_to_the_message_after_a_question_is_closed() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.engine_event(Event::AskClosed(AskId(7)));
    chat.wait(300).keys("y");
    assert_eq!(chat.message(), "y");
}

#[test]
fn a_digit_answers_the_question_about_the_round_limit() {
    let mut chat = chat();
    chat.keys("sum<Enter>")
        .ask_question(questions::round_limit(10, false))
        .wait(600);
    chat.sent.clear();
    chat.keys("2");
    let answer = UserAnswer::Choice(UserChoice::NoRoundLimit);
    assert_eq!(
        chat.commands(),
        [Command::Answer {
            ask: AskId(7),
            answer
        }]
    );
}

#[test]
fn call_row_is_unfolded_by_keyboard() {
    let mut chat = chat();
    chat.keys("sum<Enter>").ask_about_calls(&[1]);
    chat.engine_event(Event::AskClosed(AskId(7)));
    chat.keys("<Tab><Up>");
    assert!(chat.screen().contains("Enter unfold"), "{}", chat.screen());
    chat.keys("<Enter>");
    assert_eq!(
        (
            chat.model.panes.focus,
            chat.model.chat.viewport.is_unfolded(1)
        ),
        (Focus::Chat, true)
    );
    assert!(chat.screen().contains("Enter fold"), "{}", chat.screen());
}

#[test]
fn texts_are_edited_one_at_a_time_and_must_be_read_again() {
    let arguments = json!({ "path": "a.py", "content": "one\ntwo" });
    let mut chat = read_before_run::with_tool_call((80, 24), "", &arguments);
    chat.wait(1_000).keys("e");
    assert!(chat.screen().contains("2  content"), "{}", chat.screen());
    chat.keys("y");
    assert_eq!(
        chat.commands(),
        [],
        "y chooses nothing in the list of values"
    );
    chat.keys("2zero <Enter>").accept_check();
    assert_eq!(chat.commands(), []);
    assert!(chat.screen().contains("1  zero one"), "{}", chat.screen());
    chat.wait(1_000).keys("y");
    let edited = json!({ "path": "a.py", "content": "zero one\ntwo" });
    let arguments = edited.as_object().expect("an object").clone().into();
    assert_eq!(chat.decisions(), [Decision::Edit { arguments }]);
}

#[test]
fn a_key_before_the_next_frame_never_runs_an_edit() {
    let arguments = json!({ "content": "one\ntwo" });
    let mut chat = read_before_run::with_tool_call((80, 24), "", &arguments);
    chat.wait(1_000).keys("e");
    let dialog = &mut chat.model.dialogs.queued_mut()[0];
    let DialogMode::EditArguments { editor, .. } = &mut dialog.mode else {
        panic!("no field is open");
    };
    editor.insert(&"rm -rf /never/seen\n".repeat(300));
    chat.keys("<Enter>");
    let query = chat.pending_check();
    // No frame is drawn between the result of the check and the keys.
    for input in [
        UiInput::Engine(Box::new(Event::ArgumentsChecked {
            query,
            check: SchemaCheck::Valid,
        })),
        UiInput::Key(KeyEvent::new(KeyCode::Char('y'), KeyModifiers::NONE)),
        UiInput::Key(KeyEvent::new(KeyCode::Char('0'), KeyModifiers::NONE)),
    ] {
        let now = chat.model.now;
        let effects = update(&mut chat.model, Msg::new(now, input));
        chat.sent.extend(effects);
    }
    assert_eq!(chat.commands(), []);
    chat.wait(1_000).keys("y");
    // The keys were typed into the message, which is saved.
    let is_draft = |command: &Command| matches!(command, Command::SaveDraft(_));
    let commands = chat.commands();
    assert!(commands.iter().all(is_draft), "300 lines were never drawn");
}

#[test]
fn editing_a_call_withdraws_its_decision() {
    let mut chat = ChatHarness::with_approval_dialog(&[1, 2]);
    chat.wait(1_000).keys("y");
    chat.wait(1_000).keys("<Left>");
    assert!(
        chat.screen().contains("1 of 2, decided"),
        "{}",
        chat.screen()
    );
    chat.keys("e<Down><End>5<Enter>").accept_check();
    chat.wait(1_000).keys("<Right>").wait(1_000).keys("y");
    assert_eq!(chat.commands(), [], "the edited call is undecided");
}

#[test]
fn truncated_rows_do_not_count_as_drawn() {
    let text = "가나다라마바사\n".repeat(30);
    let mut chat = read_before_run::with_tool_call((80, 24), "", &json!({ "text": text }));
    chat.size(7, 900).wait(1_000).size(80, 24);
    assert!(chat.model.dialogs.queued()[0].undrawn_rows > 0);
    chat.wait(1_000).keys("y");
    assert_eq!(chat.commands(), []);
}
