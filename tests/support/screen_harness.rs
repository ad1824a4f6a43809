//! Drives the user interface step by step and returns its buffer as lines.
#![allow(dead_code, reason = "each test crate uses only some of these items")]

use super::fixtures;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use humble::domain::tool::{CallOrigin, Tool, ToolCall, ToolOutcome, ToolState};
use humble::domain::{
    ModelRef, Notice, PieceId, PieceKind, ProviderKind, Server, ServerStatus, TurnEnd, TurnEvent,
    TurnId, Usage,
};
use humble::protocol::{ContextMeter, Event};
use humble::tui::{Msg, TuiOptions, UiInput, UiModel, update, view};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use serde_json::json;
use std::time::Duration;

pub struct ScreenHarness {
    pub model: UiModel,
    pub turn: TurnId,
}

pub fn screen_harness(size: (u16, u16)) -> ScreenHarness {
    let mut harness = ScreenHarness {
        model: UiModel::new(&TuiOptions::default(), size),
        turn: TurnId(1),
    };
    let model = ModelRef {
        name: "qwen3:4b".into(),
        provider: ProviderKind::Ollama,
        model: "qwen3:4b".into(),
    };
    let models = vec![
        model.clone(),
        ModelRef {
            name: "gpt-4o".into(),
            provider: ProviderKind::OpenAi,
            model: "gpt-4o".into(),
        },
    ];
    harness.event(Event::ModelsListed {
        models,
        selected: Some(model),
        selected_server: None,
    });
    harness.event(Event::ServersListed(servers()));
    harness.event(Event::ContextMeasured(ContextMeter {
        used: 2_540,
        limit: Some(8_192),
        is_measured: true,
        ..ContextMeter::default()
    }));
    harness
}

pub fn tool(name: &str, description: &str) -> Tool {
    fixtures::tool_from(&json!({
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "annotations": {"readOnlyHint": true, "idempotentHint": true},
    }))
}

pub fn servers() -> Vec<Server> {
    let server = |id: &str, enabled, status, tools| Server {
        enabled,
        status,
        ..fixtures::server(id, tools)
    };
    let tools = vec![
        tool("get-sum", "Adds two numbers."),
        tool("echo", "Echoes back the input."),
    ];
    vec![
        server("humble", true, ServerStatus::Starting, Vec::new()),
        server("everything", true, ServerStatus::Connected, tools),
        server("wiki", false, ServerStatus::Off, Vec::new()),
        server(
            "docs",
            true,
            ServerStatus::Failed(Notice::failure("refused")),
            Vec::new(),
        ),
    ]
}

impl ScreenHarness {
    pub fn input(&mut self, input: UiInput) -> &mut Self {
        let msg = Msg::new(self.model.now, input);
        let _ = update(&mut self.model, msg);
        // A dialog accepts keys only after it has been drawn.
        if !self.model.dialogs.queued().is_empty() {
            let (width, height) = self.model.screen.size;
            let area = ratatui::layout::Rect::new(0, 0, width, height);
            let mut buffer = ratatui::buffer::Buffer::empty(area);
            humble::tui::view::paint(&mut self.model, &mut buffer);
        }
        self
    }

    pub fn event(&mut self, event: Event) -> &mut Self {
        self.input(UiInput::Engine(Box::new(event)))
    }

    pub fn advance_clock(&mut self, millis: u64) -> &mut Self {
        self.model.now += Duration::from_millis(millis);
        self.input(UiInput::Tick)
    }

    /// Presses a key and waits until it has acted.
    pub fn key(&mut self, code: KeyCode) -> &mut Self {
        self.advance_clock(30);
        self.input(UiInput::Key(KeyEvent::new(code, KeyModifiers::NONE)));
        let is_answering = self.model.dialogs.answering_letter().is_some();
        match self.model.dialogs.letter_due_at().filter(|_| is_answering) {
            Some(due) => self.advance_clock(due.saturating_sub(self.model.now).as_millis() as u64),
            None => self,
        }
    }

