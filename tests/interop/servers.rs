//! MCP servers that nobody here wrote, over each transport that they have:
//! `HUMBLE_MCP_SERVERS` names the folder that `.ci/servers.sh` fills.

use super::home::TestHome;
use super::model_server::{ModelServer, ollama_call, ollama_text};
use super::pty::{CTRL_C, Exit, TerminalOptions, contains_text, screen_with_border};
use super::{CommandOutput, WAIT_DEADLINE, named, run};
use serde_json::{Value, json};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How often a port is tried that nobody announces.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

fn installed(path: &str) -> String {
    let whole = PathBuf::from(named("HUMBLE_MCP_SERVERS")).join(path);
    assert!(whole.exists(), "{} is not there", whole.display());
    whole.to_string_lossy().into_owned()
}

pub(super) fn node() -> String {
    installed("npm/node_modules/node/bin/node")
}

/// The program of one of the servers from npm.
pub(super) fn from_npm(name: &str) -> String {
    installed(&format!(
        "npm/node_modules/@modelcontextprotocol/server-{name}/dist/index.js"
    ))
}

fn python(name: &str) -> String {
    installed(&format!("python/bin/{name}"))
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum TransportKind {
    Stdio,
    Sse,
    Http,
}

/// A server that somebody else wrote, and how its tools are called.
#[derive(Debug, Clone, Copy)]
struct ForeignServer {
    id: &'static str,
    sum: &'static str,
    /// A tool that works for some seconds and tells its progress.
    slow: &'static str,
    slowly: &'static [&'static str],
    done: &'static str,
    fails: &'static [&'static str],
}

const EVERYTHING: ForeignServer = ForeignServer {
    id: "everything",
    sum: "get-sum",
    slow: "trigger-long-running-operation",
    slowly: &["duration=1", "steps=4"],
    done: "Long running operation completed",
    // What its schema takes and the tool does not.
    fails: &[
        "gzip-file-as-resource",
        "name=x",
        "data=http://127.0.0.1:1/",
    ],
};

const FAST: ForeignServer = ForeignServer {
    id: "fast",
    sum: "add",
    slow: "count",
    slowly: &["to=8"],
    done: "counted to 8",
    fails: &["refuse"],
};

impl ForeignServer {
    fn command(self, over: TransportKind, port: u16) -> Command {
        let mut command = if self.id == "fast" {
            let program = concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/tests/interop/fastmcp_server.py"
            );
            let mut command = Command::new(python("python"));
            let over = match over {
                TransportKind::Stdio => "stdio",
                TransportKind::Sse => "sse",
                TransportKind::Http => "http",
            };
            command.args([program, over, &port.to_string()]);
            command
        } else {
            let mut command = Command::new(node());
            let over = match over {
                TransportKind::Stdio => "stdio",
                TransportKind::Sse => "sse",
                TransportKind::Http => "streamableHttp",
            };
            command.args([&from_npm("everything"), over]);
            command
        };
        command.env("PORT", port.to_string());
        command
    }
}

/// A server on a port of this machine; it ends with the test.
struct ServerProcess(Child);

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Adds the server to the home. One that listens lives as long as what is returned.
fn added(
    home: TestHome,
    kind: ForeignServer,
    over: TransportKind,
) -> (TestHome, Option<ServerProcess>) {
    if over == TransportKind::Stdio {
        let command = kind.command(over, 0);
        let program = command.get_program().to_string_lossy().into_owned();
        let args = command
            .get_args()
            .map(|arg| arg.to_string_lossy().into_owned());
        let args: Vec<String> = args.collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        return (home.with_server(kind.id, &program, &args), None);
    }
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("bound").port();
    drop(free);
    let mut command = kind.command(over, port);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let listening = ServerProcess(command.spawn().expect("it starts"));
    // Python reads all of its libraries first.
    let started = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(
            started.elapsed() < WAIT_DEADLINE,
            "the server does not listen"
        );
        std::thread::sleep(POLL_INTERVAL);
    }
    let (path, transport) = match over {
        TransportKind::Sse => ("sse", "sse"),
        TransportKind::Http | TransportKind::Stdio => ("mcp", "http"),
    };
    let url = format!("http://127.0.0.1:{port}/{path}");
    home.write(
        "mcp-servers.json",
        &json!({ "mcpServers": { kind.id: { "url": url, "transport": transport } } }),
    );
    (home, Some(listening))
}

fn mcp(home: &TestHome, act: &str, arguments: &[&str]) -> CommandOutput {
    run(home, &[&["mcp", act][..], arguments].concat())
}

