//! The real program: `humble serve` over stdio and HTTP, its startup text, log, signals and errors.

use super::program::Program;
use crate::support::home::TestHome;
use rustix::process::Signal;
use serde_json::json;
use std::net::TcpListener;

fn log_text(home: &TestHome) -> String {
    let folder = home.path().join("logs");
    let files = std::fs::read_dir(folder).expect("a log folder").flatten();
    files
        .map(|file| std::fs::read_to_string(file.path()).expect("a log"))
        .collect()
}

/// The body of a successful response. An empty `token` is not sent.
fn get(url: &str, token: &str) -> reqwest::Result<String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let client = reqwest::Client::builder().no_proxy().build()?;
        let request = match token {
            "" => client.get(url),
            _ => client.get(url).bearer_auth(token),
        };
        request.send().await?.error_for_status()?.text().await
    })
}

#[test]
fn a_client_over_stdio_gets_results_and_errors_and_no_log_lines() {
    let home = TestHome::empty();
    let mut program = Program::start(&home, &[], &[]);
    program.initialize();
    let list = program.request("tools/list", json!({}));
    assert_eq!(list["result"]["tools"][0]["name"], "get_time");
    let call = json!({ "name": "get_time", "arguments": { "timezone": "UTC" } });
    let time = program.request("tools/call", call);
    assert_eq!(time["result"]["structuredContent"]["zone"], "UTC");
    let unknown = program.request("tools/call", json!({ "name": "no\u{1b}[2Jpe" }));
    assert_eq!(unknown["error"]["code"], -32602);
    let unknown = program.request("no/method", json!({}));
    assert_eq!(unknown["error"]["message"], "Unknown method");
    let (code, stderr) = program.wait();
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        stderr.contains("\"mcpServers\"") && stderr.contains("\"serve\""),
        "{stderr}"
    );
    for line in ["get_time over stdio: ok, ", "pe over stdio: unknown tool, "] {
        assert!(stderr.contains(line), "{line}\n{stderr}");
        assert!(
            log_text(&home).contains(line),
            "{line}\n{}",
            log_text(&home)
        );
    }
    assert!(!stderr.contains('\u{1b}'), "{stderr}");
}

#[test]
fn the_modern_era_works_over_stdio() {
    let home = TestHome::empty();
    let mut program = Program::start(&home, &[], &[]);
    let params = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    } });
    let discovered = program.request("server/discover", params.clone());
    assert_eq!(discovered["result"]["resultType"], "complete");
    let list = program.request("tools/list", params);
    assert_eq!(list["result"]["cacheScope"], "public");
    assert_eq!(program.wait().0, Some(0));
}

#[test]
fn nonsense_over_stdio_does_not_end_the_session() {
    let home = TestHome::empty();
    let mut program = Program::start(&home, &[], &[]);
    program.initialize();
    for (line, code) in [
        (&b"\xff\xfe"[..], -32700),
        (&vec![b'x'; 6 << 20], -32600),
        (b"42", -32600),
    ] {
        program.send_line(line);
        let refused = program.message();
        assert_eq!(refused["error"]["code"], code, "{refused}");
    }
    assert_eq!(program.request("ping", json!({}))["result"], json!({}));
    assert_eq!(program.wait().0, Some(0));
}

#[test]
fn http_server_shows_how_to_connect_and_ends_on_a_signal() {
    for signal in [Signal::INT, Signal::TERM] {
        let home = TestHome::empty();
        let mut program = Program::start(&home, &["--http", "--port", "0"], &[]);
        let url = program.url();
        assert!(url.starts_with("http://127.0.0.1:"), "{url}");
        program.wait_for_line(&format!("\"url\": \"{url}/mcp\""));
        program.wait_for_line("\"command\": ");
        program.wait_for_line("Ctrl+C");
        let tools = get(&format!("{url}/mcp/tools"), "").expect("the server answers");
        assert!(tools.contains("get_time"), "{tools}");
        program.signal(signal);
        let (code, stderr) = program.wait();
        assert_eq!(code, Some(0), "{stderr}");
        assert!(stderr.contains("Stopping"), "{stderr}");
    }
}

#[test]
fn stdio_server_ends_on_a_signal() {
    let home = TestHome::empty();
    let mut program = Program::start(&home, &[], &[]);
    program.initialize();
    let stdin = program.stdin.take();
    program.signal(Signal::TERM);
    assert_eq!(program.wait().0, Some(0));
    drop(stdin);
}

#[test]
fn a_client_that_does_not_read_standard_error_does_not_block_the_server() {
    let home = TestHome::empty();
    // The pipe holds 64 KiB.
    let (mut program, _unread) = Program::start_unread(&home, &[], &[]);
    program.initialize();
    for _ in 0..2_000 {
        let answer = program.request("tools/call", json!({ "name": "say_hello" }));
        assert!(answer["result"].is_object(), "{answer}");
    }
}