    pub fn types(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            self.key(KeyCode::Char(c));
        }
        self
    }

    pub fn prompt(&mut self, text: &str) -> &mut Self {
        self.types(text).key(KeyCode::Enter);
        self.turn = self.model.running_turn().expect("a turn is running");
        self
    }

    pub fn turn(&mut self, event: TurnEvent) -> &mut Self {
        self.event(Event::Turn(self.turn, event))
    }

    pub fn stream_delta(&mut self, piece: u64, kind: PieceKind, text: &str) -> &mut Self {
        self.turn(TurnEvent::Delta {
            piece: PieceId(piece),
            kind,
            text: text.into(),
        })
    }

    pub fn end_turn(&mut self, end: TurnEnd) -> &mut Self {
        self.turn(TurnEvent::Ended {
            end,
            usage: Usage {
                input: Some(300),
                output: Some(48),
                ..Usage::default()
            },
        })
    }

    pub fn show_call(&mut self, state: ToolState) -> &mut Self {
        self.show_call_of("everything", "get-sum", state)
    }

    pub fn show_call_of(&mut self, server: &str, tool: &str, state: ToolState) -> &mut Self {
        let arguments = json!({"a": 17, "b": 25, "왜": "합\u{202e}계"});
        self.turn(TurnEvent::Tool(ToolCall {
            origin: CallOrigin::Text {
                form: "Hermes",
                repaired: true,
                is_taught: false,
            },
            state,
            ..fixtures::tool_call(server, tool, arguments)
        }))
    }

    /// A prompt, thinking, a finished call, and an answer with Korean text. The turn has not ended.
    pub fn answered_turn(&mut self) -> &mut Self {
        self.prompt("What is 17 + 25? 도구를 써서 알려줘.");
        self.stream_delta(
            1,
            PieceKind::Thinking,
            "The user wants a sum. I have get-sum.",
        )
        .advance_clock(4_000);
        self.show_call(ToolState::Done(ToolOutcome::Succeeded {
            text: "42".into(),
            elapsed: Duration::from_millis(130),
        }));
        self.stream_delta(2, PieceKind::Text, "The sum is 42. ")
            .advance_clock(2_000);
        self.stream_delta(
            2,
            PieceKind::Text,
            "17과 25를 더하면 42가 됩니다. 더 궁금한 것이 있으면 물어보세요.",
        )
    }

    /// The lines of the screen, then the cursor position if the cursor is visible.
    pub fn screen(&mut self) -> String {
        let (buffer, cursor) = self.draw();
        let mut lines = buffer_to_lines(&buffer);
        if let Some(position) = cursor {
            lines.push(format!("cursor {},{}", position.x, position.y));
        }
        lines.join("\n")
    }

    /// Draws the screen. Returns its cells, and the cursor position if the cursor is visible.
    pub fn draw(&mut self) -> (Buffer, Option<Position>) {
        let (width, height) = self.model.screen.size;
        let backend = TestBackend::new(width, height);
        let mut terminal = Terminal::new(backend).expect("a test terminal");
        terminal
            .draw(|frame| view::draw(&mut self.model, frame))
            .map(|_| ())
            .expect("a test terminal");
        let backend = terminal.backend_mut();
        let cursor = backend.cursor_visible().then(|| backend.cursor_position());
        (backend.buffer().clone(), cursor)
    }
}

/// The text of a buffer, without the second cells of wide clusters.
pub fn buffer_to_lines(buffer: &Buffer) -> Vec<String> {
    let area = buffer.area;
    let mut lines = Vec::new();
    for y in area.top()..area.bottom() {
        let mut line = String::new();
        let mut x = area.left();
        while x < area.right() {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            x += (humble::text::grapheme::cluster_width(symbol) as u16).max(1);
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}
