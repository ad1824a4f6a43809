//! Servers that have not answered yet: the header counts them, and a prompt says that it runs without
//! their tools.

use crate::domain::{Server, ServerStatus};
use crate::fixtures;
use crate::tui::update::tests::*;

fn server(name: &str, status: ServerStatus) -> Server {
    Server {
        status,
        ..fixtures::server(name, Vec::new())
    }
}

fn header(chat: &mut ChatHarness) -> String {
    chat.screen().lines().next().unwrap_or_default().to_owned()
}

#[test]
fn the_header_counts_servers_until_all_have_answered() {
    let mut chat = chat();
    let names = ["humble", "slow", "silent"];
    let servers = names.map(|name| server(name, ServerStatus::Starting));
    chat.engine_event(Event::ServersListed(servers.to_vec()));
    assert!(header(&mut chat).contains("tools 0 · 2 starting"));
    chat.keys("hi<Enter>");
    let notice = "2 servers are still starting; this prompt runs without their tools.";
    assert_eq!(chat.notice(), notice);
    chat.model_answers("Hello.");
    assert_eq!(chat.notice(), notice, "even if the answer is fast");

    let connected = server("slow", ServerStatus::Connected);
    chat.engine_event(Event::ServerChanged(connected));
    assert!(header(&mut chat).contains("tools 0 · 1 starting"));
    chat.keys("hi<Enter>");
    let notice = "Server `silent` is still starting; this prompt runs without its tools.";
    assert_eq!(chat.notice(), notice);
    chat.model_answers("Hello.");

    let mut off = server("silent", ServerStatus::Starting);
    off.enabled = false;
    chat.engine_event(Event::ServerChanged(off));
    let text = header(&mut chat);
    assert!(!text.contains("starting"), "{text}");
    chat.wait(10_000);
    chat.keys("hi<Enter>");
    assert_eq!(chat.notice(), "");
}

#[test]
fn a_restarting_server_with_known_tools_does_not_count_as_starting() {
    let mut chat = chat();
    let mut restarting = server("slow", ServerStatus::Starting);
    restarting.tools = Arc::new(vec![fixtures::tool("wait")]);
    chat.engine_event(Event::ServersListed(vec![restarting]));
    assert!(!header(&mut chat).contains("starting"));
    chat.keys("hi<Enter>");
    assert_eq!(chat.notice(), "");
}
