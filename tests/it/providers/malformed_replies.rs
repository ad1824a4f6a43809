//! Malformed replies, errors without a message or in unusual shapes, and long pauses.

use super::notice_text::notice_text;
use crate::providers::model_server::*;
use crate::providers::server_errors::{error_reply, model_at, request_error};
use humble::domain::ProviderKind;
use serde_json::{Value, json};
use std::time::Duration;

/// Bodies with status 200 that no model server sends, and the reason given for each.
const UNRELATED: [(&str, &str); 10] = [
    ("OK", "This line is not JSON: `OK`."),
    ("OK\n", "This line is not JSON: `OK`."),
    (
        "It works: really\nwell\n",
        "This line is not JSON: `It works: really`.",
    ),
    (
        "{\"status\":\"ok\"}",
        "It is unexpected JSON: `{\"status\":\"ok\"}`.",
    ),
    (
        "{\n \"status\": \"ok\"\n}\n",
        "It is unexpected JSON: `{\"status\":\"ok\"}`.",
    ),
    (
        "{\"message\":\"hello\"}\n",
        "It is unexpected JSON: `{\"message\":\"hello\"}`.",
    ),
    ("[]", "It is unexpected JSON: `[]`."),
    ("{}", "It is unexpected JSON: `{}`."),
    ("null", "It is unexpected JSON: `null`."),
    ("true\n", "It is unexpected JSON: `true`."),
];

#[tokio::test]
async fn unrelated_response_is_not_reported_as_cut_off_by_any_provider() {
    for provider in ProviderKind::ALL {
        let server = ModelServer::start();
        let (model, path) = model_at(&server, provider);
        for (body, why) in UNRELATED {
            server.queue_reply(path, Reply::status(200).chunk(body));
            let expected = format!(
                "The answer from {} is not valid. {why} Check `baseUrl` and `provider` of `mine` in config.json.",
                server.url()
            );
            let sentence = notice_text(&request_error(&model).await.notice());
            assert_eq!(sentence, expected, "{provider}: {body:?}");
        }
    }
}

#[tokio::test]
async fn stream_that_ends_before_its_first_event_is_cut_off() {
    let events = [
        ": PROCESSING\n\n",
        ": PROCESSING",
        "e",
        "da",
        "\u{feff}dat",
        "data",
        "data: {\"choi",
        "event: message_start\nda",
        "id: 1\nretry: 20\n\n",
        "event: ping\n\n",
        "{\"choices",
    ];
    for provider in ProviderKind::ALL {
        let server = ModelServer::start();
        let (model, path) = model_at(&server, provider);
        let bodies: &[&str] = match provider {
            ProviderKind::Ollama => &["{", "{\"mess", "{\"model\": \"m\", \"message\": {"],
            _ => &events,
        };
        for body in bodies {
            server.queue_reply(path, Reply::status(200).chunk(*body).disconnect());
            let text = request_error(&model).await.notice().what;
            let expected = format!(
                "The connection to {} was cut in the middle of the answer.",
                server.url()
            );
            assert_eq!(text, expected, "{provider}: {body:?}");
        }
    }
}

#[tokio::test]
async fn the_notice_about_an_error_without_a_message_quotes_nothing() {
    let empty = [
        "",
        " \n",
        "{}",
        "[]",
        "null",
        "\"\"",
        "{\"error\":{}}",
        "{\"error\":null}",
        "[{}]",
        "{\"message\":\"\"}",
    ];
    for provider in ProviderKind::ALL {
        let server = ModelServer::start();
        let (model, path) = model_at(&server, provider);
        for body in empty {
            server.queue_reply(path, Reply::status(403).chunk(body));
            let expected = format!(
                "{} denied access (HTTP 403). Check whether the key of `mine` may use the model `qwen3:4b`.",
                server.url()
            );
            let sentence = notice_text(&request_error(&model).await.notice());
            assert_eq!(sentence, expected, "{provider}: {body:?}");
        }
    }
}

