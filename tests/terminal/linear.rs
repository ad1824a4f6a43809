//! `humble --linear` on a terminal: text that is only appended, without a single escape sequence.

use super::model_server::{Gate, ModelServer, ollama_call, ollama_text, ollama_thinking};
use super::pty::{CTRL_C, ENTER, PtyTerminal, TerminalOptions};
use super::{CHAT, clean_exit, endless, ollama, ollama_with_tools};
use crate::home::TestHome;
use rustix::process::Signal;
use serde_json::json;
use std::thread::sleep;
use std::time::Duration;

/// An answer counts only if it is typed this long after its question.
const AFTER_TYPE_AHEAD: Duration = Duration::from_millis(600);
const CTRL_D: &str = "\u{4}";
const ESCAPE: char = '\u{1b}';

fn open(home: &TestHome) -> PtyTerminal {
    let options = TerminalOptions::in_home(home).size(80, 40).arg("--linear");
    let terminal = options.start();
    terminal.wait_for_text("You:");
    terminal
}

fn wait_for_prompt(terminal: &PtyTerminal) {
    terminal.wait_for("the prompt is shown", |screen| {
        let contents = screen.contents();
        let last = contents.trim_end().lines().last().unwrap_or_default();
        matches!(last.trim_end(), "You:" | "...")
    });
}

/// Types a line once the last prompt is shown.
fn type_line(terminal: &PtyTerminal, text: &str) {
    wait_for_prompt(terminal);
    let bytes_before = terminal.bytes_written();
    terminal.press(&format!("{text}{ENTER}"));
    // The terminal prints the line and its end.
    terminal.wait_for_output_beyond(bytes_before + text.len() + 1);
}

/// The last user message of each request.
fn prompts(server: &ModelServer) -> Vec<String> {
    let bodies = server.bodies(CHAT);
    let prompt = |body: &serde_json::Value| {
        let messages = body["messages"].as_array().expect("messages");
        let mut users = messages.iter().rev().filter(|m| m["role"] == "user");
        users
            .next()
            .map(|message| message["content"].as_str().expect("text").to_owned())
    };
    bodies.iter().filter_map(prompt).collect()
}

#[test]
fn a_turn_is_printed_in_order_and_without_escape_sequences() {
    let (server, home) = ollama();
    server.queue_reply(
        CHAT,
        ollama_thinking(&["음, 하늘."], &["파란색", "입니다. Done."]),
    );
    let mut terminal = open(&home);
    type_line(&terminal, "하늘은 무슨 색이야?");
    let screen = terminal.wait_for_text("Done.").contents();
    let lines = screen.lines().map(str::trim_end);
    // Whether the model is being loaded depends on how fast the server replies.
    let lines = lines.filter(|line| *line != "Loading model...");
    let lines: Vec<&str> = lines.skip_while(|line| !line.starts_with("You:")).collect();
    let expected = [
        "You: 하늘은 무슨 색이야?",
        "Waiting for response...",
        "<<< Thinking >>>",
        "음, 하늘.",
        "<<< End Thinking >>>",
        "qwen3:4b: 파란색입니다. Done.",
    ];
    assert_eq!(lines, expected, "{screen}");
    type_line(&terminal, "/exit");
    assert_eq!(terminal.exit(), clean_exit());
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(!raw.contains(ESCAPE), "{raw:?}");
    assert!(
        raw.contains("--continue  resumes \"하늘은 무슨 색이야?\""),
        "{raw}"
    );
    assert_eq!(prompts(&server), ["하늘은 무슨 색이야?"]);
}

