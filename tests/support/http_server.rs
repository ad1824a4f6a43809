//! A stateless MCP server over streamable HTTP for the soak test, independent of the crate.
//! Argument: PORT. Answers each request with JSON and may be killed at any time.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// Maximum body size; our requests are smaller.
const BODY_BYTES_MAX: u64 = 8 << 20;

fn main() {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok());
    let port: u16 = port.expect("a port");
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
    for stream in listener.incoming().flatten() {
        std::thread::spawn(move || while serve(&stream).is_some() {});
    }
}

/// Serves one request; `None` at the end of the connection. The client waits for each
/// answer, so nothing is read ahead.
fn serve(stream: &TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut request_line = String::new();
    reader
        .read_line(&mut request_line)
        .ok()
        .filter(|count| *count > 0)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader
            .read_line(&mut line)
            .ok()
            .filter(|count| *count > 0)?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = Vec::new();
    let mut body_reader = reader.take(BODY_BYTES_MAX.min(length));
    body_reader.read_to_end(&mut body).ok()?;
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (status, answer) = match request_line.split(' ').next()? {
        "POST" if message["id"].is_null() => ("202 Accepted", None),
        "POST" => ("200 OK", Some(answer(&message))),
        "DELETE" => ("200 OK", None),
        // This server opens no stream of its own.
        _ => ("405 Method Not Allowed", None),
    };
    let body = answer.map_or_else(String::new, |answer| answer.to_string());
    let session = match message["method"] == "initialize" {
        true => format!("Mcp-Session-Id: {}\r\n", std::process::id()),
        false => String::new(),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{session}Content-Length: {length}\r\n\r\n"
    );
    let mut writer = stream;
    writer.write_all(head.as_bytes()).ok()?;
    writer.write_all(body.as_bytes()).ok()
}

fn answer(message: &Value) -> Value {
    let id = &message["id"];
    let params = &message["params"];
    let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
    let arguments = &params["arguments"];
    let number = |key: &str| arguments[key].as_f64().unwrap_or_default();
    let result = match (message["method"].as_str(), params["name"].as_str()) {
        (Some("initialize"), _) => json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "http", "version": "1" },
        }),
        (Some("ping"), _) => json!({}),
        (Some("tools/list"), _) => {
            let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
            let tools = ["add", "echo", "slow", "fail"].map(tool);
            json!({ "tools": tools })
        }
        (Some("tools/call"), Some("add")) => text(&(number("a") + number("b")).to_string()),
        (Some("tools/call"), Some("echo")) => text(arguments["text"].as_str().unwrap_or_default()),
        (Some("tools/call"), Some("slow")) => {
            std::thread::sleep(Duration::from_secs_f64(number("seconds")));
            text("slept")
        }
        (Some("tools/call"), Some("fail")) => {
            let mut failed = text("it failed");
            failed["isError"] = json!(true);
            failed
        }
        (method, _) => {
            let error = json!({ "code": -32601, "message": method.unwrap_or_default() });
            return json!({ "jsonrpc": "2.0", "id": id, "error": error });
        }
    };
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}
