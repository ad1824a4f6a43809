//! `humble serve` with third-party MCP clients and our own: each lists and calls every tool over
//! stdio, streamable HTTP and HTTP+SSE. The services behind the tools are scripted.

use super::home::TestHome;
use super::model_server::{ModelServer, Reply, ollama_text};
use super::servers::{installed_path, node, python};
use super::{WAIT_TIMEOUT, run};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;

const TOOLS: [&str; 9] = [
    "get_time",
    "get_weather",
    "ollama_chat",
    "say_hello",
    "get_cat_fact",
    "fetch_page",
    "create_note",
    "search_notes",
    "summarize_notes",
];

/// A server that plays all services behind the tools.
fn services() -> ModelServer {
    let services = ModelServer::start();
    let seoul = json!({
        "name": "Seoul", "country": "South Korea", "country_code": "KR", "population": 9_000_000,
        "latitude": 37.57, "longitude": 126.98, "feature_code": "PPLC",
    });
    let weather = json!({
        "timezone": "Asia/Seoul",
        "current": { "time": "2026-11-23T16:00", "temperature_2m": 7.4, "weather_code": 0 },
        "daily": { "time": ["2026-11-23"], "weather_code": [61], "temperature_2m_max": [9.1] },
    });
    let page = Reply::status(200)
        .header("content-type", "text/html")
        .chunk("<h1>A page</h1>");
    services
        .always_reply(
            "/v1/search",
            Reply::json(200, &json!({ "results": [seoul] })),
        )
        .always_reply("/v1/forecast", Reply::json(200, &weather))
        .always_reply(
            "/fact",
            Reply::json(200, &json!({ "fact": "Cats sleep.", "length": 11 })),
        )
        .always_reply("/api/chat", ollama_text(&["It scatters."]))
        .always_reply("/page", page);
    services
}

/// A home whose built-in tools use these services, with all tools switched on and a folder of notes.
fn home_with(services: &ModelServer) -> TestHome {
    let url = services.url();
    let home = TestHome::with_ollama(&url);
    let vault = vault_path(&home);
    std::fs::create_dir(&vault).expect("created");
    let note = "# Router\nThe router is in the hall.";
    std::fs::write(format!("{vault}/router.md"), note).expect("written");
    home.edit_json("config.json", |config| {
        config["notes"] = json!({ "vault": vault });
        config["builtIn"] = json!({
            "geocodingUrl": format!("{url}/v1/search"),
            "forecastUrl": format!("{url}/v1/forecast"),
            "catFactUrl": format!("{url}/fact"),
            "fetchHosts": [url.trim_start_matches("http://")],
        });
    });
    let servers =
        json!({ "mcpServers": { "humble": { "toolsOn": ["fetch_page"], "toolsOff": [] } } });
    home.write("mcp-servers.json", &servers);
    home
}

fn vault_path(home: &TestHome) -> String {
    let vault = home.path().join("vault");
    vault.to_str().expect("UTF-8").to_owned()
}

/// The arguments of one call to each tool, in the order of [`TOOLS`], and a text expected in its
/// result.
fn calls(services: &ModelServer, home: &TestHome) -> Vec<(Value, &'static str)> {
    let page = format!("{}/page", services.url());
    let vault = vault_path(home);
    vec![
        (json!({ "timezone": "Asia/Seoul" }), "+09:00"),
        (json!({ "city": "Seoul" }), "South Korea"),
        (json!({ "prompt": "Why is the sky blue?" }), "It scatters."),
        (json!({ "name": "Mina" }), "Hello, Mina!"),
        (json!({}), "Cats sleep."),
        (json!({ "url": page }), "A page"),
        (
            json!({ "vault_path": vault, "topic": "sky" }),
            "It scatters.",
        ),
        (
            json!({ "vault_path": vault, "query": "router" }),
            "router.md",
        ),
        (
            json!({ "vault_path": vault, "mode": "topic", "topic": "router" }),
            "It scatters.",
        ),
    ]
}

/// `humble serve --http` on a free port, killed when dropped.
struct HttpServe {
    child: Child,
    url: String,
}

impl HttpServe {
    fn start(home: &TestHome) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_humble"));
        command.args(["serve", "--http", "--port", "0", "--home"]);
        command.arg(home.path()).envs(home.environment());
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        let (sender, urls) = channel();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if let Some((_, url)) = line.split_once("listening on ") {
                    let _ = sender.send(url.to_owned());
                }
            }
        });
        let url = urls.recv_timeout(WAIT_TIMEOUT).expect("the server listens");
        Self { child, url }
    }
}

impl Drop for HttpServe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn output_of(command: &mut Command) -> String {
    let output = command
        .stdin(Stdio::null())
        .output()
        .expect("the client starts");
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{stdout}\n{stderr}");
    stdout
}

