//! Contents and scrolling of dialogs.

use crate::questions;
use crate::tui::dialog::state::DialogMode;
use crate::tui::update::tests::*;

fn with_dialog_for(arguments: serde_json::Value) -> ChatHarness {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    let Some(call) = chat.model.chat.transcript.call(CallId(1)).cloned() else {
        panic!("the call does not exist");
    };
    let arguments = arguments.as_object().expect("an object").clone().into();
    chat.turn_event(TurnEvent::Tool(ToolCall { arguments, ..call }));
    chat
}

fn press(chat: &mut ChatHarness, code: KeyCode, modifiers: KeyModifiers) {
    chat.input(UiInput::Key(key(code, modifiers)));
}

fn screen(chat: &mut ChatHarness, width: u16, height: u16) -> String {
    let backend = ratatui::backend::TestBackend::new(width, height);
    let mut terminal = ratatui::Terminal::new(backend).expect("a terminal");
    terminal
        .draw(|frame| crate::tui::view::draw(&mut chat.model, frame))
        .expect("drawn");
    terminal.backend().to_string()
}

fn forty_lines() -> serde_json::Value {
    json!({"lines": (0..40).map(|n| format!("<{n}>")).collect::<Vec<_>>()})
}

#[test]
fn every_argument_row_can_be_paged_into_view() {
    for (width, height) in [(104, 30), (80, 24), (64, 20), (40, 12), (20, 6), (20, 4)] {
        let mut chat = with_dialog_for(forty_lines());
        let mut screens = screen(&mut chat, width, height);
        for _ in 0..80 {
            press(&mut chat, KeyCode::PageDown, KeyModifiers::NONE);
            screens += &screen(&mut chat, width, height);
        }
        for n in 0..40 {
            assert!(
                screens.contains(&format!("\"<{n}>\"")),
                "{n} at {width}x{height}"
            );
        }
    }
}

#[test]
fn arguments_scroll_by_row_and_to_both_ends() {
    for modifier in [KeyModifiers::SHIFT, KeyModifiers::CONTROL] {
        let mut chat = with_dialog_for(forty_lines());
        screen(&mut chat, 80, 24);
        press(&mut chat, KeyCode::Down, modifier);
        press(&mut chat, KeyCode::Down, modifier);
        press(&mut chat, KeyCode::Up, modifier);
        assert_eq!(
            (
                chat.model.dialogs.queued()[0].scroll,
                chat.model.dialogs.queued()[0].selected_choice
            ),
            (1, None)
        );
        press(&mut chat, KeyCode::End, modifier - KeyModifiers::SHIFT);
        assert!(screen(&mut chat, 80, 24).contains("<39>"));
        press(&mut chat, KeyCode::PageUp, KeyModifiers::NONE);
        let dialog = &chat.model.dialogs.queued()[0];
        assert_eq!(
            dialog.scroll as isize,
            dialog.last_top() as isize - dialog.page_rows()
        );
        press(&mut chat, KeyCode::Home, modifier - KeyModifiers::SHIFT);
        assert_eq!(chat.model.dialogs.queued()[0].scroll, 0);
    }
}

#[test]
fn scroll_arrows_never_cover_an_argument() {
    for (width, height) in [(80, 24), (64, 20), (40, 12), (20, 6), (20, 4)] {
        // Each row of this string fills the width up to the margin.
        let columns = usize::from(width);
        let mut chat = with_dialog_for(json!({"a": "#".repeat((columns - 2) * 90)}));
        for _ in 0..100 {
            let screen_text = screen(&mut chat, width, height);
            for row in screen_text.lines().filter(|row| row.contains("####")) {
                assert!(!row.contains(['↑', '↓']), "{screen_text}");
            }
            press(&mut chat, KeyCode::PageDown, KeyModifiers::NONE);
        }
        let screen_text = screen(&mut chat, width, height);
        assert!(
            screen_text.contains('↑') && !screen_text.contains('↓'),
            "{screen_text}"
        );
        press(&mut chat, KeyCode::PageUp, KeyModifiers::NONE);
        let screen_text = screen(&mut chat, width, height);
        assert!(
            screen_text.contains('↑') && screen_text.contains('↓'),
            "{screen_text}"
        );
    }
}

#[test]
fn dialog_with_more_rows_than_u16_max_is_drawn() {
    let mut chat = with_dialog_for(json!({"lines": vec![0; 65_531]}));
    let screen_text = screen(&mut chat, 80, 24);
    assert!(screen_text.contains("y run "), "{screen_text}");
    assert!(
        chat.model.dialogs.queued()[0].body_height > 3,
        "{screen_text}"
    );
    assert_eq!(chat.model.dialogs.queued()[0].body_rows().len(), 65_534);
}

