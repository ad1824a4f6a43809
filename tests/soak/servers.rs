//! The servers of the soak test: MCP servers over HTTP and over stdio. A mark in the environment
//! identifies their processes.

use crate::fixtures;
use humble::domain::ServerConfig;
use humble::domain::server::RemoteTransport;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

const PROCESS_MARK: &str = "HUMBLE_TEST_MARK";
/// Behaviors of the stdio servers (`tests/support/mcp_server.rs`).
const BEHAVIORS: [&str; 5] = ["", "one-bad-tool", "junk", "asks", "parent"];

/// The path of an example built alongside this test.
fn example(name: &str) -> PathBuf {
    let mut program = std::env::current_exe().expect("a test has a path");
    program.pop();
    program.pop();
    let program = program.join("examples").join(name);
    assert!(program.exists(), "run `cargo build --example {name}` first");
    program
}

/// A server over HTTP, restarted after it is killed.
pub struct HttpServerProcess {
    port: u16,
    child: Child,
}

impl HttpServerProcess {
    pub fn start(mark: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("a bound socket").port();
        drop(listener);
        let child = Self::run(port, mark);
        Self { port, child }
    }

    fn run(port: u16, mark: &str) -> Child {
        let mut command = Command::new(example("test-http-server"));
        command.arg(port.to_string()).env(PROCESS_MARK, mark);
        command.spawn().expect("the server starts")
    }

    pub fn restart_if_ended(&mut self, mark: &str) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            self.child = Self::run(self.port, mark);
        }
    }
}

impl Drop for HttpServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn http_server_config(number: usize, process: &HttpServerProcess) -> ServerConfig {
    let url = format!("http://127.0.0.1:{}/mcp", process.port);
    ServerConfig {
        launch: fixtures::remote(&url, RemoteTransport::Http, &[]),
        ..stdio_server_config(number, "")
    }
}

pub fn stdio_server_config(number: usize, mark: &str) -> ServerConfig {
    let program = example("test-mcp-server");
    let behavior = BEHAVIORS[number % BEHAVIORS.len()];
    let launch = fixtures::stdio(
        &program.to_string_lossy(),
        &[behavior],
        &[(PROCESS_MARK, mark)],
    );
    ServerConfig {
        startup_timeout: Duration::from_secs(20),
        tool_timeout: Duration::from_secs(5),
        ..fixtures::server_config(&format!("server-{number}"), launch)
    }
}

/// Ids of the running processes with this mark.
pub fn marked_process_ids(mark: &str) -> Vec<i32> {
    let mark_variable = format!("{PROCESS_MARK}={mark}");
    let entries = std::fs::read_dir("/proc").expect("the soak test needs /proc");
    let is_marked = |path: PathBuf| {
        let variables = std::fs::read(path.join("environ")).unwrap_or_default();
        let mut variables = variables.split(|byte| *byte == 0);
        variables.any(|variable| variable == mark_variable.as_bytes())
    };
    let matching = entries.flatten().filter(|entry| is_marked(entry.path()));
    let ids = matching.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.collect()
}
