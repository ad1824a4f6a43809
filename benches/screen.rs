//! `cargo bench --bench screen`: times one frame of 120x40 cells, drawn from a model in memory.

#[path = "../tests/support/fixtures.rs"]
mod fixtures;
#[path = "../tests/support/screen_harness.rs"]
mod screen_harness;

use crossterm::event::KeyCode;
use divan::Bencher;
use humble::domain::tool::ToolCall;
use humble::domain::{AskId, CallId, PieceKind, TurnEvent};
use humble::protocol::{CallToApprove, Event, ModelJob, QuestionOwner};
use humble::questions;
use humble::tui::view;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use screen_harness::{ScreenHarness, screen_harness};
use serde_json::json;
use std::sync::Arc;

const SIZE: (u16, u16) = (120, 40);
const ARGUMENT_BYTES: usize = 10_000;

fn main() {
    divan::main();
}

fn paint(harness: &mut ScreenHarness) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, SIZE.0, SIZE.1));
    view::paint(&mut harness.model, &mut buffer);
    buffer
}

/// An approval whose argument is Rust code of [`ARGUMENT_BYTES`].
fn approval() -> ScreenHarness {
    let line =
        "    let total: u64 = values.iter().map(|value| value.len() as u64).sum(); // 합계\n";
    let code = line.repeat(ARGUMENT_BYTES.div_ceil(line.len()));
    let arguments = json!({ "path": "src/total.rs", "content": code });
    let mut harness = screen_harness(SIZE);
    harness.prompt("Write it.");
    harness.turn(TurnEvent::Tool(ToolCall {
        id: CallId(1),
        ..fixtures::tool_call("everything", "write_file", arguments)
    }));
    let call = CallToApprove {
        call: CallId(1),
        tool: Arc::new(screen_harness::tool("write_file", "Writes a file.")),
    };
    harness.event(Event::Asked {
        ask: AskId(1),
        owner: QuestionOwner::Job(ModelJob::Turn(harness.turn)),
        question: questions::approve(vec![call]),
    });
    harness.advance_clock(600);
    harness
}

#[divan::bench]
fn scroll_a_10_kb_argument(bencher: Bencher) {
    let mut harness = approval();
    let mut is_at_end = false;
    bencher.bench_local(|| {
        is_at_end = !is_at_end;
        harness.key(match is_at_end {
            true => KeyCode::PageDown,
            false => KeyCode::PageUp,
        });
        paint(&mut harness)
    });
}

#[divan::bench]
fn unchanged_chat(bencher: Bencher) {
    let mut harness = screen_harness(SIZE);
    harness.answered_turn();
    bencher.bench_local(|| paint(&mut harness));
}

#[divan::bench]
fn chat_with_a_new_word(bencher: Bencher) {
    let mut harness = screen_harness(SIZE);
    harness.answered_turn();
    bencher.bench_local(|| {
        harness.stream_delta(2, PieceKind::Text, "word ");
        paint(&mut harness)
    });
}
