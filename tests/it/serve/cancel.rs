//! Cancelling a call to the real program stops its work: the service that the tool uses sees the
//! connection close.

use super::program::Program;
use crate::support::home::TestHome;
use crate::support::model_server::{ModelServer, Reply, ServerLog, ollama_text};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;

fn endless_services() -> (ModelServer, TestHome) {
    let services = ModelServer::start();
    let page = Reply::status(200).header("content-type", "text/html");
    services
        .always_reply("/api/chat", ollama_text(&["It "]).hang_after(1))
        .always_reply("/page", page.chunk("<p>and then").hang());
    let home = TestHome::with_ollama(&services.url());
    home.edit_json("config.json", |config| {
        let host = services.url().trim_start_matches("http://").to_owned();
        config["builtIn"] = json!({ "fetchHosts": [host] });
    });
    let entry = json!({ "toolsOn": ["fetch_page"] });
    home.write(
        "mcp-servers.json",
        &json!({ "mcpServers": { "humble": entry } }),
    );
    (services, home)
}

/// A call that waits for the model, and one that waits for the page.
fn calls(services: &ModelServer) -> [Value; 2] {
    let page = format!("{}/page", services.url());
    [
        json!({ "name": "ollama_chat", "arguments": { "prompt": "Why?" } }),
        json!({ "name": "fetch_page", "arguments": { "url": page } }),
    ]
}

/// Starts both calls and waits until each has reported progress.
fn start_both(program: &mut Program, services: &ModelServer) {
    for (id, mut call) in calls(services).into_iter().enumerate() {
        call["_meta"] = json!({ "progressToken": id });
        program
            .send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call }));
    }
    let mut messages = [None, None];
    while !contains(&messages[0], "3 characters") || !contains(&messages[1], "Reading") {
        let report = program.message();
        assert_eq!(report["method"], "notifications/progress", "{report}");
        let token = report["params"]["progressToken"]
            .as_u64()
            .expect("a number");
        messages[token as usize] = report["params"]["message"].as_str().map(str::to_owned);
    }
}

fn has_request(log: &ServerLog, path: &str) -> bool {
    log.requests.iter().any(|request| request.path == path)
}

fn contains(message: &Option<String>, part: &str) -> bool {
    message
        .as_ref()
        .is_some_and(|message| message.contains(part))
}

/// Sends a tool call in plain JSON and leaves its connection open.
fn post_call(address: &str, body: &Value) -> TcpStream {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).expect("the server listens");
    let request = format!(
        "POST /mcp/tools/call HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream
        .write_all(request.as_bytes())
        .expect("the server reads");
    stream
}

#[test]
fn a_cancellation_over_stdio_stops_a_running_call() {
    let (services, home) = endless_services();
    let mut program = Program::start(&home, &[], &[]);
    program.initialize();
    start_both(&mut program, &services);
    for id in [0, 1] {
        let params = json!({ "requestId": id });
        let method = "notifications/cancelled";
        program.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }
    services.blocking_wait_for(|log| log.aborted_replies == 2);
    // A cancelled request is not answered, so the next message is the answer to the ping.
    assert_eq!(program.request("ping", json!({}))["result"], json!({}));
    assert_eq!(program.wait().0, Some(0));
}

#[test]
fn ctrl_c_stops_calls_after_the_drain_timeout() {
    let (services, home) = endless_services();
    let mut program = Program::start(&home, &[], &[]);
    program.initialize();
    start_both(&mut program, &services);
    let stdin = program.stdin.take();
    program.signal(Signal::INT);
    for _ in 0..2 {
        let answer = program.message();
        assert!(answer["error"]["message"].is_string(), "{answer}");
    }
    services.blocking_wait_for(|log| log.aborted_replies == 2);
    assert_eq!(program.wait().0, Some(0));
    drop(stdin);
}

#[test]
fn closing_the_connection_stops_a_running_call_over_http() {
    let (services, home) = endless_services();
    let mut program = Program::start(&home, &["--http", "--port", "0"], &[]);
    let url = program.url();
    let address = url.trim_start_matches("http://");
    let connections = calls(&services).map(|call| {
        let body = json!({ "tool": call["name"], "arguments": call["arguments"] });
        post_call(address, &body)
    });
    services.blocking_wait_for(|log| has_request(log, "/api/chat") && has_request(log, "/page"));
    drop(connections);
    services.blocking_wait_for(|log| log.aborted_replies == 2);
}

#[test]
fn a_call_over_http_that_outlasts_ctrl_c_is_answered_with_an_error() {
    let (services, home) = endless_services();
    let mut program = Program::start(&home, &["--http", "--port", "0"], &[]);
    let url = program.url();
    let body = json!({ "tool": "ollama_chat", "arguments": { "prompt": "Why?" } });
    let mut stream = post_call(url.trim_start_matches("http://"), &body);
    services.blocking_wait_for(|log| has_request(log, "/api/chat"));
    let started = std::time::Instant::now();
    program.signal(Signal::INT);
    let mut response = String::new();
    stream
        .read_to_string(&mut response)
        .expect("a whole response");
    assert!(response.starts_with("HTTP/1.1 503 "), "{response}");
    assert!(response.contains("The server is stopping"), "{response}");
    assert_eq!(program.wait().0, Some(0));
    let elapsed = started.elapsed();
    assert!(elapsed <= std::time::Duration::from_secs(5), "{elapsed:?}");
}