/// Lists and calls all tools with the MCP inspector. `target` selects the server.
fn test_inspector(home: &TestHome, services: &ModelServer, target: &[&str]) {
    let inspector = installed_path(
        "npm/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
    );
    let inspect = |arguments: &[&str]| {
        let mut command = Command::new(node());
        command
            .arg(&inspector)
            .arg("--cli")
            .args(target)
            .args(arguments);
        // Its files belong in the test's folder.
        command.envs(home.environment());
        let text = output_of(&mut command);
        serde_json::from_str::<Value>(&text).unwrap_or_else(|fault| panic!("{fault}: {text}"))
    };
    let list = inspect(&["--method", "tools/list"]);
    let tools = list["tools"].as_array().expect("tools");
    let names: Vec<&str> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names, TOOLS);
    for (tool, (arguments, expected)) in TOOLS.into_iter().zip(calls(services, home)) {
        let pairs: Vec<String> = arguments
            .as_object()
            .expect("an object")
            .iter()
            .map(|(key, value)| format!("{key}={}", value.as_str().expect("a string")))
            .collect();
        let mut line = vec!["--method", "tools/call", "--tool-name", tool];
        for pair in &pairs {
            line.extend(["--tool-arg", pair]);
        }
        let result = inspect(&line);
        let content = result["structuredContent"].to_string();
        assert!(content.contains(expected), "{tool}: {result}");
    }
}

#[test]
#[ignore = "needs the MCP inspector: .ci/run has it"]
fn the_mcp_inspector_lists_and_calls_every_tool_over_each_transport() {
    let services = services();
    let home = home_with(&services);
    let server = HttpServe::start(&home);
    let (mcp, sse) = (format!("{}/mcp", server.url), format!("{}/sse", server.url));
    test_inspector(&home, &services, &[&mcp, "--transport", "http"]);
    test_inspector(&home, &services, &[&sse, "--transport", "sse"]);
    let folder = home.path().to_str().expect("UTF-8");
    let entry = json!({
        "command": env!("CARGO_BIN_EXE_humble"), "args": ["serve", "--home", folder],
    });
    home.write(
        "inspector.json",
        &json!({ "mcpServers": { "humble": entry } }),
    );
    let file = home.path().join("inspector.json");
    let file = file.to_str().expect("UTF-8");
    test_inspector(&home, &services, &["--config", file, "--server", "humble"]);
}

#[test]
#[ignore = "needs fastmcp: .ci/run has it"]
fn the_fastmcp_client_lists_and_calls_every_tool_over_each_transport() {
    let services = services();
    let home = home_with(&services);
    let server = HttpServe::start(&home);
    let (mcp, sse) = (format!("{}/mcp", server.url), format!("{}/sse", server.url));
    let folder = home.path().to_str().expect("UTF-8");
    let program = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/interop/fastmcp_client.py"
    );
    let calls = calls(&services, &home);
    let requested: Vec<Value> = TOOLS
        .iter()
        .zip(&calls)
        .map(|(tool, (arguments, _))| json!({ "tool": tool, "arguments": arguments }))
        .collect();
    let stdio = [env!("CARGO_BIN_EXE_humble"), "serve", "--home", folder];
    for target in [&[mcp.as_str()][..], &[&sse], &stdio] {
        let mut command = Command::new(python("python"));
        command
            .arg(program)
            .args(target)
            .arg("--")
            .arg(json!(requested).to_string());
        let text = output_of(&mut command);
        let seen: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(seen["tools"], json!(TOOLS), "{target:?}");
        for (index, (_, expected)) in calls.iter().enumerate() {
            let result = seen["results"][index].to_string();
            assert!(
                result.contains(expected),
                "{target:?} {}: {result}",
                TOOLS[index]
            );
        }
    }
}

#[test]
#[ignore = "runs with the other clients in .ci/run"]
fn our_own_client_lists_and_calls_every_tool_over_each_transport() {
    let services = services();
    let served = home_with(&services);
    let server = HttpServe::start(&served);
    let folder = served.path().to_str().expect("UTF-8");
    let home = TestHome::empty().with_server(
        "stdio",
        env!("CARGO_BIN_EXE_humble"),
        &["serve", "--home", folder],
    );
    home.edit_json("mcp-servers.json", |file| {
        let url = &server.url;
        let servers = &mut file["mcpServers"];
        servers["http"] = json!({ "url": format!("{url}/mcp"), "transport": "http" });
        servers["sse"] = json!({ "url": format!("{url}/sse"), "transport": "sse" });
    });
    for id in ["stdio", "http", "sse"] {
        let list = run(&home, &["mcp", "tools", id, "--json"]);
        assert_eq!(list.code, Some(0), "{}", list.stderr);
        for (tool, (arguments, expected)) in TOOLS.into_iter().zip(calls(&services, &served)) {
            assert!(list.stdout.contains(tool), "{id} {tool}: {}", list.stdout);
            let result = run(&home, &["mcp", "call", id, tool, &arguments.to_string()]);
            assert_eq!(result.code, Some(0), "{id} {tool}: {}", result.stderr);
            assert!(
                result.stdout.contains(expected),
                "{id} {tool}: {}",
                result.stdout
            );
        }
    }
}
