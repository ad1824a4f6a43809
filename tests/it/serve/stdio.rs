//! `humble serve` over standard input and output: unusual lines, and how a session ends.

use super::program::Program;
use crate::support::home::TestHome;
use crate::support::model_server::{ModelServer, Reply};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const MODERN: &str = "2026-07-28";

fn start_program() -> (TestHome, Program) {
    let home = TestHome::empty();
    let program = Program::start(&home, &[], &[]);
    (home, program)
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A home whose `get_cat_fact` uses `services`, and a call to that tool.
fn home_and_call(services: &ModelServer) -> (TestHome, Value) {
    let home = TestHome::empty();
    let url = format!("{}/fact", services.url());
    home.write("config.json", &json!({ "builtIn": { "catFactUrl": url } }));
    let params = json!({ "name": "get_cat_fact" });
    let call = json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params });
    (home, call)
}

fn slow_services() -> ModelServer {
    let services = ModelServer::start();
    let fact = Reply::json(200, &json!({ "fact": "Cats sleep." })).pace(Duration::from_secs(1));
    services.always_reply("/fact", fact);
    services
}

#[test]
fn a_last_line_without_a_line_break_is_answered() {
    let (_home, mut program) = start_program();
    program.initialize();
    let mut stdin = program.stdin.take().expect("open");
    let call = json!({ "name": "get_time", "arguments": { "timezone": "UTC" } });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call });
    stdin
        .write_all(call.to_string().as_bytes())
        .expect("the program reads");
    drop(stdin);
    let answer = program.message();
    assert_eq!(answer["result"]["structuredContent"]["zone"], "UTC");
    assert_eq!(program.wait().0, Some(0));
}

#[test]
fn each_invalid_line_gets_an_error_with_its_id() {
    let (_home, mut program) = start_program();
    program.initialize();
    for (line, code, id) in [
        ("not JSON", -32700, json!(null)),
        ("{\"jsonrpc\":\"2.0\",\"id\":3,", -32700, json!(null)),
        ("42", -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":7,"method":7}"#, -32600, json!(7)),
        (r#"{"id":"a","method":"ping"}"#, -32600, json!("a")),
        (r#"{"jsonrpc":"2.0","id":8}"#, -32600, json!(8)),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            -32600,
            json!(null),
        ),
        (
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/call"}"#,
            -32602,
            json!(4),
        ),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"no/such"}"#,
            -32601,
            json!(5),
        ),
    ] {
        program.send_line(line.as_bytes());
        let answer = program.message();
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(code), &id),
            "{line}: {answer}"
        );
    }
    // Not answered, because they are not requests.
    for line in [
        "",
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"echo"}}"#,
    ] {
        program.send_line(line.as_bytes());
    }
    assert_eq!(program.request("ping", json!({}))["result"], json!({}));
    assert_eq!(program.wait().0, Some(0));
}

#[test]
fn a_request_with_the_id_of_a_running_one_is_refused_and_the_first_is_answered() {
    let services = slow_services();
    let (home, call) = home_and_call(&services);
    let mut program = Program::start(&home, &[], &[]);
    program.initialize();
    program.send(&call);
    program.send(&json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/list" }));
    let refused = program.message();
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(9), &json!(-32600))
    );
    let why = refused["error"]["message"].as_str().expect("a text");
    assert!(why.contains("still running"), "{why}");
    let answer = program.message();
    assert!(answer.to_string().contains("Cats sleep."), "{answer}");
    // Once the first request is answered, its id is free.
    program.send(&json!({ "jsonrpc": "2.0", "id": 9, "method": "ping" }));
    assert_eq!(program.message()["result"], json!({}));
    assert_eq!(program.wait().0, Some(0));
}

#[test]
fn a_notification_before_the_handshake_does_not_end_the_session() {
    let (_home, mut program) = start_program();
    program.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    program.send(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
    program.initialize();
    assert_eq!(program.request("ping", json!({}))["result"], json!({}));
    assert_eq!(program.wait().0, Some(0));
}

#[test]
fn unsupported_methods_are_unknown_methods_in_both_eras() {
    let (_home, mut legacy) = start_program();
    legacy.initialize();
    let filter = json!({ "notifications": {} });
    let answer = legacy.request("subscriptions/listen", filter.clone());
    assert_unknown(&answer, "subscriptions/listen");
    let (_home, mut modern) = start_program();
    for (method, mut params) in [
        ("tools/list", json!({})),
        ("ping", json!({})),
        ("subscriptions/listen", filter),
        ("resources/subscribe", json!({ "uri": "a:b" })),
    ] {
        params["_meta"] = meta();
        let answer = modern.request(method, params);
        match method {
            "tools/list" => assert!(answer["result"]["tools"].is_array(), "{answer}"),
            _ => assert_unknown(&answer, method),
        }
    }
}

fn assert_unknown(answer: &Value, method: &str) {
    let error = json!({
        "code": -32601, "message": "Unknown method", "data": { "method": method },
    });
    assert_eq!(answer["error"], error, "{answer}");
}

#[test]
fn a_full_disk_behind_standard_output_is_explained() {
    let home = TestHome::empty();
    let full = File::options()
        .write(true)
        .open("/dev/full")
        .expect("the device");
    let mut command = Command::new(env!("CARGO_BIN_EXE_humble"));
    command
        .args(["serve", "--home"])
        .arg(home.path())
        .envs(home.environment());
    command
        .stdin(Stdio::piped())
        .stdout(full)
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(ping.as_bytes()).expect("the program reads");
    let output = child.wait_with_output().expect("the program ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("standard output could not be written"),
        "{stderr}"
    );
    assert!(!stderr.contains("::"), "{stderr}");
    drop(stdin);
}

#[test]
fn a_running_call_finishes_after_a_signal() {
    let services = slow_services();
    let (home, call) = home_and_call(&services);
    let mut program = Program::start(&home, &[], &[]);
    program.initialize();
    program.send(&call);
    services.blocking_wait_for(|log| !log.requests.is_empty());
    let stdin = program.stdin.take();
    program.signal(Signal::INT);
    let answer = program.message();
    assert!(answer.to_string().contains("Cats sleep."), "{answer}");
    let (code, stderr) = program.wait();
    assert_eq!(code, Some(0), "{stderr}");
    drop(stdin);
}

#[test]
fn a_call_that_outlasts_ctrl_c_is_answered_with_an_error() {
    let services = ModelServer::start();
    let endless = Reply::json(200, &json!({})).pace(Duration::from_secs(60));
    services.always_reply("/fact", endless);
    let (home, call) = home_and_call(&services);
    let mut program = Program::start(&home, &[], &[]);
    program.initialize();
    program.send(&call);
    services.blocking_wait_for(|log| !log.requests.is_empty());
    let stdin = program.stdin.take();
    let started = Instant::now();
    program.signal(Signal::INT);
    let answer = program.message();
    let why = answer["error"]["message"].as_str().expect("an error");
    assert!(answer["id"] == 9 && why.contains("is stopping"), "{answer}");
    assert_eq!(program.wait().0, Some(0));
    assert!(
        started.elapsed() <= Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
    drop(stdin);
}
