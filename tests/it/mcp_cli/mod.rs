//! `humble mcp` and `humble ask --allow`: the real binary with servers of ours.

use crate::support::home;
use crate::support::model_server;
use crate::support::shell_server;
mod add;
mod allow;
mod call;
mod hostile_schemas;
mod list;
mod redaction;

use home::TestHome;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Nothing here takes so long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(40);

/// What a run of the program said, and its exit status.
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
        serde_json::from_str(&self.out).unwrap_or_else(|fault| panic!("{fault}: {self:?}"))
    }
}

fn command(home: &TestHome, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_humble"));
    command.arg("--home").arg(home.path()).args(arguments);
    command.envs(home.environment());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(home: &TestHome, arguments: &[&str]) -> CommandOutput {
    wait_for_output(command(home, arguments).spawn().expect("it starts"))
}

fn run_with(home: &TestHome, arguments: &[&str], input: &str) -> CommandOutput {
    let mut child = command(home, arguments)
        .stdin(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("it is read");
    drop(stdin);
    wait_for_output(child)
}

/// Waits for the end of the program, for as long as anything may take.
fn wait_for_output(child: Child) -> CommandOutput {
    let process = Pid::from_child(&child);
    let (done, ended) = channel();
    std::thread::spawn(move || done.send(child.wait_with_output()));
    let Ok(output) = ended.recv_timeout(PATIENCE) else {
        let _ = kill_process(process, Signal::KILL);
        panic!("it has not ended after {PATIENCE:?}");
    };
    let output = output.expect("the program is ours to wait for");
    CommandOutput {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// A home with the test server, which misbehaves in this manner.
fn with_test_server(manner: &str) -> TestHome {
    TestHome::empty().with_server("test", &home::test_server_path(), &[manner])
}

/// Starts the program and waits for the first line that it says; what it says after
/// that comes with its end.
fn spawn_until_output(home: &TestHome, arguments: &[&str], part: &str) -> Child {
    let mut child = command(home, arguments).spawn().expect("it starts");
    let stderr = child.stderr.take().expect("a pipe");
    let (said, heard) = channel();
    let wanted = part.to_owned();
    std::thread::spawn(move || {
        let mut lines = BufReader::new(stderr).lines();
        let found = lines.any(|line| line.is_ok_and(|line| line.contains(&wanted)));
        let _ = said.send(found);
        // The pipe stays open to its end.
        lines.for_each(drop);
    });
    let found = heard.recv_timeout(PATIENCE);
    assert_eq!(found, Ok(true), "it says `{part}`");
    child
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).expect("it runs");
}

/// The test server behind a script that keeps what it is sent in `heard`.
fn with_listener() -> TestHome {
    let script = "tee \"$0\" | \"$1\"";
    let home = TestHome::empty();
    let heard = home.path().join("heard").to_string_lossy().into_owned();
    home.with_server(
        "test",
        "sh",
        &["-c", script, &heard, &home::test_server_path()],
    )
}

fn received_messages(home: &TestHome) -> Vec<Value> {
    let text = std::fs::read_to_string(home.path().join("heard")).unwrap_or_default();
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    lines.collect()
}

#[test]
fn a_flag_that_starts_no_server_is_refused() {
    let ran = run(&with_test_server(""), &["mcp", "list", "--no-tools"]).expect(2);
    assert_eq!(
        (ran.out.as_str(), ran.err.as_str()),
        ("", "--no-tools starts no server: leave it out.\n")
    );
}

#[test]
fn looking_at_what_is_there_makes_no_home() {
    let outer = TestHome::empty();
    let folder = outer.path().join("none");
    let mut command = Command::new(env!("CARGO_BIN_EXE_humble"));
    let output = command
        .arg("--home")
        .arg(&folder)
        .args(["mcp", "list"])
        .output();
    let output = output.expect("it runs");
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
        .expect("it starts");
    let mut stdout = child.stdout.take().expect("a pipe");
    let mut first = [0; 6];
    stdout.read_exact(&mut first).expect("it prints");
    assert_eq!(&first, b"humble");
    drop(stdout);
    let ran = wait_for_output(child).expect(0);
    assert_eq!(ran.err, "");
    home.assert_no_process_left();
}

#[test]
fn an_answer_that_would_clear_the_terminal_is_json_all_the_same() {
    let home = with_test_server("");
    let text = "\u{1b}[2J\u{202e}";
    let argument = format!("text={text}");
    let ran = run(&home, &["mcp", "call", "test", "echo", &argument, "--json"]).expect(0);
    assert_eq!(
        ran.json(),
        json!({ "content": [{ "type": "text", "text": text }] })
    );
    assert!(!ran.out.contains('\u{1b}'), "{ran:?}");
}