#[test]
fn a_taken_port_is_explained() {
    let home = TestHome::empty();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("bound").port().to_string();
    let program = Program::start(&home, &["--http", "--port", &port], &[]);
    let (code, stderr) = program.wait();
    assert_eq!(code, Some(1), "{stderr}");
    let sentence = format!("Port {port} on 127.0.0.1 is already in use.");
    assert!(
        stderr.contains(&sentence) && stderr.contains("--port "),
        "{stderr}"
    );
}

#[test]
fn port_comes_from_the_variable_unless_the_option_is_given() {
    let home = TestHome::empty();
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("bound").port().to_string();
    drop(free);
    let mut program = Program::start(&home, &["--http"], &[("MCP_PORT", &port)]);
    assert_eq!(program.url(), format!("http://127.0.0.1:{port}"));
    drop(program);
    let variables = [("MCP_PORT", "x")];
    let program = Program::start(&home, &["--http"], &variables);
    let (code, stderr) = program.wait();
    assert!(code == Some(2) && stderr.contains("MCP_PORT"), "{stderr}");
    let mut program = Program::start(&home, &["--http", "--port", "0"], &variables);
    program.url();
}

#[test]
fn serving_other_machines_needs_a_token() {
    let home = TestHome::empty();
    for host in ["0.0.0.0", "::", "[::]"] {
        let program = Program::start(&home, &["--http", "--port", "0", "--host", host], &[]);
        let (code, stderr) = program.wait();
        assert_eq!(code, Some(2), "{stderr}");
        assert!(
            stderr.contains("HUMBLE_SERVE_TOKEN") && stderr.contains("--token-file"),
            "{stderr}"
        );
    }
    let arguments = ["--http", "--port", "0", "--host", "0.0.0.0"];
    let token = [("HUMBLE_SERVE_TOKEN", "a-long-enough-token")];
    let mut program = Program::start(&home, &arguments, &token);
    let url = program.url().replace("0.0.0.0", "127.0.0.1");
    let refused = get(&format!("{url}/mcp/tools"), "").expect_err("no token was sent");
    assert_eq!(refused.status().map(|status| status.as_u16()), Some(401));
    program.signal(Signal::TERM);
    let (_, stderr) = program.wait();
    assert!(!stderr.contains("a-long-enough-token"), "{stderr}");
}

#[test]
fn token_file_must_hold_a_usable_token() {
    use std::os::unix::fs::PermissionsExt;
    let home = TestHome::empty();
    let path = home.path().join("token");
    let file = path.to_str().expect("UTF-8");
    let arguments = ["--http", "--port", "0", "--token-file", file];
    let run = || Program::start(&home, &arguments, &[]).wait();
    let (code, stderr) = run();
    assert!(
        code == Some(2) && stderr.contains("Could not read the token file"),
        "{stderr}"
    );
    for text in ["", " \n", "two words", "토큰", "\u{feff}\n"] {
        std::fs::write(&path, text).expect("writable");
        let (code, stderr) = run();
        assert!(
            code == Some(2) && stderr.contains("openssl rand"),
            "{text:?}: {stderr}"
        );
    }
    std::fs::write(&path, "x".repeat(4_097)).expect("writable");
    let (code, stderr) = run();
    assert!(
        code == Some(2) && stderr.contains("larger than 4096 bytes"),
        "{stderr}"
    );
    std::fs::write(&path, "\u{feff}a-token-with-a-mark\r\n").expect("writable");
    let mut program = Program::start(&home, &arguments, &[]);
    let url = program.url();
    get(&format!("{url}/mcp/tools"), "a-token-with-a-mark").expect("the token is accepted");
    drop(program);
    std::fs::write(&path, "short\n").expect("writable");
    let readable_by_all = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(&path, readable_by_all).expect("our file");
    let mut program = Program::start(&home, &arguments, &[]);
    program.wait_for_line("has the permissions 644, which are not limited to you");
    program.wait_for_line("fewer than 16 characters");
    let url = program.url();
    assert!(get(&format!("{url}/mcp/tools"), "").is_err());
}

#[test]
fn a_token_file_that_is_not_a_regular_file_is_refused_immediately() {
    let home = TestHome::empty();
    let pipe = home.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo").success());
    for path in [
        pipe.as_path(),
        home.path(),
        std::path::Path::new("/dev/zero"),
    ] {
        let path = path.to_str().expect("UTF-8");
        let arguments = ["--http", "--port", "0", "--token-file", path];
        let (code, stderr) = Program::start(&home, &arguments, &[]).wait();
        assert!(
            code == Some(2) && stderr.contains("Could not read the token file"),
            "{stderr}"
        );
    }
}

