//! Dialog contents and scrolling, drawn as on a terminal.

use crate::tui::dialog::state::DialogMode;
use crate::tui::update::tests::*;

/// A dialog about one call of `add` with these arguments.
fn about(arguments: serde_json::Value) -> ChatHarness {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    let Some(call) = chat.model.chat.transcript.call(CallId(1)).cloned() else {
        panic!("the call exists");
    };
    let arguments = arguments.as_object().expect("an object").clone();
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
        let mut chat = about(forty_lines());
        let mut seen = screen(&mut chat, width, height);
        for _ in 0..80 {
            press(&mut chat, KeyCode::PageDown, KeyModifiers::NONE);
            seen += &screen(&mut chat, width, height);
        }
        for n in 0..40 {
            assert!(
                seen.contains(&format!("\"<{n}>\"")),
                "{n} at {width}x{height}"
            );
        }
    }
}

#[test]
fn arguments_scroll_by_row_and_to_both_ends() {
    for held in [KeyModifiers::SHIFT, KeyModifiers::CONTROL] {
        let mut chat = about(forty_lines());
        screen(&mut chat, 80, 24);
        press(&mut chat, KeyCode::Down, held);
        press(&mut chat, KeyCode::Down, held);
        press(&mut chat, KeyCode::Up, held);
        assert_eq!(
            (
                chat.model.dialogs.all()[0].scroll,
                chat.model.dialogs.all()[0].selected_choice
            ),
            (1, None)
        );
        press(&mut chat, KeyCode::End, held - KeyModifiers::SHIFT);
        assert!(screen(&mut chat, 80, 24).contains("<39>"));
        press(&mut chat, KeyCode::PageUp, KeyModifiers::NONE);
        let ask = &chat.model.dialogs.all()[0];
        assert_eq!(
            ask.scroll as isize,
            ask.last_top() as isize - ask.page_rows()
        );
        press(&mut chat, KeyCode::Home, held - KeyModifiers::SHIFT);
        assert_eq!(chat.model.dialogs.all()[0].scroll, 0);
    }
}

#[test]
fn scroll_marks_never_cover_an_argument() {
    for (width, height) in [(80, 24), (64, 20), (40, 12), (20, 6), (20, 4)] {
        // Each row of this string, behind its margin, fills the full width.
        let columns = usize::from(width);
        let mut chat = about(json!({"a": "#".repeat((columns - 2) * 90)}));
        for _ in 0..100 {
            let drawn = screen(&mut chat, width, height);
            for row in drawn.lines().filter(|row| row.contains("####")) {
                assert!(!row.contains(['↑', '↓']), "{drawn}");
            }
            press(&mut chat, KeyCode::PageDown, KeyModifiers::NONE);
        }
        let drawn = screen(&mut chat, width, height);
        assert!(drawn.contains('↑') && !drawn.contains('↓'), "{drawn}");
        press(&mut chat, KeyCode::PageUp, KeyModifiers::NONE);
        let drawn = screen(&mut chat, width, height);
        assert!(drawn.contains('↑') && drawn.contains('↓'), "{drawn}");
    }
}

#[test]
fn dialog_survives_more_rows_than_u16() {
    let mut chat = about(json!({"lines": vec![0; 65_531]}));
    let drawn = screen(&mut chat, 80, 24);
    assert!(drawn.contains("y run "), "{drawn}");
    assert!(chat.model.dialogs.all()[0].body_height > 3, "{drawn}");
    assert_eq!(chat.model.dialogs.all()[0].body_rows().len(), 65_534);
}

#[test]
fn large_arguments_are_wrapped_once() {
    let mut chat = about(json!({"a": "x".repeat(300_000)}));
    screen(&mut chat, 80, 24);
    let first = chat.model.dialogs.all()[0].body_rows().as_ptr();
    press(&mut chat, KeyCode::PageDown, KeyModifiers::NONE);
    screen(&mut chat, 80, 24);
    assert_eq!(chat.model.dialogs.all()[0].body_rows().as_ptr(), first);
    assert!(chat.model.dialogs.all()[0].scroll > 0);
}

#[test]
fn changed_call_is_redrawn() {
    let mut chat = about(json!({"a": "before"}));
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
        .clone();
    chat.turn_event(TurnEvent::Tool(ToolCall { arguments, ..call }));
    assert!(screen(&mut chat, 80, 24).contains("after"));
}

#[test]
fn failed_call_shows_its_error_and_the_next_request() {
    let mut chat = about(json!({"path": "/etc\u{202e}"}));
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
    chat.ask_question(Ask::AfterError {
        failed: CallId(1),
        requested_tools: vec!["remove\nError:".into(), "list".into()],
    });
    let drawn = screen(&mut chat, 80, 50);
    for text in [
        "add   sums",
        "remove⟨LF⟩Error:, list",
        "no such folder⟨ESC⟩[31m",
        "\"path\": \"/etc⟨U+202E⟩\"",
    ] {
        assert!(drawn.contains(text), "{text} in {drawn}");
    }
}

