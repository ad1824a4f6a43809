//! The servers pane without an engine: requests, notices and selection.

use crate::domain::{Notice, Server, ServerLog, ServerLogLine, ServerStatus};
use crate::fixtures::{self, described_tool};
use crate::tui::advice;
use crate::tui::servers::state::ServersPaneRow;
use crate::tui::update::tests::*;

fn server(name: &str, status: ServerStatus, tools: &[&str]) -> Server {
    Server {
        status,
        ..fixtures::server(
            name,
            tools.iter().map(|name| fixtures::tool(name)).collect(),
        )
    }
}

fn failed(name: &str, what: &str) -> Server {
    let status = ServerStatus::Failed(Notice::failure(what));
    server(name, status, &[])
}

/// Two servers, the pane focused, the first server unfolded, its second tool selected.
fn in_pane() -> ChatHarness {
    let mut chat = chat();
    let servers = vec![
        server("a", ServerStatus::Connected, &["one", "two", "three"]),
        server("b", ServerStatus::Connected, &["x"]),
    ];
    chat.size(104, 30)
        .engine_event(Event::ServersListed(servers));
    chat.keys("<F2><Enter><Down><Down>").commands();
    chat
}

fn selected(chat: &ChatHarness) -> Option<(String, String)> {
    let (server, tool) = chat.model.servers_pane.selected_tool()?;
    Some((server.id.to_string(), tool.name.clone()))
}

fn notice_in_view(chat: &ChatHarness) -> Option<String> {
    chat.model.notices.current().map(advice::notice_line)
}

#[test]
fn mcp_lists_all_servers_and_tools_with_failed_servers_first() {
    let mut well = server("well", ServerStatus::Connected, &["short", "gone", "last"]);
    let long: Vec<String> = (0..60).map(|n| format!("line {n}")).collect();
    well.tools = Arc::new(vec![
        described_tool("short", "Short\u{202e}.\n✗ other: failed"),
        described_tool("gone", ""),
        described_tool("last", &long.join("\n")),
    ]);
    well.disabled_tools.insert("gone".to_owned());
    let mut broken = failed("broken", "Server `broken` could not be started.");
    broken.stderr = (0..20).map(|n| format!("word {n}.")).collect();
    let mut chat = chat();
    chat.size(80, 40)
        .engine_event(Event::ServersListed(vec![well, broken]));
    let screen = chat.keys("/mcp<Enter>").screen();
    let expected = [
        "MCP servers: 1 of 2 connected",
        "✗ broken: failed",
        "  Server `broken` could not be started.",
        "    word 10.",
        "    word 19.",
        "● well: connected, 2 of 3 tools available",
        "  short",
        "    Short⟨U+202E⟩.",
        "    ✗ other: failed",
        "  gone (off)",
        "    No description.",
        "  last",
        "    line 0",
    ];
    let mut from = 0;
    for words in expected {
        let at = screen[from..].find(words);
        from += at.unwrap_or_else(|| panic!("{words} in {screen}"));
    }
    assert!(!screen.contains("word 9."), "{screen}");
    assert!(!screen.contains("line 59"), "{screen}");
    let screen = chat.keys("<End>").screen();
    assert!(screen.contains("line 59"), "{screen}");
    let below_header = screen.lines().skip(1).collect::<String>();
    assert!(!below_header.contains("broken"), "{screen}");
    chat.keys("<Esc>");
    assert_eq!(chat.model.panes.focus, Focus::Message);
    assert!(chat.model.layer.is_none());
    chat.keys("<F2>");
    assert_eq!(
        chat.model.panes.focus,
        Focus::Servers,
        "F2 focuses the pane"
    );
}

#[test]
fn selection_stays_on_the_same_tool_when_rows_above_change() {
    let mut chat = in_pane();
    let two = Some(("a".to_owned(), "two".to_owned()));
    assert_eq!(selected(&chat), two);
    let more = ["zero", "half", "one", "two"];
    chat.engine_event(Event::ServerChanged(server(
        "a",
        ServerStatus::Connected,
        &more,
    )));
    assert_eq!(selected(&chat), two);
    let servers = vec![
        server("new", ServerStatus::Starting, &[]),
        server("a", ServerStatus::Connected, &more),
    ];
    chat.engine_event(Event::ServersListed(servers));
    assert_eq!(selected(&chat), two);
    // The tool is gone, so its server is selected.
    chat.engine_event(Event::ServerChanged(server(
        "a",
        ServerStatus::Connected,
        &["one"],
    )));
    assert_eq!(selected(&chat), None);
    let selected_server = chat
        .model
        .servers_pane
        .selected_server()
        .map(|server| server.id.to_string());
    assert_eq!(selected_server.as_deref(), Some("a"));
    chat.engine_event(Event::ServersListed(Vec::new()));
    chat.keys(" <Enter>rliw");
    assert_eq!(chat.commands(), [], "there is nothing to act on");
}

#[test]
fn server_log_is_polled_only_while_open() {
    let mut chat = in_pane();
    let read = |seen| Command::ReadServerLog {
        server: "a".into(),
        lines_seen: seen,
    };
    chat.keys("l");
    assert_eq!(chat.commands(), [read(None)]);
    let log = ServerLog {
        server: "a".into(),
        run_started_at: None,
        lines: vec![ServerLogLine::Stderr("one".to_owned())],
        lines_written: 1,
    };
    chat.engine_event(Event::ServerLogRead(Arc::new(log)));
    chat.wait(399);
    assert_eq!(chat.commands(), []);
    chat.wait(1);
    assert_eq!(chat.commands(), [read(Some(1))]);
    chat.keys("<Esc>").wait(5_000);
    assert_eq!(chat.commands(), []);
}

