//! The cells of the terminal, with colors and emphasis: after partial updates, they equal a frame
//! drawn from scratch, and they equal the intended frame.

use super::fixtures;
use super::home::wait_until;
use super::model_server::{Gate, ollama_call, ollama_text};
use super::pty::{CTRL_L, PtyTerminal, QUIET_TIME, TerminalOptions, UP, screen_with_border};
use super::screen_harness::{ScreenHarness, screen_harness};
use super::{CHAT, READY_HINT, clean_exit, ollama, ollama_with_tools};
use humble::domain::{AskId, CallId, PieceKind, TurnEnd, TurnEvent};
use humble::protocol::{CallToApprove, Event, ModelJob, QuestionOwner};
use humble::questions;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use serde_json::{Value, json};
use std::sync::Arc;
use vt100::{Parser, Screen};

const PAGE_UP: &str = "\x1b[5~";
const PAGE_DOWN: &str = "\x1b[6~";
const DOWN: &str = "\x1b[B";
const F4: &str = "\x1bOS";
const F5: &str = "\x1b[15~";
/// The beginning of a frame that clears the screen, and the end of any frame.
const FULL_FRAME: &[u8] = b"\x1b[?2026h\x1b[0m\x1b[2J";
const FRAME_END: &[u8] = b"\x1b[?2026l";
/// Modifiers that are visible on a blank.
const VISIBLE_ON_BLANK: Modifier = Modifier::REVERSED.union(Modifier::UNDERLINED);

const ANSWER: &str = "# 서울의 날씨\n\nIt is **맑음** and `21 °C`, *약간* windy.\n\n\
    | 도시 | 기온 |\n|---|---|\n| 서울 | 21 |\n| 부산 | 24 |\n\n\
    ```rust\nfn main() {\n    println!(\"{}\", \"안녕\"); // 주석\n}\n```\n\n\
    - 첫째 항목\n- second item\n\n> 인용 quote\n\nThe end. 끝.\n";

