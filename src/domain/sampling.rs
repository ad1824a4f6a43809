//! Sampling: a server asks for an answer from the user's model. Only texts are sent to the model;
//! everything else in the request is left out and counted. Pure.

use serde_json::Value;
use std::collections::BTreeMap;

/// Upper limit for the answer, in tokens, even if the server asks for more.
pub const SAMPLING_TOKENS_MAX: u32 = 4_096;
/// Maximum number of messages in a request.
const MESSAGES_MAX: usize = 100;
/// Maximum size of all texts of a request, in bytes. The user has to read them.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// A request for an answer from the model. All texts are the server's, unsanitized.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingRequest {
    pub system_prompt: Option<String>,
    pub messages: Vec<SamplingMessage>,
    /// Limit for the answer, at most [`SAMPLING_TOKENS_MAX`].
    pub tokens_max: u32,
    /// The temperature that the server wants, from 0 to 2; `None` for the default.
    pub temperature: Option<f64>,
    /// Parts of the request that are not sent to the model, such as `2 images`.
    pub left_out: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplingMessage {
    pub is_from_assistant: bool,
    pub text: String,
}

/// The model's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledAnswer {
    /// The name of the model in the settings.
    pub model: String,
    pub text: String,
    /// The answer reached its token limit.
    pub is_cut_off: bool,
}

impl SamplingRequest {
    /// Reads the `params` of `sampling/createMessage`.
    ///
    /// # Errors
    /// Why the request cannot be shown or answered, as a clause for the server and the user.
    pub fn from_params(params: &Value) -> Result<Self, String> {
        // The specification demands an error, because the client does not declare support for tools.
        let mut unsupported = ["tools", "toolChoice"].into_iter();
        if let Some(key) = unsupported.find(|key| params.get(key).is_some_and(|it| !it.is_null())) {
            return Err(format!(
                "it has `{key}`, but sampling with tools is not supported"
            ));
        }
        let system_prompt = params.get("systemPrompt").and_then(Value::as_str);
        let messages = params.get("messages").and_then(Value::as_array);
        let messages = messages.ok_or("it has no `messages`")?;
        if messages.len() > MESSAGES_MAX {
            let count = messages.len();
            return Err(format!("it has {count} messages, more than {MESSAGES_MAX}"));
        }
        let mut left_out = BTreeMap::new();
        let read = messages.iter().map(|message| SamplingMessage {
            is_from_assistant: message.get("role").and_then(Value::as_str) == Some("assistant"),
            text: message_text(message, &mut left_out),
        });
        let messages: Vec<_> = read.filter(|message| !message.text.is_empty()).collect();
        if messages.is_empty() {
            let parts: Vec<String> = left_out.into_iter().map(counted).collect();
            let only = match parts.is_empty() {
                true => String::new(),
                false => format!(", only {}", parts.join(", ")),
            };
            return Err(format!("it has no text for the model{only}"));
        }
        let texts = messages.iter().map(|message| message.text.len());
        let bytes = texts.sum::<usize>() + system_prompt.map_or(0, str::len);
        if bytes > TEXT_BYTES_MAX {
            let limit = TEXT_BYTES_MAX / 1024;
            return Err(format!("its texts are larger than {limit} KiB"));
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
        let temperature = params.get("temperature").and_then(Value::as_f64);
        let tokens_max = params.get("maxTokens").and_then(Value::as_u64);
        let tokens_max = tokens_max.and_then(|count| u32::try_from(count).ok());
        Ok(Self {
            system_prompt: system_prompt.map(str::to_owned),
            messages,
            tokens_max: tokens_max
                .unwrap_or(SAMPLING_TOKENS_MAX)
                .clamp(1, SAMPLING_TOKENS_MAX),
            temperature: temperature.map(|wanted| wanted.clamp(0.0, 2.0)),
            left_out,
        })
    }

    /// The limit and the temperature, as a phrase such as `of up to 100 tokens at temperature 0.5`.
    pub fn parameters_text(&self) -> String {
        let temperature = self.temperature;
        let temperature = temperature.map(|it| format!(" at temperature {it}"));
        format!(
            "of up to {} tokens{}",
            self.tokens_max,
            temperature.unwrap_or_default()
        )
    }
}

/// The texts of a message, one per paragraph. Counts the parts that are not text.
fn message_text(message: &Value, left_out: &mut BTreeMap<&'static str, usize>) -> String {
    let parts = match message.get("content") {
        Some(Value::Array(parts)) => parts.as_slice(),
        Some(part) => std::slice::from_ref(part),
        None => &[],
    };
    let mut texts = Vec::new();
    for part in parts {
        let kind = part.get("type").and_then(Value::as_str);
        match (kind, part.get("text").and_then(Value::as_str)) {
            (Some("text"), Some(text)) => texts.push(text),
            (Some("image"), _) => *left_out.entry("image").or_default() += 1,
            (Some("audio"), _) => *left_out.entry("audio recording").or_default() += 1,
            (Some("tool_use"), _) => *left_out.entry("tool call").or_default() += 1,
            (Some("tool_result"), _) => *left_out.entry("tool result").or_default() += 1,
            _ => *left_out.entry("unknown part").or_default() += 1,
        }
    }
    texts.join("\n\n")
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
    fn texts_are_kept_and_everything_else_is_counted() {
        let image = json!({ "type": "image", "data": "AA==", "mimeType": "image/png" });
        let request = request(&json!({
            "systemPrompt": "Be brief.",
            "messages": [
                { "role": "user", "content": { "type": "text", "text": "What is this?" } },
                { "role": "user", "content": [image, image, { "type": "text", "text": "And this?" }] },
                { "role": "assistant", "content": { "type": "text", "text": "A cat." } },
                { "role": "user", "content": { "type": "tool_result", "toolUseId": "1" } },
            ],
            "maxTokens": 1_000_000,
            "includeContext": "allServers",
            "temperature": 7,
            "stopSequences": ["END"],
        }));
        let message = |is_from_assistant, text: &str| SamplingMessage {
            is_from_assistant,
            text: text.to_owned(),
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
                tokens_max: SAMPLING_TOKENS_MAX,
                temperature: Some(2.0),
                left_out: [
                    "2 images",
                    "1 stop sequence",
                    "1 tool result",
                    "the conversation, which the server wants included",
                ]
                .map(str::to_owned)
                .to_vec(),
            }
        );
    }

    #[test]
    fn unusable_requests_are_refused() {
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
                json!({ "messages": [text("a")], "tools": [] }),
                "it has `tools`, but sampling with tools is not supported",
            ),
        ] {
            let refused = SamplingRequest::from_params(&params).expect_err("refused");
            assert_eq!(refused, why);
        }
    }
}