/// Lists its tools and calls them: a result, an error, progress, the end of patience.
fn works(kind: ForeignServer, over: TransportKind) {
    let (home, _listening) = added(TestHome::empty(), kind, over);
    let list = mcp(&home, "list", &["--json"]);
    assert_eq!(list.code, Some(0), "{}\n{}", list.out, list.err);
    let list: Value = serde_json::from_str(&list.out).expect("JSON");
    let server = &list["servers"][1];
    assert_eq!(
        (&server["name"], &server["state"]),
        (&json!(kind.id), &json!("connected"))
    );
    let transport = match over {
        TransportKind::Stdio => "stdio",
        TransportKind::Sse => "sse",
        TransportKind::Http => "http",
    };
    assert_eq!(server["transport"], transport, "{server}");
    assert!(server["tools"].as_u64() >= Some(3), "{server}");

    let sum = mcp(&home, "call", &[kind.id, kind.sum, "a=17", "b=25"]);
    assert_eq!(sum.code, Some(0), "{}", sum.err);
    assert!(sum.out.contains("42"), "{}", sum.out);

    let failed = mcp(&home, "call", &[&[kind.id], kind.fails].concat());
    assert_eq!(
        (failed.code, failed.out.as_str()),
        (Some(1), ""),
        "{}",
        failed.err
    );
    assert!(failed.err.contains(" failed: "), "{}", failed.err);

    let slow = [&[kind.id, kind.slow], kind.slowly].concat();
    let told = mcp(&home, "call", &slow);
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert!(told.out.contains(kind.done), "{}", told.out);
    assert!(told.err.contains(" %)"), "progress is told: {}", told.err);

    let longer: &[&str] = if kind.id == "fast" {
        &["to=600"]
    } else {
        &["duration=60", "steps=600"]
    };
    let slow = [&[kind.id, kind.slow], longer, &["--timeout", "4"]].concat();
    let cut = mcp(&home, "call", &slow);
    assert_eq!(cut.code, Some(1), "{}", cut.err);
    assert!(cut.err.contains("did not answer in"), "{}", cut.err);
    home.assert_no_process_left();
}

/// A call that a model asks for: approved, its progress shown, its result used; a second
/// one is cancelled.
fn works_on_the_screen(over: TransportKind) {
    let server = ModelServer::start();
    let call = |seconds: u64, steps: u64| {
        let arguments = json!({ "duration": seconds, "steps": steps });
        ollama_call(EVERYTHING.slow, &arguments)
    };
    server
        .queue_reply("/api/chat", call(3, 6))
        .queue_reply("/api/chat", ollama_text(&["All steps are done."]))
        .queue_reply("/api/chat", call(60, 120));
    let (home, _listening) = added(TestHome::with_ollama(&server.url()), EVERYTHING, over);
    let mut terminal = TerminalOptions::in_home(&home).start();
    terminal.wait_for("the server is connected", |screen| {
        let mut lines = screen
            .contents()
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>()
            .into_iter();
        lines.any(|line| line.contains("● everything"))
    });
    let approve = |prompt: &str| {
        terminal.send_prompt(prompt);
        terminal.wait_for_text("Call now? (Y/N)");
        terminal.wait_for_text("letter or number decides");
        terminal.press("y");
    };
    approve("Work for three seconds.");
    terminal.wait_for_text("50 %");
    terminal.wait_for_text("All steps are done.");
    let result = server.bodies("/api/chat")[1]["messages"]
        .as_array()
        .and_then(|all| all.last().cloned());
    let text = result.expect("the result comes last")["content"].to_string();
    assert!(text.contains(EVERYTHING.done), "{text}");

    approve("And for a minute.");
    terminal.wait_for_text(" 1 %");
    terminal.press(CTRL_C);
    let screen = terminal.wait_for_text("(cancelled)");
    assert!(
        contains_text(&screen, "interrupted"),
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
#[ignore = "needs MCP servers of others: .ci/run has them"]
fn everything_over_stdio() {
    works(EVERYTHING, TransportKind::Stdio);
}

#[test]
#[ignore = "needs MCP servers of others: .ci/run has them"]
fn everything_over_sse() {
    works(EVERYTHING, TransportKind::Sse);
}

#[test]
#[ignore = "needs MCP servers of others: .ci/run has them"]
fn everything_over_streamable_http() {
    works(EVERYTHING, TransportKind::Http);
}

#[test]
#[ignore = "needs MCP servers of others: .ci/run has them"]
fn fastmcp_over_stdio() {
    works(FAST, TransportKind::Stdio);
}

#[test]
#[ignore = "needs MCP servers of others: .ci/run has them"]
fn fastmcp_over_sse() {
    works(FAST, TransportKind::Sse);
}

#[test]
#[ignore = "needs MCP servers of others: .ci/run has them"]
fn fastmcp_over_streamable_http() {
    works(FAST, TransportKind::Http);
}

#[test]
#[ignore = "needs MCP servers of others: .ci/run has them"]
fn everything_over_stdio_on_the_screen() {
    works_on_the_screen(TransportKind::Stdio);
}

#[test]
#[ignore = "needs MCP servers of others: .ci/run has them"]
fn everything_over_sse_on_the_screen() {
    works_on_the_screen(TransportKind::Sse);
}

#[test]
#[ignore = "needs MCP servers of others: .ci/run has them"]
fn everything_over_streamable_http_on_the_screen() {
    works_on_the_screen(TransportKind::Http);
}

/// One call of a server that is started; its text.
fn one_call(home: &TestHome, arguments: &[&str]) -> String {
    let called = mcp(home, "call", arguments);
    assert_eq!(called.code, Some(0), "{arguments:?}: {}", called.err);
    home.assert_no_process_left();
    called.out
}

#[test]
#[ignore = "needs MCP servers of others: .ci/run has them"]
fn the_servers_for_files_memory_time_and_git_answer_a_call_each() {
    let home = TestHome::empty();
    let folder = home.path().to_string_lossy().into_owned();
    std::fs::write(home.path().join("a.txt"), "안녕\n").expect("the home is ours");
    for arguments in [&["init", "--quiet", "-b", "main"][..], &["add", "a.txt"]] {
        let git = Command::new("git")
            .args(arguments)
            .current_dir(home.path())
            .status();
        assert!(git.expect("git is there").success());
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