fn parts(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(5).map(String::from_iter).collect()
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

/// Whether a row contains a clock or a spinner.
fn changes_by_itself(row: &str) -> bool {
    row.contains(" s ─") || row.contains("Ctrl+C stop")
}

fn resize(terminal: &PtyTerminal, columns: u16, rows: u16) {
    let before = terminal.bytes_written();
    terminal.resize(columns, rows);
    wait_until("the new size is drawn", || {
        position(&terminal.raw()[before..], FULL_FRAME).is_some()
    });
}

/// The visible properties of a cell. A cell that was never written looks like a blank.
fn appearance(cell: &vt100::Cell) -> impl PartialEq + std::fmt::Debug + use<> {
    let text = match cell.contents() {
        "" if !cell.is_wide_continuation() => " ",
        text => text,
    };
    let always = (cell.bgcolor(), cell.inverse(), cell.underline());
    let style = (cell.fgcolor(), cell.bold(), cell.dim(), cell.italic());
    let is_visible = text != " " || cell.inverse();
    (text.to_owned(), always, is_visible.then_some(style))
}

/// Waits until the tools of the test server are listed along with the program's own.
fn wait_for_tools(terminal: &PtyTerminal) {
    terminal.wait_for("the server is connected", |screen| {
        let contents = screen.contents();
        let count = contents.split_once("tools ").map(|(_, after)| after);
        let count = count.and_then(|after| after.split_whitespace().next()?.parse().ok());
        count.is_some_and(|count: usize| count > 5)
    });
}

/// Asserts that the screen, after many partial updates, equals one whole frame on a blank terminal.
fn assert_equals_whole_frame(terminal: &PtyTerminal, about: &str) {
    wait_until("the last frame is complete", || {
        terminal.raw().ends_with(FRAME_END)
    });
    let updated = terminal.screen();
    let before = terminal.bytes_written();
    terminal.press(CTRL_L);
    let mut frame = Vec::new();
    wait_until("the whole screen is drawn again", || {
        let raw = terminal.raw();
        let Some(start) = position(&raw[before..], FULL_FRAME) else {
            return false;
        };
        let rest = &raw[before + start..];
        let end = position(rest, FRAME_END);
        frame = rest[..end.unwrap_or(0)].to_vec();
        end.is_some()
    });
    let (rows, columns) = updated.size();
    let mut blank = Parser::new(rows, columns, 0);
    blank.process(&frame);
    let whole = blank.screen();
    let texts: Vec<String> = whole.rows(0, columns.get()).collect();
    for row in (0..rows.get()).filter(|row| !changes_by_itself(&texts[usize::from(*row)])) {
        for column in 0..columns.get() {
            let cells = (updated.cell(row, column), whole.cell(row, column));
            let (Some(updated_cell), Some(whole_cell)) = cells else {
                panic!("no cell at row {row}, column {column}");
            };
            assert_eq!(
                appearance(updated_cell),
                appearance(whole_cell),
                "{about}: row {row}, column {column}\n{}\n{}",
                screen_with_border(&updated),
                screen_with_border(whole)
            );
        }
    }
}

fn color(color: Color) -> vt100::Color {
    match color {
        Color::Red => vt100::Color::Idx(1),
        Color::Green => vt100::Color::Idx(2),
        Color::Yellow => vt100::Color::Idx(3),
        Color::Blue => vt100::Color::Idx(4),
        Color::Magenta => vt100::Color::Idx(5),
        Color::Cyan => vt100::Color::Idx(6),
        Color::LightBlue => vt100::Color::Idx(12),
        Color::Reset => vt100::Color::Default,
        other => panic!("the theme has no {other:?}"),
    }
}

/// Whether the terminal shows this cell, with its style as far as it is visible.
fn is_same_cell(expected: &Cell, shown: &vt100::Cell) -> bool {
    let symbol = match shown.contents() {
        "" => " ",
        text => text,
    };
    let is_blank = symbol == " ";
    let modifiers = [
        (Modifier::BOLD, shown.bold()),
        (Modifier::DIM, shown.dim()),
        (Modifier::ITALIC, shown.italic()),
        (Modifier::UNDERLINED, shown.underline()),
        (Modifier::REVERSED, shown.inverse()),
    ];
    let has_same_modifiers = modifiers.iter().all(|(modifier, is_on)| {
        is_blank && !VISIBLE_ON_BLANK.contains(*modifier)
            || expected.modifier.contains(*modifier) == *is_on
    });
    let has_same_color = is_blank && !expected.modifier.contains(Modifier::REVERSED)
        || shown.fgcolor() == color(expected.fg);
    expected.symbol() == symbol
        && has_same_modifiers
        && has_same_color
        && shown.bgcolor() == color(expected.bg)
}

/// The rows from the first that contains `first` to the last that contains `last`.
fn rows_between(rows: &[String], first: &str, last: &str) -> std::ops::RangeInclusive<u16> {
    let row = |row: Option<usize>, text: &str| {
        let row = row.unwrap_or_else(|| panic!("no {text:?} in {rows:#?}"));
        u16::try_from(row).expect("a row")
    };
    let start = row(rows.iter().position(|row| row.contains(first)), first);
    let end = row(rows.iter().rposition(|row| row.contains(last)), last);
    start..=end
}

fn assert_rows(screen: &Screen, expected: &Buffer, first: &str, last: &str) {
    let columns = expected.area.width;
    let texts: Vec<String> = screen.rows(0, columns).collect();
    let shown = rows_between(&texts, first, last);
    let lines = super::screen_harness::buffer_to_lines(expected);
    let expected_rows = rows_between(&lines, first, last);
    assert_eq!(
        shown.clone().count(),
        expected_rows.clone().count(),
        "{lines:#?}"
    );
    assert!(expected_rows.clone().count() > 4, "{lines:#?}");
    for (row, y) in shown.zip(expected_rows) {
        for column in 0..columns {
            let cell = screen.cell(row, column).expect("a cell");
            if cell.is_wide_continuation() {
                continue;
            }
            let wanted = &expected[(column, y)];
            assert!(
                is_same_cell(wanted, cell),
                "row {row}, column {column}: {wanted:?}\n{cell:?}\n{}",
                screen_with_border(screen)
            );
        }
    }
}

#[test]
fn a_streamed_answer_with_a_call_is_shown_as_expected() {
    let (server, home) = ollama_with_tools();
    let gate = Gate::closed();
    let answer = parts(ANSWER);
    let answer: Vec<&str> = answer.iter().map(String::as_str).collect();
    server
        .queue_reply(CHAT, ollama_call("echo", &json!({ "text": "서울" })))
        .queue_reply(
            CHAT,
            ollama_text(&answer).gate_after(answer.len() * 3 / 4, &gate),
        );
    let mut terminal = TerminalOptions::in_home(&home).size(100, 40).start();
    wait_for_tools(&terminal);
    terminal.send_prompt("서울 날씨를 알려줘, please.");
    terminal.wait_for_text(READY_HINT);
    assert_equals_whole_frame(&terminal, "the approval");
    // The key that draws the frame again restarts the time in which no answer counts.
    terminal.press_in_pieces(&["", "y"], QUIET_TIME);
    terminal.wait_for_text("println!");
    assert_equals_whole_frame(&terminal, "most of the answer");
    gate.open();
    terminal.wait_for_text("The end. 끝.");
    terminal.wait_until_gone("Ctrl+C stop");
    assert_equals_whole_frame(&terminal, "the answer");
    let mut harness = screen_harness((100, 40));
    harness.prompt("x").stream_delta(1, PieceKind::Text, ANSWER);
    harness.end_turn(TurnEnd::Answered {
        text: ANSWER.to_owned(),
        is_truncated: false,
    });
    let (expected, _) = harness.draw();
    assert_rows(&terminal.screen(), &expected, "서울의 날씨", "The end. 끝.");
    for (columns, rows) in [(64, 20), (130, 45), (41, 12), (100, 30)] {
        resize(&terminal, columns, rows);
        for key in [PAGE_UP, PAGE_UP, PAGE_DOWN] {
            terminal.press(key);
            // Once the letter is drawn, the key pressed before it has taken effect.
            terminal.type_text("가");
            terminal.press("\x7f");
            terminal.wait_until_gone("› 가");
            assert_equals_whole_frame(&terminal, &format!("{columns}x{rows} after {key:?}"));
        }
    }
    terminal.wait_for("the message is empty", |screen| {
        !screen.contents().contains("› 가")
    });
    assert_eq!(terminal.quit(), clean_exit());
    home.assert_no_process_left();
}

fn diff() -> Value {
    let old: String = (0..20).map(|n| format!("let 값_{n} = {n};\n")).collect();
    let new = old
        .replace("= 3;", "= \"셋\"; // three")
        .replace("= 17;\n", "= 1;\n\n");
    json!({ "path": "src/a.rs", "text": "x", "oldText": old, "newText": new })
}

fn code() -> Value {
    let code: String = (0..30)
        .map(|n| format!("def 함수_{n}(a, b=None):\n\treturn [a * {n}, \"글\"]  # 주석\n"))
        .collect();
    json!({ "text": "x", "path": "a.py", "content": code, "hidden": "a\u{202e}b" })
}

/// The same approval, drawn without a terminal.
fn approval(size: (u16, u16), arguments: &Value) -> ScreenHarness {
    let mut harness = screen_harness(size);
    harness.prompt("Go");
    let call = fixtures::tool_call("test", "echo", arguments.clone());
    harness.turn(TurnEvent::Tool(call));
    let offered = CallToApprove {
        call: CallId(1),
        tool: Arc::new(fixtures::described_tool("echo", "The tool echo.")),
    };
    let owner = QuestionOwner::Job(ModelJob::Turn(harness.turn));
    harness.event(Event::Asked {
        ask: AskId(1),
        owner,
        question: questions::approve(vec![offered]),
    });
    harness.advance_clock(600);
    harness
}

#[test]
fn approvals_of_a_diff_and_of_code_are_shown_as_expected() {
    for arguments in [diff(), code()] {
        for size in [(80, 24), (100, 26)] {
            let (server, home) = ollama_with_tools();
            server.queue_reply(CHAT, ollama_call("echo", &arguments));
            let mut terminal = TerminalOptions::in_home(&home).size(size.0, size.1).start();
            wait_for_tools(&terminal);
            terminal.send_prompt("Go");
            terminal.wait_for_text("PgDn or y");
            assert_equals_whole_frame(&terminal, "the first page");
            let mut harness = approval(size, &arguments);
            let (expected, _) = harness.draw();
            let question = "Call now? (Y/N)";
            assert_rows(&terminal.screen(), &expected, "  path  ", question);
            for (key, text, is_shown) in [
                (PAGE_DOWN, "↑", true),
                (PAGE_UP, "↑", false),
                (F5, "F5 readable", true),
                (F5, "F5 JSON", true),
            ] {
                terminal.press(key);
                terminal.wait_for(text, |screen| screen.contents().contains(text) == is_shown);
                assert_equals_whole_frame(&terminal, &format!("{size:?} after {key:?}"));
            }
            resize(&terminal, 61, 20);
            assert_equals_whole_frame(&terminal, "61x20");
            terminal.press("n");
            terminal.wait_until_gone(question);
            terminal.wait_for_text("refused");
            assert_eq!(terminal.quit(), clean_exit());
            home.assert_no_process_left();
        }
    }
}

#[test]
fn the_list_of_sessions_is_shown_as_expected() {
    let (server, home) = ollama();
    let mut terminal = TerminalOptions::in_home(&home).size(100, 30).start();
    terminal.wait_for_text("qwen3:4b");
    for (prompt, answer) in [
        ("서울 날씨와 옷차림", "맑음입니다."),
        ("Trip to Busan", "Take the train."),
    ] {
        server.queue_reply(CHAT, ollama_text(&[answer]));
        terminal.send_prompt(prompt);
        terminal.wait_for_text(answer);
        home.wait_until_saved(answer);
        terminal.wait_until_gone("Ctrl+C stop");
        terminal.send_prompt("/new");
        terminal.wait_until_gone(answer);
    }
    terminal.press(F4);
    terminal.wait_for_text("── Sessions");
    terminal.wait_for_text("서울 날씨와 옷차림");
    assert_equals_whole_frame(&terminal, "the list");
    // The preview is read from the disk and arrives in a separate frame.
    for (key, preview) in [
        (DOWN, "맑음입니다."),
        (UP, "Take the train."),
        (DOWN, "맑음입니다."),
    ] {
        terminal.press(key);
        terminal.wait_for_text(preview);
        assert_equals_whole_frame(&terminal, &format!("after {key:?}"));
    }
    for (columns, rows) in [(60, 20), (120, 40), (20, 6)] {
        resize(&terminal, columns, rows);
        assert_equals_whole_frame(&terminal, &format!("{columns}x{rows}"));
    }
    terminal.resize(100, 30);
    // The small screen had no title.
    terminal.wait_for_text("── Sessions");
    terminal.press("\x1b");
    terminal.wait_until_gone("── Sessions");
    assert_eq!(terminal.quit(), clean_exit());
}
