//! `/mcp`: the full-screen viewer of servers and tools.

use crate::domain::ServerId;
use crate::domain::{Notice, Server, ServerStatus};
use crate::fixtures::{self, described_tool};
use crate::tui::update::tests::*;
use std::time::Instant;

fn connected(name: &str, tools: &[(&str, &str)]) -> Server {
    let tools = tools.iter();
    let tools = tools.map(|(name, description)| described_tool(name, description));
    fixtures::server(name, tools.collect())
}

pub(super) fn failed() -> Server {
    let notice = Notice::failure("Server `broken` could not be started.")
        .with_reason("It exited with status 3: \"no module named foo\".")
        .with_advice("If it needs environment variables, list them under \"env\".");
    Server {
        status: ServerStatus::Failed(notice),
        stderr: (0..30).map(|n| format!("word {n}.")).collect(),
        ..connected("broken", &[])
    }
}

pub(super) fn with_servers(size: (u16, u16), servers: Vec<Server>) -> ChatHarness {
    let mut chat = chat();
    chat.size(size.0, size.1)
        .engine_event(Event::ServersListed(servers));
    chat
}

fn with_viewer() -> ChatHarness {
    let weather = connected(
        "weather",
        &[
            ("get_weather", "The forecast for a city."),
            ("get_time", "The present time."),
        ],
    );
    let files = connected("files", &[("read", "Reads a file."), ("write", "")]);
    let mut chat = with_servers((80, 24), vec![weather, files, failed()]);
    chat.keys("/mcp<Enter>");
    chat
}

fn selected_row(chat: &mut ChatHarness) -> String {
    let screen = chat.screen();
    let row = screen.lines().find(|row| row.starts_with(" ▌"));
    let row = row.unwrap_or_else(|| panic!("{screen}"));
    row.trim_start_matches([' ', '▌']).trim_end().to_owned()
}

pub(super) fn assert_in_order(screen: &str, expected: &[&str]) {
    let mut start = 0;
    for text in expected {
        let offset = screen[start..].find(text);
        start += offset.unwrap_or_else(|| panic!("{text} in {screen}")) + text.len();
    }
}

fn take_copied_text(chat: &mut ChatHarness) -> Option<String> {
    let sent = std::mem::take(&mut chat.sent);
    sent.into_iter().find_map(|effect| match effect {
        UiEffect::Copy(request) => Some(request.text),
        _ => None,
    })
}

#[test]
fn failed_servers_come_first_with_reason_and_stderr() {
    let mut well = connected(
        "well",
        &[
            ("short", "Short\u{202e}.\n✗ other: failed"),
            ("gone", ""),
            ("last", &["line"; 60].join("\n")),
        ],
    );
    well.disabled_tools.insert("gone".to_owned());
    let mut chat = with_servers((80, 50), vec![well, failed()]);
    let screen = chat.keys("/mcp<Enter>").screen();
    let expected = [
        "MCP servers: 1 of 2 connected",
        "▌ ✗ broken  failed",
        "Server `broken` could not be started. It exited with status 3:",
        "If it needs environment variables",
        "Last lines on stderr:",
        "word 20.",
        "word 29.",
        "● well  connected, 2 of 3 tools available",
        "    short",
        "      Short⟨U+202E⟩.",
        // A description cannot imitate a server.
        "      ✗ other: failed",
        "    gone  off",
        "      No description.",
        "    last",
    ];
    assert_in_order(&screen, &expected);
    assert!(!screen.contains("word 19."), "{screen}");
    chat.keys("<Esc>");
    assert!(chat.model.layer.is_none());
    assert_eq!(chat.model.panes.focus, Focus::Message);
}

#[test]
fn the_mcp_command_with_a_name_opens_the_viewer_at_that_server() {
    let mut chat = with_viewer();
    chat.keys("<Esc>/mcp files<Enter>");
    assert_eq!(selected_row(&mut chat), "● files  connected, 2 tools");
    chat.keys("<Down>");
    assert_eq!(selected_row(&mut chat), "read");
}

