//! The features of the protocol on the real screen, against the server `everything`: prompts,
//! resources, sampling, tasks, logging, roots and content other than text.

use super::home::TestHome;
use super::model_server::{ModelServer, Reply, ollama_call, ollama_text};
use super::pty::{Exit, PtyTerminal, TerminalOptions, contains_text, screen_with_border};
use super::servers::{from_npm, node};
use serde_json::{Value, json};
use std::time::Duration;
use vt100::Screen;

const CHAT: &str = "/api/chat";
const TAB: &str = "\t";
/// Appears once a dialog accepts keys.
const READY_HINT: &str = "Press a key to choose";
/// Longer than the time for which a dialog ignores keys.
const KEY_GUARD: Duration = Duration::from_millis(600);

struct Chat {
    model: ModelServer,
    home: TestHome,
    terminal: PtyTerminal,
}

impl Chat {
    /// A chat connected to the server, whose model gives these replies.
    fn open(replies: impl IntoIterator<Item = Reply>) -> Self {
        let model = ModelServer::start();
        for reply in replies {
            model.queue_reply(CHAT, reply);
        }
        let home = TestHome::with_ollama(&model.url());
        home.edit_json("config.json", |config| {
            config["roots"] = json!(["/srv/photos"]);
        });
        let program = from_npm("everything");
        let home = home.with_server("everything", &node(), &[&program, "stdio"]);
        let terminal = TerminalOptions::in_home(&home).size(120, 50).start();
        terminal.wait_for("the server is connected", |screen| {
            let screen = screen.contents();
            screen.lines().any(|line| line.contains("● everything"))
        });
        Self {
            model,
            home,
            terminal,
        }
    }

    /// A chat whose model calls this tool and then says `answer`.
    fn calling(tool: &str, arguments: &Value, answer: &str) -> Self {
        Self::open([ollama_call(tool, arguments), ollama_text(&[answer])])
    }

    /// Sends a prompt and approves the call of the model.
    fn approve(&self, prompt: &str) {
        self.terminal.send_prompt(prompt);
        self.terminal.wait_for_text("Call now? (Y/N)");
        self.terminal.wait_for_text(READY_HINT);
        self.terminal.press("y");
    }

    /// The text of the last message of the last request to the model.
    fn last_message(&self) -> String {
        let bodies = self.model.bodies(CHAT);
        let messages = bodies.last().expect("a request")["messages"].clone();
        let messages = messages.as_array().cloned().unwrap_or_default();
        messages.last().expect("a message")["content"].to_string()
    }

    fn assert_model_heard(&self, part: &str) {
        let heard = self.last_message();
        assert!(heard.contains(part), "{part}: {heard}");
    }

    fn close(mut self) {
        let exit = Exit {
            code: 0,
            signal: None,
        };
        assert_eq!(self.terminal.quit(), exit);
        self.terminal.assert_restored();
        self.home.assert_no_process_left();
    }
}

fn assert_shows(screen: &Screen, parts: &[&str]) {
    for part in parts {
        let screen_text = screen_with_border(screen);
        assert!(contains_text(screen, part), "{part}\n{screen_text}");
    }
}

#[test]
#[ignore = "needs third-party MCP servers: .ci/run installs them"]
fn a_prompt_is_completed_reviewed_and_sent() {
    let chat = Chat::open([ollama_text(&["Congratulations."])]);
    let terminal = &chat.terminal;
    // The prompts arrive after the tools, so wait until they are offered.
    terminal.type_text("/prompt everything:compl");
    terminal.wait_for_text("completable-prompt");
    terminal.type_text("etable-prompt");
    terminal.press("\r");
    let form = terminal.wait_for_text("Choose the department.");
    assert_shows(&form, &["department", "name", "required"]);
    terminal.type_text("Eng");
    terminal.wait_for_text("Engineering");
    terminal.press(TAB);
    terminal.press("\r");
    terminal.wait_for_text("Choose a team member");
    // These values depend on the department.
    terminal.wait_for_text("Charlie");
    terminal.type_text("A");
    terminal.wait_until_gone("Charlie");
    terminal.wait_for_text("Alice");
    terminal.press(TAB);
    terminal.press("\r");
    terminal.wait_for_text("| Please promote Alice to the head of the Engineering team.");
    assert!(chat.model.bodies(CHAT).is_empty(), "it is reviewed first");
    std::thread::sleep(KEY_GUARD);
    terminal.press("\r");
    terminal.wait_for_text("Congratulations.");
    chat.assert_model_heard("Please promote Alice");
    chat.close();
}

#[test]
#[ignore = "needs third-party MCP servers: .ci/run installs them"]
fn a_resource_of_a_template_is_attached_and_its_changes_are_marked() {
    let chat = Chat::open([
        ollama_call("toggle-subscriber-updates", &json!({})),
        ollama_text(&["Updates are on."]),
        ollama_text(&["It is plain text."]),
    ]);
    let terminal = &chat.terminal;
    chat.approve("Turn on the updates.");
    terminal.wait_for_text("Updates are on.");
    terminal.send_prompt("/resource");
    terminal.wait_for_text("everything:architecture.md");
    terminal.type_text("dynamic text");
    terminal.wait_for_text("Dynamic Text Resource  template");
    terminal.press("\r");
    terminal.wait_for_text("resourceId");
    terminal.type_text("7");
    terminal.press("\r");
    terminal.wait_for_text("@ everything:demo://resource/dynamic/text/7");
    // The server reports a change every five seconds.
    terminal.wait_for_text("has changed");
    terminal.send_prompt("What is it?");
    terminal.wait_for_text("It is plain text.");
    chat.assert_model_heard("Resource 7: This is a plaintext resource");
    chat.close();
}

