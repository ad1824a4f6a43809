//! `cargo bench --bench editor`: times each key in a long message, including drawing, and a paste of
//! 1 MB with its undo.

#[path = "support/timing.rs"]
mod timing;

use humble::tui::widgets::editor::{Edit, Editor, Motion};
use std::time::Duration;
use timing::{print_times, timed};

const MESSAGE_BYTES: usize = 100_000;
const PASTE_BYTES: usize = 1_000_000;
const COLUMNS: u16 = 116;
const ROWS: u16 = 10;

fn main() {
    let words = "some words of a long message, 그리고 한국어 단어들 ";
    let of_size = |part: &str, bytes: usize| part.repeat(bytes.div_ceil(part.len()));
    let lines = of_size(&format!("{words}\n"), MESSAGE_BYTES);
    let emoji = of_size("👩‍👩‍👧 \u{1f44d}\u{1f3fd} ", MESSAGE_BYTES);
    let control = of_size("a\tb\u{202e}c 한글 ", MESSAGE_BYTES);
    let line = of_size(words, MESSAGE_BYTES);
    let unbroken = of_size("한글과", MESSAGE_BYTES);
    for (name, text) in [
        ("many lines", &lines),
        ("one line", &line),
        ("one line without spaces", &unbroken),
        ("one line of emoji", &emoji),
        ("one line with tabs and control characters", &control),
    ] {
        time_keys(name, text);
    }
    time_paste(&of_size(words, PASTE_BYTES));
    time_paste(&of_size(&format!("{words}\n"), PASTE_BYTES));
}

/// Lays out the message as the screen does after each key.
fn draw(editor: &mut Editor) {
    editor.height(COLUMNS, ROWS.into());
    editor.view(COLUMNS, ROWS);
}

fn time_edit<T>(editor: &mut Editor, edit: impl FnOnce(&mut Editor) -> T) -> Duration {
    let work = || {
        edit(editor);
        draw(editor);
    };
    timed(work).1
}

fn time_keys(name: &str, text: &str) {
    let mut editor = Editor::new(text);
    draw(&mut editor);
    let mut times = Vec::new();
    let edits = [
        Edit::Move(Motion::Left),
        Edit::Move(Motion::Up),
        Edit::Select(Motion::WordLeft),
        Edit::Backspace,
        Edit::KillWordLeft,
        Edit::Undo,
        Edit::Redo,
        Edit::Yank,
    ];
    for round in 0..200 {
        for edit in edits {
            times.push(time_edit(&mut editor, |editor| editor.edit(edit)));
        }
        for c in ["x", " ", "한", "\t"] {
            times.push(time_edit(&mut editor, |editor| editor.insert(c)));
        }
        if round % 50 == 49 {
            let to_start = Edit::Move(Motion::TextStart);
            times.push(time_edit(&mut editor, |editor| editor.edit(to_start)));
        }
    }
    print_times(&format!("key in 100 kB, {name}"), times);
}

fn time_paste(text: &str) {
    let (mut pastes, mut unfolds, mut undos) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..20 {
        let mut editor = Editor::new("before ");
        draw(&mut editor);
        pastes.push(time_edit(&mut editor, |editor| editor.paste(text)));
        unfolds.push(time_edit(&mut editor, |editor| editor.edit(Edit::Unfold)));
        for _ in 0..2 {
            undos.push(time_edit(&mut editor, |editor| editor.edit(Edit::Undo)));
        }
    }
    let lines = text.lines().count();
    print_times(&format!("paste of 1 MB, {lines} lines"), pastes);
    print_times(&format!("unfolding it, {lines} lines"), unfolds);
    print_times(&format!("undo of either, {lines} lines"), undos);
}
