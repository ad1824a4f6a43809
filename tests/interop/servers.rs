//! Third-party MCP servers over each transport that they support. `HUMBLE_MCP_SERVERS` is the
//! folder created by `.ci/servers.sh`.

use super::home::TestHome;
use super::model_server::{ModelServer, ollama_call, ollama_text};
use super::pty::{CTRL_C, Exit, TerminalOptions, contains_text, screen_with_border};
use super::{CommandOutput, WAIT_TIMEOUT, required_variable, run};
use serde_json::{Value, json};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Poll interval for a port, because nothing announces that it is open.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

pub(super) fn installed_path(path: &str) -> String {
    let full_path = PathBuf::from(required_variable("HUMBLE_MCP_SERVERS")).join(path);
    assert!(full_path.exists(), "{} does not exist", full_path.display());
    full_path.to_string_lossy().into_owned()
}

pub(super) fn node() -> String {
    installed_path("npm/node_modules/node/bin/node")
}

pub(super) fn from_npm(name: &str) -> String {
    installed_path(&format!(
        "npm/node_modules/@modelcontextprotocol/server-{name}/dist/index.js"
    ))
}

pub(super) fn python(name: &str) -> String {
    installed_path(&format!("python/bin/{name}"))
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum TransportKind {
    Stdio,
    Sse,
    Http,
}

impl TransportKind {
    fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Sse => "sse",
            Self::Http => "http",
        }
    }
}

/// A third-party server, its tools, and arguments for them.
#[derive(Debug, Clone, Copy)]
struct ThirdPartyServer {
    id: &'static str,
    sum_tool: &'static str,
    /// A tool that runs as long as its arguments say and reports progress.
    slow_tool: &'static str,
    slow_arguments: &'static [&'static str],
    slow_result: &'static str,
    failing_call: &'static [&'static str],
}

const EVERYTHING: ThirdPartyServer = ThirdPartyServer {
    id: "everything",
    sum_tool: "get-sum",
    slow_tool: "trigger-long-running-operation",
    slow_arguments: &["duration=1", "steps=4"],
    slow_result: "Long running operation completed",
    // The schema accepts these arguments, but the tool does not.
    failing_call: &[
        "gzip-file-as-resource",
        "name=x",
        "data=http://127.0.0.1:1/",
    ],
};

const FASTMCP: ThirdPartyServer = ThirdPartyServer {
    id: "fast",
    sum_tool: "add",
    slow_tool: "count",
    slow_arguments: &["to=8"],
    slow_result: "counted to 8",
    failing_call: &["refuse"],
};

impl ThirdPartyServer {
    fn command(self, transport_kind: TransportKind, port: u16) -> Command {
        let mut command = if self.id == "fast" {
            let program = concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/tests/interop/fastmcp_server.py"
            );
            let mut command = Command::new(python("python"));
            command.args([program, transport_kind.name(), &port.to_string()]);
            command
        } else {
            let mut command = Command::new(node());
            let argument = match transport_kind {
                TransportKind::Http => "streamableHttp",
                other => other.name(),
            };
            command.args([&from_npm("everything"), argument]);
            command
        };
        command.env("PORT", port.to_string());
        command
    }

    fn call(self, home: &TestHome, tool_and_arguments: &[&str]) -> CommandOutput {
        mcp(home, "call", &[&[self.id], tool_and_arguments].concat())
    }
}

/// A server on a local port, killed when dropped.
struct ServerProcess(Child);

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A network server runs until the returned process is dropped.
fn home_with_server(
    home: TestHome,
    third_party: ThirdPartyServer,
    transport_kind: TransportKind,
) -> (TestHome, Option<ServerProcess>) {
    if transport_kind == TransportKind::Stdio {
        let command = third_party.command(transport_kind, 0);
        let program = command.get_program().to_string_lossy().into_owned();
        let args: Vec<String> = command
            .get_args()
            .map(|arg| arg.to_string_lossy().into_owned())
            .collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        return (home.with_server(third_party.id, &program, &args), None);
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    drop(listener);
    let mut command = third_party.command(transport_kind, port);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let process = ServerProcess(command.spawn().expect("the server starts"));
    // Python needs time to load all of its libraries.
    let started = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(
            started.elapsed() < WAIT_TIMEOUT,
            "the server does not accept connections"
        );
        std::thread::sleep(POLL_INTERVAL);
    }
    let (path, transport) = match transport_kind {
        TransportKind::Sse => ("sse", "sse"),
        TransportKind::Http | TransportKind::Stdio => ("mcp", "http"),
    };
    let url = format!("http://127.0.0.1:{port}/{path}");
    home.write(
        "mcp-servers.json",
        &json!({ "mcpServers": { third_party.id: { "url": url, "transport": transport } } }),
    );
    (home, Some(process))
}