#[test]
fn repeated_failure_is_announced_once() {
    let mut chat = chat();
    chat.engine_event(Event::ServersListed(vec![
        server("a", ServerStatus::Starting, &[]),
        server("b", ServerStatus::Starting, &[]),
    ]));
    chat.engine_event(Event::ServerChanged(server(
        "a",
        ServerStatus::Connected,
        &["x"],
    )));
    assert_eq!(
        notice_in_view(&chat),
        None,
        "a normal start is not announced"
    );
    chat.engine_event(Event::ServerChanged(failed("b", "Server `b` ended.")));
    assert_eq!(
        notice_in_view(&chat).as_deref(),
        Some("Server `b` ended. /mcp shows why.")
    );
    chat.wait(60_000);
    for _ in 0..3 {
        chat.engine_event(Event::ServerChanged(server(
            "b",
            ServerStatus::Starting,
            &[],
        )));
        chat.engine_event(Event::ServerChanged(failed("b", "Server `b` ended.")));
        assert_eq!(notice_in_view(&chat), None);
    }
    chat.engine_event(Event::ServerChanged(server(
        "b",
        ServerStatus::Starting,
        &[],
    )));
    chat.engine_event(Event::ServerChanged(failed(
        "b",
        "Server `b` could not be started.",
    )));
    assert!(
        notice_in_view(&chat).is_some(),
        "a different failure is announced"
    );
}

#[test]
fn servers_failing_together_share_one_notice() {
    let mut chat = chat();
    let servers = ["a", "b", "c"].map(|name| server(name, ServerStatus::Starting, &[]));
    chat.engine_event(Event::ServersListed(servers.to_vec()));
    for name in ["a", "c"] {
        let what = format!("Server `{name}` could not be started.");
        chat.engine_event(Event::ServerChanged(failed(name, &what)));
    }
    let both = "Servers `a`, `c` failed. /mcp shows why.";
    assert_eq!(notice_in_view(&chat).as_deref(), Some(both));
}

#[test]
fn withheld_tool_opens_its_review() {
    let mut chat = in_pane();
    chat.keys("w");
    assert_eq!(chat.commands(), []);
    let mut changed = server("a", ServerStatus::Connected, &["one", "two", "three"]);
    changed.withheld_tools = ["two".to_owned()].into();
    changed.instructions = Some("Be kind.".to_owned());
    chat.engine_event(Event::ServerChanged(changed)).keys("wi");
    let review = Command::ReviewTool {
        server: "a".into(),
        tool: "two".to_owned(),
    };
    let ask = Command::ReviewInstructions("a".into());
    assert_eq!(chat.commands(), [review, ask]);
}

#[test]
fn wide_but_short_screen_overlays_the_servers_pane() {
    let mut chat = in_pane();
    chat.keys("<Esc>").size(120, 10).keys("<F2>");
    assert_eq!(chat.model.panes.over_chat, Some(Focus::Servers));
}

#[test]
fn one_key_jumps_to_first_row_last_row_or_server() {
    let mut chat = in_pane();
    let at = |chat: &ChatHarness| chat.model.servers_pane.selected_row().cloned();
    chat.keys("<End>");
    assert_eq!(at(&chat), Some(ServersPaneRow::Server(1)));
    chat.keys("<Right><End>");
    assert_eq!(at(&chat), Some(ServersPaneRow::Tool(1, 0)));
    chat.keys("<Home>");
    assert_eq!(at(&chat), Some(ServersPaneRow::Server(0)));
    chat.keys("<Right><Down><Down><Right><Down><Left>");
    assert_eq!(at(&chat), Some(ServersPaneRow::Server(0)));
    let rows = [
        ServersPaneRow::Server(0),
        ServersPaneRow::Server(1),
        ServersPaneRow::Tool(1, 0),
    ];
    assert_eq!(chat.model.servers_pane.rows(), rows);
    chat.keys("<Left>");
    assert_eq!(chat.model.servers_pane.rows(), rows, "already folded");
    chat.keys("<Right><Right>");
    assert_eq!(at(&chat), Some(ServersPaneRow::Server(0)));
    assert_ne!(chat.model.servers_pane.rows(), rows, "Right does not fold");
    assert_eq!(chat.commands(), []);
}

#[test]
fn unfolding_the_lowest_row_scrolls_it_into_view() {
    let mut chat = chat();
    let mut servers: Vec<Server> = (0..40)
        .map(|n| server(&format!("s{n}"), ServerStatus::Off, &[]))
        .collect();
    servers.push(server(
        "z",
        ServerStatus::Connected,
        &["one", "two", "three"],
    ));
    chat.engine_event(Event::ServersListed(servers));
    let sidebar = &mut chat.model.servers_pane;
    sidebar.scroll(100);
    assert_eq!(sidebar.rows_in_view(10).0, 31);
    sidebar.unfold_selected();
    let (first, rows) = sidebar.rows_in_view(10);
    let last = Some(&ServersPaneRow::Tool(40, 2));
    assert_eq!((first, rows.last()), (34, last));
    // If not everything fits, the server is the first row.
    sidebar.fold_selected_server();
    sidebar.rows_in_view(2);
    sidebar.unfold_selected();
    assert_eq!(sidebar.rows_in_view(2).0, 40);
}
