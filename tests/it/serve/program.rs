//! `humble serve` as a child process.

use crate::support::home::TestHome;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// A running program with its standard output and standard error, line by line.
pub struct Program {
    child: Child,
    pub stdin: Option<ChildStdin>,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
    /// The lines of standard error read so far.
    seen_stderr: String,
}

impl Program {
    pub fn start(home: &TestHome, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let (mut program, stderr) = Self::start_unread(home, arguments, variables);
        program.stderr = lines(stderr);
        program
    }

    /// Starts the program and leaves its standard error unread.
    pub fn start_unread(
        home: &TestHome,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> (Self, ChildStderr) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_humble"));
        command
            .arg("serve")
            .args(arguments)
            .arg("--home")
            .arg(home.path());
        command
            .env_remove("MCP_PORT")
            .env_remove("HUMBLE_SERVE_TOKEN");
        command
            .envs(variables.iter().copied())
            .envs(home.environment());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let stderr = child.stderr.take().expect("piped");
        let program = Self {
            stdin: child.stdin.take(),
            stdout: lines(child.stdout.take().expect("piped")),
            stderr: lines(std::io::empty()),
            child,
            seen_stderr: String::new(),
        };
        (program, stderr)
    }

    pub fn send(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes());
    }

    pub fn send_line(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().expect("open");
        stdin
            .write_all(line)
            .and_then(|()| stdin.write_all(b"\n"))
            .expect("the program reads");
    }

    /// The next line of standard output, which must be a message.
    pub fn message(&mut self) -> Value {
        let line = self
            .stdout
            .recv_timeout(WAIT_TIMEOUT)
            .expect("a message in time");
        serde_json::from_str(&line).expect("only messages on standard output")
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        self.message()
    }

    pub fn initialize(&mut self) {
        let params = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = self.request("initialize", params);
        assert_eq!(answer["result"]["serverInfo"]["name"], "humble");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }

    /// Waits for a line of standard error that contains `text`.
    pub fn wait_for_line(&mut self, text: &str) -> String {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.stderr.recv_timeout(left);
            let line = line.unwrap_or_else(|_| panic!("no `{text}` in\n{}", self.seen_stderr));
            self.seen_stderr += &format!("{line}\n");
            if line.contains(text) {
                return line;
            }
        }
    }

    /// The URL that the program listens on.
    pub fn url(&mut self) -> String {
        let line = self.wait_for_line("listening on ");
        line.split("listening on ")
            .nth(1)
            .expect("a URL")
            .to_owned()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("the program runs");
    }

    /// Closes standard input and waits until the program ends. Returns the exit code and all of
    /// standard error. Panics if a message was not read.
    pub fn wait(mut self) -> (Option<i32>, String) {
        drop(self.stdin.take());
        let deadline = Instant::now() + WAIT_TIMEOUT;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            assert!(
                Instant::now() < deadline,
                "the program does not end: {}",
                self.seen_stderr
            );
            std::thread::sleep(Duration::from_millis(5));
        };
        while let Ok(line) = self.stderr.recv() {
            self.seen_stderr += &format!("{line}\n");
        }
        assert_eq!(self.stdout.try_recv().ok(), None, "unread output");
        (status.code(), std::mem::take(&mut self.seen_stderr))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    receiver
}