#[tokio::test]
async fn retry_after_in_seconds_is_rounded_up_and_invalid_values_are_ignored() {
    let pauses = [
        ("7200", Some(Duration::from_secs(7200))),
        ("1.5", Some(Duration::from_secs(2))),
        ("99999999999999999999999999", Some(Duration::MAX)),
        ("0", Some(Duration::ZERO)),
        ("-5", None),
        ("soon", None),
        ("inf", None),
        ("1e9", None),
        ("", None),
    ];
    let server = ModelServer::start();
    let (model, path) = model_at(&server, ProviderKind::OpenAi);
    for (header, pause) in pauses {
        let reply = error_reply(ProviderKind::OpenAi, 429, "Slow down");
        server.queue_reply(path, reply.header("retry-after", header));
        assert_eq!(request_error(&model).await.retry_after(), pause, "{header}");
    }
    let reply = error_reply(ProviderKind::OpenAi, 429, "Slow down");
    server.queue_reply(path, reply.header("retry-after", "7200"));
    let expected = format!(
        "{} is limiting requests and asks you to wait 2 h (HTTP 429). Slow down. [ChooseOtherModel] Or ask again after that time.",
        server.url()
    );
    assert_eq!(notice_text(&request_error(&model).await.notice()), expected);
}

#[tokio::test]
async fn missing_address_is_named_without_query_and_credentials() {
    let server = ModelServer::start();
    let (mut model, _) = model_at(&server, ProviderKind::OpenAi);
    let host = server.url().replace("http://", "");
    model.base_url = format!("http://me:secret@{host}/my/v1?key=hidden");
    server.queue_reply(
        "/my/v1/chat/completions",
        Reply::status(404).chunk("{\"detail\":\"Not Found\"}"),
    );
    let expected = format!(
        "/my/v1/chat/completions does not exist at {} (HTTP 404). Not Found. Check `baseUrl` of `mine` in config.json.",
        server.url()
    );
    assert_eq!(notice_text(&request_error(&model).await.notice()), expected);
}

/// Errors of models that do not support tools, in the format of each provider.
fn tool_rejections() -> Vec<(ProviderKind, u16, Value)> {
    use ProviderKind::{Mistral, Ollama, OpenAi};
    let unsupported = "Unsupported parameter: 'tools' is not supported with this model.";
    let error = |message: &str, param: Value| json!({"error": {"message": message, "type": "invalid_request_error", "param": param, "code": "unsupported_parameter"}});
    let detail = json!({"object": "error", "message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "tools"], "msg": "Extra inputs are not permitted"}]}});
    vec![
        (
            Ollama,
            400,
            json!({"error": "registry.ollama.ai/library/x does not support tools"}),
        ),
        (
            OpenAi,
            404,
            error("No endpoints found that support tool use.", Value::Null),
        ),
        (
            OpenAi,
            500,
            error("tools param requires --jinja flag", Value::Null),
        ),
        (OpenAi, 400, error(unsupported, json!("tools"))),
        (OpenAi, 400, error(unsupported, Value::Null)),
        (
            OpenAi,
            400,
            error("This model does not support function calling.", Value::Null),
        ),
        (
            OpenAi,
            422,
            error("tool calling is not supported", Value::Null),
        ),
        (
            Mistral,
            400,
            json!({"object": "error", "message": "Function calling is not enabled for this model"}),
        ),
        (Mistral, 422, detail),
    ]
}

#[tokio::test]
async fn model_without_tool_support_gets_advice_about_the_setting() {
    for (provider, status, body) in tool_rejections() {
        let server = ModelServer::start();
        let (model, path) = model_at(&server, provider);
        server.queue_reply(path, Reply::json(status, &body));
        let sentence = notice_text(&request_error(&model).await.notice());
        let start = format!(
            "`qwen3:4b` at {} does not support tools (HTTP {status}).",
            server.url()
        );
        let end = "Set `toolCalls` of `mine` to \"prompt\" in config.json; the tools are then described in the prompt. [Probe]";
        assert!(
            sentence.starts_with(&start) && sentence.ends_with(end),
            "{sentence}"
        );
        assert_eq!(
            server.requests().len(),
            1,
            "the request is not sent again without tools"
        );
    }
}
