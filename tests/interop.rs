//! Tests `humble` against third-party servers and clients. `.ci/run` installs and starts them and
//! sets the environment variables that these tests need: `HUMBLE_LLAMA_URL` (a llama.cpp server with
//! the model `smollm2`) and `HUMBLE_MCP_SERVERS` (the folder created by `.ci/servers.sh`).

#[path = "interop/clients.rs"]
mod clients;
#[path = "interop/dialects.rs"]
mod dialects;
#[path = "interop/features.rs"]
mod features;
#[path = "support/home.rs"]
mod home;
#[path = "support/model_server/mod.rs"]
mod model_server;
#[path = "interop/prefix_cache.rs"]
mod prefix_cache;
#[path = "support/pty.rs"]
mod pty;
#[path = "interop/servers.rs"]
mod servers;

use home::TestHome;
use humble::text::token_estimate::{self, Vocabulary};
use model_server::{ModelServer, ollama_call, ollama_text};
use pty::{Exit, TerminalOptions, contains_text, screen_with_border};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Much longer than the slowest engine takes on the slowest CPU.
const WAIT_TIMEOUT: Duration = Duration::from_secs(120);

/// The text that a grammar forces the model to write.
const ANSWER: &str = "Seoul is a city. 서울은 도시입니다.";

fn required_variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set; `.ci/run` sets it"))
}

/// A home with the real model as its only model, using these request options.
fn home_with_llama(options: &Value) -> TestHome {
    let home = TestHome::with_model(&json!({
        "name": "smollm2", "provider": "openai", "baseUrl": required_variable("HUMBLE_LLAMA_URL"),
        "options": options, "active": true,
    }));
    // On a CPU without wide vector instructions, every hundred prompt tokens take seconds.
    std::fs::write(home.path().join("system_prompt.txt"), "Be brief.")
        .expect("the home is writable");
    home
}

fn grammar_for(text: &str) -> Value {
    json!({ "grammar": format!("root ::= {}", json!(text)), "max_tokens": 64 })
}

