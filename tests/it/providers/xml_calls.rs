//! Earlier calls in the `xml` dialect, as sent back to each provider.

use crate::providers::hosted_request_bodies::body;
use crate::providers::request_bodies::{conversation, request};
use crate::support::fixtures::{self, model_config, object};
use humble::dialect::scan::{CallScanner, ScanEvent};
use humble::domain::model::ToolRole;
use humble::domain::{Dialect, Message, ProviderKind, Toolset};
use humble::provider::ChatRequest;
use humble::provider::parameter_fallback::ParameterFallback;
use serde_json::{Value, json};
use std::sync::Arc;

fn request_with_call(provider: ProviderKind, name: &str, arguments: Value) -> ChatRequest {
    let mut model = model_config(provider, "http://localhost:8080/v1");
    model.dialect = Dialect::Xml;
    let mut request = request(model);
    request.messages = conversation();
    for message in &mut request.messages {
        if let Message::ToolCalls { calls, .. } = message {
            calls.truncate(1);
            calls[0].xml_name = name.to_owned();
            calls[0].arguments = object(arguments.clone());
        }
    }
    request
}

/// Role and text of each message after the prompt.
fn messages_after_prompt(body: &Value) -> Vec<(String, String)> {
    let messages = body["messages"].as_array().expect("messages");
    let prompt = messages.iter().position(|message| {
        let content = &message["content"];
        *content == "weather?"
    });
    let later = messages[prompt.expect("the prompt") + 1..].iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    later
        .map(|message| (text(&message["role"]), text(&message["content"])))
        .collect()
}

#[test]
fn call_is_sent_back_in_the_taught_form() {
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
    for provider in ProviderKind::ALL {
        let request = request_with_call(provider, "web__get \"weather\"", arguments.clone());
        let body = body(&request, ParameterFallback::default());
        let role = match provider {
            // Anthropic has no role for results.
            ProviderKind::Anthropic => "user",
            _ => "tool",
        };
        let expected = [
            ("assistant".to_owned(), block.to_owned()),
            (role.to_owned(), "Result of get weather".to_owned()),
        ];
        assert_eq!(messages_after_prompt(&body), expected, "{provider}");
        assert_eq!(body.get("tools"), None, "{provider}");
    }
}

#[test]
fn call_without_arguments_is_only_its_name() {
    let expected = "<mcp-request>\n  <tool name=\"now\" />\n</mcp-request>";
    for provider in ProviderKind::ALL {
        let body = body(
            &request_with_call(provider, "now", json!({})),
            ParameterFallback::default(),
        );
        assert_eq!(messages_after_prompt(&body)[0].1, expected, "{provider}");
    }
}

#[test]
fn results_become_user_messages_if_the_model_has_no_tool_role() {
    for provider in ProviderKind::ALL {
        let mut request = request_with_call(provider, "now", json!({}));
        let mut model = (*request.model).clone();
        model.tool_role = Some(ToolRole::User);
        request.model = model.into();
        let body = body(&request, ParameterFallback::default());
        let expected = ("user".to_owned(), "Result of get weather".to_owned());
        assert_eq!(messages_after_prompt(&body)[1], expected, "{provider}");
    }
}

#[test]
fn rendered_call_is_parsed_back_as_the_same_call() {
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
    for (servers, name, server_name) in [(vec![&a], "f", "a"), (vec![&a, &b], "b__f", "b")] {
        let toolset = Arc::new(Toolset::from_servers(servers));
        for provider in ProviderKind::ALL {
            let request = request_with_call(provider, name, arguments.clone());
            let call_text = messages_after_prompt(&body(&request, ParameterFallback::default()))[0]
                .1
                .clone();
            let mut scanner = CallScanner::new(Arc::clone(&toolset));
            let mut events = scanner.push(&call_text);
            events.extend(scanner.finish());
            let calls: Vec<_> = events
                .into_iter()
                .filter_map(|event| match event {
                    ScanEvent::Call(call) => {
                        Some((call.server?.to_string(), call.tool, call.arguments))
                    }
                    _ => None,
                })
                .collect();
            let expected = (
                server_name.to_owned(),
                "f".to_owned(),
                object(arguments.clone()),
            );
            assert_eq!(calls, [expected], "{provider}: {call_text}");
        }
    }
}
