//! Whether the final answer to a call is a result of `tools/call`. Pure.

use crate::mcp::tasks::CreatedTask;
use serde_json::Value;

/// Maximum number of characters quoted of an answer.
const QUOTED_CHARS_MAX: usize = 200;

/// What the server sent instead of a result of `tools/call`, as a sentence. `None` if the answer is
/// one. `{}` is one too: both protocols require `content`, but many clients and servers treat a
/// missing list as empty.
///
/// A request for input and a new task are valid answers only while a call is running, so here they
/// are errors.
pub fn invalid_result_text(result: &Value, is_modern: bool) -> Option<String> {
    let Some(fields) = result.as_object() else {
        let quoted = quote(result);
        return Some(format!(
            "The server answered with {quoted}, which is not a tool result."
        ));
    };
    if CreatedTask::from_result(result).is_some() {
        let text = "The server's task ended with another task instead of a tool result.";
        return Some(text.to_owned());
    }
    // Legacy results may have any additional field.
    let has_contents = fields.contains_key("content") || fields.contains_key("structuredContent");
    if !is_modern && has_contents {
        return None;
    }
    match fields.get("resultType") {
        None | Some(Value::Null) => None,
        Some(Value::String(kind)) if kind == "complete" => None,
        Some(Value::String(kind)) if kind == "input_required" => Some(
            "The server's task ended with a request for input instead of a tool result.".to_owned(),
        ),
        Some(kind) => {
            let quoted = quote(kind);
            Some(format!(
                "The server answered with the unknown `resultType` {quoted} instead of a tool result."
            ))
        }
    }
}

fn quote(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(QUOTED_CHARS_MAX) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_that_is_not_an_object_is_quoted_in_the_error() {
        for (answer, quoted) in [
            (json!("x"), "`\"x\"`"),
            (json!(5), "`5`"),
            (json!(null), "`null`"),
            (json!(true), "`true`"),
            (json!([]), "`[]`"),
        ] {
            let expected =
                format!("The server answered with {quoted}, which is not a tool result.");
            for is_modern in [true, false] {
                assert_eq!(
                    invalid_result_text(&answer, is_modern),
                    Some(expected.clone())
                );
            }
        }
        let long = json!("엉".repeat(1 << 20));
        let text = invalid_result_text(&long, true).expect("an error");
        assert!(text.chars().count() < QUOTED_CHARS_MAX + 100, "{text}");
    }

    #[test]
    fn unknown_result_types_and_nested_tasks_are_errors() {
        let text = |result: Value| invalid_result_text(&result, true);
        assert_eq!(
            text(json!({ "resultType": "hologram", "content": [] })).as_deref(),
            Some(
                "The server answered with the unknown `resultType` `\"hologram\"` instead of a tool \
                 result."
            )
        );
        assert!(text(json!({ "resultType": 5 })).is_some());
        assert!(text(json!({ "resultType": "input_required" })).is_some());
        for nested in [
            json!({ "resultType": "task", "taskId": "t", "status": "working" }),
            json!({ "task": { "taskId": "t" } }),
        ] {
            for is_modern in [true, false] {
                assert_eq!(
                    invalid_result_text(&nested, is_modern).as_deref(),
                    Some("The server's task ended with another task instead of a tool result.")
                );
            }
        }
    }

    #[test]
    fn objects_are_results_unless_a_modern_result_type_is_unknown() {
        for result in [
            json!({}),
            json!({ "content": [] }),
            json!({ "structuredContent": 5 }),
            json!({ "resultType": "complete", "content": [] }),
            json!({ "resultType": null }),
            json!({ "isError": true }),
        ] {
            assert_eq!(invalid_result_text(&result, true), None, "{result}");
            assert_eq!(invalid_result_text(&result, false), None, "{result}");
        }
        // The legacy protocol has no result types, but results may have any field.
        let legacy = json!({ "resultType": "table", "content": [] });
        assert_eq!(invalid_result_text(&legacy, false), None);
        assert!(invalid_result_text(&json!({ "resultType": "table" }), false).is_some());
    }
}
