//! Hints, help and palette name only keys that work where they are shown.

use crate::tui::update::tests::*;

fn palette_row(chat: &mut ChatHarness) -> String {
    let screen = chat.screen();
    let row = screen.lines().find(|row| row.contains("Copy the last"));
    row.expect("the command").trim_end().to_owned()
}

#[test]
fn the_palette_names_a_key_of_the_panes_only_if_a_pane_has_the_focus() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_answers("1").wait(2_000);
    chat.keys("<Ctrl+p>copy last");
    assert!(
        palette_row(&mut chat).ends_with("/copy"),
        "{}",
        chat.screen()
    );
    chat.keys("<Esc><Esc><Tab><Ctrl+p>copy last");
    assert!(
        palette_row(&mut chat).ends_with("Ctrl+Y"),
        "{}",
        chat.screen()
    );
}

#[test]
fn the_find_bar_names_space_as_the_key_that_folds() {
    let mut chat = chat();
    chat.keys("one<Enter>");
    chat.turn_event(TurnEvent::Delta {
        piece: PieceId(90),
        kind: PieceKind::Thinking,
        text: "pear pear".into(),
    });
    chat.turn_event(TurnEvent::Delta {
        piece: PieceId(91),
        kind: PieceKind::Text,
        text: "apple".into(),
    });
    let end = TurnEnd::Answered {
        text: "apple".into(),
        is_truncated: false,
    };
    chat.turn_ends(end).wait(2_000);
    chat.size(100, 24).keys("<Ctrl+f>pear");
    for _ in 0..50 {
        chat.input(UiInput::Tick);
    }
    chat.keys("<Enter>");
    let screen = chat.screen();
    assert!(screen.contains("Space fold"), "{screen}");
    assert!(!screen.contains("Enter fold"), "{screen}");
    chat.keys("<Esc>");
    let screen = chat.screen();
    assert!(!screen.contains("Space fold"), "{screen}");
}

#[test]
fn narrow_screens_keep_the_hint_for_the_help() {
    let mut chat = chat();
    for columns in [50, 56, 60, 66, 80] {
        let screen = chat.size(columns, 20).screen();
        assert!(screen.contains("F1 help"), "{columns}: {screen}");
    }
    let screen = chat.size(60, 20).screen();
    assert!(screen.contains("Ctrl+P commands"), "{screen}");
    chat.keys("one<Enter>").model_answers("1").wait(10_000);
    for columns in [50, 56, 60, 66] {
        let screen = chat.size(columns, 20).screen();
        assert!(screen.contains("F1 help"), "{columns}: {screen}");
    }
    let screen = chat.size(80, 20).screen();
    assert!(screen.contains("Tab chat"), "{screen}");
}

#[test]
fn a_notice_as_wide_as_the_screen_keeps_its_mark() {
    for columns in 70..=84 {
        let mut chat = chat();
        chat.size(80, 24);
        let text = "x".repeat(columns);
        chat.model.notify(Notice::info(text.clone()));
        let screen = chat.screen();
        let row = screen.lines().find(|row| row.contains("xxx"));
        assert!(row.expect("a notice").starts_with(" · x"), "{screen}");
    }
}

#[test]
fn a_message_taller_than_its_box_names_the_line_and_the_editor_key() {
    let mut chat = chat();
    let text: Vec<String> = (1..=300).map(|line| format!("line {line}")).collect();
    chat.model.composer.editor.set(&text.join("\n"));
    let screen = chat.screen();
    let label = "message line 300 of 300 · Ctrl+G editor";
    assert!(screen.contains(label), "{screen}");
    chat.keys("<Ctrl+Home><Down>");
    let screen = chat.screen();
    assert!(screen.contains("message line 2 of 300"), "{screen}");
    chat.keys("<Tab>");
    assert!(!chat.screen().contains("message line"), "in the chat");
    chat.model.composer.editor.set("one\ntwo");
    chat.keys("<Esc>");
    assert!(!chat.screen().contains("message line"), "all is in view");
}
