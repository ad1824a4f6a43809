//! Requests from servers, with real keys on the whole screen and line by line: forms, answers of
//! the model, and roots.

use super::model_server::{ollama_call, ollama_text};
use super::pty::{CTRL_C, ESC, TerminalOptions, contains_text};
use super::{CHAT, READY_HINT, clean_exit, endless, ollama, open_with_tools};
use crate::home::test_server_path;
use serde_json::json;
use std::time::Duration;
use vt100::Screen;

#[test]
fn a_form_is_filled_in_during_a_call() {
    for behavior in ["asks-legacy", "asks-modern"] {
        let (server, home) = ollama();
        let home = home.with_server("test", &test_server_path(), &[behavior]);
        server
            .queue_reply(CHAT, ollama_call("form", &json!({})))
            .queue_reply(CHAT, ollama_text(&["The parcel is on its way."]));
        let mut terminal = open_with_tools(&home);
        terminal.send_prompt("Send the parcel.");
        terminal.wait_for_text("Call now? (Y/N)");
        terminal.wait_for_text(READY_HINT);
        terminal.press("y");
        let dialog = terminal.wait_for_text("Form from test");
        for part in [
            "  | Who should receive the parcel?",
            "Name *",
            "express  yes",
        ] {
            assert!(
                contains_text(&dialog, part),
                "{part}\n{}",
                dialog.contents()
            );
        }
        terminal.wait_for_text(READY_HINT);
        terminal.press("e");
        terminal.wait_for_text("Enter next");
        terminal.press("김하나\r");
        terminal.wait_for_text("yes or no");
        terminal.press("\r");
        terminal.wait_for_text(READY_HINT);
        // The values are sent only after half a second in view.
        std::thread::sleep(Duration::from_millis(600));
        terminal.press("y");
        terminal.wait_for_text("The parcel is on its way.");
        let second_request = &server.bodies(CHAT)[1];
        let messages = second_request["messages"].as_array().expect("messages");
        let result = messages.last().and_then(|last| last["content"].as_str());
        let values =
            json!({ "action": "accept", "content": { "name": "김하나", "express": true } });
        let result = result.expect("a result");
        assert!(result.contains(&values.to_string()), "{behavior}: {result}");
        assert_eq!(terminal.quit(), clean_exit());
        home.assert_no_process_left();
    }
}

#[test]
fn the_model_answers_a_server_only_after_two_questions() {
    for behavior in ["asks-legacy", "asks-modern"] {
        let (server, home) = ollama();
        let home = home.with_server("test", &test_server_path(), &[behavior]);
        server
            .queue_reply(CHAT, ollama_call("sample", &json!({})))
            .queue_reply(CHAT, ollama_text(&["Blue like ", "the sky."]))
            .queue_reply(CHAT, ollama_text(&["The server knows."]));
        let mut terminal = open_with_tools(&home);
        terminal.send_prompt("Ask it.");
        terminal.wait_for_text("Call now? (Y/N)");
        terminal.wait_for_text(READY_HINT);
        terminal.press("y");
        let dialog = terminal.wait_for_text("Request from test");
        for part in [
            "  | Be brief.",
            "  | Name a color.",
            "50 tokens",
            "Left out: 1 image, the conversation",
        ] {
            assert!(
                contains_text(&dialog, part),
                "{part}\n{}",
                dialog.contents()
            );
        }
        assert_eq!(
            server.bodies(CHAT).len(),
            1,
            "nothing is asked before the key"
        );
        terminal.wait_for_text(READY_HINT);
        // The digit of the choice: a second `y` this soon would count as held down.
        terminal.press("1");
        terminal.wait_for_text("Answer for test");
        terminal.wait_for_text("  | Blue like the sky.");
        terminal.wait_for_text(READY_HINT);
        terminal.press("y");
        terminal.wait_for_text("The server knows.");
        let bodies = server.bodies(CHAT);
        assert_eq!(bodies[1]["options"]["num_predict"], 50);
        assert_eq!(bodies[1]["options"]["temperature"], 0.5);
        assert_eq!(bodies[1].get("tools"), None);
        let sampled = bodies[1]["messages"].as_array().expect("messages");
        let sampled: Vec<_> = sampled.iter().map(|message| &message["content"]).collect();
        assert_eq!(sampled, ["Be brief.", "Name a color."]);
        let messages = bodies[2]["messages"].as_array().expect("messages");
        let result = messages.last().and_then(|last| last["content"].as_str());
        let result = result.expect("a result");
        assert!(
            result.contains("Blue like the sky."),
            "{behavior}: {result}"
        );
        assert_eq!(terminal.quit(), clean_exit());
        home.assert_no_process_left();
    }
}

