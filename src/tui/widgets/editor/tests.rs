//! Edits of text in various languages, with the resulting text, cursor and view.

use crate::text::grapheme::width;
use crate::tui::widgets::editor::*;
use std::time::{Duration, Instant};

fn editor(text: &str) -> Editor {
    Editor::new(text)
}

fn after(text: &str, edits: &[Edit]) -> (String, (u16, u16)) {
    let mut editor = editor(text);
    for edit in edits {
        editor.edit(*edit);
    }
    (editor.text(), editor.view(40, 8).cursor)
}

#[test]
fn backspace_takes_a_whole_cluster() {
    for cluster in ["한", "👩‍👩‍👧", "e\u{301}", "🇰🇷", "か"] {
        let (text, _) = after(&format!("a{cluster}"), &[Edit::Backspace]);
        assert_eq!(text, "a", "{cluster}");
    }
}

#[test]
fn the_cursor_column_counts_both_columns_of_wide_characters() {
    let columns = [
        ("한글", 4),
        ("漢", 2),
        ("かな", 4),
        ("👍", 2),
        ("e\u{301}x", 2),
    ];
    for (text, column) in columns {
        assert_eq!(after(text, &[]).1, (column, 0), "{text}");
    }
}

#[test]
fn combining_mark_joins_the_previous_cluster() {
    let mut editor = editor("e");
    editor.insert("\u{301}");
    editor.edit(Edit::Move(Motion::Left));
    assert_eq!(editor.view(40, 1).cursor, (0, 0));
}

#[test]
fn cursor_moves_and_deletes_by_word() {
    let (text, cursor) = after(
        "one two, three",
        &[Edit::Move(Motion::WordLeft), Edit::KillWordLeft],
    );
    assert_eq!((text.as_str(), cursor), ("one three", (4, 0)));
}

#[test]
fn ctrl_u_and_ctrl_k_delete_to_the_line_ends() {
    let at_word = [Edit::Move(Motion::WordLeft)];
    let with = |edit| after("one two", &[&at_word[..], &[edit]].concat()).0;
    assert_eq!(with(Edit::KillToStart), "two");
    assert_eq!(with(Edit::KillToEnd), "one ");
}

#[test]
fn up_keeps_its_column_over_a_short_line() {
    let (_, cursor) = after(
        "long line\nx\nlong line",
        &[Edit::Move(Motion::Up), Edit::Move(Motion::Up)],
    );
    assert_eq!(cursor, (9, 0));
}

#[test]
fn up_on_the_first_row_is_not_handled() {
    assert!(!editor("one").edit(Edit::Move(Motion::Up)));
    assert!(editor("one\ntwo").edit(Edit::Move(Motion::Up)));
}

#[test]
fn all_line_endings_become_newlines_in_the_editor() {
    assert_eq!(editor("a\r\nb\rc\nd").text(), "a\nb\nc\nd");
}

#[test]
fn control_characters_stay_in_the_text_and_off_the_screen() {
    let mut editor = editor("a\u{1b}[31mb\tc");
    let view = editor.view(60, 2);
    assert!(editor.text().contains('\u{1b}'));
    assert!(!view.rows[0].contains(['\u{1b}', '\t']), "{view:?}");
    assert_eq!(usize::from(view.cursor.0), width(&view.rows[0]));
}

#[test]
fn view_keeps_the_cursor_visible() {
    let mut editor = editor(&"line\n".repeat(100));
    let view = editor.view(20, 4);
    assert_eq!((view.rows.len(), view.cursor.1), (4, 3));
    for _ in 0..100 {
        editor.edit(Edit::Move(Motion::Up));
    }
    assert_eq!(editor.view(20, 4).cursor, (0, 0));
}

#[test]
fn key_after_a_megabyte_paste_is_fast() {
    let text = "some words of a long text\n".repeat(40_000);
    let begin = Instant::now();
    let mut editor = editor("");
    editor.insert(&text);
    assert_eq!(editor.text(), text);
    for _ in 0..100 {
        editor.insert("x");
        editor.height(80, 8);
        editor.view(80, 8);
    }
    assert!(
        begin.elapsed() < Duration::from_secs(2),
        "{:?}",
        begin.elapsed()
    );
}

/// Twelve lines, which fold.
fn long_paste() -> String {
    (0..12).map(|line| format!("line {line}\n")).collect()
}

#[test]
fn the_key_that_unfolds_a_paste_folds_it_again_with_its_edits() {
    let mut editor = editor("see ");
    editor.paste(&long_paste());
    editor.insert(" end");
    assert!(editor.edit(Edit::Unfold));
    assert!(!editor.has_chip());
    editor.insert("before, ");
    editor.edit(Edit::Move(Motion::Down));
    editor.insert("inside");
    editor.edit(Edit::Move(Motion::TextStart));
    editor.insert("First ");
    let text = editor.text();
    assert!(
        editor.edit(Edit::Unfold),
        "the last one, wherever the cursor is"
    );
    assert_eq!(editor.text(), text, "nothing is lost");
    let view = editor.view(60, 4);
    assert_eq!(
        view.rows[0].trim_end(),
        "First see before, [Pasted 12 lines] end"
    );
    assert!(editor.edit(Edit::Unfold) && !editor.has_chip());
    assert_eq!(editor.text(), text);
    assert!(editor.edit(Edit::Undo) && editor.has_chip());
    assert_eq!(editor.text(), text);
}

#[test]
fn of_two_unfolded_pastes_the_one_at_the_cursor_folds() {
    let mut editor = editor("");
    editor.paste(&long_paste());
    editor.insert(" and ");
    editor.paste(&"x\n".repeat(20));
    editor.edit(Edit::Unfold);
    editor.edit(Edit::Move(Motion::TextStart));
    editor.edit(Edit::Unfold);
    assert!(!editor.has_chip());
    editor.edit(Edit::Move(Motion::TextStart));
    editor.edit(Edit::Unfold);
    let rows = editor.view(60, 4).rows;
    assert!(rows[0].starts_with("[Pasted 12 lines] and x"), "{rows:?}");
}