#[test]
fn large_arguments_are_wrapped_once() {
    let mut chat = with_dialog_for(json!({"a": "x".repeat(300_000)}));
    screen(&mut chat, 80, 24);
    let rows_before = chat.model.dialogs.queued()[0].body_rows().as_ptr();
    press(&mut chat, KeyCode::PageDown, KeyModifiers::NONE);
    screen(&mut chat, 80, 24);
    assert_eq!(
        chat.model.dialogs.queued()[0].body_rows().as_ptr(),
        rows_before
    );
    assert!(chat.model.dialogs.queued()[0].scroll > 0);
}

#[test]
fn an_open_dialog_shows_a_changed_call() {
    let mut chat = with_dialog_for(json!({"a": "before"}));
    screen(&mut chat, 80, 24);
    let call = chat
        .model
        .chat
        .transcript
        .call(CallId(1))
        .cloned()
        .expect("a call");
    let arguments = json!({"a": "after"})
        .as_object()
        .expect("an object")
        .clone()
        .into();
    chat.turn_event(TurnEvent::Tool(ToolCall { arguments, ..call }));
    assert!(screen(&mut chat, 80, 24).contains("after"));
}

#[test]
fn question_after_a_failed_call_shows_its_error_and_the_requested_tools() {
    let mut chat = with_dialog_for(json!({"path": "/etc\u{202e}"}));
    let call = chat
        .model
        .chat
        .transcript
        .call(CallId(1))
        .cloned()
        .expect("a call");
    let outcome = crate::domain::tool::ToolOutcome::Failed {
        text: "no such folder\u{1b}[31m".into(),
        elapsed: Duration::ZERO,
    };
    chat.engine_event(Event::AskClosed(AskId(7)));
    chat.turn_event(TurnEvent::Tool(ToolCall {
        state: ToolState::Done(outcome),
        ..call
    }));
    let failed = chat.model.chat.transcript.call(CallId(1)).cloned();
    let requested_tools = ["remove\nError:".to_owned(), "list".to_owned()];
    chat.ask_question(questions::after_error(failed.as_ref(), &requested_tools));
    let screen_text = screen(&mut chat, 80, 50);
    for text in [
        "add on sums failed.",
        "remove⟨LF⟩Error:, list",
        "no such folder⟨ESC⟩[31m",
        "\"path\": \"/etc⟨U+202E⟩\"",
    ] {
        assert!(screen_text.contains(text), "{text} in {screen_text}");
    }
}

#[test]
fn letters_mean_the_same_in_every_dialog() {
    let questions = [
        questions::unusable_call("", ""),
        questions::after_error(None, &[]),
        questions::stalled(1),
        questions::round_limit(1, false),
        questions::external_edit(&[]),
        questions::pin_changed(&trust::changed_tool(0)),
        questions::instructions(&"s".into(), ""),
        questions::replace_prompt("", ""),
    ];
    for question in questions {
        for row in question.choices {
            match row.choice {
                UserChoice::Stop => assert_eq!(row.key, 'n'),
                UserChoice::TreatAsText => assert_eq!(row.key, 't'),
                UserChoice::Retry | UserChoice::SendAgain => assert_eq!(row.key, 'r'),
                UserChoice::ApplyChanges
                | UserChoice::Replace
                | UserChoice::KeepWaiting
                | UserChoice::ExtendRoundLimit
                | UserChoice::Accept
                | UserChoice::SendAlways => assert_eq!(row.key, 'y'),
                _ => assert!(!"yndesturfpa".contains(row.key), "{row:?}"),
            }
        }
    }
    let unusable_call = questions::unusable_call("", "");
    let keys: String = unusable_call.choices.iter().map(|row| row.key).collect();
    assert_eq!(keys, "mtn");
}

#[test]
fn a_paste_while_choosing_goes_to_the_message() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.input(UiInput::Paste("yes, ".into())).keys("y");
    assert_eq!(
        (chat.message().as_str(), chat.model.dialogs.queued().len()),
        ("yes, y", 1)
    );
    chat.wait(600).keys("y").wait(400);
    assert_eq!(chat.decisions(), [Decision::Run]);
}

#[test]
fn a_word_typed_after_a_pause_goes_to_the_message() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.input(UiInput::Paste("I think ".into()))
        .wait(1_000)
        .keys_every(30, "y");
    assert_eq!(chat.message(), "I think ", "the letter waits");
    chat.keys_every(330, "esy");
    assert_eq!(chat.message(), "I think yesy");
    assert!(chat.wait(1_000).is_asking());
    // A single letter answers, unless another key follows it at once.
    assert!(chat.keys_every(30, "y<Left>").wait(400).is_asking());
    chat.screen();
    assert!(chat.wait(600).keys_every(30, "y").wait(399).is_asking());
    assert_eq!(chat.wait(1).decisions(), [Decision::Run]);
    assert_eq!(chat.message(), "I think yesy");
}