fn mcp(home: &TestHome, subcommand: &str, arguments: &[&str]) -> CommandOutput {
    run(home, &[&["mcp", subcommand][..], arguments].concat())
}

/// Lists the servers, then makes calls to this one that end in a result, an error, and a timeout.
fn check_all_calls(third_party: ThirdPartyServer, transport_kind: TransportKind) {
    let (home, _process) = home_with_server(TestHome::empty(), third_party, transport_kind);
    let list = mcp(&home, "list", &["--json"]);
    assert_eq!(list.code, Some(0), "{}\n{}", list.stdout, list.stderr);
    let list: Value = serde_json::from_str(&list.stdout).expect("JSON");
    let server = &list["servers"][1];
    assert_eq!(
        (&server["name"], &server["state"]),
        (&json!(third_party.id), &json!("connected"))
    );
    assert_eq!(server["transport"], transport_kind.name(), "{server}");
    assert!(server["tools"].as_u64() >= Some(3), "{server}");

    let sum = third_party.call(&home, &[third_party.sum_tool, "a=17", "b=25"]);
    assert_eq!(sum.code, Some(0), "{}", sum.stderr);
    assert!(sum.stdout.contains("42"), "{}", sum.stdout);

    let failed = third_party.call(&home, third_party.failing_call);
    assert_eq!(
        (failed.code, failed.stdout.as_str()),
        (Some(1), ""),
        "{}",
        failed.stderr
    );
    assert!(failed.stderr.contains(" failed: "), "{}", failed.stderr);

    check_slow_calls(&home, third_party);
    home.assert_no_process_left();
}

fn check_slow_calls(home: &TestHome, third_party: ThirdPartyServer) {
    let slow_call = [&[third_party.slow_tool], third_party.slow_arguments].concat();
    let finished = third_party.call(home, &slow_call);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(
        finished.stdout.contains(third_party.slow_result),
        "{}",
        finished.stdout
    );
    assert!(
        finished.stderr.contains(" %)"),
        "no progress was reported: {}",
        finished.stderr
    );

    let long_arguments: &[&str] = if third_party.id == "fast" {
        &["to=600"]
    } else {
        &["duration=60", "steps=600"]
    };
    let long_call = [
        &[third_party.slow_tool],
        long_arguments,
        &["--timeout", "4"],
    ]
    .concat();
    let timed_out = third_party.call(home, &long_call);
    assert_eq!(timed_out.code, Some(1), "{}", timed_out.stderr);
    assert!(
        timed_out.stderr.contains("did not answer in"),
        "{}",
        timed_out.stderr
    );
}

/// Runs two calls of a model. The first is approved, shows progress, and its result is used; the
/// second is cancelled.
fn check_calls_on_the_screen(transport_kind: TransportKind) {
    let server = ModelServer::start();
    let call = |seconds: u64, steps: u64| {
        let arguments = json!({ "duration": seconds, "steps": steps });
        ollama_call(EVERYTHING.slow_tool, &arguments)
    };
    server
        .queue_reply("/api/chat", call(3, 6))
        .queue_reply("/api/chat", ollama_text(&["All steps are done."]))
        .queue_reply("/api/chat", call(60, 120));
    let (home, _process) = home_with_server(
        TestHome::with_ollama(&server.url()),
        EVERYTHING,
        transport_kind,
    );
    let mut terminal = TerminalOptions::in_home(&home).start();
    terminal.wait_for("the server is connected", |screen| {
        screen
            .contents()
            .lines()
            .any(|line| line.contains("● everything"))
    });
    let approve = |prompt: &str| {
        terminal.send_prompt(prompt);
        terminal.wait_for_text("Call now? (Y/N)");
        terminal.wait_for_text("Press a key to choose");
        terminal.press("y");
    };
    approve("Work for three seconds.");
    terminal.wait_for_text("50 %");
    terminal.wait_for_text("All steps are done.");
    let result = server.bodies("/api/chat")[1]["messages"]
        .as_array()
        .and_then(|messages| messages.last().cloned());
    let text = result.expect("the result comes last")["content"].to_string();
    assert!(text.contains(EVERYTHING.slow_result), "{text}");

    approve("And for a minute.");
    terminal.wait_for_text(" 1 %");
    terminal.press(CTRL_C);
    let screen = terminal.wait_for_text("(cancelled)");
    assert!(
        contains_text(&screen, "may have run"),
        "{}",
        screen_with_border(&screen)
    );
    let exit = Exit {
        code: 0,
        signal: None,
    };
    assert_eq!(terminal.quit(), exit);
    terminal.assert_restored();
    home.assert_no_process_left();
}

