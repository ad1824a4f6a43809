//! Snapshots of the servers pane: states, unfolded servers and tools, names of any length
//! and script, and server logs.

use super::at_two_sizes;
use crate::support::fixtures::{self, tool_from};
use crate::support::screen_harness;
use crossterm::event::KeyCode;
use humble::domain::server::{PeerInfo, ServerTransport};
use humble::domain::tool::{Tool, ToolProgress, ToolState};
use humble::domain::{Notice, Server, ServerLog, ServerLogLine, ServerStatus};
use humble::protocol::Event;
use humble::tui::{TuiOptions, UiInput, UiModel};
use screen_harness::{ScreenHarness, screen_harness};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

macro_rules! screens {
    ($name:ident, $script:expr) => {
        #[test]
        fn $name() {
            insta::assert_snapshot!(at_two_sizes($script));
        }
    };
}

fn tool(name: &str, description: &str) -> Tool {
    tool_from(&json!({
        "name": name, "title": format!("Title of {name}"), "description": description,
        "inputSchema": { "type": "object" },
        "annotations": { "readOnlyHint": true, "openWorldHint": false },
    }))
}

fn server(name: &str, status: ServerStatus, tools: Vec<Tool>) -> Server {
    Server {
        status,
        ..fixtures::server(name, tools)
    }
}

fn one_per_state() -> Vec<Server> {
    let long = "a-name-without-end-".repeat(16);
    let tools = vec![
        tool("날씨-알림", "서울의 날씨를\u{202e} 알려 줍니다."),
        tool(&long, &"Words of a description that goes on. ".repeat(300)),
        tool("off", "Switched off."),
        tool("changed", "Changed."),
    ];
    let mut korean = server("한국어 도구 모음", ServerStatus::Connected, tools);
    korean.description = Some("도구 모음, as the file says".to_owned());
    korean.disabled_tools = ["off".to_owned()].into();
    korean.withheld_tools = ["changed".to_owned()].into();
    korean.omissions = vec!["tool `x` has no inputSchema".to_owned()];
    korean.instructions = Some("Be kind.".to_owned());
    korean.peer = Some(PeerInfo {
        name: "tools\u{1b}[2J of\nKorea".to_owned(),
        version: "1.0".to_owned(),
        protocol: "2025-11-25".to_owned(),
        transport: ServerTransport::Http,
    });
    let notice = Notice::failure("Server `docs` could not be started.")
        .with_reason("There is no command `npx`.")
        .with_advice("Install it, or correct `command` in mcp-servers.json.");
    let mut off = server("wiki", ServerStatus::Off, Vec::new());
    off.enabled = false;
    vec![
        korean,
        server("docs", ServerStatus::Failed(notice), Vec::new()),
        off,
        server("files", ServerStatus::Starting, Vec::new()),
        server(
            "mail",
            ServerStatus::NeedsSignIn(Notice::warning("Server `mail` answers 401.")),
            Vec::new(),
        ),
        server(
            &"both-command-and-url-".repeat(15),
            ServerStatus::Misconfigured("both `command` and `url`".to_owned()),
            Vec::new(),
        ),
    ]
}

fn listed(story: &mut ScreenHarness) -> &mut ScreenHarness {
    story.event(Event::ServersListed(one_per_state()));
    story.key(KeyCode::F(2))
}

fn down(story: &mut ScreenHarness, times: usize) -> &mut ScreenHarness {
    for _ in 0..times {
        story.screen();
        story.key(KeyCode::Down);
    }
    story
}

screens!(servers_in_each_state, |story| {
    listed(story);
});

screens!(an_unfolded_server, |story| {
    listed(story).key(KeyCode::Enter);
});

screens!(an_unfolded_tool_with_hidden_characters, |story| {
    listed(story).key(KeyCode::Enter);
    while story.model.servers_pane.selected_tool().is_none() {
        down(story, 1);
    }
    story.key(KeyCode::Enter);
});

screens!(a_long_description_in_full, |story| {
    listed(story).key(KeyCode::Enter);
    let is_long = |story: &ScreenHarness| {
        let chosen = story.model.servers_pane.selected_tool();
        chosen.is_some_and(|(_, tool)| tool.name.len() > 100)
    };
    while !is_long(story) {
        down(story, 1);
    }
    story.key(KeyCode::Enter);
    let at_more = |story: &ScreenHarness| {
        let row = story.model.servers_pane.selected_row();
        format!("{row:?}").contains("More")
    };
    while !at_more(story) {
        down(story, 1);
    }
    story.key(KeyCode::Enter).screen();
    story.key(KeyCode::PageDown);
});

screens!(why_a_server_failed, |story| {
    listed(story);
    down(story, 1).key(KeyCode::Enter);
});

screens!(stderr_of_a_server, |story| {
    listed(story).key(KeyCode::Char('l'));
    let line = |n: u32| ServerLogLine::Stderr(format!("line {n} \u{1b}[31m빨강"));
    let mut lines: Vec<ServerLogLine> = (0..40).map(line).collect();
    lines.push(ServerLogLine::Program("Its process ended.".to_owned()));
    story.event(Event::ServerLogRead(Arc::new(ServerLog {
        server: "한국어 도구 모음".into(),
        run_started_at: None,
        lines,
        lines_written: 41,
    })));
});