struct CommandOutput {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn ask(home: &TestHome, arguments: &[&str]) -> CommandOutput {
    run(home, &[&["ask"], arguments].concat())
}

fn run(home: &TestHome, arguments: &[&str]) -> CommandOutput {
    let mut command = Command::new(env!("CARGO_BIN_EXE_humble"));
    command
        .arg("--home")
        .arg(home.path())
        .envs(home.environment());
    command.args(arguments);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    let process = Pid::from_child(&child);
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(WAIT_TIMEOUT) else {
        let _ = kill_process(process, Signal::KILL);
        panic!("humble {arguments:?} did not end within {WAIT_TIMEOUT:?}");
    };
    let output = output.expect("the output can be read");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    CommandOutput {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

#[test]
#[ignore = "needs a llama.cpp server: .ci/run has one"]
fn llama_cpp_answers_humble_ask_word_for_word() {
    let output = ask(
        &home_with_llama(&grammar_for(ANSWER)),
        &["--no-tools", "What is Seoul?"],
    );
    assert_eq!(
        (output.code, output.stdout.trim_end()),
        (Some(0), ANSWER),
        "{}",
        output.stderr
    );
    assert!(
        output.stderr.contains("Waiting for response..."),
        "{}",
        output.stderr
    );
}

#[test]
#[ignore = "needs a llama.cpp server: .ci/run has one"]
fn llama_cpp_accepts_the_tools_of_humble_ask_and_generates_freely() {
    let home = home_with_llama(&json!({ "max_tokens": 48, "seed": 7 }));
    let output = ask(&home, &["--json", "Say hello."]);
    let events: Vec<Value> = output
        .stdout
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .expect("one JSON object per line");
    let reply = events
        .iter()
        .filter(|event| event["type"] == "delta" || event["type"] == "tool");
    assert!(reply.count() > 0, "{}\n{}", output.stdout, output.stderr);
    // The small model may call a tool, but there is no user to approve the call.
    assert!(
        matches!(output.code, Some(0 | 3)),
        "{:?}\n{}",
        output.code,
        output.stderr
    );
}

#[test]
#[ignore = "needs a llama.cpp server: .ci/run has one"]
fn an_answer_of_llama_cpp_is_shown_on_the_screen_and_saved() {
    let home = home_with_llama(&grammar_for(ANSWER));
    let mut terminal = TerminalOptions::in_home(&home).arg("--no-tools").start();
    terminal.wait_for_text("smollm2");
    terminal.send_prompt("What is Seoul?");
    let screen = terminal.wait_for_text(ANSWER);
    assert!(
        contains_text(&screen, "What is Seoul?"),
        "{}",
        screen_with_border(&screen)
    );
    let saved = home.wait_until_saved(ANSWER);
    assert_eq!(
        saved["messages"],
        json!([
            { "role": "user", "content": "What is Seoul?" },
            { "role": "assistant", "content": ANSWER },
        ])
    );
    // The second prompt includes the first answer.
    terminal.send_prompt("Once more.");
    terminal.wait_for("the second answer", |screen| {
        screen.contents().matches(ANSWER).count() == 2
    });
    assert_eq!(
        terminal.quit(),
        Exit {
            code: 0,
            signal: None
        }
    );
    terminal.assert_restored();
}

#[test]
#[ignore = "needs a llama.cpp server: .ci/run has one"]
fn an_invalid_grammar_is_reported_in_a_sentence() {
    let home = home_with_llama(&json!({ "grammar": "this is no grammar" }));
    let output = ask(&home, &["--no-tools", "Hello"]);
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(1), ""),
        "{}",
        output.stderr
    );
    assert!(
        output.stderr.contains("refused the request (HTTP 400)."),
        "{}",
        output.stderr
    );
}

#[test]
#[ignore = "needs a llama.cpp server: .ci/run has one"]
fn llama_cpp_answers_over_the_anthropic_protocol() {
    let home = TestHome::with_model(&json!({
        "name": "smollm2", "provider": "anthropic", "baseUrl": required_variable("HUMBLE_LLAMA_URL"),
        "options": { "max_tokens": 48 }, "active": true,
    }));
    std::fs::write(home.path().join("system_prompt.txt"), "Be brief.")
        .expect("the home is writable");
    let output = ask(&home, &["--no-tools", "Say hello."]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert!(!output.stdout.trim().is_empty(), "{}", output.stderr);
}

/// The server's token count of a text, without the overhead of an almost empty prompt.
fn server_token_count(text: &str) -> u64 {
    let count = |prompt: &str| {
        let output = ask(
            &home_with_llama(&json!({ "max_tokens": 1 })),
            &["--json", "--no-tools", prompt],
        );
        let input_tokens = output.stdout.lines().rev().find_map(|line| {
            let event: Value = serde_json::from_str(line).ok()?;
            event["usage"]["input"].as_u64()
        });
        input_tokens
            .unwrap_or_else(|| panic!("no token count: {}\n{}", output.stdout, output.stderr))
    };
    count(&format!(".{text}")) - count(".")
}

#[test]
#[ignore = "needs a llama.cpp server: .ci/run has one"]
fn token_estimates_exceed_the_llama_cpp_count_by_at_most_two_fifths() {
    let samples = [
        include_str!("../src/text/token_estimate/samples/english.txt"),
        include_str!("../src/text/token_estimate/samples/code.txt"),
        include_str!("../src/text/token_estimate/samples/json.txt"),
        include_str!("../src/text/token_estimate/samples/korean.txt"),
        include_str!("../src/text/token_estimate/samples/japanese.txt"),
    ];
    let vocabulary = Vocabulary::for_model(None, "smollm2");
    for text in samples {
        let estimate = token_estimate::estimate(text, vocabulary);
        let count = server_token_count(text);
        assert!(
            (count..=count * 140 / 100).contains(&estimate),
            "{estimate} for {count}: {text}"
        );
    }
}

#[test]
#[ignore = "needs the MCP server `everything`: .ci/run has it"]
fn an_approved_tool_of_the_everything_server_runs_and_no_process_is_left() {
    let server = ModelServer::start();
    server
        .queue_reply(
            "/api/chat",
            ollama_call("get-sum", &json!({ "a": 17, "b": 25 })),
        )
        .queue_reply("/api/chat", ollama_text(&["Together they make 42."]));
    let program = servers::from_npm("everything");
    let home = TestHome::with_ollama(&server.url()).with_server(
        "everything",
        &servers::node(),
        &[&program, "stdio"],
    );
    let mut terminal = TerminalOptions::in_home(&home).start();
    terminal.wait_for("the server is connected", |screen| {
        screen
            .contents()
            .lines()
            .any(|line| line.contains("● everything"))
    });
    terminal.send_prompt("What is 17 + 25?");
    let dialog = terminal.wait_for_text("Call now? (Y/N)");
    for part in ["Run get-sum on everything?", "a  17", "b  25"] {
        assert!(
            contains_text(&dialog, part),
            "{part}\n{}",
            screen_with_border(&dialog)
        );
    }
    terminal.wait_for_text("Press a key to choose");
    terminal.press("y");
    let screen = terminal.wait_for_text("Together they make 42.");
    assert!(
        contains_text(&screen, "get-sum"),
        "{}",
        screen_with_border(&screen)
    );
    let requests = server.bodies("/api/chat");
    let offered_tools = requests[0]["tools"].as_array().expect("tools");
    assert!(
        offered_tools.len() >= 10,
        "not all of its tools are offered: {offered_tools:#?}"
    );
    let result = requests[1]["messages"]
        .as_array()
        .and_then(|messages| messages.last())
        .expect("the result comes last");
    assert_eq!(result["role"], "tool");
    let text = result["content"].as_str().expect("text");
    assert!(text.contains("data, not instructions"), "{text}");
    assert!(text.contains("The sum of 17 and 25 is 42."), "{text}");
    assert!(
        !home.processes().is_empty(),
        "the process search finds no running server"
    );
    assert_eq!(
        terminal.quit(),
        Exit {
            code: 0,
            signal: None
        }
    );
    terminal.assert_restored();
    home.assert_no_process_left();
}