#[test]
#[ignore = "needs third-party MCP servers: .ci/run installs them"]
fn calls_to_everything_work_over_stdio() {
    check_all_calls(EVERYTHING, TransportKind::Stdio);
}

#[test]
#[ignore = "needs third-party MCP servers: .ci/run installs them"]
fn calls_to_everything_work_over_sse() {
    check_all_calls(EVERYTHING, TransportKind::Sse);
}

#[test]
#[ignore = "needs third-party MCP servers: .ci/run installs them"]
fn calls_to_everything_work_over_streamable_http() {
    check_all_calls(EVERYTHING, TransportKind::Http);
}

#[test]
#[ignore = "needs third-party MCP servers: .ci/run installs them"]
fn calls_to_fastmcp_work_over_stdio() {
    check_all_calls(FASTMCP, TransportKind::Stdio);
}

#[test]
#[ignore = "needs third-party MCP servers: .ci/run installs them"]
fn calls_to_fastmcp_work_over_sse() {
    check_all_calls(FASTMCP, TransportKind::Sse);
}

#[test]
#[ignore = "needs third-party MCP servers: .ci/run installs them"]
fn calls_to_fastmcp_work_over_streamable_http() {
    check_all_calls(FASTMCP, TransportKind::Http);
}

#[test]
#[ignore = "needs third-party MCP servers: .ci/run installs them"]
fn calls_to_everything_work_over_stdio_on_the_screen() {
    check_calls_on_the_screen(TransportKind::Stdio);
}

#[test]
#[ignore = "needs third-party MCP servers: .ci/run installs them"]
fn calls_to_everything_work_over_sse_on_the_screen() {
    check_calls_on_the_screen(TransportKind::Sse);
}

#[test]
#[ignore = "needs third-party MCP servers: .ci/run installs them"]
fn calls_to_everything_work_over_streamable_http_on_the_screen() {
    check_calls_on_the_screen(TransportKind::Http);
}

fn one_call(home: &TestHome, arguments: &[&str]) -> String {
    let output = mcp(home, "call", arguments);
    assert_eq!(output.code, Some(0), "{arguments:?}: {}", output.stderr);
    home.assert_no_process_left();
    output.stdout
}

#[test]
#[ignore = "needs third-party MCP servers: .ci/run installs them"]
fn the_file_memory_time_and_git_servers_each_answer_a_call() {
    let home = TestHome::empty();
    let folder = home.path().to_string_lossy().into_owned();
    std::fs::write(home.path().join("a.txt"), "안녕\n").expect("the home is writable");
    for arguments in [&["init", "--quiet", "-b", "main"][..], &["add", "a.txt"]] {
        let git = Command::new("git")
            .args(arguments)
            .current_dir(home.path())
            .status();
        assert!(git.expect("git is installed").success());
    }
    let home = home
        .with_server("files", &node(), &[&from_npm("filesystem"), &folder])
        .with_server("memory", &node(), &[&from_npm("memory")])
        .with_server("time", &python("mcp-server-time"), &[])
        .with_server("git", &python("mcp-server-git"), &["--repository", &folder]);
    let path = format!("path={folder}/a.txt");
    assert_eq!(
        one_call(&home, &["files", "read_text_file", &path]),
        "안녕\n"
    );
    let graph: Value =
        serde_json::from_str(&one_call(&home, &["memory", "read_graph"])).expect("JSON");
    assert!(graph["entities"].is_array(), "{graph}");
    let seoul = one_call(&home, &["time", "get_current_time", "timezone=Asia/Seoul"]);
    assert!(seoul.contains("+09:00"), "{seoul}");
    let repository = format!("repo_path={folder}");
    let status = one_call(&home, &["git", "git_status", &repository]);
    assert!(status.contains("new file:   a.txt"), "{status}");
}