#[test]
fn invalid_options_of_humble_serve_are_usage_errors() {
    let home = TestHome::empty();
    for arguments in [
        &["--port", "1"][..],
        &["--http", "--port", "70000"],
        &["--http", "--host", "no.such.host.invalid"],
        &["--http", "--allow-host", "a b"],
        &["--no-tools"],
        &["--model", "x"],
    ] {
        let (code, stderr) = Program::start(&home, arguments, &[]).wait();
        assert_eq!(code, Some(2), "{arguments:?}: {stderr}");
    }
}

#[test]
fn fetch_page_is_offered_only_if_it_is_switched_on() {
    let home = TestHome::empty();
    let offers_fetch_page = || {
        let mut program = Program::start(&home, &[], &[]);
        program.initialize();
        let list = program.request("tools/list", json!({}));
        list.to_string().contains("\"fetch_page\"")
    };
    assert!(!offers_fetch_page());
    let file = |entry| json!({ "mcpServers": { "humble": entry } });
    for off in [json!({}), json!({ "toolsOff": 7 }), json!([])] {
        home.write("mcp-servers.json", &file(off));
        assert!(!offers_fetch_page());
    }
    std::fs::write(home.path().join("mcp-servers.json"), "{").expect("writable");
    assert!(!offers_fetch_page());
    for off in [
        json!({ "toolsOff": [] }),
        json!({ "toolsOff": ["say_hello"] }),
        json!({ "toolsOn": ["Fetch_Page"] }),
        json!({ "toolsOn": ["fetch_page"], "toolsOff": ["fetch_page"] }),
    ] {
        home.write("mcp-servers.json", &file(off));
        assert!(!offers_fetch_page());
    }
    for on in [
        json!({ "toolsOn": ["fetch_page"] }),
        json!({ "toolsOn": ["fetch_page"], "toolsOff": ["say_hello"] }),
    ] {
        home.write("mcp-servers.json", &file(on));
        assert!(offers_fetch_page());
    }
}

#[test]
fn an_unknown_tool_name_in_the_settings_is_reported_at_startup() {
    let home = TestHome::empty();
    let entry = json!({ "toolsOff": ["Fetch_Page"] });
    home.write(
        "mcp-servers.json",
        &json!({ "mcpServers": { "humble": entry } }),
    );
    let mut program = Program::start(&home, &[], &[]);
    let line = program.wait_for_line("there is no tool `Fetch_Page`");
    assert!(
        line.contains("get_time, get_weather, ollama_chat"),
        "{line}"
    );
}

#[test]
fn accepting_every_host_causes_a_warning() {
    let home = TestHome::empty();
    let arguments = ["--http", "--port", "0", "--allow-host", "*"];
    let mut program = Program::start(&home, &arguments, &[]);
    let line = program.wait_for_line("--allow-host '*'");
    assert!(line.contains("DNS rebinding"), "{line}");
}

#[test]
fn a_vault_from_the_command_line_is_in_the_client_entry_and_reported_if_missing() {
    let home = TestHome::empty();
    let vault = home.path().join("no-notes");
    let vault = vault.to_str().expect("UTF-8");
    let mut program = Program::start(&home, &["--vault", vault], &[]);
    let line = program.wait_for_line("The notes folder");
    assert!(
        line.ends_with("cannot be used: the folder does not exist."),
        "{line}"
    );
    program.wait_for_line("\"--vault\",");
    let line = program.wait_for_line("no-notes");
    assert_eq!(line.trim(), format!("\"{vault}\""));
    let (status, _) = program.wait();
    assert_eq!(status, Some(0));
}

#[cfg(unix)]
#[test]
fn each_usable_notes_folder_is_listed_once() {
    let home = TestHome::empty();
    let vault = home.path().join("vault");
    std::fs::create_dir(&vault).expect("created");
    let link = home.path().join("link");
    std::os::unix::fs::symlink(&vault, &link).expect("linked");
    home.write("config.json", &json!({ "notes": { "vault": vault } }));
    let (dotted, missing) = (vault.join("../vault"), home.path().join("no-notes"));
    let folders = [&missing, &vault, &link, &dotted];
    let arguments: Vec<&str> = folders
        .iter()
        .flat_map(|folder| ["--vault", folder.to_str().expect("UTF-8")])
        .collect();
    let mut program = Program::start(&home, &arguments, &[]);
    program.initialize();
    let call = json!({ "name": "search_notes", "arguments": { "query": "tea" } });
    let answer = program.request("tools/call", call).to_string();
    let expected = format!("vault_path. The notes folder is {}\"", vault.display());
    assert!(answer.contains(&expected), "{answer}");
}