/// Letters with a meaning in dialogs about calls.
#[test]
fn letters_mean_the_same_in_every_dialog() {
    let questions = [
        Ask::UnusableCall {
            raw: String::new(),
            why: String::new(),
        },
        Ask::AfterError {
            failed: CallId(1),
            requested_tools: Vec::new(),
        },
        Ask::Stalled { seconds: 1 },
        Ask::RoundLimit {
            rounds: 1,
            was_told_to_answer: false,
        },
        Ask::ExternalEdit(Arc::default()),
        Ask::PinChanged(Arc::new(trust::changed(0))),
        Ask::SendInstructions {
            server: "s".into(),
            text: "".into(),
        },
        Ask::ReplacePrompt {
            path: String::new(),
            text: "".into(),
        },
    ];
    for question in questions {
        for row in question.choices() {
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
    let repair = Ask::UnusableCall {
        raw: String::new(),
        why: String::new(),
    };
    let keys: String = repair.choices().iter().map(|row| row.key).collect();
    assert_eq!(keys, "mtn");
}

#[test]
fn a_paste_while_choosing_goes_to_the_message() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.input(UiInput::Paste("yes, ".into())).keys("y");
    assert_eq!(
        (chat.message().as_str(), chat.model.dialogs.all().len()),
        ("yes, y", 1)
    );
    chat.wait(600).keys("y");
    assert_eq!(chat.decisions(), [Decision::Run]);
}

#[test]
fn a_denial_and_an_edit_keep_the_call_in_view() {
    for (width, height) in [(80, 24), (64, 20), (40, 12), (20, 6)] {
        let mut chat = about(json!({"a": 1}));
        screen(&mut chat, width, height);
        chat.keys("<End>d");
        let names = ["── Run add on sums? ──", "add   sums"];
        let drawn = screen(&mut chat, width, height);
        assert!(names.iter().any(|name| drawn.contains(name)), "{drawn}");
        assert!(height < 12 || drawn.contains("\"  a  1 "), "{drawn}");
        chat.keys("<Esc>e");
        let drawn = screen(&mut chat, width, height);
        assert!(names.iter().any(|name| drawn.contains(name)), "{drawn}");
    }
}

#[test]
fn abandoned_edit_resumes_with_its_draft() {
    let mut chat = ChatHarness::with_approval_dialog(&[1, 2]);
    chat.keys("e!<Esc><Right>e");
    let DialogMode::EditArguments { editor, .. } = &chat.model.dialogs.all()[0].mode else {
        panic!("a field is open");
    };
    assert!(!editor.text().contains('!'), "each call has its own draft");
    chat.keys("<Esc><Left>e");
    let DialogMode::EditArguments { editor, .. } = &chat.model.dialogs.all()[0].mode else {
        panic!("a field is open");
    };
    assert!(editor.text().contains('!'));
}

#[test]
fn question_mark_lists_choices_on_a_small_screen() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    let before = screen(&mut chat, 20, 6);
    assert!(before.contains("y n d e s t … ?"), "{before}");
    chat.keys("?");
    let mut seen = screen(&mut chat, 20, 6);
    press(&mut chat, KeyCode::End, KeyModifiers::NONE);
    seen += &screen(&mut chat, 20, 6);
    for label in ["y  Run it once", "n  Do not run", "t  Treat it as"] {
        assert!(seen.contains(label), "{label}\n{seen}");
    }
    // Esc closes the list, not the question.
    chat.keys("<Esc>");
    assert_eq!(screen(&mut chat, 20, 6), before);
    assert_eq!(chat.commands(), []);
    chat.keys("??y");
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
        let drawn = screen(&mut chat, 80, 24);
        assert_eq!(drawn.contains("y  Run it once"), is_list_open, "{drawn}");
        if is_list_open {
            chat.keys("<Esc>");
            assert_eq!(chat.commands(), [], "{keys}");
        }
        chat.keys("<Esc>");
        assert_eq!(chat.decisions(), [Decision::Refuse], "{keys}");
    }
}

#[test]
fn run_others_label_shows_the_count() {
    let mut chat = ChatHarness::with_approval_dialog(&[1, 2, 3]);
    let label = |chat: &ChatHarness| {
        let rows = chat.model.dialogs.all()[0].choices(&chat.model.chat.transcript);
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
    let mut chat = about(forty_lines());
    let drawn = screen(&mut chat, 80, 24);
    let row = |text: &str| drawn.lines().position(|row| row.contains(text));
    let (prompt, title) = (row("▌ sum  "), row("── Run add on sums? ──"));
    assert!(prompt.is_some() && prompt < title, "{drawn}");
}
