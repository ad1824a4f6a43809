//! Renders a tool result as text for a model, item by item. Content other than text becomes a line
//! that describes it; the text of an embedded resource follows its line. Pure.

use crate::domain::audience::is_part_for_model;
use crate::domain::resource_link::link_line;
use serde_json::{Map, Value};

/// A longer text is not compared with the structured content, which is then shown too.
const COMPARED_BYTES_MAX: usize = 1 << 20;
/// Takes the place of a part that the model does not get.
const USER_ONLY_TEXT: &str = "[a part only for the user, who sees it]";

#[derive(Debug, PartialEq, Eq)]
pub struct RenderedResult {
    pub text: String,
    /// The parts that are not for the model.
    pub user_text: String,
    pub is_error: bool,
}

/// Renders a raw, complete result of `tools/call`.
pub fn render_result(result: &Value) -> RenderedResult {
    let (mut parts, mut user_parts) = (Vec::new(), Vec::new());
    let mut has_text = false;
    match result.get("content") {
        Some(Value::Array(items)) => {
            for item in items {
                if !is_part_for_model(item) {
                    parts.push(USER_ONLY_TEXT.to_owned());
                    user_parts.push(render_content(item));
                    continue;
                }
                has_text |= item.get("type").and_then(Value::as_str) == Some("text");
                parts.push(render_content(item));
            }
        }
        None | Some(Value::Null) => {}
        Some(_) => parts.push("[left out: content that is not a list]".to_owned()),
    }
    let structured = result.get("structuredContent");
    if let Some(structured) = structured.filter(|_| !has_text || !is_repeated(result)) {
        parts.push(structured.to_string());
    }
    if parts.is_empty() {
        parts.push("[the tool returned nothing]".to_owned());
    }
    RenderedResult {
        text: parts.join("\n"),
        user_text: user_parts.join("\n"),
        is_error: result.get("isError").is_some_and(is_flag_set),
    }
}