#[test]
fn a_call_is_shown_in_full_and_runs_only_if_approved_after_its_question() {
    let (server, home) = ollama_with_tools();
    let gate = Gate::closed();
    let text = "x\u{1b}[2J가";
    server
        .queue_reply(
            CHAT,
            ollama_call("echo", &json!({ "text": text })).gate_after(0, &gate),
        )
        .queue_reply(CHAT, ollama_text(&["Done."]));
    let mut terminal = open(&home);
    type_line(&terminal, "/mcp test retry");
    terminal.wait_for_text("Server `test` is connected");
    type_line(&terminal, "Call it.");
    terminal.wait_for_text("Waiting for response...");
    gate.open();
    let screen = terminal.wait_for_text("Call now? (Y/N)").contents();
    assert!(screen.contains("Tool call: echo on test"), "{screen}");
    assert!(screen.contains("  text: \"x\\u001b[2J가\""), "{screen}");
    // Typed before the question could be read, and several lines at once.
    terminal.press("y\r");
    terminal.wait_for_text("(Ignored: typed before the question could be read.)");
    sleep(AFTER_TYPE_AHEAD);
    terminal.press("y\ry\r");
    terminal.wait_for_text("(Ignored: that was pasted.)");
    terminal.answer("Call now? (Y/N)", "y");
    let screen = terminal.wait_for_text("qwen3:4b: Done.").contents();
    assert!(!screen.contains("Queued"), "{screen}");
    type_line(&terminal, "/exit");
    assert_eq!(terminal.exit(), clean_exit());
    home.assert_no_process_left();
}

#[test]
fn a_call_that_the_model_wrote_as_text_can_be_taken_for_text() {
    let (server, home) = ollama_with_tools();
    let call = json!({ "server": "test", "name": "echo", "arguments": { "text": "x" } });
    server.queue_reply(CHAT, ollama_text(&[&call.to_string()]));
    let mut terminal = open(&home);
    type_line(&terminal, "/mcp test retry");
    terminal.wait_for_text("Server `test` is connected");
    type_line(&terminal, "Show me a call.");
    terminal.wait_for_text("The model wrote it as text. t: treat it as text.");
    terminal.answer("Call now? (Y/N)", "t");
    terminal.wait_for_text("qwen3:4b: {\"server\":\"test\"");
    type_line(&terminal, "/exit");
    assert_eq!(terminal.exit(), clean_exit());
}

#[test]
fn servers_are_listed_with_their_functions_and_descriptions() {
    let (_server, home) = ollama_with_tools();
    let mut terminal = open(&home);
    type_line(&terminal, "/mcp test retry");
    terminal.wait_for_text("Server `test` is connected");
    type_line(&terminal, "/mcp");
    let screen = terminal
        .wait_for_text("/mcp NAME shows one server")
        .contents();
    for row in [
        "  echo: The tool echo.",
        "  add: The tool add.",
        "  get_time: ",
    ] {
        assert!(screen.contains(row), "{row}\n{screen}");
    }
    assert!(!screen.contains("Number ("), "{screen}");
    type_line(&terminal, "/exit");
    assert_eq!(terminal.exit(), clean_exit());
}

#[test]
fn a_search_of_notes_needs_no_model() {
    let (_server, home) = ollama();
    let vault = home.path().join("vault");
    std::fs::create_dir(&vault).expect("created");
    std::fs::write(vault.join("tea.md"), "# Tea\nGreen tea.").expect("written");
    home.edit_json("config.json", |config| {
        *config = json!({ "notes": { "vault": vault } });
    });
    let mut terminal = open(&home);
    type_line(&terminal, "find notes about tea");
    terminal.wait_for_text("1 note matches \"tea\":");
    type_line(&terminal, "/exit");
    assert_eq!(terminal.exit(), clean_exit());
}

#[test]
fn ctrl_c_stops_the_turn_and_twice_leaves() {
    let (server, home) = ollama();
    server.queue_reply(CHAT, endless(&["One sentence. And the ne"]));
    let model = json!({
        "name": "llama3.2", "provider": "ollama", "baseUrl": server.url(), "active": true,
    });
    home.edit_json("config.json", |config| config["models"][0] = model);
    let mut terminal = open(&home);
    type_line(&terminal, "Go on.");
    let screen = terminal.wait_for_text("llama3.2: One sentence.").contents();
    assert!(!screen.contains("And the ne"), "{screen}");
    terminal.press("Next, please.\r");
    terminal.wait_for_text("Queued.");
    terminal.press(CTRL_C);
    let screen = terminal.wait_for_text("(stopped)").contents();
    assert!(screen.contains("And the ne"), "{screen}");
    terminal.wait_for_text("Queued prompts: 1.");
    type_line(&terminal, "unfinished \\");
    terminal.wait_for_text("...");
    terminal.press(CTRL_C);
    terminal.wait_for_text("Ctrl+C again leaves humble.");
    terminal.press(CTRL_C);
    assert_eq!(terminal.exit(), clean_exit());
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(raw.contains("The queued prompt was not sent."), "{raw}");
    assert_eq!(prompts(&server), ["Go on."]);
}

