//! The pictures in the README are real screens. `HUMBLE_UPDATE_README=1` updates them.

use crate::support::fixtures;
use crate::support::screen_harness::{self, ScreenHarness, screen_harness};
use crate::support::screen_svg;
use crossterm::event::KeyCode;
use humble::app::built_in_tools;
use humble::config::Home;
use humble::domain::tool::{ToolAnnotations, ToolOutcome, ToolState};
use humble::domain::{
    AskId, BuiltInSettings, CallId, PieceKind, QueryId, ServerStatus, SessionSummary, ToolCall,
    TurnEnd, TurnEvent,
};
use humble::protocol::{CallToApprove, Event, ModelJob, QuestionOwner};
use humble::provider::Provider;
use humble::questions;
use jiff::civil::date;
use jiff::tz::TimeZone;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// A question with a tool call, thinking, and an answer with all kinds of Markdown.
fn chat_scene() -> ScreenHarness {
    let mut story = screen_harness((112, 30));
    let mut servers = screen_harness::servers();
    servers.truncate(3);
    servers[0].status = ServerStatus::Connected;
    let home = Home::at("/nonexistent");
    // The program's own tools: the pane shows the token cost of their definitions.
    let tools = built_in_tools(&home, BuiltInSettings::default(), Provider::new())
        .usable()
        .definitions()
        .into_iter()
        .map(|tool| fixtures::tool_from(&serde_json::to_value(tool).expect("JSON")));
    servers[0].tools = Arc::new(tools.collect());
    let disabled = ["ollama_chat", "say_hello", "get_cat_fact", "fetch_page"];
    servers[0].disabled_tools = disabled.map(str::to_owned).into();
    story.event(Event::ServersListed(servers));
    story
        .prompt("When is noon in Seoul elsewhere? 도구를 써서 알려줘.")
        .stream_delta(
            1,
            PieceKind::Thinking,
            include_str!("../../support/picture_thinking.md"),
        )
        .advance_clock(4_000);
    story.show_call_of(
        "humble",
        "get_time",
        ToolState::Done(ToolOutcome::Succeeded {
            text: "12:00".into(),
            elapsed: Duration::from_millis(130),
        }),
    );
    story
        .stream_delta(
            2,
            PieceKind::Text,
            include_str!("../../support/picture_answer.md"),
        )
        .advance_clock(2_000);
    story.end_turn(TurnEnd::Answered {
        text: String::new(),
        is_truncated: false,
    });
    story.types("그럼 뉴욕은? And in winter?");
    story
}

fn approval_scene() -> ScreenHarness {
    let mut story = screen_harness((96, 24));
    story.prompt("Make area() use math.pi and check its argument");
    let arguments = json!({
        "path": "src/area.py",
        "edits": [{
            "oldText": "def area(r):\n    return 3.14159 * r ** 2\n",
            "newText": "def area(r):\n    if r < 0:\n        raise ValueError(\"r is negative\")\n    return math.pi * r ** 2\n",
        }],
        "dryRun": false,
    });
    let call = fixtures::tool_call("filesystem", "edit_file", arguments);
    story.turn(TurnEvent::Tool(ToolCall {
        state: ToolState::AwaitingApproval,
        ..call
    }));
    let mut tool = screen_harness::tool("edit_file", "Makes line-based edits to a text file.");
    tool.annotations = ToolAnnotations {
        read_only: Some(false),
        destructive: Some(true),
        ..ToolAnnotations::default()
    };
    let offered = CallToApprove {
        call: CallId(1),
        tool: Arc::new(tool),
    };
    story.event(Event::Asked {
        ask: AskId(1),
        question: questions::approve(vec![offered]),
        owner: QuestionOwner::Job(ModelJob::Turn(story.turn)),
    });
    story.advance_clock(600);
    story
}

fn sessions_scene() -> ScreenHarness {
    let mut story = screen_harness((96, 16));
    story.key(KeyCode::F(4));
    let changed = |day, hour| {
        let moment = date(2026, 11, day).at(hour, 0, 0, 0);
        let moment = moment.to_zoned(TimeZone::system()).expect("a time");
        moment.timestamp()
    };
    let summary = |id: &str, title: &str, model: &str, day, count| SessionSummary {
        id: id.into(),
        title: title.into(),
        model: model.into(),
        started_at: None,
        changed_at: changed(day, 12),
        message_count: count,
        open_error: None,
    };
    let sessions = vec![
        summary("a.json", "서울 날씨와 옷차림", "qwen3:4b", 20, 12),
        summary("b.json", "Trip to Busan", "gpt-4o", 18, 8),
        summary("c.json", "Why does my borrow fail?", "qwen3:4b", 17, 24),
        summary("d.json", "東京の天気", "sonnet", 15, 4),
    ];
    story.event(Event::SessionsListed {
        query: QueryId(1),
        listed_at: changed(20, 18),
        sessions: Arc::new(sessions),
    });
    story
}

#[test]
fn the_readme_shows_real_screens() {
    let scenes = [
        (
            "screen",
            "humble: an answer with a table and code, the servers, the thinking, and a message",
            chat_scene(),
        ),
        (
            "approval",
            "humble: a tool call that edits a file, shown as a diff before it runs",
            approval_scene(),
        ),
        (
            "sessions",
            "humble: earlier conversations",
            sessions_scene(),
        ),
    ];
    for (name, title, mut story) in scenes {
        let (buffer, cursor) = story.draw();
        let drawn = screen_svg::render_svg(&buffer, cursor, title);
        let file = format!("{}/assets/{name}.svg", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("HUMBLE_UPDATE_README").is_some() {
            std::fs::write(file, drawn).expect("written");
            continue;
        }
        assert!(
            std::fs::read_to_string(file).expect("readable image") == drawn,
            "the screen has changed: update its image with HUMBLE_UPDATE_README=1"
        );
        let readme = include_str!("../../../README.md");
        assert!(
            readme.contains(&format!("(assets/{name}.svg)")),
            "the README shows the image"
        );
    }
}

#[test]
fn a_picture_keeps_every_character_on_its_cells() {
    let area = ratatui::layout::Rect::new(0, 0, 12, 2);
    let mut buffer = ratatui::buffer::Buffer::empty(area);
    buffer.set_string(0, 0, "한 <a&b> ─", ratatui::style::Style::new().bold());
    buffer.set_string(0, 1, "x", ratatui::style::Style::new().red().dim());
    let drawn = screen_svg::render_svg(&buffer, None, "\"");
    // Margin 14, cells 8.4 by 18: the center of the wide character is at 14 + 8.4.
    for part in [
        "<title>&quot;</title>",
        "<text x=\"22.4\" y=\"27.5\" class=\"m b\">한</text>",
        "<text x=\"39.2\" y=\"27.5\" textLength=\"42.0\" lengthAdjust=\"spacingAndGlyphs\" class=\"b\">&lt;a&amp;b&gt;</text>",
        "<path class=\"b\" d=\"M89.6 23.0H98.0\"/>",
        "<text x=\"14.0\" y=\"45.5\" textLength=\"8.4\" lengthAdjust=\"spacingAndGlyphs\" class=\"red d\">x</text>",
    ] {
        assert!(drawn.contains(part), "{part}\n{drawn}");
    }
}