#[test]
fn ctrl_c_stops_an_answer_for_a_server_after_the_turn() {
    let (server, home) = ollama();
    let home = home.with_server("test", &test_server_path(), &["asks-legacy"]);
    server
        .queue_reply(CHAT, ollama_call("sample-later", &json!({})))
        .queue_reply(CHAT, ollama_text(&["It asks later."]))
        .queue_reply(CHAT, endless(&["Blue"]));
    let mut terminal = open_with_tools(&home);
    terminal.send_prompt("Ask it.");
    terminal.wait_for_text("Call now? (Y/N)");
    terminal.wait_for_text(READY_HINT);
    terminal.press("y");
    terminal.wait_for_text("It asks later.");
    terminal.wait_for_text("Server test has a question for you. Alt+Q opens it.");
    terminal.press("\x1bq");
    terminal.wait_for_text("Ask the model?");
    terminal.wait_for_text(READY_HINT);
    terminal.press("1");
    terminal.wait_for_text("answering test");
    terminal.press(CTRL_C);
    terminal.wait_until_gone("answering test");
    server.blocking_wait_for(|log| log.aborted_replies == 1);
    terminal.press("still here");
    terminal.wait_for_text("still here");
    assert_eq!(terminal.quit_with_draft(), clean_exit());
    home.assert_no_process_left();
}

#[test]
fn one_key_ends_the_questions_of_a_server_that_never_stops_asking() {
    let (server, home) = ollama();
    let home = home.with_server("test", &test_server_path(), &["asks-legacy"]);
    server
        .queue_reply(CHAT, ollama_call("nag", &json!({})))
        .queue_reply(CHAT, ollama_text(&["It gave up."]));
    let mut terminal = open_with_tools(&home);
    terminal.send_prompt("Ask it.");
    terminal.wait_for_text("Call now? (Y/N)");
    terminal.wait_for_text(READY_HINT);
    terminal.press("y");
    terminal.wait_for_text("Form from test");
    terminal.wait_for_text(READY_HINT);
    terminal.press("n");
    // The next dialog looks the same, and accepts keys only after a pause.
    std::thread::sleep(Duration::from_millis(1_000));
    terminal.wait_for_text(READY_HINT);
    terminal.press("x");
    terminal.wait_for_text("It gave up.");
    let messages = server.bodies(CHAT)[1]["messages"].clone();
    let result = messages.as_array().and_then(|all| all.last()).cloned();
    let result = result.expect("a result")["content"].to_string();
    assert!(result.contains("asked 20 times"), "{result}");
    assert_eq!(terminal.quit(), clean_exit());
    home.assert_no_process_left();
}

#[test]
fn humble_ask_lets_the_user_decline_a_form_before_and_after_filling_it_in() {
    let refusals = "n: decline, x: decline all from it, c: cancel";
    for (answers, result) in [
        (["n", "", "", ""], json!({ "action": "decline" })),
        (["y", "Ada", "n", "n"], json!({ "action": "decline" })),
        (
            ["y", "Ada", "n", "y"],
            json!({ "action": "accept", "content": { "name": "Ada", "express": false } }),
        ),
    ] {
        let (server, home) = ollama();
        let home = home.with_server("test", &test_server_path(), &["asks-legacy"]);
        server
            .queue_reply(CHAT, ollama_call("form", &json!({})))
            .queue_reply(CHAT, ollama_text(&["Done with it."]));
        let mut terminal = TerminalOptions::in_home(&home)
            .arg("ask")
            .arg("--yes")
            .arg("Send the parcel.")
            .start();
        let questions = [
            format!("Fill in the form? (y: fill in, {refusals})"),
            "Name *".to_owned(),
            "express (yes or no; Enter for yes)".to_owned(),
            format!("Send these values? (y: send, {refusals})"),
        ];
        for (question, answer) in questions.iter().zip(answers) {
            if answer.is_empty() {
                continue;
            }
            terminal.wait_for_text(question);
            // An earlier answer does not count: the question could not be read yet.
            std::thread::sleep(Duration::from_millis(600));
            terminal.type_answer(answer);
        }
        terminal.wait_for_text("Done with it.");
        let messages = server.bodies(CHAT)[1]["messages"].clone();
        let last = messages.as_array().and_then(|all| all.last()).cloned();
        let last = last.expect("a result")["content"].to_string();
        let expected = json!(result.to_string()).to_string();
        assert!(last.contains(expected.trim_matches('"')), "{last}");
        assert_eq!(terminal.exit(), clean_exit());
        home.assert_no_process_left();
    }
}

