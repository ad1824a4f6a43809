//! `cargo bench --bench editor`: what a key costs in a long message, drawing included, and a paste
//! of 1 MB with its undo. Prints median, 99th percentile and maximum.

use humble::tui::widgets::editor::{Edit, Editor, Motion};
use std::time::{Duration, Instant};

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
        keys(name, text);
    }
    paste(&of_size(words, PASTE_BYTES));
    paste(&of_size(&format!("{words}\n"), PASTE_BYTES));
}

/// What the screen does after each key.
fn draw(editor: &mut Editor) {
    editor.height(COLUMNS, ROWS.into());
    editor.view(COLUMNS, ROWS);
}

fn keys(name: &str, text: &str) {
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
            times.push(timed(|| {
                editor.edit(edit);
                draw(&mut editor);
            }));
        }
        for c in ["x", " ", "한", "\t"] {
            times.push(timed(|| {
                editor.insert(c);
                draw(&mut editor);
            }));
        }
        if round % 50 == 49 {
            let end = Edit::Move(Motion::TextStart);
            times.push(timed(|| {
                editor.edit(end);
                draw(&mut editor);
            }));
        }
    }
    print_times(&format!("key in 100 kB, {name}"), times);
}

fn paste(text: &str) {
    let (mut pastes, mut unfolds, mut undos) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..20 {
        let mut editor = Editor::new("before ");
        draw(&mut editor);
        pastes.push(timed(|| {
            editor.paste(text);
            draw(&mut editor);
        }));
        unfolds.push(timed(|| {
            editor.edit(Edit::Unfold);
            draw(&mut editor);
        }));
        for _ in 0..2 {
            undos.push(timed(|| {
                editor.edit(Edit::Undo);
                draw(&mut editor);
            }));
        }
    }
    let lines = text.lines().count();
    print_times(&format!("paste of 1 MB, {lines} lines"), pastes);
    print_times(&format!("unfolding it, {lines} lines"), unfolds);
    print_times(&format!("undo of either, {lines} lines"), undos);
}

fn timed(run: impl FnOnce()) -> Duration {
    let begin = Instant::now();
    run();
    begin.elapsed()
}

fn print_times(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    println!(
        "{name}: p50 {:.2?}, p99 {:.2?}, max {:.2?}",
        at(50),
        at(99),
        at(100)
    );
}