#[test]
#[ignore = "needs third-party MCP servers: .ci/run installs them"]
fn the_model_answers_the_server_after_two_questions() {
    let arguments = json!({ "prompt": "Name a color.", "maxTokens": 50 });
    let chat = Chat::open([
        ollama_call("trigger-sampling-request", &arguments),
        ollama_text(&["Blue like the sky."]),
        ollama_text(&["The server knows."]),
    ]);
    let terminal = &chat.terminal;
    chat.approve("Ask it.");
    let dialog = terminal.wait_for_text("Request from everything");
    assert_shows(&dialog, &["Name a color.", "50 tokens"]);
    terminal.wait_for_text(READY_HINT);
    terminal.press("1");
    terminal.wait_for_text("Answer for everything");
    terminal.wait_for_text("| Blue like the sky.");
    terminal.wait_for_text(READY_HINT);
    terminal.press("y");
    terminal.wait_for_text("The server knows.");
    chat.assert_model_heard("Blue like the sky.");
    chat.close();
}

#[test]
#[ignore = "needs third-party MCP servers: .ci/run installs them"]
fn a_call_that_runs_as_a_task_is_left_and_its_result_is_used_later() {
    let chat = Chat::open([
        ollama_call("simulate-research-query", &json!({ "topic": "tea" })),
        ollama_text(&["I went on."]),
        ollama_text(&["Tea is old."]),
    ]);
    let terminal = &chat.terminal;
    chat.approve("Research tea.");
    terminal.wait_for_text("Alt+L leave the task");
    terminal.press("\x1bl");
    terminal.wait_for_text("I went on.");
    terminal.wait_for_text("@ everything:simulate-research-query");
    terminal.send_prompt("Use the result.");
    terminal.wait_for_text("Tea is old.");
    chat.assert_model_heard("tea");
    chat.close();
}

#[test]
#[ignore = "needs third-party MCP servers: .ci/run installs them"]
fn messages_of_the_server_are_in_its_log() {
    let chat = Chat::calling("toggle-simulated-logging", &json!({}), "Logging is on.");
    let terminal = &chat.terminal;
    chat.approve("Turn on the log.");
    terminal.wait_for_text("Logging is on.");
    terminal.send_prompt("/mcp everything log");
    // A message of a random level, every five seconds.
    terminal.wait_for("a message of the server", |screen| {
        contains_text(screen, "-level message") || contains_text(screen, "Alert level-message")
    });
    terminal.press("\x1b");
    terminal.wait_until_gone("── everything");
    chat.close();
}

#[test]
#[ignore = "needs third-party MCP servers: .ci/run installs them"]
fn the_server_learns_the_configured_folders() {
    let chat = Chat::calling("get-roots-list", &json!({}), "One folder.");
    chat.approve("Which folders?");
    chat.terminal.wait_for_text("One folder.");
    chat.assert_model_heard("file:///srv/photos");
    chat.close();
}

#[test]
#[ignore = "needs third-party MCP servers: .ci/run installs them"]
fn images_links_and_structured_content_are_described() {
    for (tool, arguments, heard) in [
        ("get-tiny-image", json!({}), "[image: image/png"),
        ("get-resource-links", json!({ "count": 2 }), "[link: "),
        (
            "get-structured-content",
            json!({ "location": "New York" }),
            "humidity",
        ),
        (
            "get-resource-reference",
            json!({ "resourceType": "Text", "resourceId": 3 }),
            "demo://resource/dynamic/text/3",
        ),
    ] {
        let chat = Chat::calling(tool, &arguments, "There it is.");
        chat.approve("Show it.");
        chat.terminal.wait_for_text("There it is.");
        chat.assert_model_heard(heard);
        chat.close();
    }
}

#[test]
#[ignore = "needs third-party MCP servers: .ci/run installs them"]
fn a_form_with_every_kind_of_field_is_filled_in_and_sent() {
    let chat = Chat::open([
        ollama_call("trigger-elicitation-request", &json!({})),
        ollama_text(&["The form is done."]),
    ]);
    let terminal = &chat.terminal;
    chat.approve("Show the form.");
    let form = terminal.wait_for_text("Form from everything");
    let labels = [
        "Boolean",
        "String with default",
        "String with email format",
        "String with date format",
        "Number in range 1-1000",
        "Untitled Single Select",
        "Titled Multiple Select",
    ];
    assert_shows(&form, &labels);
    terminal.wait_for_text(READY_HINT);
    std::thread::sleep(KEY_GUARD);
    terminal.press("e");
    terminal.wait_for_text("Enter next");
    terminal.type_text("Kim Hana");
    terminal.wait_for_text("Kim Hana");
    terminal.press("\r");
    terminal.wait_for_text("yes or no");
    terminal.press("\x1b");
    terminal.wait_for_text(READY_HINT);
    std::thread::sleep(KEY_GUARD);
    terminal.press("y");
    terminal.wait_for_text("The form is done.");
    chat.assert_model_heard("Kim Hana");
    chat.assert_model_heard("hero-1");
    chat.close();
}
