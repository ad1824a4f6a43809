//! The screens as they look, at the sizes where the layout changes, and every
//! small size for the sake of not crashing.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use humble::domain::tool::{CallOrigin, Progress, Tool, ToolCall, ToolOutcome, ToolState};
use humble::domain::{
    AskId, Banner, CallId, ModelRef, Notice, PieceId, PieceKind, ProviderKind, QueryId, Server,
    ServerStatus, SessionSummary, TurnEnd, TurnEvent, TurnId, Usage,
};
use humble::protocol::{ApproveCall, Ask, Event, Job, Meter, Owner};
use humble::tui::{Input, Model, Msg, Options, update, view};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const SIZES: [(u16, u16); 5] = [(104, 30), (80, 24), (64, 20), (40, 12), (20, 6)];

/// A conversation, told step by step.
struct Story {
    model: Model,
    turn: TurnId,
}

fn story(size: (u16, u16)) -> Story {
    let mut story = Story {
        model: Model::new(&Options::default(), size),
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
    story.event(Event::ModelsListed {
        models,
        selected: Some(model),
    });
    story.event(Event::ServersListed(servers()));
    story.event(Event::ContextMeasured(Meter {
        used: 2_540,
        limit: Some(8_192),
        measured: true,
    }));
    story
}

fn tool(name: &str, description: &str) -> Tool {
    let definition = json!({
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "annotations": {"readOnlyHint": true, "idempotentHint": true},
    });
    Tool::from_definition(&definition).expect("a whole definition")
}

fn servers() -> Vec<Server> {
    let server = |id: &str, enabled, status, tools: Vec<Tool>| Server {
        id: id.into(),
        description: None,
        enabled,
        status,
        launch: humble::domain::Launch::BuiltIn.identity(),
        tools: Arc::new(tools),
        tools_off: Default::default(),
        left_out: Vec::new(),
        stderr: Vec::new(),
        instructions: None,
    };
    let sums = vec![
        tool("get-sum", "Adds two numbers."),
        tool("echo", "Echoes back the input."),
    ];
    vec![
        server("humble", true, ServerStatus::Starting, Vec::new()),
        server("everything", true, ServerStatus::Connected, sums),
        server("wiki", false, ServerStatus::Off, Vec::new()),
        server(
            "docs",
            true,
            ServerStatus::Failed(Notice::failure("refused")),
            Vec::new(),
        ),
    ]
}

impl Story {
    fn input(&mut self, input: Input) -> &mut Self {
        let msg = Msg::new(self.model.now, input);
        let _ = update(&mut self.model, msg);
        self
    }

    fn event(&mut self, event: Event) -> &mut Self {
        self.input(Input::Engine(Box::new(event)))
    }

    fn wait(&mut self, millis: u64) -> &mut Self {
        self.model.now += Duration::from_millis(millis);
        self.input(Input::Tick)
    }

    fn key(&mut self, code: KeyCode) -> &mut Self {
        self.wait(30);
        self.input(Input::Key(KeyEvent::new(code, KeyModifiers::NONE)))
    }

    fn types(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            self.key(KeyCode::Char(c));
        }
        self
    }

    fn prompt(&mut self, text: &str) -> &mut Self {
        self.types(text).key(KeyCode::Enter);
        self.turn = self.model.running().expect("a turn is under way");
        self
    }

    fn turn(&mut self, event: TurnEvent) -> &mut Self {
        self.event(Event::Turn(self.turn, event))
    }

    fn delta(&mut self, piece: u64, kind: PieceKind, text: &str) -> &mut Self {
        self.turn(TurnEvent::Delta {
            piece: PieceId(piece),
            kind,
            text: text.into(),
        })
    }

    fn ends(&mut self, end: TurnEnd) -> &mut Self {
        self.turn(TurnEvent::Ended {
            end,
            usage: Usage {
                input: Some(300),
                output: Some(48),
            },
        })
    }

    fn call(&mut self, state: ToolState) -> &mut Self {
        let arguments = json!({"a": 17, "b": 25, "왜": "합\u{202e}계"});
        self.turn(TurnEvent::Tool(ToolCall {
            id: CallId(1),
            server: "everything".into(),
            tool: "get-sum".into(),
            arguments: arguments.as_object().expect("an object").clone(),
            original: None,
            origin: CallOrigin::Text {
                form: "Hermes",
                repaired: true,
            },
            repeats: None,
            state,
        }))
    }

    /// A prompt, thinking, a call that ran, and an answer with Korean in it.
    fn answered(&mut self) -> &mut Self {
        self.prompt("What is 17 + 25? 도구를 써서 알려줘.");
        self.delta(
            1,
            PieceKind::Thinking,
            "The user wants a sum. I have get-sum.",
        )
        .wait(4_000);
        self.call(ToolState::Done(ToolOutcome::Succeeded {
            text: "42".into(),
            elapsed: Duration::from_millis(130),
        }));
        self.delta(2, PieceKind::Text, "The sum is 42. ")
            .wait(2_000);
        self.delta(
            2,
            PieceKind::Text,
            "17과 25를 더하면 42가 됩니다. 더 궁금한 것이 있으면 물어보세요.",
        )
    }

    fn screen(&mut self) -> String {
        let (width, height) = self.model.size;
        let backend = TestBackend::new(width, height);
        let mut terminal = Terminal::new(backend).expect("a test terminal");
        let mut cursor = None;
        terminal
            .draw(|frame| view::draw(&mut self.model, frame))
            .map(|_| ())
            .expect("a test terminal");
        let backend = terminal.backend_mut();
        if backend.cursor_visible() {
            cursor = Some(backend.cursor_position());
        }
        let mut lines = buffer_to_lines(backend.buffer());
        if let Some(at) = cursor {
            lines.push(format!("cursor {},{}", at.x, at.y));
        }
        lines.join("\n")
    }
}