/// Reads a flag that should be a boolean. Some servers send text or a number, and a failure must not
/// pass for a success, so only an explicit no counts as one.
fn is_flag_set(flag: &Value) -> bool {
    match flag {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => {
            let text = text.trim().to_ascii_lowercase();
            !matches!(text.as_str(), "" | "false" | "no" | "0")
        }
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// Whether the structured content is empty or repeated in a text. Servers should send it as JSON
/// text too, for clients that do not support structured content.
fn is_repeated(result: &Value) -> bool {
    let structured = &result["structuredContent"];
    let is_empty = structured.is_null() || structured.as_object().is_some_and(Map::is_empty);
    let items = result["content"].as_array().into_iter().flatten();
    let items = items.filter(|item| is_part_for_model(item));
    let texts = items.filter_map(|item| item.get("text")?.as_str());
    let mut texts = texts.filter(|text| text.len() <= COMPARED_BYTES_MAX);
    is_empty
        || texts.any(|text| {
            let parsed = serde_json::from_str::<Value>(text).ok();
            let is_wrapped = |fields: &Map<String, Value>| {
                // FastMCP wraps a value that is not an object as `result`. The reference servers
                // wrap a text, mostly as `content`.
                let mut fields = fields.iter();
                let is_wrapped_text = |(name, inner): (&String, &Value)| {
                    (name == "result" || inner.is_string()) && is_value(inner, text)
                };
                fields.next().is_some_and(is_wrapped_text) && fields.next().is_none()
            };
            parsed.as_ref() == Some(structured) || structured.as_object().is_some_and(is_wrapped)
        })
}

/// Whether `text` is this value, as JSON or as plain text.
fn is_value(value: &Value, text: &str) -> bool {
    match value {
        Value::String(value) => value == text,
        other => serde_json::from_str::<Value>(text).is_ok_and(|parsed| parsed == *other),
    }
}

fn render_content(item: &Value) -> String {
    let text = |key: &str| item.get(key).and_then(Value::as_str);
    match text("type") {
        Some("text") => match text("text") {
            Some(text) => text.to_owned(),
            None => "[left out: text content without text]".to_owned(),
        },
        Some(kind @ ("image" | "audio")) => {
            let mime = text("mimeType").unwrap_or("unknown type");
            format!(
                "[{kind}: {mime}, {}]",
                decoded_size(text("data").unwrap_or(""))
            )
        }
        Some("resource") => match item.get("resource") {
            Some(resource) => render_resource(resource),
            None => "[left out: embedded resource without a resource]".to_owned(),
        },
        Some("resource_link") => render_link(item),
        Some(other) => format!("[left out: content of the unknown type `{other}`]"),
        None => "[left out: content without a type]".to_owned(),
    }
}

fn render_resource(resource: &Value) -> String {
    let text = |key: &str| resource.get(key).and_then(Value::as_str);
    let uri = text("uri").unwrap_or("no URI");
    match (text("text"), text("blob")) {
        (Some(text), _) => format!("[resource: {uri}]\n{text}"),
        (None, Some(blob)) => {
            let mime = text("mimeType").unwrap_or("unknown type");
            format!("[resource: {uri}, {mime}, {}]", decoded_size(blob))
        }
        (None, None) => format!("[resource: {uri}, without contents]"),
    }
}

pub fn render_link(item: &Value) -> String {
    let text = |key: &str| item.get(key).and_then(Value::as_str);
    let mut details = Vec::new();
    details.extend(text("title").or_else(|| text("name")));
    details.extend(text("mimeType"));
    details.extend(text("description"));
    link_line(text("uri").unwrap_or("no URI"), &details)
}

pub fn decoded_size(base64: &str) -> String {
    let digits = base64.trim_end_matches('=').len();
    let bytes = digits * 3 / 4;
    match bytes {
        1 => "1 byte".to_owned(),
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text_of(result: Value) -> String {
        render_result(&result).text
    }

    #[test]
    fn content_of_every_type_is_rendered_in_order() {
        let result = json!({ "content": [
            { "type": "text", "text": "안녕\u{1b}[0m" },
            { "type": "image", "mimeType": "image/png", "data": "AAAA" },
            { "type": "audio", "mimeType": "audio/wav", "data": "AA==" },
            { "type": "resource", "resource": { "uri": "file:///a", "text": "inside" } },
            { "type": "resource", "resource": { "uri": "file:///b", "mimeType": "x/y", "blob": "AAAA" } },
            { "type": "resource_link", "uri": "file:///c", "name": "c", "description": "third" },
            { "type": "hologram", "data": "?" },
            { "type": "text" }, "loose", { "type": "resource" },
        ] });
        assert_eq!(
            text_of(result).lines().collect::<Vec<_>>(),
            [
                "안녕\u{1b}[0m",
                "[image: image/png, 3 bytes]",
                "[audio: audio/wav, 1 byte]",
                "[resource: file:///a]",
                "inside",
                "[resource: file:///b, x/y, 3 bytes]",
                "[link: file:///c, c, third]",
                "[left out: content of the unknown type `hologram`]",
                "[left out: text content without text]",
                "[left out: content without a type]",
                "[left out: embedded resource without a resource]",
            ]
        );
    }

    #[test]
    fn parts_that_are_not_for_the_model_are_only_in_the_text_for_the_user() {
        let part = |text: &str, audience: Value| json!({ "type": "text", "text": text, "annotations": { "audience": audience } });
        let result = json!({
            "content": [
                part("both", json!(["user", "assistant"])), part("user", json!(["user"])),
                part("model", json!(["assistant"])), part("unclear", json!("user")),
                part(r#"{"a":1}"#, json!([])),
            ],
            "structuredContent": { "a": 1 },
        });
        let rendered = render_result(&result);
        let note = USER_ONLY_TEXT;
        let text = format!("both\n{note}\nmodel\nunclear\n{note}\n{{\"a\":1}}");
        assert_eq!(rendered.text, text);
        assert_eq!(rendered.user_text, "user\n{\"a\":1}");
    }

    #[test]
    fn structured_content_is_shown_unless_a_text_repeats_it() {
        let structured = json!({ "b": 1, "a": [2] });
        assert_eq!(
            text_of(json!({ "structuredContent": structured })),
            r#"{"b":1,"a":[2]}"#
        );
        let both = |structured: Value, text: &str| {
            let content = json!([{ "type": "text", "text": text }]);
            text_of(json!({ "structuredContent": structured, "content": content }))
        };
        assert_eq!(both(json!({}), "t"), "t");
        assert_eq!(both(json!(null), "t"), "t");
        assert_eq!(
            both(json!({ "a": [2], "b": 1 }), r#"{ "b": 1, "a": [2] }"#),
            r#"{ "b": 1, "a": [2] }"#
        );
        assert_eq!(both(json!({ "result": 42 }), "42"), "42");
        assert_eq!(both(json!({ "result": "맑음" }), "맑음"), "맑음");
        assert_eq!(both(json!({ "content": "안녕\n" }), "안녕\n"), "안녕\n");
        assert_eq!(both(json!({ "celsius": 21 }), "21"), "21\n{\"celsius\":21}");
        assert_eq!(
            both(json!({ "degrees": 21 }), "Warm."),
            "Warm.\n{\"degrees\":21}"
        );
    }

    #[test]
    fn errors_are_flagged_and_empty_results_get_a_placeholder() {
        let is_error = |flag: Value| render_result(&json!({ "isError": flag })).is_error;
        for flag in [
            json!(true),
            json!("true"),
            json!("yes"),
            json!(1),
            json!({}),
        ] {
            assert!(is_error(flag.clone()), "{flag}");
        }
        for flag in [
            json!(false),
            json!("False"),
            json!(""),
            json!(0),
            json!(null),
        ] {
            assert!(!is_error(flag.clone()), "{flag}");
        }
        for nothing in [json!({}), json!({ "content": [] }), json!(null), json!([1])] {
            assert_eq!(text_of(nothing), "[the tool returned nothing]");
        }
    }
}