#[test]
fn typing_filters_by_words_and_selects_the_first_match() {
    let mut chat = with_viewer();
    let screen = chat.keys("city fore").screen();
    assert_in_order(&screen, &["weather", "▌   get_weather", "The forecast"]);
    assert!(!screen.contains("get_time"), "{screen}");
    assert!(!screen.contains("Last lines"), "{screen}");
    // The name of a server matches all of its tools.
    let screen = chat.keys("<Ctrl+u>FILES").screen();
    assert_in_order(&screen, &["▌ ● files", "read", "write"]);
    assert!(!screen.contains("get_"), "{screen}");
    let screen = chat.keys("zz").screen();
    assert!(screen.contains("Nothing matches \""), "{screen}");
    chat.keys("<Tab>y<Enter>l<End>");
    assert_eq!(take_copied_text(&mut chat), None, "nothing is selected");
}

#[test]
fn y_copies_the_selected_server_or_tool_as_raw_text() {
    let mut chat = with_viewer();
    chat.keys("<Tab>y");
    let text = take_copied_text(&mut chat).expect("a copy");
    assert_in_order(
        &text,
        &[
            "broken: failed\n",
            "status 3: \"no module named foo\".\n",
            "\n  word 29.",
        ],
    );
    chat.keys("<Tab>get_weather<Tab>y");
    let text = take_copied_text(&mut chat).expect("a copy");
    assert_in_order(
        &text,
        &[
            "get_weather of server weather",
            "The forecast",
            "\"object\"",
        ],
    );
    chat.keys("<Tab>y");
    assert_eq!(
        take_copied_text(&mut chat),
        None,
        "the key went to the filter"
    );
}

#[test]
fn enter_opens_the_whole_text_and_esc_returns_to_the_list() {
    let mut chat = with_viewer();
    let screen = chat.keys("get_weather<Enter>").screen();
    assert!(screen.contains("arguments (JSON schema)"), "{screen}");
    chat.keys("<Esc>");
    assert_eq!(selected_row(&mut chat), "get_weather");
    chat.keys("<Tab>l");
    let reads_log = |command: &Command| matches!(command, Command::ReadServerLog { server, .. } if server.as_str() == "weather");
    assert!(chat.commands().iter().any(reads_log));
}

#[test]
fn selection_stays_on_its_tool_and_row_when_servers_change() {
    let mut chat = with_viewer();
    chat.screen();
    chat.keys("<Tab><End><Up>");
    assert_eq!(selected_row(&mut chat), "read");
    let row = |chat: &mut ChatHarness| chat.screen().lines().position(|row| row.starts_with(" ▌"));
    let before = row(&mut chat);
    let mut changed = connected(
        "files",
        &[
            ("new", "New."),
            ("read", "Reads a file."),
            ("write", ""),
            ("z", ""),
        ],
    );
    changed.status = ServerStatus::Starting;
    chat.engine_event(Event::ServerChanged(changed));
    assert_eq!(selected_row(&mut chat), "read");
    assert_eq!(row(&mut chat), before);
    chat.engine_event(Event::ServerChanged(connected("files", &[])));
    assert_eq!(selected_row(&mut chat), "● files  connected");
    chat.engine_event(Event::ServersListed(Vec::new()));
    let screen = chat.screen();
    assert!(
        screen.contains("No MCP servers are configured."),
        "{screen}"
    );
}

#[test]
fn server_that_fails_while_the_viewer_is_open_appears_first() {
    let mut chat = with_servers((80, 24), vec![connected("well", &[("x", "")])]);
    chat.keys("/mcp<Enter>").screen();
    chat.engine_event(Event::ServerChanged(failed()));
    assert_eq!(selected_row(&mut chat), "✗ broken  failed");
}