#[test]
fn roots_are_shown_with_the_server_and_an_edit_applies_at_once() {
    let (_server, home) = ollama();
    home.edit_json("config.json", |config| {
        config["roots"] = json!(["/srv/my files", "/srv/other", "relative"]);
    });
    let home = home.with_server("test", &test_server_path(), &["asks-legacy"]);
    let mut terminal = open_with_tools(&home);
    terminal.wait_for_text("`roots` has `relative`");
    terminal.type_text("/mcp");
    terminal.press("\r");
    terminal.wait_for_text("May ask for your folders: /srv/my files, /srv/other");
    home.edit_json("config.json", |config| {
        config["roots"] = json!(["/srv/other"])
    });
    terminal.wait_for("the changed folders", |screen| {
        contains_text(screen, "May ask for your folders: /srv/other")
    });
    terminal.press("\x1b");
    terminal.wait_until_gone("May ask for your folders");
    assert_eq!(terminal.quit(), clean_exit());
    home.assert_no_process_left();
}

#[test]
fn a_web_page_is_described_and_opened_only_on_a_key() {
    for behavior in ["asks-legacy", "asks-modern"] {
        let (server, home) = ollama();
        let home = home.with_server("test", &test_server_path(), &[behavior]);
        server
            .queue_reply(CHAT, ollama_call("page", &json!({})))
            .queue_reply(CHAT, ollama_text(&["The shop stays closed."]));
        let mut terminal = open_with_tools(&home);
        terminal.send_prompt("Sign me in.");
        terminal.wait_for_text("Call now? (Y/N)");
        terminal.wait_for_text(READY_HINT);
        terminal.press("y");
        let dialog = terminal.wait_for_text("Web page from test");
        for part in ["  | Sign in to the shop.", "shop.example", "Open it?"] {
            assert!(
                contains_text(&dialog, part),
                "{part}\n{}",
                dialog.contents()
            );
        }
        terminal.wait_for_text(READY_HINT);
        terminal.press("n");
        terminal.wait_for_text("The shop stays closed.");
        let second_request = &server.bodies(CHAT)[1];
        let messages = second_request["messages"].as_array().expect("messages");
        let result = messages.last().and_then(|last| last["content"].as_str());
        let result = result.expect("a result");
        assert!(result.contains("decline"), "{behavior}: {result}");
        assert_eq!(terminal.quit(), clean_exit());
        home.assert_no_process_left();
    }
}

/// The number of the last ping whose answer the log of the server shows.
fn last_answered_ping(screen: &Screen) -> Option<u32> {
    let text = screen.contents();
    let rest = text.rsplit("\"id\":\"ping ").next()?;
    let (number, rest) = rest.split_once('"')?;
    rest.contains("\"result\":{}")
        .then(|| number.parse().ok())?
}

#[test]
fn pings_of_a_server_are_answered_while_the_chat_is_open() {
    let (server, home) = ollama();
    let home = home.with_server("test", &test_server_path(), &["pings"]);
    server.queue_reply(CHAT, endless(&["Half of it"]));
    let mut terminal = open_with_tools(&home);
    // The log of the server shows its pings, both while nothing runs and during a turn.
    let newest_answer = |beyond: u32| {
        terminal.send_prompt("/mcp test log");
        let screen = terminal.wait_for("a newer ping is answered", |screen| {
            last_answered_ping(screen).is_some_and(|number| number > beyond)
        });
        terminal.press(ESC);
        terminal.wait_until_gone("answered");
        last_answered_ping(&screen).expect("just found")
    };
    let answered = newest_answer(0);
    terminal.send_prompt("Go on.");
    terminal.wait_for_text("Half of it");
    newest_answer(answered + 5);
    terminal.press(CTRL_C);
    terminal.wait_for_text("(stopped)");
    assert_eq!(terminal.quit(), clean_exit());
    home.assert_no_process_left();
}
