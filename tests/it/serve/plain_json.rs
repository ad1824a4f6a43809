//! Plain JSON: `GET /mcp/tools` and `POST /mcp/tools/call`.

use super::harness::{TestServe, message_of};
use serde_json::{Value, json};

async fn call(server: &TestServe, body: &Value) -> (u16, Value) {
    let response = server.post("/mcp/tools/call", body).send().await;
    message_of(response.expect("a response")).await
}

#[tokio::test]
async fn the_plain_json_list_of_tools_equals_the_mcp_list() {
    let server = TestServe::start().await;
    let response = server.client.get(server.url("/mcp/tools")).send().await;
    let (status, plain) = message_of(response.expect("a response")).await;
    let (_, mcp) = server.modern("tools/list", json!({})).await;
    assert_eq!((status, &plain["tools"]), (200, &mcp["result"]["tools"]));
    for tool in plain["tools"].as_array().expect("tools") {
        let is_complete = tool["outputSchema"]["type"] == "object"
            && tool["annotations"]["readOnlyHint"].is_boolean()
            && tool["annotations"]["openWorldHint"].is_boolean();
        assert!(is_complete, "{tool}");
    }
}

#[tokio::test]
async fn a_plain_json_call_returns_the_result_of_the_tool() {
    let server = TestServe::start().await;
    let body = json!({ "tool": "get_time", "arguments": { "timezone": "Asia/Seoul" } });
    let (status, result) = call(&server, &body).await;
    let time = &result["structuredContent"];
    assert_eq!(
        (status, &result["isError"], &time["zone"], &time["offset"]),
        (200, &json!(false), &json!("Asia/Seoul"), &json!("+09:00"))
    );
}

#[tokio::test]
async fn a_failed_call_is_a_result_and_a_wrong_request_is_not() {
    let server = TestServe::start().await;
    let body = json!({ "tool": "get_time", "arguments": { "timezone": "Mars" } });
    let (status, result) = call(&server, &body).await;
    assert_eq!((status, &result["isError"]), (200, &json!(true)));
    for (body, status, code) in [
        (json!({ "tool": "nope" }), 404, -32602),
        (json!({}), 400, -32602),
        (json!({ "tool": 7 }), 400, -32602),
        (json!({ "tool": "get_time", "arguments": [] }), 400, -32602),
        (json!({ "tool": "get_time", "args": {} }), 400, -32602),
        (json!([]), 400, -32602),
        (json!(["get_time"]), 400, -32602),
        (json!(["get_time", {}]), 400, -32602),
        (json!("get_time"), 400, -32602),
    ] {
        let (found, answer) = call(&server, &body).await;
        assert_eq!(
            (found, &answer["error"]["code"]),
            (status, &json!(code)),
            "{body}"
        );
    }
    for (body, why) in [
        (json!({}), "`tool` is missing"),
        (
            json!({ "tool": 7 }),
            "`tool` is a number, expected the name of a tool",
        ),
        (
            json!({ "tool": "get_time", "arguments": [] }),
            "`arguments` is a list, expected an object",
        ),
        (
            json!({ "tool": "get_time", "args": {} }),
            "There is no field `args`",
        ),
        (
            json!("get_time"),
            "The body is a string, expected an object",
        ),
    ] {
        let (_, answer) = call(&server, &body).await;
        let expected = format!("{why}. Send {{\"tool\": \"get_time\", \"arguments\": {{}}}}");
        assert_eq!(answer["error"]["message"], expected, "{body}");
    }
    let (_, unknown) = call(&server, &json!({ "tool": "nope" })).await;
    assert_eq!(unknown["error"]["message"], "Unknown tool");
}

#[tokio::test]
async fn closing_the_connection_stops_a_running_call() {
    let mut server = TestServe::start().await;
    let body = json!({ "tool": "ollama_chat", "arguments": { "prompt": "wait" } });
    let body = body.to_string();
    let mut client = server.connect().await;
    let head = format!(
        "POST /mcp/tools/call HTTP/1.1\r\n{}content-length: {}\r\n\r\n{body}",
        super::harness::JSON_HEADERS,
        body.len()
    );
    client.send(head.as_bytes()).await;
    drop(client);
    server.wait_until_stopped().await;
}