#[test]
fn every_row_of_a_long_reason_and_description_can_be_read() {
    let long: Vec<String> = (0..90).map(|n| format!("row {n}.")).collect();
    let servers = vec![failed(), connected("a", &[("tool", &long.join("\n"))])];
    for (width, height) in [(80, 24), (40, 12), (20, 6)] {
        let mut chat = with_servers((width, height), servers.clone());
        let mut screens = chat.keys("/mcp<Enter>").screen();
        for _ in 0..400 {
            screens += &chat.keys("<Down>").screen();
        }
        for row in long
            .iter()
            .map(String::as_str)
            .chain(["word 20.", "word 29."])
        {
            assert!(screens.contains(row), "{row} at {width}x{height}");
        }
    }
}

#[test]
fn a_huge_description_is_truncated_with_a_hint_but_copied_whole() {
    let huge = "word ".repeat(100_000);
    let mut chat = with_servers((80, 24), vec![connected("a", &[("tool", &huge)])]);
    chat.keys("/mcp<Enter>").screen();
    let screen = chat.keys("<Tab><End>").screen();
    assert!(screen.contains("The full text has the rest."), "{screen}");
    chat.keys("y");
    assert!(take_copied_text(&mut chat).is_some_and(|text| text.len() > 500_000));
}

#[test]
fn fifty_servers_with_5000_tools_open_and_scroll_without_delay() {
    let description = "서울의 날씨를 알려 줍니다. Words about it. ".repeat(20);
    let server = |n: usize| {
        let names: Vec<String> = (0..100).map(|tool| format!("tool_{n}_{tool}")).collect();
        let tools: Vec<(&str, &str)> = names
            .iter()
            .map(|name| (name.as_str(), description.as_str()))
            .collect();
        connected(&format!("server{n}"), &tools)
    };
    let mut chat = with_servers((120, 40), (0..50).map(server).collect());
    let started = Instant::now();
    chat.keys("/mcp<Enter>").screen();
    assert!(started.elapsed() < Duration::from_millis(500), "opening");
    let started = Instant::now();
    for keys in ["<PgDn>", "<Down>", "<PgUp>"].repeat(20) {
        chat.keys(keys).screen();
    }
    chat.keys("<Tab><End>").screen();
    // If hidden rows are not laid out, a frame takes a few milliseconds even in a debug build.
    assert!(
        started.elapsed() < Duration::from_secs(3),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(selected_row(&mut chat), "tool_49_99");
    let started = Instant::now();
    chat.keys("<Tab>tool_33_7").screen();
    assert!(
        started.elapsed() < Duration::from_secs(4),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(selected_row(&mut chat), "tool_33_7");
}

#[test]
fn space_toggles_the_selected_tool_or_server() {
    let mut chat = with_viewer();
    chat.keys("<Esc>/mcp files<Enter><Down><Tab> ");
    let server = ServerId::new("files");
    let tool = "read".to_owned();
    let expected = UiEffect::Send(Command::ToggleTool {
        server: server.clone(),
        tool,
    });
    assert_eq!(std::mem::take(&mut chat.sent).last(), Some(&expected));
    assert!(chat.screen().contains("Tool `read` of `files` is off."));
    chat.keys("<Up> ");
    let expected = UiEffect::Send(Command::ToggleServer(server));
    assert_eq!(chat.sent.last(), Some(&expected));
    // In the filter, Space is text.
    chat.sent.clear();
    chat.keys("<Tab>a b");
    assert_eq!(chat.sent, []);
}

#[test]
fn annotations_filter_tools_and_negated_ones_do_not_match() {
    let tool = |name: &str, annotations| {
        fixtures::tool_from(&serde_json::json!({
            "name": name, "inputSchema": {}, "annotations": annotations,
        }))
    };
    let tools = vec![
        tool("look", serde_json::json!({ "readOnlyHint": true })),
        tool(
            "erase",
            serde_json::json!({ "readOnlyHint": false, "destructiveHint": true }),
        ),
        tool("append", serde_json::json!({ "destructiveHint": false })),
    ];
    let mut chat = with_servers((80, 24), vec![fixtures::server("files", tools)]);
    chat.keys("/mcp<Enter>destructive");
    let screen = chat.screen();
    assert!(screen.contains("erase"), "{screen}");
    assert!(
        !screen.contains("look") && !screen.contains("append"),
        "{screen}"
    );
}