#[test]
fn a_prompt_waits_for_a_server_until_enter_sends_it() {
    let (server, home) = ollama();
    server.queue_reply(CHAT, ollama_text(&["Hello."]));
    let home = home.with_server("shop", "sh", &["-c", "exec sleep 60"]);
    let mut terminal = open(&home);
    type_line(&terminal, "hi");
    terminal.wait_for_text("shop is starting. Enter on an empty line sends now.");
    assert_eq!(prompts(&server), [""; 0]);
    terminal.press(ENTER);
    terminal.wait_for_text("this prompt runs without its tools.");
    terminal.wait_for_text("Hello.");
    type_line(&terminal, "/exit");
    assert_eq!(terminal.exit(), clean_exit());
    assert_eq!(prompts(&server), ["hi"]);
}

#[test]
fn commands_answer_in_text_and_never_reach_the_model() {
    let (server, home) = ollama();
    let other = json!({
        "name": "llama3.2", "provider": "ollama", "baseUrl": server.url(),
    });
    home.edit_json("config.json", |config| {
        config["models"].as_array_mut().expect("models").push(other);
    });
    let mut terminal = open(&home);
    type_line(&terminal, "/set-model");
    let screen = terminal.wait_for_text("Number (0 to 2):").contents();
    assert!(screen.contains("1. qwen3:4b: in use"), "{screen}");
    terminal.press("3\r");
    terminal.wait_for_text("Please enter a number from 0 to 2.");
    terminal.press("2\r");
    terminal.wait_for_text("Using llama3.2.");
    type_line(&terminal, "/set-model 0");
    terminal.wait_for_text("Nothing was changed.");
    type_line(&terminal, "/set-modle");
    terminal.wait_for_text("Unknown command /set-modle. Did you mean /set-model?");
    type_line(&terminal, "/set-tool-mode x");
    terminal.wait_for_text("Please enter either auto or manual.");
    type_line(&terminal, "/sidebar");
    terminal.wait_for_text("/mcp lists the servers and their tools.");
    type_line(&terminal, "/chat");
    terminal.wait_for_text("Prompt: ");
    terminal.press("/keys\r");
    terminal.wait_for_text("The linear mode has no keys of its own");
    type_line(&terminal, "/quit");
    assert_eq!(terminal.exit(), clean_exit());
    assert_eq!(prompts(&server), Vec::<String>::new());
}

#[test]
fn several_lines_are_one_message() {
    let (server, home) = ollama();
    for _ in 0..3 {
        server.queue_reply(CHAT, ollama_text(&["Read."]));
    }
    let mut terminal = open(&home);
    type_line(&terminal, "one \\");
    type_line(&terminal, "two");
    terminal.wait_for_text("qwen3:4b: Read.");
    type_line(&terminal, "\"\"\"");
    for line in ["a", "", "/exit", "\"\"\""] {
        type_line(&terminal, line);
    }
    super::home::wait_until("the second prompt is sent", || prompts(&server).len() == 2);
    wait_for_prompt(&terminal);
    terminal.press("pasted 1\rpasted 2\rpasted");
    terminal.wait_for_text("2 lines were pasted.");
    sleep(AFTER_TYPE_AHEAD);
    assert_eq!(prompts(&server).len(), 2);
    terminal.press(" 3\r");
    super::home::wait_until("the third prompt is sent", || prompts(&server).len() == 3);
    let expected = ["one \ntwo", "a\n\n/exit", "pasted 1\npasted 2\npasted 3"];
    assert_eq!(prompts(&server), expected);
    type_line(&terminal, "/exit");
    assert_eq!(terminal.exit(), clean_exit());
}

