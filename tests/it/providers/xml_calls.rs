//! Calls within a turn of the `xml` dialect, as each server is sent them.

use crate::providers::request_bodies::{conversation, request};
use crate::support::fixtures::{self, model_config, object};
use humble::dialect::scan::{CallScanner, ScanEvent};
use humble::domain::model::ToolRole;
use humble::domain::{Dialect, Message, Offered, ProviderKind};
use humble::provider::parameter_fallback::Adapted;
use humble::provider::{Request, anthropic, mistral, ollama, openai};
use serde_json::{Value, json};
use std::sync::Arc;

type Body = fn(&Request, Adapted) -> Value;

const BODIES: [(ProviderKind, Body); 4] = [
    (ProviderKind::Ollama, ollama::body),
    (ProviderKind::OpenAi, openai::body),
    (ProviderKind::Mistral, mistral::body),
    (ProviderKind::Anthropic, anthropic::body),
];

/// A request of the `xml` dialect with one call of these arguments.
fn asks(provider: ProviderKind, name: &str, arguments: Value) -> Request {
    let mut model = model_config(provider, "http://localhost:8080/v1");
    model.dialect = Dialect::Xml;
    let mut request = request(model);
    request.messages = conversation();
    for message in &mut request.messages {
        if let Message::Calls { calls, .. } = message {
            calls.truncate(1);
            calls[0].taught_name = name.to_owned();
            calls[0].arguments = object(arguments.clone());
        }
    }
    request
}

/// The texts of the messages after the prompt, with their roles.
fn tail(body: &Value) -> Vec<(String, String)> {
    let messages = body["messages"].as_array().expect("messages");
    let asked = messages.iter().position(|message| {
        let content = &message["content"];
        *content == "weather?"
    });
    let tail = messages[asked.expect("the prompt") + 1..].iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    tail.map(|message| (text(&message["role"]), text(&message["content"])))
        .collect()
}

#[test]
fn a_call_is_given_back_in_the_form_that_was_taught() {
    let arguments = json!({
        "city": "서울 <특별시> & \"co\"\n둘째 줄",
        "days": 2,
        "exact": true,
        "none": null,
        "at": {"x": [1, "둘"]},
    });
    let block = "<mcp-request>
  <tool name=\"web__get &quot;weather&quot;\" />
  <param name=\"city\">서울 &lt;특별시&gt; &amp; &quot;co&quot;
둘째 줄</param>
  <param name=\"days\">2</param>
  <param name=\"exact\">true</param>
  <param name=\"none\">null</param>
  <param name=\"at\">{&quot;x&quot;:[1,&quot;둘&quot;]}</param>
</mcp-request>";
    for (provider, body) in BODIES {
        let request = asks(provider, "web__get \"weather\"", arguments.clone());
        let body = body(&request, Adapted::default());
        let role = match provider {
            // It has no role for results.
            ProviderKind::Anthropic => "user",
            _ => "tool",
        };
        let expected = [
            ("assistant".to_owned(), block.to_owned()),
            (role.to_owned(), "Result of get weather".to_owned()),
        ];
        assert_eq!(tail(&body), expected, "{provider}");
        assert_eq!(body.get("tools"), None, "{provider}");
    }
}

#[test]
fn a_call_without_arguments_is_its_name_alone() {
    let expected = "<mcp-request>\n  <tool name=\"now\" />\n</mcp-request>";
    for (provider, body) in BODIES {
        let body = body(&asks(provider, "now", json!({})), Adapted::default());
        assert_eq!(tail(&body)[0].1, expected, "{provider}");
    }
}

#[test]
fn results_come_from_the_user_where_the_model_knows_no_role_for_them() {
    for (provider, body) in BODIES {
        let mut request = asks(provider, "now", json!({}));
        let mut model = (*request.model).clone();
        model.tool_role = Some(ToolRole::User);
        request.model = model.into();
        let body = body(&request, Adapted::default());
        let expected = ("user".to_owned(), "Result of get weather".to_owned());
        assert_eq!(tail(&body)[1], expected, "{provider}");
    }
}

#[test]
fn what_is_written_is_read_back_as_the_same_call() {
    let schema = json!({"type": "object", "properties": {
        "text": {"type": "string"}, "count": {"type": "integer"}, "exact": {"type": "boolean"},
        "list": {"type": "array"}, "map": {"type": "object"},
    }});
    let arguments = json!({
        "text": "</param>\n<tool name=\"g\" /> & \"5\" &amp;lt; 값 \\",
        "count": 5,
        "exact": false,
        "list": [1, {"a": "<b>"}],
        "map": {"x": null, "y": "]]>"},
    });
    let server =
        |name: &str| fixtures::server(name, vec![fixtures::tool_with("f", schema.clone())]);
    let (a, b) = (server("a"), server("b"));
    for (servers, name, of) in [(vec![&a], "f", "a"), (vec![&a, &b], "b__f", "b")] {
        let offered = Arc::new(Offered::from_servers(servers));
        for (provider, body) in BODIES {
            let request = asks(provider, name, arguments.clone());
            let written = tail(&body(&request, Adapted::default()))[0].1.clone();
            let mut scanner = CallScanner::new(Arc::clone(&offered));
            let mut pieces = scanner.push(&written);
            pieces.extend(scanner.finish());
            let calls: Vec<_> = pieces
                .into_iter()
                .filter_map(|piece| match piece {
                    ScanEvent::Call(call) => {
                        Some((call.server.to_string(), call.tool, call.arguments))
                    }
                    _ => None,
                })
                .collect();
            let expected = (of.to_owned(), "f".to_owned(), object(arguments.clone()));
            assert_eq!(calls, [expected], "{provider}: {written}");
        }
    }
}
