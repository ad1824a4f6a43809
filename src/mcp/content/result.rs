//! Decodes the results of `resources/read` and `completion/complete`. Pure.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

/// Maximum number of messages of a prompt, and of contents of a resource.
pub const PARTS_MAX: usize = 200;
/// Maximum number of completions, as in the protocol.
const VALUES_MAX: usize = 100;
const VALUE_BYTES_MAX: usize = 1_000;

/// A text or the decoded bytes of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceContents {
    /// A URI or a description, raw.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Decodes the result of `resources/read`.
///
/// # Errors
/// The result has no contents, too many, or some that cannot be decoded, or the server requires
/// input first.
pub fn resource_contents(result: &Value) -> Result<Vec<ResourceContents>, String> {
    reject_input_required(result)?;
    let items = result.get("contents").and_then(Value::as_array);
    let items = items.ok_or("the answer has no `contents`")?;
    match items.len() {
        0 => return Err("it has no contents".to_owned()),
        count if count > PARTS_MAX => {
            return Err(format!("it has {count} contents, more than {PARTS_MAX}"));
        }
        _ => {}
    }
    items.iter().map(decode_resource).collect()
}

pub fn decode_resource(resource: &Value) -> Result<ResourceContents, String> {
    let text = |key: &str| resource.get(key).and_then(Value::as_str);
    let name = text("uri").unwrap_or("resource without a URI").to_owned();
    let bytes = match (text("text"), text("blob")) {
        // NUL would make the attachment count as a binary file.
        (Some(text), _) => text.replace('\0', "\u{FFFD}").into_bytes(),
        (None, Some(blob)) => {
            decode_base64(blob).ok_or_else(|| format!("{name} cannot be decoded"))?
        }
        (None, None) => return Err(format!("{name} has neither text nor data")),
    };
    Ok(ResourceContents { name, bytes })
}

/// Accepts line breaks, which some servers insert.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    BASE64_STANDARD.decode(text).ok().or_else(|| {
        let joined: String = text.split_ascii_whitespace().collect();
        BASE64_STANDARD.decode(joined).ok()
    })
}

/// The completions of an argument; none if the result is invalid.
pub fn completion_values(result: &Value) -> Vec<String> {
    let values = result.pointer("/completion/values");
    let values = values.and_then(Value::as_array).into_iter().flatten();
    let values = values.filter_map(Value::as_str);
    let values = values.filter(|value| !value.is_empty() && value.len() <= VALUE_BYTES_MAX);
    values.take(VALUES_MAX).map(str::to_owned).collect()
}

pub fn reject_input_required(result: &Value) -> Result<(), String> {
    match result.get("resultType").and_then(Value::as_str) {
        Some("input_required") => Err("its server requires more input first".to_owned()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn resources_are_text_or_base64() {
        let result = json!({ "contents": [
            { "uri": "a", "text": "한" }, { "uri": "b", "blob": "AA\nAA" },
            { "uri": "c", "text": "a\0b" },
        ] });
        let contents = resource_contents(&result).expect("contents");
        assert_eq!(contents[0].bytes, "한".as_bytes());
        assert_eq!(contents[1].bytes, [0, 0, 0]);
        assert_eq!(contents[2].bytes, "a\u{FFFD}b".as_bytes());
        for result in [
            json!({ "contents": [] }),
            json!({ "contents": [{ "uri": "a", "blob": "?" }] }),
            json!({ "contents": [{}] }),
            json!({}),
        ] {
            assert!(resource_contents(&result).is_err(), "{result}");
        }
    }

    #[test]
    fn completions_of_a_server_are_bounded() {
        let values: Vec<_> = (0..1_000).map(|n| n.to_string()).collect();
        let result = json!({ "completion": { "values": values } });
        assert_eq!(completion_values(&result).len(), VALUES_MAX);
        let odd = json!({ "completion": { "values": ["a", 7, "", "x".repeat(2_000)] } });
        assert_eq!(completion_values(&odd), ["a"]);
        assert!(completion_values(&json!([])).is_empty());
    }
}
