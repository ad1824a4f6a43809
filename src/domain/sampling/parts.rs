//! The parts of a sampling message that are sent to the model.

use crate::domain::Arguments;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

#[derive(Debug, Clone, PartialEq)]
pub struct SamplingMessage {
    pub is_from_assistant: bool,
    pub parts: Vec<SamplingPart>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SamplingPart {
    /// The texts of the message, one per paragraph.
    Text(String),
    Call(SampledCall),
    Result {
        call_id: String,
        tool: String,
        text: String,
        is_error: bool,
    },
}

/// A call of one of the server's tools, which the server runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledCall {
    pub id: String,
    pub tool: String,
    pub arguments: Arguments,
}

impl SampledCall {
    /// The arguments as indented JSON.
    pub fn arguments_text(&self) -> String {
        format!("{:#}", Value::from(self.arguments.clone()))
    }
}

/// Parts that are left out, with their number.
type LeftOut = BTreeMap<&'static str, usize>;

/// Messages without any part for the model are dropped. The error is a clause: a call or a
/// result cannot be read, or one comes without the other.
pub(super) fn read_messages(
    messages: &[Value],
    left_out: &mut LeftOut,
) -> Result<Vec<SamplingMessage>, String> {
    // Model servers reject a conversation in which a call has no result right after it.
    let mut open_calls = HashMap::new();
    let mut read = Vec::new();
    for message in messages {
        let is_from_assistant = message.get("role").and_then(Value::as_str) == Some("assistant");
        let parts = read_parts(message, &mut open_calls, left_out)?;
        let has_calls = parts
            .iter()
            .any(|part| matches!(part, SamplingPart::Call(_)));
        if has_calls && !is_from_assistant {
            return Err("it has a tool call that is not the assistant's".to_owned());
        }
        if !has_calls && !open_calls.is_empty() {
            return Err("it has a tool call without a result".to_owned());
        }
        if !parts.is_empty() {
            read.push(SamplingMessage {
                is_from_assistant,
                parts,
            });
        }
    }
    match open_calls.is_empty() {
        true => Ok(read),
        false => Err("it has a tool call without a result".to_owned()),
    }
}

/// Reads the parts of a message and counts those that are left out. Calls are added to `open_calls`,
/// with the name of their tool by id; results are removed from it.
fn read_parts(
    message: &Value,
    open_calls: &mut HashMap<String, String>,
    left_out: &mut LeftOut,
) -> Result<Vec<SamplingPart>, String> {
    let (mut texts, mut parts) = (Vec::new(), Vec::new());
    for part in content_blocks(message.get("content")) {
        let text = |key: &str| part.get(key).and_then(Value::as_str);
        match text("type") {
            Some("text") if text("text").is_some() => texts.extend(text("text")),
            Some("tool_use") => {
                let call = text("id").zip(text("name"));
                let (id, tool) = call.ok_or("it has a tool call without an id or a name")?;
                let arguments = part.get("input").and_then(Value::as_object).cloned();
                if open_calls.insert(id.to_owned(), tool.to_owned()).is_some() {
                    return Err("it has two tool calls with the same id".to_owned());
                }
                parts.push(SamplingPart::Call(SampledCall {
                    id: id.to_owned(),
                    tool: tool.to_owned(),
                    arguments: arguments.unwrap_or_default().into(),
                }));
            }
            Some("tool_result") => {
                let open = text("toolUseId").and_then(|id| open_calls.remove_entry(id));
                let (call_id, tool) = open.ok_or("it has a result without its tool call")?;
                let is_error = part.get("isError").and_then(Value::as_bool);
                parts.push(SamplingPart::Result {
                    call_id,
                    tool,
                    text: result_text(part, left_out),
                    is_error: is_error.unwrap_or_default(),
                });
            }
            kind => *left_out.entry(name_of_other_part(kind)).or_default() += 1,
        }
    }
    let text = texts.join("\n\n");
    if !text.is_empty() {
        // Before calls, and after results, which must directly follow their calls.
        let starts_with_results = matches!(parts.first(), Some(SamplingPart::Result { .. }));
        let position = if starts_with_results { parts.len() } else { 0 };
        parts.insert(position, SamplingPart::Text(text));
    }
    Ok(parts)
}

