//! A sampling request as sections with headings. The front ends show them, so that the user sees
//! everything that the model would get.

use super::{SampledAnswer, SampledCall, SamplingPart, SamplingRequest};
use crate::domain::Tool;
use crate::text::Clean;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplingSection {
    pub heading: Clean,
    /// The server's or the model's text, unsanitized.
    pub text: String,
}

impl SamplingSection {
    fn new(heading: &'static str, text: &str) -> Self {
        Self {
            heading: Clean::from_static(heading),
            text: text.to_owned(),
        }
    }

    fn of_tool(before: &'static str, tool: &str, after: &'static str, text: String) -> Self {
        let mut heading = Clean::from_static(before);
        heading.append(&Clean::name(tool));
        heading.append(&Clean::from_static(after));
        Self { heading, text }
    }
}

impl SamplingRequest {
    /// Everything that the model would get, in order, with the tools at the end.
    pub fn sections(&self) -> impl Iterator<Item = SamplingSection> {
        let system = self.system_prompt.iter();
        let system = system.map(|text| SamplingSection::new("System:", text));
        let messages = self.messages.iter().flat_map(|message| {
            let speaker = match message.is_from_assistant {
                true => "Assistant:",
                false => "User:",
            };
            let parts = message.parts.iter();
            parts.map(move |part| part_section(speaker, part))
        });
        let tools = self.tools.iter().map(|tool| {
            let text = tool_text(tool);
            SamplingSection::of_tool("Tool of the server, ", &tool.name, ":", text)
        });
        system.chain(messages).chain(tools)
    }
}

impl SampledAnswer {
    /// The text and the calls.
    pub fn sections(&self) -> impl Iterator<Item = SamplingSection> {
        let text = (!self.text.is_empty()).then(|| SamplingSection::new("Text:", &self.text));
        text.into_iter().chain(self.calls.iter().map(call_section))
    }
}

fn part_section(speaker: &'static str, part: &SamplingPart) -> SamplingSection {
    match part {
        SamplingPart::Text(text) => SamplingSection::new(speaker, text),
        SamplingPart::Call(call) => call_section(call),
        SamplingPart::Result {
            tool,
            text,
            is_error,
            ..
        } => {
            let before = match is_error {
                true => "Error of ",
                false => "Result of ",
            };
            SamplingSection::of_tool(before, tool, ":", text.clone())
        }
    }
}

fn call_section(call: &SampledCall) -> SamplingSection {
    SamplingSection::of_tool("Call of ", &call.tool, ":", call.arguments_text())
}

fn tool_text(tool: &Tool) -> String {
    let schema = format!("{:#}", Value::from(tool.input_schema.clone()));
    match &tool.description {
        Some(description) => format!("{description}\n{schema}"),
        None => schema,
    }
}
