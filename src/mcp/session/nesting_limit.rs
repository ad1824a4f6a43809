//! Parses messages that are nested deeper than serde_json's recursion limit. Splits them into parts that
//! are parsed on their own, so that the rest is still read: the request id, and the other tools of a
//! list. Splitting has no limit of its own: serde_json skips a [`RawValue`] without recursion. Pure.

use crate::mcp::http::SYNTHETIC_ERROR_CODE;
use serde_json::value::RawValue;
use serde_json::{Map, Value, from_str, json};
use std::collections::BTreeMap;

/// Added to a tool definition that was nested too deep.
pub const TOO_DEEP_KEY: &str = "humble/nestedTooDeep";
pub const TOO_DEEP_TEXT: &str = "nested deeper than 128 levels";

/// Parses a message or a batch. A result that is too deep becomes an error; in a tool list only the
/// affected tools are marked; any other part that is too deep becomes null. `None` if `text` is not
/// JSON.
pub fn parse_in_parts(text: &str) -> Option<Value> {
    let Ok(batch) = from_str::<Vec<&RawValue>>(text) else {
        return parse_message(text);
    };
    let parse = |item: &RawValue| parse(item).or_else(|| parse_message(item.get()));
    let messages = batch
        .into_iter()
        .map(|item| parse(item).unwrap_or_default());
    Some(messages.collect())
}

fn parse_message(text: &str) -> Option<Value> {
    let error = || {
        let message = format!("The answer is {TOO_DEEP_TEXT}.");
        json!({ "code": SYNTHETIC_ERROR_CODE, "message": message })
    };
    let parse_member = |(key, part): (String, &RawValue)| match (&*key, parse(part)) {
        (_, Some(value)) => (key, value),
        ("result", None) => match parse_tool_list(part) {
            Some(list) => (key, list),
            None => ("error".to_owned(), error()),
        },
        ("error", None) => (key, parse_members(part).map_or_else(error, Value::Object)),
        (_, None) => (key, Value::Null),
    };
    Some(split(text)?.into_iter().map(parse_member).collect())
}

/// `None` if this is not a tool list, or if more than its tools is too deep.
fn parse_tool_list(result: &RawValue) -> Option<Value> {
    let mut parts = split(result.get())?;
    let tools: Vec<&RawValue> = from_str(parts.remove("tools")?.get()).ok()?;
    let tools = tools.into_iter().map(|tool| {
        parse(tool).or_else(|| {
            let mut marked = parse_members(tool)?;
            marked.insert(TOO_DEEP_KEY.to_owned(), true.into());
            Some(marked.into())
        })
    });
    let tools: Value = tools.collect::<Option<Vec<Value>>>()?.into();
    let parts = parts
        .into_iter()
        .map(|(key, part)| Some((key, parse(part)?)));
    let list = parts.chain([Some(("tools".to_owned(), tools))]);
    Some(Value::Object(list.collect::<Option<_>>()?))
}

/// The members of an object, with null for those that are too deep.
fn parse_members(object: &RawValue) -> Option<Map<String, Value>> {
    let parts = split(object.get())?.into_iter();
    Some(
        parts
            .map(|(key, part)| (key, parse(part).unwrap_or_default()))
            .collect(),
    )
}

fn split(object: &str) -> Option<BTreeMap<String, &RawValue>> {
    from_str(object).ok()
}

fn parse(part: &RawValue) -> Option<Value> {
    from_str(part.get()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> String {
        format!("{}\"}}]\\\"\"{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn a_result_nested_too_deeply_becomes_an_error_with_the_id_of_its_request() {
        let error = json!({ "code": 0, "message": "The answer is nested deeper than 128 levels." });
        let deep = nested(100_000);
        for result in [
            deep.clone(),
            format!("{{\"content\":[],\"structuredContent\":{deep},\"a\":{deep}}}"),
            format!("{{\"tools\":[{deep}]}}"),
            format!("{{\"tools\":{{\"x\":{deep}}}}}"),
            format!("{{\"tools\":[],\"_meta\":{deep}}}"),
        ] {
            for text in [
                format!(r#"{{"id":7,"error":[{result}]}}"#),
                format!(r#"{{"id":7,"result":{result}}}"#),
                format!(r#" {{ "result" : {result} , "id" : 7 }}"#),
            ] {
                let expected = json!({ "id": 7, "error": error });
                assert_eq!(parse_in_parts(&text), Some(expected));
            }
        }
    }

    #[test]
    fn only_the_too_deep_tools_of_a_list_are_marked() {
        let deep = nested(300);
        let text = format!(
            r#"{{"id":1,"result":{{"tools":[{{"name":"a","inputSchema":{{}}}},{{"x":{deep},"name":"b"}},{{"name":"c"}}],"nextCursor":"2"}}}}"#
        );
        let tools = json!([
            { "name": "a", "inputSchema": {} },
            { TOO_DEEP_KEY: true, "x": null, "name": "b" },
            { "name": "c" },
        ]);
        let expected = json!({ "id": 1, "result": { "tools": tools, "nextCursor": "2" } });
        assert_eq!(parse_in_parts(&text), Some(expected));
    }

    #[test]
    fn errors_keep_messages_requests_keep_methods_and_batches_keep_other_items() {
        let deep = nested(300);
        let text = format!(
            r#"[{{"error":{{"code":-1,"message":"no","data":{deep}}},"id":1}},{{"id":2,"result":{{"a":{deep}}}}},{{"id":3,"method":"ping","params":{{"a":{deep}}}}},{{"id":4,"result":{{}}}},{deep}]"#
        );
        let why = json!({ "code": 0, "message": "The answer is nested deeper than 128 levels." });
        let expected = json!([
            { "error": { "code": -1, "message": "no", "data": null }, "id": 1 },
            { "id": 2, "error": why },
            { "id": 3, "method": "ping", "params": null },
            { "id": 4, "result": {} },
            null,
        ]);
        assert_eq!(parse_in_parts(&text), Some(expected));
    }

    #[test]
    fn truncated_or_non_json_text_is_not_parsed() {
        for text in [
            "[".repeat(1_000_000),
            "{\"result\":".repeat(1_000_000),
            "]".repeat(1_000),
            format!("{{\"result\":{}", nested(300)).replace("]]", "]"),
            "\"".to_owned(),
            String::new(),
        ] {
            assert_eq!(parse_in_parts(&text), None);
        }
    }
}