/// The texts of a result, or its structured content if it has none.
fn result_text(result: &Value, left_out: &mut LeftOut) -> String {
    let mut texts = Vec::new();
    for part in content_blocks(result.get("content")) {
        match part.get("text").and_then(Value::as_str) {
            Some(text) => texts.push(text),
            None => {
                let kind = part.get("type").and_then(Value::as_str);
                *left_out.entry(name_of_other_part(kind)).or_default() += 1;
            }
        }
    }
    match result.get("structuredContent") {
        Some(structured) if texts.is_empty() => structured.to_string(),
        _ => texts.join("\n\n"),
    }
}

/// The content of a message or a result, which may be one block or several.
fn content_blocks(content: Option<&Value>) -> &[Value] {
    match content {
        Some(Value::Array(blocks)) => blocks,
        Some(block) => std::slice::from_ref(block),
        None => &[],
    }
}

fn name_of_other_part(kind: Option<&str>) -> &'static str {
    match kind {
        Some("image") => "image",
        Some("audio") => "audio recording",
        Some("resource" | "resource_link") => "resource",
        _ => "unknown part",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(id: &str) -> Value {
        json!({ "type": "tool_use", "id": id, "name": "add", "input": { "a": 1 } })
    }

    fn result(id: &str) -> Value {
        let content = json!([{ "type": "text", "text": "3" }, { "type": "image" }]);
        json!({ "type": "tool_result", "toolUseId": id, "content": content, "isError": true })
    }

    fn text(text: &str) -> Value {
        json!({ "type": "text", "text": text })
    }

    fn read(messages: &[(&str, &[Value])]) -> Result<(Vec<SamplingMessage>, LeftOut), String> {
        let messages = messages.iter();
        let messages = messages.map(|(role, content)| json!({ "role": role, "content": content }));
        let mut left_out = LeftOut::new();
        let read = read_messages(&messages.collect::<Vec<_>>(), &mut left_out)?;
        Ok((read, left_out))
    }

    #[test]
    fn calls_follow_the_text_of_their_message_and_results_precede_it() {
        let assistant = [call("1"), text("I add.")];
        let user = [text("And now?"), result("1")];
        let (messages, left_out) =
            read(&[("assistant", &assistant), ("user", &user)]).expect("readable");
        let part = SampledCall {
            id: "1".to_owned(),
            tool: "add".to_owned(),
            arguments: json!({ "a": 1 })
                .as_object()
                .cloned()
                .unwrap_or_default()
                .into(),
        };
        assert_eq!(
            messages,
            [
                SamplingMessage {
                    is_from_assistant: true,
                    parts: vec![
                        SamplingPart::Text("I add.".to_owned()),
                        SamplingPart::Call(part)
                    ],
                },
                SamplingMessage {
                    is_from_assistant: false,
                    parts: vec![
                        SamplingPart::Result {
                            call_id: "1".to_owned(),
                            tool: "add".to_owned(),
                            text: "3".to_owned(),
                            is_error: true,
                        },
                        SamplingPart::Text("And now?".to_owned()),
                    ],
                },
            ]
        );
        assert_eq!(left_out, LeftOut::from([("image", 1)]));
    }

    #[test]
    fn unpaired_or_malformed_calls_and_results_are_refused() {
        let no_result = "it has a tool call without a result";
        for (messages, why) in [
            (vec![("assistant", vec![call("1")])], no_result),
            (
                vec![
                    ("assistant", vec![call("1"), call("2")]),
                    ("user", vec![result("1")]),
                ],
                no_result,
            ),
            (
                vec![
                    ("assistant", vec![call("1")]),
                    ("user", vec![text("Go on.")]),
                    ("user", vec![result("1")]),
                ],
                no_result,
            ),
            (
                vec![
                    ("assistant", vec![call("1"), call("1")]),
                    ("user", vec![result("1")]),
                ],
                "it has two tool calls with the same id",
            ),
            (
                vec![("user", vec![result("1")])],
                "it has a result without its tool call",
            ),
            (
                vec![("user", vec![call("1")])],
                "it has a tool call that is not the assistant's",
            ),
            (
                vec![("assistant", vec![json!({ "type": "tool_use", "id": "1" })])],
                "it has a tool call without an id or a name",
            ),
        ] {
            let messages: Vec<_> = messages
                .iter()
                .map(|(role, content)| (*role, content.as_slice()))
                .collect();
            assert_eq!(read(&messages).expect_err("refused"), why);
        }
    }
}