#[test]
fn a_dumb_terminal_gets_no_control_sequences_and_the_end_of_input_leaves() {
    let (server, home) = ollama();
    server.queue_reply(CHAT, ollama_text(&["Hello."]));
    home.edit_json("config.json", |config| {
        config["ui"] = json!({ "linear": true })
    });
    let options = TerminalOptions::in_home(&home).size(80, 40);
    let mut terminal = options.env("TERM", "dumb").start();
    type_line(&terminal, "Hi");
    terminal.wait_for_text("qwen3:4b: Hello.");
    type_line(&terminal, "/copy");
    terminal.wait_for_text("This terminal cannot copy");
    wait_for_prompt(&terminal);
    terminal.press(CTRL_D);
    assert_eq!(terminal.exit(), clean_exit());
    let raw = terminal.raw();
    assert!(!raw.contains(&0x1b), "{:?}", String::from_utf8_lossy(&raw));
}

#[test]
fn a_conversation_is_found_renamed_and_deleted_after_a_question() {
    let (server, home) = ollama();
    server.queue_reply(CHAT, ollama_text(&["Hello."]));
    let mut terminal = open(&home);
    type_line(&terminal, "안녕하세요");
    terminal.wait_for_text("qwen3:4b: Hello.");
    home.wait_until_saved("Hello.");
    type_line(&terminal, "/sessions 안녕");
    terminal.wait_for_text("1. 안녕하세요: ");
    terminal.press("r1\r");
    terminal.wait_for_text("New title instead of");
    terminal.press("인사\r");
    terminal.wait_for_text("Renamed to \"인사\".");
    type_line(&terminal, "/delete");
    terminal.wait_for_text("Delete \"인사\"? (y/n)");
    terminal.press("y\r");
    terminal.wait_for_text("(Ignored: typed before the question could be read.)");
    terminal.answer("Delete \"인사\"? (y/n)", "y");
    terminal.wait_for_text("Deleted \"인사\".");
    type_line(&terminal, "/delete undo");
    terminal.wait_for_text("Restored \"인사\".");
    type_line(&terminal, "/exit");
    assert_eq!(terminal.exit(), clean_exit());
    assert_eq!(home.sessions().len(), 1);
}

#[test]
fn a_question_does_not_interrupt_a_line_that_is_being_typed() {
    let (server, home) = ollama();
    server.queue_reply(CHAT, ollama_text(&["Read."]));
    let mut terminal = open(&home);
    terminal.press("half a ");
    terminal.wait_for_text("half a");
    home.edit_json("config.json", |config| {
        config["toolCallMode"] = json!("auto")
    });
    terminal.wait_for_text("A question waits for your answer.");
    terminal.press("message\r");
    terminal.wait_for_text("tools would run without asking");
    terminal.answer("Apply the changes? (1-2)", "n");
    terminal.wait_for_text("qwen3:4b: Read.");
    assert_eq!(prompts(&server), ["half a message"]);
    type_line(&terminal, "/exit");
    assert_eq!(terminal.exit(), clean_exit());
}

#[test]
fn a_hangup_keeps_the_turn_for_the_next_start() {
    let (server, home) = ollama();
    server.queue_reply(CHAT, endless(&["Half an answer."]));
    let mut terminal = open(&home);
    type_line(&terminal, "Tell me.");
    super::home::wait_until("the prompt is sent", || !server.bodies(CHAT).is_empty());
    terminal.signal(Signal::HUP);
    assert_eq!(terminal.exit().code, 129);
    let options = TerminalOptions::in_home(&home).size(80, 40).arg("--linear");
    let mut terminal = options.start();
    let question = "Restore the prompt? (1-3)";
    // It waits for Enter if the prompt was faster.
    let waiting = "Press Enter to read it.";
    let screen = terminal.wait_for("the question", |screen| {
        let contents = screen.contents();
        contents.contains(waiting) || contents.contains(question)
    });
    if screen.contents().contains(waiting) {
        type_line(&terminal, "");
    }
    terminal.answer(question, "y");
    terminal.wait_for_text("The prompt of the unfinished turn:");
    server.queue_reply(CHAT, ollama_text(&["A whole answer."]));
    type_line(&terminal, "");
    terminal.wait_for_text("qwen3:4b: A whole answer.");
    type_line(&terminal, "/exit");
    assert_eq!(terminal.exit(), clean_exit());
    assert_eq!(prompts(&server), ["Tell me.", "Tell me."]);
}
