//! Sampling: a server asks for an answer from the user's model, and may offer tools that it runs
//! itself. The model gets only texts, the tools' definitions, and the calls and results of these
//! tools; everything else in the request is left out and counted. Pure.

mod parts;
mod sections;

pub use parts::{SampledCall, SamplingMessage, SamplingPart};
pub use sections::SamplingSection;

use super::Tool;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Upper limit for the answer, in tokens, even if the server asks for more.
pub const SAMPLING_TOKENS_MAX: u32 = 4_096;
const MESSAGES_MAX: usize = 100;
const TOOLS_MAX: usize = 50;
/// Maximum size of everything that the model would get, in bytes. The user has to read it.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// A request for an answer from the model. All texts are the server's, unsanitized.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingRequest {
    pub system_prompt: Option<String>,
    pub messages: Vec<SamplingMessage>,
    /// Tools that the model may call. The server runs them, with the arguments in the answer.
    pub tools: Vec<Arc<Tool>>,
    /// Limit for the answer, at most [`SAMPLING_TOKENS_MAX`].
    pub tokens_max: u32,
    /// The temperature that the server wants, from 0 to 2; `None` for the default.
    pub temperature: Option<f64>,
    /// Parts of the request that are not sent to the model, such as `2 images`.
    pub left_out: Vec<String>,
}

/// The model's answer: a text, calls of the server's tools, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledAnswer {
    /// The name of the model in the settings.
    pub model: String,
    pub text: String,
    pub calls: Vec<SampledCall>,
    /// The answer reached its token limit.
    pub is_cut_off: bool,
}

impl SamplingRequest {
    /// Reads the `params` of `sampling/createMessage`.
    ///
    /// # Errors
    /// Why the request cannot be shown or answered, as a clause for the server and the user.
    pub fn from_params(params: &Value) -> Result<Self, String> {
        let system_prompt = params.get("systemPrompt").and_then(Value::as_str);
        let messages = params.get("messages").and_then(Value::as_array);
        let messages = messages.ok_or("it has no `messages`")?;
        if messages.len() > MESSAGES_MAX {
            let count = messages.len();
            return Err(format!("it has {count} messages, more than {MESSAGES_MAX}"));
        }
        let mut left_out = BTreeMap::new();
        let messages = parts::read_messages(messages, &mut left_out)?;
        if messages.is_empty() {
            let parts: Vec<String> = left_out.into_iter().map(counted).collect();
            let only = match parts.is_empty() {
                true => String::new(),
                false => format!(", only {}", parts.join(", ")),
            };
            return Err(format!("it has no text for the model{only}"));
        }
        let stops = params.get("stopSequences").and_then(Value::as_array);
        if let Some(stops) = stops.filter(|stops| !stops.is_empty()) {
            left_out.insert("stop sequence", stops.len());
        }
        let mut left_out: Vec<String> = left_out.into_iter().map(counted).collect();
        let context = params.get("includeContext").and_then(Value::as_str);
        if context.is_some_and(|context| context != "none") {
            left_out.push("the conversation, which the server wants included".to_owned());
        }
        let tools = read_tools(params, &mut left_out)?;
        let temperature = params.get("temperature").and_then(Value::as_f64);
        // Some servers write whole numbers with a decimal point. The conversion saturates.
        let tokens_max = params.get("maxTokens").and_then(Value::as_f64);
        let tokens_max = tokens_max.map(|count| count as u32);
        let request = Self {
            system_prompt: system_prompt.map(str::to_owned),
            messages,
            tools,
            tokens_max: tokens_max
                .unwrap_or(SAMPLING_TOKENS_MAX)
                .clamp(1, SAMPLING_TOKENS_MAX),
            temperature: temperature.map(|wanted| wanted.clamp(0.0, 2.0)),
            left_out,
        };
        let bytes: usize = request.sections().map(|section| section.text.len()).sum();
        if bytes > TEXT_BYTES_MAX {
            let limit = TEXT_BYTES_MAX / 1024;
            return Err(format!("its texts are larger than {limit} KiB"));
        }
        Ok(request)
    }

    /// The limit and the temperature, as a phrase such as `of up to 100 tokens at temperature 0.5`.
    pub fn parameters_text(&self) -> String {
        let temperature = self.temperature;
        let temperature = temperature.map(|it| format!(" at temperature {it}"));
        let tokens = match self.tokens_max {
            1 => "1 token".to_owned(),
            count => format!("{count} tokens"),
        };
        format!("of up to {tokens}{}", temperature.unwrap_or_default())
    }
}

