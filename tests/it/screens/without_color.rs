//! With `NO_COLOR`, screens have the same text and no color, and a symbol or a word stands for each
//! color's meaning.

use super::states::all_outcomes;
use crate::support::fixtures;
use crate::support::screen_harness::{ScreenHarness, buffer_to_lines, screen_harness, tool};
use crossterm::event::KeyCode;
use humble::domain::tool::{ToolAnnotations, ToolState};
use humble::domain::{AskId, CallId, ToolCall, TurnEvent};
use humble::protocol::{CallToApprove, Event, ModelJob, QuestionOwner};
use humble::questions;
use humble::tui::{TuiOptions, UiModel};
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;

fn without_color(script: impl Fn(&mut ScreenHarness), size: (u16, u16)) -> ScreenHarness {
    let mut story = screen_harness(size);
    let options = TuiOptions {
        no_color: true,
        ..TuiOptions::default()
    };
    // Only the theme is replaced: a new `UiModel` has no models or servers, so it would ask for a model.
    let theme = UiModel::new(&options, size).screen.theme;
    story.model.screen.theme = theme;
    script(&mut story);
    story
}

/// An edit by a destructive tool.
fn ask_about_edit(story: &mut ScreenHarness) {
    story.prompt("Fix it");
    let arguments = json!({
        "path": "src/b.py",
        "count": 3,
        "edits": [{
            "oldText": "def f():\n    return 1\n    # unchanged",
            "newText": "def g():\n    return 2\n    # unchanged",
        }],
        "note": "a\u{202e}b",
    });
    story.turn(TurnEvent::Tool(ToolCall {
        state: ToolState::AwaitingApproval,
        ..fixtures::tool_call("files", "edit_file", arguments)
    }));
    let mut edits = tool("edit_file", "Edits a file.");
    edits.annotations = ToolAnnotations {
        destructive: Some(true),
        read_only: Some(false),
        ..ToolAnnotations::default()
    };
    let offered = CallToApprove {
        call: CallId(1),
        tool: Arc::new(edits),
    };
    let owner = QuestionOwner::Job(ModelJob::Turn(story.turn));
    story.event(Event::Asked {
        ask: AskId(1),
        owner,
        question: questions::approve(vec![offered]),
    });
    story.advance_clock(600);
}

/// A letter per cell: bold, dim, reversed, underlined, or `.` for plain text.
fn emphasis(cell: &Cell) -> char {
    let letters = [
        (Modifier::REVERSED, 'r'),
        (Modifier::BOLD, 'b'),
        (Modifier::UNDERLINED, 'u'),
        (Modifier::DIM, 'd'),
    ];
    let letter = letters
        .into_iter()
        .find(|(modifier, _)| cell.modifier.contains(*modifier));
    match (letter, cell.symbol()) {
        (Some((_, letter)), symbol) if symbol != " " || letter == 'r' => letter,
        (None, symbol) if symbol != " " => '.',
        _ => ' ',
    }
}

/// Each row that has text, and below it the emphasis of its cells.
fn rows_with_emphasis(buffer: &Buffer) -> String {
    let lines = buffer_to_lines(buffer);
    let rows = lines.iter().zip(0..).filter(|(line, _)| !line.is_empty());
    let rows = rows.map(|(line, y)| {
        let letters: String = (0..buffer.area.width)
            .map(|x| emphasis(&buffer[(x, y)]))
            .collect();
        format!("{line}\n{}", letters.trim_end())
    });
    rows.collect::<Vec<_>>().join("\n")
}

#[test]
fn an_approval_without_color() {
    let mut shown = Vec::new();
    for size in [(80, 24), (120, 40), (60, 20), (20, 6)] {
        let (buffer, _) = without_color(ask_about_edit, size).draw();
        shown.push(format!(
            "{}x{}\n{}",
            size.0,
            size.1,
            rows_with_emphasis(&buffer)
        ));
    }
    insta::assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn the_text_is_the_same_without_color() {
    let stories: [fn(&mut ScreenHarness); 5] = [
        ask_about_edit,
        |story| {
            ask_about_edit(story);
            story.key(KeyCode::Char('?'));
        },
        all_outcomes,
        |story| {
            story.answered_turn();
        },
        |story| {
            story.key(KeyCode::F(4));
        },
    ];
    for script in stories {
        for size in [(80, 24), (120, 40), (20, 6)] {
            let mut colored = screen_harness(size);
            script(&mut colored);
            let (with, _) = colored.draw();
            let (without, _) = without_color(script, size).draw();
            assert_eq!(buffer_to_lines(&without), buffer_to_lines(&with));
            let is_plain = |cell: &Cell| cell.fg == Color::Reset && cell.bg == Color::Reset;
            assert!(without.content.iter().all(is_plain), "a color at {size:?}");
        }
    }
}

/// Rows that differ only in their color would mean the same without it.
#[test]
fn each_outcome_of_a_call_has_its_own_symbol_or_word() {
    let (buffer, _) = without_color(all_outcomes, (120, 40)).draw();
    let rows = buffer_to_lines(&buffer);
    let calls = rows.iter().filter(|row| row.contains(".txt"));
    // Without the name and path of the call, a row shows only its outcome.
    let outcome = |row: &String| {
        let symbol = row.chars().take(4).collect::<String>();
        let (_, after) = row.split_once(".txt").expect("a path");
        format!(
            "{symbol}|{}",
            after.split('│').next().unwrap_or_default().trim()
        )
    };
    let outcomes: Vec<String> = calls.map(outcome).collect();
    let different: BTreeSet<&String> = outcomes.iter().collect();
    assert_eq!(outcomes.len(), 15, "{rows:#?}");
    assert_eq!(different.len(), 15, "{outcomes:#?}");
}

/// Added and removed lines, numbers, choices and badges are distinguished by symbols, words and
/// positions.
#[test]
fn a_diff_and_its_badges_are_readable_without_color() {
    let (buffer, _) = without_color(ask_about_edit, (80, 24)).draw();
    let rows = buffer_to_lines(&buffer);
    for part in [
        "destructive · writes",
        "    1 - def f():",
        "    1 + def g():",
        "    3   ",
        "a⟨U+202E⟩b",
        "all shown",
        "y run",
    ] {
        assert!(
            rows.iter().any(|row| row.contains(part)),
            "{part}\n{rows:#?}"
        );
    }
}
