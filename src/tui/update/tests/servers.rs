//! The servers pane without an engine: requests, notices and selection.

use crate::domain::{Notice, Server, ServerLog, ServerLogLine, ServerStatus};
use crate::fixtures;
use crate::front_end::advice;
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

fn failed(name: &str, text: &str) -> Server {
    let status = ServerStatus::Failed(Notice::failure(text));
    server(name, status, &[])
}

fn failed_because(name: &str, headline: &str) -> Server {
    let notice = Notice::failure(format!("Server `{name}` could not be started."));
    let status = ServerStatus::Failed(notice.with_headline(headline));
    server(name, status, &[])
}

/// A chat with two servers. The pane has the focus, and the second tool of the first server is
/// selected.
fn with_selected_tool() -> ChatHarness {
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

fn selected_tool(chat: &ChatHarness) -> Option<(String, String)> {
    let (server, tool) = chat.model.servers_pane.selected_tool()?;
    Some((server.id.to_string(), tool.name.clone()))
}

fn visible_notice(chat: &ChatHarness) -> Option<String> {
    chat.model.notices.current().map(advice::notice_line)
}

#[test]
fn selection_stays_on_the_same_tool_when_rows_above_change() {
    let mut chat = with_selected_tool();
    let two = Some(("a".to_owned(), "two".to_owned()));
    assert_eq!(selected_tool(&chat), two);
    let names = ["zero", "half", "one", "two"];
    chat.engine_event(Event::ServerChanged(server(
        "a",
        ServerStatus::Connected,
        &names,
    )));
    assert_eq!(selected_tool(&chat), two);
    let servers = vec![
        server("new", ServerStatus::Starting, &[]),
        server("a", ServerStatus::Connected, &names),
    ];
    chat.engine_event(Event::ServersListed(servers));
    assert_eq!(selected_tool(&chat), two);
    // The tool is gone, so its server is selected.
    chat.engine_event(Event::ServerChanged(server(
        "a",
        ServerStatus::Connected,
        &["one"],
    )));
    assert_eq!(selected_tool(&chat), None);
    let selected_server = chat
        .model
        .servers_pane
        .selected_server()
        .map(|server| server.id.to_string());
    assert_eq!(selected_server.as_deref(), Some("a"));
    chat.engine_event(Event::ServersListed(Vec::new()));
    chat.keys(" <Enter>rliw");
    assert_eq!(chat.commands(), [], "no server is left");
}

#[test]
fn server_log_is_polled_only_while_open() {
    let mut chat = with_selected_tool();
    let read_log = |seen| Command::ReadServerLog {
        server: "a".into(),
        lines_seen: seen,
    };
    chat.keys("l");
    assert_eq!(chat.commands(), [read_log(None)]);
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
    assert_eq!(chat.commands(), [read_log(Some(1))]);
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
        visible_notice(&chat),
        None,
        "a normal start is not announced"
    );
    chat.engine_event(Event::ServerChanged(failed("b", "Server `b` ended.")));
    assert_eq!(
        visible_notice(&chat).as_deref(),
        Some("b: ended. /mcp shows more.")
    );
    chat.wait(60_000);
    for _ in 0..3 {
        chat.engine_event(Event::ServerChanged(server(
            "b",
            ServerStatus::Starting,
            &[],
        )));
        chat.engine_event(Event::ServerChanged(failed("b", "Server `b` ended.")));
        assert_eq!(visible_notice(&chat), None);
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
        visible_notice(&chat).is_some(),
        "a different failure is announced"
    );
}

#[test]
fn servers_failing_together_share_one_row_with_their_reasons() {
    let mut chat = chat();
    let servers = ["dead", "b", "web"].map(|name| server(name, ServerStatus::Starting, &[]));
    chat.engine_event(Event::ServersListed(servers.to_vec()));
    chat.engine_event(Event::ServerChanged(failed_because(
        "dead",
        "no module named foo",
    )));
    let one = "dead: no module named foo. /mcp shows more.";
    assert_eq!(visible_notice(&chat).as_deref(), Some(one));
    let long = "did not answer `initialize` within 30 s\u{1b}[31m";
    chat.engine_event(Event::ServerChanged(failed_because("web", long)));
    let both = "dead: no module named foo · web: did not answer `initiali… /mcp shows more.";
    assert_eq!(visible_notice(&chat).as_deref(), Some(both));
    let screen = chat.screen();
    assert!(screen.lines().any(|row| row.contains(both)), "{screen}");
}

