//! MCP over streamable HTTP in both eras.

use super::harness::{TestServe, events, message_of};
use serde_json::{Value, json};

fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 5, "method": method, "params": params })
}

#[tokio::test]
async fn a_legacy_session_lists_and_calls_tools_and_ends() {
    let server = TestServe::start().await;
    let id = server.open_session().await.expect("a session");
    let list = server
        .in_session(&id, &request("tools/list", json!({})))
        .await;
    let (_, list) = message_of(list).await;
    let names = list["result"]["tools"].as_array().expect("tools").iter();
    let names: Vec<&str> = names.filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names[..2], ["get_time", "get_weather"]);
    let call = request("tools/call", json!({ "name": "say_hello" }));
    let (_, result) = message_of(server.in_session(&id, &call).await).await;
    assert_eq!(result["result"]["structuredContent"]["greeting"], "Hello!");
    let ping = server.in_session(&id, &request("ping", json!({}))).await;
    assert_eq!(message_of(ping).await.1["result"], json!({}));
    let end = server.client.delete(server.url("/mcp"));
    let end = end.header("mcp-session-id", &id).send().await;
    assert!(end.expect("a response").status().is_success());
    assert_eq!(server.in_session(&id, &call).await.status(), 404);
}

#[tokio::test]
async fn the_modern_era_needs_no_session() {
    let server = TestServe::start().await;
    let (status, discovered) = server.modern("server/discover", json!({})).await;
    let result = &discovered["result"];
    assert_eq!((status, &result["cacheScope"]), (200, &json!("public")));
    let versions = result["supportedVersions"].as_array().expect("versions");
    assert!(versions.contains(&json!("2026-07-28")), "{discovered}");
    let (_, list) = server.modern("tools/list", json!({})).await;
    assert_eq!(list["result"]["ttlMs"], 3_600_000);
    assert_eq!(list, server.modern("tools/list", json!({})).await.1);
    let arguments = json!({ "name": "get_time", "arguments": { "timezone": "UTC" } });
    let (_, time) = server.modern("tools/call", arguments).await;
    assert_eq!(time["result"]["structuredContent"]["offset"], "+00:00");
    assert_eq!(time["result"]["resultType"], "complete");
}

#[tokio::test]
async fn unknown_tools_and_methods_return_the_same_errors_in_both_eras() {
    let server = TestServe::start().await;
    let id = server.open_session().await.expect("a session");
    for (method, params, code, message, status) in [
        (
            "tools/call",
            json!({ "name": "nope" }),
            -32602,
            "Unknown tool",
            200,
        ),
        (
            "tools/call",
            json!({}),
            -32602,
            "`params.name` is missing: pass the name of a tool",
            200,
        ),
        (
            "tools/call",
            json!({ "name": "get_time", "arguments": "{}" }),
            -32602,
            "`params.arguments` is a string, expected an object",
            200,
        ),
        ("tools/fly", json!({}), -32601, "Unknown method", 404),
        ("prompts/list", json!({}), -32601, "Unknown method", 404),
        ("resources/list", json!({}), -32601, "Unknown method", 404),
        (
            "logging/setLevel",
            json!({ "level": "info" }),
            -32601,
            "Unknown method",
            404,
        ),
    ] {
        let expected = (json!(code), json!(message));
        let legacy = server
            .in_session(&id, &request(method, params.clone()))
            .await;
        let (_, legacy) = message_of(legacy).await;
        let error = &legacy["error"];
        assert_eq!(
            (error["code"].clone(), error["message"].clone()),
            expected,
            "{legacy}"
        );
        let (found, modern) = server.modern(method, params).await;
        let error = &modern["error"];
        assert_eq!(
            (error["code"].clone(), error["message"].clone()),
            expected,
            "{modern}"
        );
        assert_eq!(found, status, "{method}");
    }
}

#[tokio::test]
async fn a_call_that_names_no_tool_is_invalid_in_both_eras() {
    let server = TestServe::start().await;
    let id = server.open_session().await.expect("a session");
    let call = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call" });
    let (_, legacy) = message_of(server.in_session(&id, &call).await).await;
    assert_eq!(legacy["error"]["code"], -32602, "{legacy}");
    let (_, modern) = server.modern("tools/call", json!({})).await;
    assert_eq!(modern["error"]["code"], -32602, "{modern}");
}