/// The tools of a request; none if its `toolChoice` forbids calls. No provider is told that the model
/// must call one.
fn read_tools(params: &Value, left_out: &mut Vec<String>) -> Result<Vec<Arc<Tool>>, String> {
    let definitions = match params.get("tools") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(definitions)) => definitions,
        Some(_) => return Err("its `tools` are not a list".to_owned()),
    };
    match params.pointer("/toolChoice/mode").and_then(Value::as_str) {
        Some("none") => return Ok(Vec::new()),
        Some("required") => left_out.push("the demand that the model call a tool".to_owned()),
        _ => {}
    }
    if definitions.len() > TOOLS_MAX {
        let count = definitions.len();
        return Err(format!("it has {count} tools, more than {TOOLS_MAX}"));
    }
    let mut tools: Vec<Arc<Tool>> = Vec::new();
    for definition in definitions {
        let tool = Tool::from_definition(definition).map_err(tool_error)?;
        if tools.iter().any(|other| other.name == tool.name) {
            return Err(format!("it has two tools named `{}`", tool.name));
        }
        tools.push(Arc::new(tool));
    }
    Ok(tools)
}

/// Turns the reason why a definition cannot be read into a clause about the request.
fn tool_error(why: String) -> String {
    match why.strip_prefix("tool ") {
        Some(rest) => format!("its tool {rest}"),
        None => format!("it has {why}"),
    }
}

fn counted((name, count): (&str, usize)) -> String {
    match count {
        1 => format!("1 {name}"),
        count => format!("{count} {name}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(params: &Value) -> SamplingRequest {
        SamplingRequest::from_params(params).expect("a valid request")
    }

    #[test]
    fn a_sampling_request_keeps_texts_clamps_limits_and_counts_omissions() {
        let image = json!({ "type": "image", "data": "AA==", "mimeType": "image/png" });
        let request = request(&json!({
            "systemPrompt": "Be brief.",
            "messages": [
                { "role": "user", "content": { "type": "text", "text": "What is this?" } },
                { "role": "user", "content": [image, image, { "type": "text", "text": "And this?" }] },
                { "role": "assistant", "content": { "type": "text", "text": "A cat." } },
            ],
            "maxTokens": 1_000_000,
            "includeContext": "allServers",
            "temperature": 7,
            "stopSequences": ["END"],
        }));
        let message = |is_from_assistant, text: &str| SamplingMessage {
            is_from_assistant,
            parts: vec![SamplingPart::Text(text.to_owned())],
        };
        assert_eq!(
            request,
            SamplingRequest {
                system_prompt: Some("Be brief.".to_owned()),
                messages: vec![
                    message(false, "What is this?"),
                    message(false, "And this?"),
                    message(true, "A cat."),
                ],
                tools: Vec::new(),
                tokens_max: SAMPLING_TOKENS_MAX,
                temperature: Some(2.0),
                left_out: [
                    "2 images",
                    "1 stop sequence",
                    "the conversation, which the server wants included",
                ]
                .map(str::to_owned)
                .to_vec(),
            }
        );
    }

    fn tool(name: &str) -> Value {
        json!({ "name": name, "inputSchema": { "type": "object" } })
    }

    #[test]
    fn tools_are_offered_unless_the_server_forbids_calls() {
        let params = |mode: &str| {
            json!({
                "messages": [{ "role": "user", "content": { "type": "text", "text": "Add." } }],
                "tools": [tool("add")],
                "toolChoice": { "mode": mode },
            })
        };
        let names = |request: &SamplingRequest| -> Vec<String> {
            request.tools.iter().map(|tool| tool.name.clone()).collect()
        };
        assert_eq!(names(&request(&params("auto"))), ["add"]);
        assert_eq!(names(&request(&params("none"))), Vec::<String>::new());
        let required = request(&params("required"));
        assert_eq!(names(&required), ["add"]);
        assert_eq!(required.left_out, ["the demand that the model call a tool"]);
    }

    #[test]
    fn unusable_sampling_requests_are_refused() {
        let text =
            |text: &str| json!({ "role": "user", "content": { "type": "text", "text": text } });
        for (params, why) in [
            (json!({}), "it has no `messages`"),
            (json!({ "messages": [] }), "it has no text for the model"),
            (
                json!({ "messages": [{ "role": "user", "content": { "type": "image" } }] }),
                "it has no text for the model, only 1 image",
            ),
            (
                json!({ "messages": vec![text("a"); 101] }),
                "it has 101 messages, more than 100",
            ),
            (
                json!({ "messages": [text(&"x".repeat(70_000))] }),
                "its texts are larger than 64 KiB",
            ),
            (
                json!({ "messages": [text("a")], "tools": {} }),
                "its `tools` are not a list",
            ),
            (
                json!({ "messages": [text("a")], "tools": [{ "name": "add" }] }),
                "its tool `add` has no inputSchema",
            ),
            (
                json!({ "messages": [text("a")], "tools": [tool("add"), tool("add")] }),
                "it has two tools named `add`",
            ),
            (
                json!({ "messages": [text("a")], "tools": vec![tool(&"x".repeat(2_000)); 51] }),
                "it has 51 tools, more than 50",
            ),
        ] {
            let refused = SamplingRequest::from_params(&params).expect_err("refused");
            assert_eq!(refused, why);
        }
    }
}