/// The text of a buffer; the cell that a wide cluster covers is left out.
fn buffer_to_lines(buffer: &Buffer) -> Vec<String> {
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

/// The same story at every size, as one snapshot.
fn at_all_sizes(tell: impl Fn(&mut Story)) -> String {
    let tell = |size| {
        let mut story = story(size);
        tell(&mut story);
        format!("{}x{}\n{}", size.0, size.1, story.screen())
    };
    SIZES.map(tell).join("\n\n")
}

macro_rules! screens {
    ($name:ident, $tell:expr) => {
        #[test]
        fn $name() {
            insta::assert_snapshot!(at_all_sizes($tell));
        }
    };
}

screens!(an_empty_start, |story| {
    story.screen();
});

screens!(waiting_for_the_model, |story| {
    story.prompt("Hello").wait(1_500);
});

screens!(an_answer_streams, |story| {
    story.answered().types("다음 질문");
});

screens!(an_answer_is_whole, |story| {
    story.answered().ends(TurnEnd::Answered {
        text: String::new(),
        cut: false,
    });
});

screens!(a_call_unfolded, |story| {
    story.answered().screen();
    story.key(KeyCode::Tab).key(KeyCode::Up).key(KeyCode::Enter);
});

screens!(a_call_runs, |story| {
    story
        .prompt("What is 17 + 25?")
        .call(ToolState::Running { progress: None });
    story.wait(3_200).call(ToolState::Running {
        progress: Some(Progress {
            done: 6.0,
            total: Some(10.0),
            message: Some("adding".into()),
        }),
    });
});

fn approving(story: &mut Story) {
    story
        .prompt("What is 17 + 25?")
        .call(ToolState::AwaitingApproval);
    let tool = Arc::new(tool("get-sum", "Adds two numbers."));
    let calls = [1, 1].map(|call| ApproveCall {
        call: CallId(call),
        tool: tool.clone(),
    });
    story.event(Event::Asked {
        ask: AskId(1),
        owner: Owner::Job(Job::Turn(story.turn)),
        question: Ask::Approve(calls.to_vec()),
    });
}

screens!(an_approval, |story| {
    approving(story);
    story.wait(600);
});

screens!(an_approval_that_is_not_ready, |story| {
    approving(story);
    story.types("typing on");
});

screens!(arguments_are_edited, |story| {
    approving(story);
    story
        .wait(600)
        .key(KeyCode::Char('e'))
        .types("x")
        .key(KeyCode::Enter);
});

screens!(a_model_that_says_nothing, |story| {
    story.prompt("Hello");
    story.event(Event::Asked {
        ask: AskId(1),
        owner: Owner::Job(Job::Turn(story.turn)),
        question: Ask::Stalled { seconds: 120 },
    });
    story.wait(600);
});

screens!(a_failure, |story| {
    story.answered();
    let notice = Notice::failure(
        "The connection to http://localhost:11434 was cut in the middle of the answer.",
    )
    .advise("What came so far is kept. /retry asks again.");
    story.ends(TurnEnd::Failed { notice });
});

screens!(banners_and_a_queue, |story| {
    story
        .prompt("One")
        .types("Two, while one runs")
        .key(KeyCode::Enter);
    let notice = Notice::warning("mcp-servers.json line 7, column 3: expected `,` or `}`.")
        .advise("Servers stay as they were; the file is left alone.");
    story.event(Event::BannersChanged(vec![Banner::new(
        "mcp-servers.json",
        notice,
    )]));
});

screens!(scrolled_up, |story| {
    for turn in 0..4 {
        story
            .prompt("List")
            .delta(turn, PieceKind::Text, &"one line of many\n".repeat(12));
        story.ends(TurnEnd::Answered {
            text: String::new(),
            cut: false,
        });
    }
    story.key(KeyCode::PageUp);
});

screens!(earlier_conversations, |story| {
    story.key(KeyCode::F(4));
    let summary = |id: &str, title: &str, broken: Option<&str>| SessionSummary {
        id: id.into(),
        title: title.into(),
        model: "qwen3:4b".into(),
        started_at: None,
        changed_at: "2026-11-18T12:00:00Z".parse().expect("a time"),
        messages: 12,
        broken: broken.map(str::to_owned),
    };
    let sessions = vec![
        summary("a.json", "대화 제목 이다", None),
        summary("b.json", "서울 날씨와 옷차림", None),
        summary("c.json", "", Some("line 3: expected `,`")),
    ];
    story.event(Event::SessionsListed {
        query: QueryId(1),
        sessions: Arc::new(sessions),
    });
});

screens!(the_palette, |story| {
    story.input(Input::Key(KeyEvent::new(
        KeyCode::Char('p'),
        KeyModifiers::CONTROL,
    )));
    story.types("mod");
});

screens!(the_help, |story| {
    story.key(KeyCode::F(1));
});

screens!(the_models, |story| {
    story.types("/set-model").key(KeyCode::Enter);
});

screens!(a_command_is_typed, |story| {
    story.types("/se");
});

screens!(the_servers, |story| {
    story
        .key(KeyCode::F(2))
        .key(KeyCode::Down)
        .key(KeyCode::Enter);
});

#[test]
fn no_size_crashes() {
    let stories: [fn(&mut Story); 6] = [
        |story| {
            story.answered();
        },
        |story| {
            approving(story);
            story.wait(600);
        },
        |story| {
            story.key(KeyCode::F(1));
        },
        |story| {
            story.key(KeyCode::F(4));
        },
        |story| {
            story.types("/s");
        },
        |story| {
            story.types("/set-model").key(KeyCode::Enter);
        },
    ];
    for tell in stories {
        let mut story = story((80, 24));
        tell(&mut story);
        for width in (0..24).chain([39, 40, 59, 60, 61, 99, 100, 101, 300]) {
            for height in (0..14).chain([24, 100]) {
                story.input(Input::Resize { width, height });
                story.screen();
                story.key(KeyCode::PageUp);
            }
        }
    }
}

#[test]
fn a_resize_keeps_the_reading_position() {
    let mut story = story((80, 24));
    let text: Vec<_> = (0..200)
        .map(|n| format!("line {n} {}", "word ".repeat(30)))
        .collect();
    story
        .prompt("Count")
        .delta(1, PieceKind::Text, &text.join("\n"));
    story.screen();
    for _ in 0..10 {
        story.key(KeyCode::PageUp);
    }
    let first = |screen: String| {
        let found = screen.lines().find_map(|row| row.split_once("line "));
        let number = found.map(|(_, rest)| rest.split(' ').next().unwrap_or_default().to_owned());
        number
            .expect("a line is in view")
            .parse::<i32>()
            .expect("a number")
    };
    let before = first(story.screen());
    story.input(Input::Resize {
        width: 50,
        height: 20,
    });
    let after = first(story.screen());
    assert!((before - after).abs() <= 1, "{before} and {after}");
}
