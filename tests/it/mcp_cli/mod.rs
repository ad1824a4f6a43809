//! `humble mcp` and `humble ask --allow`: the real binary with test servers.

use crate::support::cli::humble;
use crate::support::home;
use crate::support::model_server;
use crate::support::shell_server;
mod add;
mod allow;
mod call;
mod hostile_schemas;
mod import;
mod import_refusals;
mod import_secrets;
mod list;
mod redaction;
mod registry;
mod registry_refusals;

use home::TestHome;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Longer than the program takes in any test, unless it hangs.
const WAIT_TIMEOUT: Duration = Duration::from_secs(40);

#[derive(Debug)]
struct CommandOutput {
    code: Option<i32>,
    out: String,
    err: String,
}

impl CommandOutput {
    #[track_caller]
    fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

fn command(home: &TestHome, arguments: &[&str]) -> Command {
    let mut command = humble(home.path(), arguments);
    command.envs(home.environment());
    command
}

fn run(home: &TestHome, arguments: &[&str]) -> CommandOutput {
    wait_for_output(
        command(home, arguments)
            .spawn()
            .expect("the program starts"),
    )
}

fn run_with_input(home: &TestHome, arguments: &[&str], input: &str) -> CommandOutput {
    let mut child = command(home, arguments)
        .stdin(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("written");
    drop(stdin);
    wait_for_output(child)
}

/// Waits for the program to end. After [`WAIT_TIMEOUT`], kills it and panics.
fn wait_for_output(child: Child) -> CommandOutput {
    let process = Pid::from_child(&child);
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(WAIT_TIMEOUT) else {
        let _ = kill_process(process, Signal::KILL);
        panic!("the program did not end within {WAIT_TIMEOUT:?}");
    };
    let output = output.expect("the output is readable");
    CommandOutput {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

fn with_test_server(behavior: &str) -> TestHome {
    TestHome::empty().with_server("test", &home::test_server_path(), &[behavior])
}

fn spawn_until_output(home: &TestHome, arguments: &[&str], part: &str) -> Child {
    let mut child = command(home, arguments)
        .spawn()
        .expect("the program starts");
    let stderr = child.stderr.take().expect("a pipe");
    let (sender, receiver) = channel();
    let wanted = part.to_owned();
    std::thread::spawn(move || {
        let mut lines = BufReader::new(stderr).lines();
        let is_found = lines.any(|line| line.is_ok_and(|line| line.contains(&wanted)));
        let _ = sender.send(is_found);
        // Keep the pipe open until the program ends.
        lines.for_each(drop);
    });
    let is_found = receiver.recv_timeout(WAIT_TIMEOUT);
    assert_eq!(is_found, Ok(true), "no line contains `{part}`");
    child
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).expect("the program is running");
}

/// A home with the test server. A script records the input of the server in the file `received`.
fn with_recorded_input() -> TestHome {
    let script = "tee \"$0\" | \"$1\"";
    let home = TestHome::empty();
    let received = home.path().join("received").to_string_lossy().into_owned();
    home.with_server(
        "test",
        "sh",
        &["-c", script, &received, &home::test_server_path()],
    )
}

fn received_messages(home: &TestHome) -> Vec<Value> {
    let text = std::fs::read_to_string(home.path().join("received")).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

#[test]
fn humble_mcp_rejects_the_no_tools_option() {
    let output = run(&with_test_server(""), &["mcp", "list", "--no-tools"]).expect(2);
    assert_eq!(
        (output.out.as_str(), output.err.as_str()),
        ("", "`humble mcp` needs MCP servers: remove --no-tools.\n")
    );
}

#[test]
fn humble_mcp_rejects_flags_that_select_a_model_or_persona() {
    for flag in ["--model", "--persona"] {
        let output = run(&with_test_server(""), &["mcp", "list", flag, "x"]).expect(2);
        let expected = format!("`humble mcp` uses no model: remove {flag}.\n");
        assert_eq!(
            (output.out.as_str(), output.err.as_str()),
            ("", expected.as_str())
        );
    }
}

#[test]
fn mcp_list_does_not_create_a_home() {
    let outer = TestHome::empty();
    let folder = outer.path().join("none");
    let mut command = Command::new(env!("CARGO_BIN_EXE_humble"));
    let output = command
        .arg("--home")
        .arg(&folder)
        .args(["mcp", "list"])
        .output();
    let output = output.expect("the program runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(
        output.stdout.starts_with(b"humble  connected"),
        "{output:?}"
    );
    assert!(!folder.exists());
}

#[test]
fn a_closed_output_pipe_is_not_an_error() {
    let home = with_test_server("many");
    let mut child = command(&home, &["mcp", "tools", "--schema"])
        .spawn()
        .expect("the program starts");
    let mut stdout = child.stdout.take().expect("a pipe");
    let mut first = [0; 6];
    stdout.read_exact(&mut first).expect("output");
    assert_eq!(&first, b"humble");
    drop(stdout);
    let output = wait_for_output(child).expect(0);
    assert_eq!(output.err, "");
    home.assert_no_process_left();
}

#[test]
fn escape_sequences_in_a_result_are_escaped_in_json() {
    let home = with_test_server("");
    let text = "\u{1b}[2J\u{202e}";
    let argument = format!("text={text}");
    let output = run(&home, &["mcp", "call", "test", "echo", &argument, "--json"]).expect(0);
    assert_eq!(
        output.json(),
        json!({ "content": [{ "type": "text", "text": text }] })
    );
    assert!(!output.out.contains('\u{1b}'), "{output:?}");
}
