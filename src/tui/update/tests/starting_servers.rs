//! Servers that have not answered yet: the header counts them, and a prompt waits for them visibly.

use crate::domain::{Server, ServerStatus, WaitReason};
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

    let connected = server("slow", ServerStatus::Connected);
    chat.engine_event(Event::ServerChanged(connected));
    assert!(header(&mut chat).contains("tools 0 · 1 starting"));

    let mut off = server("silent", ServerStatus::Starting);
    off.enabled = false;
    chat.engine_event(Event::ServerChanged(off));
    let text = header(&mut chat);
    assert!(!text.contains("starting"), "{text}");
}

/// A chat whose prompt waits for these servers.
fn waiting_for(names: &[&str]) -> ChatHarness {
    let mut chat = chat();
    let servers = names
        .iter()
        .map(|name| server(name, ServerStatus::Starting));
    chat.engine_event(Event::ServersListed(servers.collect()));
    chat.keys("hi<Enter>").turn_event(TurnEvent::Waiting {
        wait: WaitReason::StartingServers,
    });
    chat.commands();
    chat
}

#[test]
fn the_waiting_line_names_the_servers_and_the_key_that_sends_now() {
    for (names, expected) in [
        (&["humble", "shop"][..], "shop is starting"),
        (&["shop", "docs"], "shop and docs are starting"),
        (&["shop", "docs", "files"], "3 servers are starting"),
    ] {
        let mut chat = waiting_for(names);
        let screen = chat.screen();
        let line = format!("Waiting for response... · {expected} · Enter sends now");
        assert!(screen.contains(&line), "{screen}");
        let screen = chat.size(60, 20).screen();
        let line = format!("{expected} · Enter sends now");
        assert!(screen.contains(&line), "{screen}");
        chat.turn_event(TurnEvent::RoundStarted { round: 1 });
        let screen = chat.screen();
        assert!(screen.contains("Waiting for response..."), "{screen}");
        assert!(!screen.contains("sends now"), "{screen}");
    }
}

#[test]
fn enter_with_an_empty_message_sends_the_waiting_prompt_and_with_text_queues_as_always() {
    let mut chat = waiting_for(&["shop"]);
    chat.keys("<Enter>");
    assert_eq!(chat.commands(), [Command::SendNow]);
    chat.keys("next<Enter>");
    assert!(!chat.model.composer.queue.is_empty());
}

#[test]
fn escape_ends_the_wait_and_up_brings_the_prompt_back() {
    let mut chat = waiting_for(&["shop"]);
    chat.keys("<Esc>");
    assert_eq!(chat.commands(), [Command::Interrupt]);
    chat.turn_ends(TurnEnd::Cancelled).wait(2_000).keys("<Up>");
    assert_eq!(chat.message(), "hi");
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