#[test]
fn sidebar_shows_the_first_line_of_the_reason_below_a_failed_server() {
    let mut chat = chat();
    let reason = "ModuleNotFoundError: No module named 'foo'\u{202e}\nsecond line";
    let misconfigured = ServerStatus::Misconfigured(
        "mcp-servers.json: it has both `command` and `url`; give one.".to_owned(),
    );
    let servers = vec![
        failed_because("dead", reason),
        server("odd", misconfigured, &[]),
        server("well", ServerStatus::Connected, &["x"]),
    ];
    chat.engine_event(Event::ServersListed(servers));
    let screen = chat.size(120, 30).screen();
    let sidebar: Vec<&str> = screen
        .lines()
        .filter_map(|line| Some(line.split_once("│ ")?.1.trim_end()))
        .take(6)
        .collect();
    let expected = [
        "Servers              tools tokens",
        "✗ dead                     failed",
        "  ModuleNotFoundError: No module…",
        "✗ odd               misconfigured",
        "  it has both `command` and `url…",
    ];
    assert_eq!(sidebar[..5], expected, "{screen}");
    // Down skips the row with the reason.
    chat.keys("<F2><Down>");
    let selected = chat.model.servers_pane.selected_row();
    assert_eq!(selected, Some(&ServersPaneRow::Server(1)));
    let mut off = failed_because("dead", reason);
    off.enabled = false;
    chat.engine_event(Event::ServerChanged(off));
    assert!(!chat.screen().contains("ModuleNotFound"));
}

#[test]
fn withheld_tool_opens_its_review() {
    let mut chat = with_selected_tool();
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
    let read_instructions = Command::ReviewInstructions("a".into());
    assert_eq!(chat.commands(), [review, read_instructions]);
}

#[test]
fn wide_but_short_screen_overlays_the_servers_pane() {
    let mut chat = with_selected_tool();
    chat.keys("<Esc>").size(120, 10).keys("<F2>");
    assert_eq!(chat.model.panes.over_chat, Some(Focus::Servers));
}

#[test]
fn end_home_and_left_jump_to_the_last_row_the_first_row_and_the_server() {
    let mut chat = with_selected_tool();
    let selected_row = |chat: &ChatHarness| chat.model.servers_pane.selected_row().cloned();
    chat.keys("<End>");
    assert_eq!(selected_row(&chat), Some(ServersPaneRow::Server(1)));
    chat.keys("<Right><End>");
    assert_eq!(selected_row(&chat), Some(ServersPaneRow::Tool(1, 0)));
    chat.keys("<Home>");
    assert_eq!(selected_row(&chat), Some(ServersPaneRow::Server(0)));
    chat.keys("<Right><Down><Down><Right><Down><Left>");
    assert_eq!(selected_row(&chat), Some(ServersPaneRow::Server(0)));
    let rows = [
        ServersPaneRow::Server(0),
        ServersPaneRow::Server(1),
        ServersPaneRow::Tool(1, 0),
    ];
    assert_eq!(chat.model.servers_pane.rows(), rows);
    chat.keys("<Left>");
    assert_eq!(chat.model.servers_pane.rows(), rows, "already folded");
    chat.keys("<Right><Right>");
    assert_eq!(selected_row(&chat), Some(ServersPaneRow::Server(0)));
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
    let pane = &mut chat.model.servers_pane;
    pane.scroll(100);
    assert_eq!(pane.rows_in_view(10).0, 31);
    pane.unfold_selected();
    let (first, rows) = pane.rows_in_view(10);
    let last = Some(&ServersPaneRow::Tool(40, 2));
    assert_eq!((first, rows.last()), (34, last));
    // If the server and its tools do not fit, the server becomes the first row.
    pane.fold_selected_server();
    pane.rows_in_view(2);
    pane.unfold_selected();
    assert_eq!(pane.rows_in_view(2).0, 40);
}

#[test]
fn the_mcp_add_command_without_a_server_shows_examples() {
    let mut chat = chat();
    let screen = chat.size(80, 24).keys("/mcp add<Enter>").screen();
    for part in [
        "/mcp add NAME COMMAND ARGUMENTS",
        "/mcp add docs --header Authorization https://example.com/mcp",
        "humble mcp add NAME -- COMMAND",
        "/import",
    ] {
        assert!(screen.contains(part), "{part}\n{screen}");
    }
}