#[test]
fn the_call_stays_in_view_while_it_is_denied_or_edited() {
    for (width, height) in [(80, 24), (64, 20), (40, 12), (20, 6)] {
        let mut chat = with_dialog_for(json!({"a": 1}));
        screen(&mut chat, width, height);
        chat.keys("<End>d");
        let headings = ["── Run add on sums? ──", "add   sums"];
        let screen_text = screen(&mut chat, width, height);
        assert!(
            headings.iter().any(|heading| screen_text.contains(heading)),
            "{screen_text}"
        );
        assert!(
            height < 12 || screen_text.contains("\"  a  1 "),
            "{screen_text}"
        );
        chat.keys("<Esc>e");
        let screen_text = screen(&mut chat, width, height);
        assert!(
            headings.iter().any(|heading| screen_text.contains(heading)),
            "{screen_text}"
        );
    }
}

#[test]
fn abandoned_edit_resumes_with_its_draft() {
    let mut chat = ChatHarness::with_approval_dialog(&[1, 2]);
    chat.keys("e!<Esc><Right>e");
    let DialogMode::EditArguments { editor, .. } = &chat.model.dialogs.queued()[0].mode else {
        panic!("no field is open");
    };
    assert!(!editor.text().contains('!'), "each call has its own draft");
    chat.keys("<Esc><Left>e");
    let DialogMode::EditArguments { editor, .. } = &chat.model.dialogs.queued()[0].mode else {
        panic!("no field is open");
    };
    assert!(editor.text().contains('!'));
}

#[test]
fn question_mark_lists_choices_on_a_small_screen() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    let before = screen(&mut chat, 20, 6);
    assert!(before.contains("y n d e s t a ?"), "{before}");
    chat.keys("?");
    let mut screens = screen(&mut chat, 20, 6);
    press(&mut chat, KeyCode::End, KeyModifiers::NONE);
    screens += &screen(&mut chat, 20, 6);
    for label in ["y  Run it once", "n  Do not run", "t  Treat it as"] {
        assert!(screens.contains(label), "{label}\n{screens}");
    }
    // Esc closes the list, not the question.
    chat.keys("<Esc>");
    assert_eq!(screen(&mut chat, 20, 6), before);
    assert_eq!(chat.commands(), []);
    chat.keys("??").wait(600).keys("y");
    assert_eq!(chat.decisions(), [Decision::Run]);
}

#[test]
fn esc_closes_the_list_of_choices_before_it_refuses() {
    for (keys, is_list_open) in [("", true), ("?", false), ("??", true)] {
        let mut chat = ChatHarness::with_approval_dialog(&[1]);
        screen(&mut chat, 20, 6);
        chat.keys("?");
        // A larger screen keeps the list open.
        screen(&mut chat, 80, 24);
        chat.keys(keys);
        let screen_text = screen(&mut chat, 80, 24);
        assert_eq!(
            screen_text.contains("y  Run it once"),
            is_list_open,
            "{screen_text}"
        );
        if is_list_open {
            chat.keys("<Esc>");
            assert_eq!(chat.commands(), [], "{keys}");
        }
        chat.wait(1_000).keys("<Esc>");
        assert_eq!(chat.decisions(), [Decision::Refuse], "{keys}");
    }
}

#[test]
fn label_of_run_all_shows_the_number_of_calls() {
    let mut chat = ChatHarness::with_approval_dialog(&[1, 2, 3]);
    let label = |chat: &ChatHarness| {
        let rows = chat.model.dialogs.queued()[0].choices(chat.model.shared());
        rows.into_iter()
            .find(|row| row.digit == Some('0'))
            .map(|row| row.label)
    };
    chat.keys("<Right><Right>");
    assert_eq!(label(&chat).as_deref(), Some("Run all 3 calls"));
    chat.wait(600).keys("y");
    assert_eq!(label(&chat).as_deref(), Some("Run the remaining 2"));
}

#[test]
fn prompt_stays_visible_above_its_dialog() {
    let mut chat = with_dialog_for(forty_lines());
    let screen_text = screen(&mut chat, 80, 24);
    let row = |text: &str| screen_text.lines().position(|row| row.contains(text));
    let (prompt, title) = (row("▌ sum  "), row("── Run add on sums? ──"));
    assert!(prompt.is_some() && prompt < title, "{screen_text}");
}
