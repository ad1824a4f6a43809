//! How lists and resources of servers are kept up to date: lifetimes, and subscriptions.

use super::in_memory_server::InMemoryServer;
use super::server_content::{ESC, NONE, library, prompts};
use super::*;
use serde_json::json;

fn list_count_after_opening(ttl_ms: u64) -> usize {
    let mut lists = prompts();
    lists["ttlMs"] = ttl_ms.into();
    let library = InMemoryServer::default().with_answer("prompts/list", lists);
    let mut chat = chat_with(&library, script());
    chat.types("/prompt").enter().sees("humble:weather");
    for _ in 0..50 {
        chat.waits(Duration::from_millis(100));
    }
    library.requested_methods().len()
}

#[test]
fn only_an_outdated_list_is_requested_again_when_it_is_opened() {
    assert_eq!(list_count_after_opening(60_000), 1);
    assert_eq!(list_count_after_opening(0), 2);
}

fn tool_list_count_after_prompts(ttl_ms: u64) -> usize {
    let library = InMemoryServer::default().with_tools_ttl(ttl_ms);
    let library = library.with_answering_tool("look", "nothing");
    let mut chat = chat_with(&library, script().answer("One.").answer("Two."));
    for (prompt, answer) in [("Hi.", "One."), ("Again.", "Two.")] {
        chat.says(prompt).sees(answer);
        for _ in 0..100 {
            chat.waits(Duration::from_millis(100));
        }
    }
    library.tool_list_count()
}

#[test]
fn only_an_outdated_list_of_tools_is_requested_again_for_a_prompt() {
    assert_eq!(tool_list_count_after_prompts(600_000), 1);
    assert_eq!(tool_list_count_after_prompts(0), 3);
}

fn waits_until_requested(chat: &mut Chat, library: &InMemoryServer, method: &str, count: usize) {
    for _ in 0..100 {
        if library.count(method) == count {
            return;
        }
        chat.waits(Duration::from_millis(100));
    }
    panic!("{method}: {:?}", library.requested_methods());
}

fn subscribable() -> InMemoryServer {
    library().with_answer("resources/subscribe", json!({}))
}

#[test]
fn an_attached_resource_that_changes_is_reported_once_and_marked() {
    let library = subscribable();
    let mut chat = chat_with(&library, script().answer("Ok."));
    chat.types("/resource humble:note://two").enter();
    chat.sees("@ humble:note://two");
    waits_until_requested(&mut chat, &library, "resources/subscribe", 1);
    let params = library.last_params("resources/subscribe");
    assert_eq!(params["uri"], "note://two");
    library.report_changed_resource("note://other");
    library.report_changed_resource("note://two");
    chat.waits_until_sees("Resource `note://two` of server `humble` has changed since you");
    chat.does_not_see("note://other");
    chat.types("/resource").enter();
    chat.sees("changed since you attached it");
    // Attached again, it is no longer marked, and the next change is reported again.
    chat.types("Second").enter();
    waits_until_requested(&mut chat, &library, "resources/read", 2);
    for _ in 0..10 {
        chat.waits(Duration::from_millis(100));
    }
    chat.types("/resource").enter();
    chat.sees("Second note")
        .does_not_see("changed since you attached it");
    chat.press(ESC, NONE);
    assert_eq!(library.count("resources/subscribe"), 1);
    library.report_changed_resource("note://two");
    chat.waits_until_sees("Resource `note://two` of server `humble` has changed since you");
}

#[test]
fn a_resource_that_cannot_be_attached_is_not_subscribed_to() {
    let binary = json!({ "contents": [{ "uri": "note://two", "blob": "AAECAw==" }] });
    let library = subscribable().with_answer("resources/read", binary);
    let mut chat = chat_with(&library, script());
    chat.types("/resource humble:note://two").enter();
    chat.waits_until_sees("is a binary file, not text");
    for _ in 0..20 {
        chat.waits(Duration::from_millis(100));
    }
    assert_eq!(library.count("resources/subscribe"), 0);
}

#[test]
fn removing_a_resource_or_leaving_its_conversation_ends_the_subscription() {
    let library = subscribable().with_answer("resources/unsubscribe", json!({}));
    let mut chat = chat_with(&library, script().answer("Ok."));
    chat.types("/resource humble:note://two").enter();
    waits_until_requested(&mut chat, &library, "resources/subscribe", 1);
    chat.types("/detach")
        .enter()
        .sees("Removed humble:note://two.");
    waits_until_requested(&mut chat, &library, "resources/unsubscribe", 1);
    let params = library.last_params("resources/unsubscribe");
    assert_eq!(params["uri"], "note://two");

    chat.types("/resource humble:note://two").enter();
    waits_until_requested(&mut chat, &library, "resources/subscribe", 2);
    chat.says("What does it say?").sees("Ok.");
    assert_eq!(
        library.count("resources/unsubscribe"),
        1,
        "the sent message still uses the resource"
    );
    chat.says("/new");
    waits_until_requested(&mut chat, &library, "resources/unsubscribe", 2);
}

#[test]
fn a_resource_of_an_unsent_message_stays_subscribed_in_the_next_conversation() {
    let library = subscribable().with_answer("resources/unsubscribe", json!({}));
    let mut chat = chat_with(&library, script().answer("Hello."));
    chat.says("Hi.").sees("Hello.");
    chat.types("/resource humble:note://two").enter();
    waits_until_requested(&mut chat, &library, "resources/subscribe", 1);
    chat.says("/new").sees("@ humble:note://two");
    for _ in 0..20 {
        chat.waits(Duration::from_millis(100));
    }
    library.report_changed_resource("note://two");
    chat.waits_until_sees("Resource `note://two` of server `humble` has changed since you");
}

/// Attaches a resource, removes it and attaches it again. Returns how often it was requested from
/// its server.
fn read_count(ttl_ms: u64, changes_between: bool) -> usize {
    let mut read = json!({ "contents": [{ "uri": "note://two", "text": "a\0b" }] });
    read["ttlMs"] = ttl_ms.into();
    let library = subscribable()
        .with_answer("resources/unsubscribe", json!({}))
        .with_answer("resources/read", read);
    let mut chat = chat_with(&library, script());
    chat.types("/resource humble:note://two").enter();
    waits_until_requested(&mut chat, &library, "resources/subscribe", 1);
    if changes_between {
        library.report_changed_resource("note://two");
        chat.waits_until_sees("has changed since you attached it");
    }
    chat.types("/detach").enter();
    waits_until_requested(&mut chat, &library, "resources/unsubscribe", 1);
    chat.types("/resource humble:note://two").enter();
    waits_until_requested(&mut chat, &library, "resources/subscribe", 2);
    library.count("resources/read")
}

#[test]
fn a_resource_is_read_again_only_after_its_lifetime_or_a_change() {
    assert_eq!(read_count(60_000, false), 1);
    assert_eq!(read_count(0, false), 2);
    assert_eq!(read_count(60_000, true), 2);
}

#[test]
fn a_server_without_subscriptions_is_not_asked_for_a_subscription() {
    let library = library();
    let mut chat = chat_with(&library, script());
    chat.types("/resource humble:note://two").enter();
    chat.sees("@ humble:note://two");
    library.report_changed_resource("note://two");
    for _ in 0..20 {
        chat.waits(Duration::from_millis(100));
    }
    chat.does_not_see("has changed");
    assert_eq!(library.count("resources/subscribe"), 0);
}