screens!(a_call_with_long_names_runs, |story| {
    story.prompt("Go");
    let (server, tool) = ("서버-".repeat(100), "tool-".repeat(60));
    let progress = ToolProgress::new(3.0, None, Some("읽는 중 \u{1b}[2J of many\nfiles"));
    story.show_call_of(
        &server,
        &tool,
        ToolState::Running {
            progress: Some(progress),
        },
    );
    story.advance_clock(12_300);
});

#[test]
fn hidden_characters_in_names_are_escaped_in_the_pane_and_the_call_row() {
    let mut story = screen_harness((104, 30));
    let names = [" ", "\u{200B}", "se\u{200B}nd", "\u{1b}send", "send"];
    let tools = names.map(|name| tool(name, "Sends.")).to_vec();
    let servers = vec![server("ma\u{202e}il", ServerStatus::Connected, tools)];
    story.event(Event::ServersListed(servers));
    story.key(KeyCode::F(2)).key(KeyCode::Enter);
    let screen = story.screen();
    let shown = ["\" \"", "⟨U+200B⟩", "se⟨U+200B⟩nd", "⟨ESC⟩send", "send"];
    for name in shown {
        assert!(screen.contains(&format!("▸ {name} ")), "{name}: {screen}");
    }
    assert!(screen.contains("ma⟨U+202E⟩il"), "{screen}");
    story.prompt("Go");
    story.show_call_of("ma\u{202e}il", "\u{1b}send", ToolState::Proposed);
    let screen = story.screen();
    let row = screen
        .lines()
        .find(|row| row.contains("⟨ESC⟩send  17, 25,"));
    let row = row.unwrap_or_else(|| panic!("{screen}"));
    assert!(row.contains("합⟨U+2") && !row.contains('\u{202e}'), "{row}");
    assert!(row.contains("ma⟨U+202E⟩il"), "{row}");
}

#[test]
fn smallest_screen_shows_the_state_of_a_server_and_names_it_above_its_stderr() {
    let mut story = screen_harness((20, 6));
    listed(&mut story).key(KeyCode::Char('l'));
    let title = story.screen();
    assert!(title.contains("한국어 도구 … stderr"), "{title}");
    story.key(KeyCode::Esc).key(KeyCode::Esc);
    for c in "/toggle-mcp ".chars() {
        story.key(KeyCode::Char(c));
    }
    let screen = story.key(KeyCode::Enter).screen();
    assert!(screen.contains("…  connected"), "{screen}");
}

#[test]
fn ascii_mode_draws_only_ascii() {
    let mut story = screen_harness((104, 30));
    let options = TuiOptions {
        ascii: true,
        ..TuiOptions::default()
    };
    story.model = UiModel::new(&options, (104, 30));
    let mut servers = one_per_state();
    servers[0].tools = Arc::new(vec![tool("off", "Off."), tool("changed", "Changed.")]);
    servers[0].id = "tools".into();
    servers[0].description = None;
    servers[0].peer = None;
    story.event(Event::ServersListed(servers));
    story.key(KeyCode::F(2)).key(KeyCode::Enter);
    let screen = story.screen();
    assert!(screen.is_ascii(), "{screen}");
    assert!(screen.contains("! changed"), "{screen}");
}

#[test]
fn five_thousand_tools_and_fifty_servers_scroll_within_a_frame() {
    let mut story = screen_harness((104, 30));
    let tools: Vec<Tool> = (0..5_000)
        .map(|n| tool(&format!("tool-{n}"), &"A description. ".repeat(20)))
        .collect();
    let mut servers: Vec<Server> = (0..49)
        .map(|n| server(&format!("s{n}"), ServerStatus::Connected, Vec::new()))
        .collect();
    servers.insert(0, server("big", ServerStatus::Connected, tools));
    story.event(Event::ServersListed(servers));
    story.key(KeyCode::F(2)).key(KeyCode::Enter);
    let started = Instant::now();
    for _ in 0..200 {
        story.key(KeyCode::Down);
        story.draw();
    }
    let each = started.elapsed() / 200;
    println!("one step with its frame: {each:?}");
    assert!(each < Duration::from_millis(16), "{each:?}");
    assert!(story.screen().contains("tool-199"));
}

#[test]
fn no_size_breaks_the_pane() {
    let mut story = screen_harness((104, 30));
    listed(&mut story).key(KeyCode::Enter);
    for width in (0..24).chain([39, 40, 59, 60, 61, 99, 100, 101, 300]) {
        for height in (0..14).chain([24, 100]) {
            story.input(UiInput::Resize { width, height });
            story.key(KeyCode::F(2));
            story.screen();
            for key in [
                KeyCode::Down,
                KeyCode::Enter,
                KeyCode::PageDown,
                KeyCode::Up,
            ] {
                story.key(key);
            }
            story.screen();
        }
    }
}

screens!(tools_with_a_diet, |story| {
    let mut servers = one_per_state();
    servers[0].always_offered = ["날씨-알림".to_owned()].into();
    servers[0].held_back_tools = ["a-name-without-end-".repeat(16)].into();
    story.event(Event::ServersListed(servers));
    story.types("/tools").key(KeyCode::Enter);
});