#[tokio::test]
async fn methods_that_the_library_refuses_get_the_error_for_unknown_methods() {
    let server = TestServe::start().await;
    let id = server.open_session().await.expect("a session");
    let listen = json!({ "notifications": {} });
    let unknown = |method: &str| json!({ "code": -32601, "message": "Unknown method", "data": { "method": method } });
    let method = "subscriptions/listen";
    let answer = server
        .in_session(&id, &request(method, listen.clone()))
        .await;
    assert_eq!(message_of(answer).await.1["error"], unknown(method));
    for (method, params) in [("ping", json!({})), (method, listen)] {
        let (status, answer) = server.modern(method, params).await;
        assert_eq!((status, &answer["id"]), (404, &json!(1)), "{answer}");
        assert_eq!(answer["error"], unknown(method));
    }
}

#[tokio::test]
async fn a_request_id_in_use_is_refused_and_the_first_call_is_answered() {
    let server = TestServe::start().await;
    let id = server.open_session().await.expect("a session");
    let params = json!({ "name": "ollama_chat", "arguments": { "prompt": "soon" } });
    let first = server.in_session(&id, &request("tools/call", params)).await;
    let second = server.in_session(&id, &request("ping", json!({}))).await;
    let (status, refused) = message_of(second).await;
    assert_eq!((status, &refused["error"]["code"]), (400, &json!(-32600)));
    let why = refused["error"]["message"].as_str().expect("a text");
    assert!(
        refused["id"] == 5 && why.contains("still running"),
        "{refused}"
    );
    let (_, answer) = message_of(first).await;
    assert_eq!(answer["result"]["structuredContent"]["answer"], "three");
    // Once the request has been answered, its id is free again.
    let again = server.in_session(&id, &request("ping", json!({}))).await;
    assert_eq!(message_of(again).await.1["result"], json!({}));
}

#[tokio::test]
async fn errors_do_not_repeat_long_names() {
    let server = TestServe::start().await;
    let name = "x".repeat(100_000);
    let (_, message) = server.modern("tools/call", json!({ "name": name })).await;
    assert!(message.to_string().len() < 500, "{message}");
}

#[tokio::test]
async fn headers_that_contradict_the_body_are_refused() {
    let server = TestServe::start().await;
    let params = json!({ "name": "get_time" });
    let request = server.modern_request("tools/call", params);
    let response = request.header("mcp-name", "say_hello").send().await;
    let (status, message) = message_of(response.expect("a response")).await;
    assert_eq!((status, &message["error"]["code"]), (400, &json!(-32020)));
}

#[tokio::test]
async fn progress_comes_before_the_result() {
    let server = TestServe::start().await;
    let params = json!({
        "name": "ollama_chat", "arguments": { "prompt": "count" },
        "_meta": { "progressToken": "p" },
    });
    let modern = server
        .modern_request("tools/call", params.clone())
        .send()
        .await;
    let id = server.open_session().await.expect("a session");
    let legacy = server.in_session(&id, &request("tools/call", params)).await;
    for response in [modern.expect("a response"), legacy] {
        let text = response.text().await.expect("a whole response");
        let messages = events(&text);
        let (result, reports) = messages.split_last().expect("messages");
        let done: Vec<Value> = reports
            .iter()
            .map(|report| report["params"]["progress"].clone())
            .collect();
        assert_eq!(
            done,
            [json!(0.0), json!(1.0), json!(2.0), json!(3.0)],
            "{text}"
        );
        assert!(
            reports
                .iter()
                .all(|report| report["params"]["progressToken"] == "p")
        );
        assert_eq!(result["result"]["structuredContent"]["answer"], "three");
    }
}

#[tokio::test]
async fn cancelling_stops_the_running_call_in_both_eras() {
    let mut server = TestServe::start().await;
    let params = json!({ "name": "ollama_chat", "arguments": { "prompt": "wait" } });
    let id = server.open_session().await.expect("a session");
    let call = server
        .in_session(&id, &request("tools/call", params.clone()))
        .await;
    let cancelled = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 5 },
    });
    assert_eq!(server.in_session(&id, &cancelled).await.status(), 202);
    server.wait_until_stopped().await;
    assert_eq!(
        events(&call.text().await.expect("a whole response")),
        [] as [Value; 0]
    );
    // In the modern era, the client cancels by closing the connection.
    let sending = server.modern_request("tools/call", params).send();
    let closed = tokio::time::timeout(std::time::Duration::from_millis(300), sending).await;
    assert!(closed.is_err(), "the call does not end by itself");
    server.wait_until_stopped().await;
}
