//! The scripted model of `humble demo`. Its replies depend only on the request, and state that
//! they come from a script. It reads neither a clock nor a file: the time comes from the real
//! tool, once the user lets the tool run. The texts are in `assets/demo`.

use crate::domain::model::ApiKey;
use crate::domain::{Arguments, Dialect, Message, ModelConfig, ProviderKind, ToolResultMessage};
use crate::provider::{ChatRequest, Script, ScriptStep};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;
use std::time::Duration;

/// Prompts that the demo tour can type.
pub const QUESTION: &str = "What time is it in Seoul?";
pub const STORY: &str = "Tell me a long story.";
pub const CONNECT: &str = "How do I connect a real model?";

/// The typical delay of a small local model before its first word.
const FIRST_WORD_DELAY: Duration = Duration::from_millis(600);
/// Delays between two words: short for an answer, long enough to interrupt a story.
const ANSWER_WORD_DELAY: Duration = Duration::from_millis(25);
const STORY_WORD_DELAY: Duration = Duration::from_millis(60);

/// Places recognized in a prompt, and their time zones.
const PLACES: [(&str, &str); 12] = [
    ("seoul", "Asia/Seoul"),
    ("서울", "Asia/Seoul"),
    ("tokyo", "Asia/Tokyo"),
    ("london", "Europe/London"),
    ("berlin", "Europe/Berlin"),
    ("paris", "Europe/Paris"),
    ("madrid", "Europe/Madrid"),
    ("new york", "America/New_York"),
    ("san francisco", "America/Los_Angeles"),
    ("sydney", "Australia/Sydney"),
    ("singapore", "Asia/Singapore"),
    ("utc", "UTC"),
];

/// Time zones for the other rows of the time table.
const OTHER_ZONES: [&str; 4] = ["Asia/Seoul", "Europe/Berlin", "America/New_York", "UTC"];

pub fn model() -> ModelConfig {
    ModelConfig {
        name: "demo".to_owned(),
        model: "demo".to_owned(),
        provider: ProviderKind::Scripted,
        base_url: String::new(),
        api_key: ApiKey::NotNeeded,
        active: true,
        context_length: None,
        think: None,
        dialect: Dialect::Native,
        tool_role: None,
        vision: None,
        keep_alive: None,
        options: Default::default(),
        ca_file: None,
    }
}

/// The script that replaces a model server.
pub fn script() -> Script {
    Script::responding(respond)
}

fn respond(request: &ChatRequest) -> Vec<ScriptStep> {
    let messages = &request.messages;
    let prompt = messages.iter().rev().find_map(|message| match message {
        Message::User(text) => Some(text.as_str()),
        _ => None,
    });
    let prompt = prompt.unwrap_or_default();
    let mut steps = vec![ScriptStep::Wait(FIRST_WORD_DELAY)];
    match messages.last() {
        Some(Message::ToolResult(result)) => steps.extend(reply_to_tool(prompt, result)),
        _ => match Topic::from_prompt(prompt) {
            Topic::Time => steps.extend(call_get_time(prompt, request)),
            Topic::Story => steps.extend(text_steps(
                include_str!("../../assets/demo/story.md"),
                STORY_WORD_DELAY,
            )),
            Topic::Connect => {
                steps.extend(answer_steps(include_str!("../../assets/demo/connect.md")))
            }
            Topic::Other => steps.extend(answer_steps(include_str!("../../assets/demo/other.md"))),
        },
    }
    steps.push(ScriptStep::end());
    steps
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Topic {
    Time,
    Story,
    Connect,
    Other,
}

impl Topic {
    fn from_prompt(prompt: &str) -> Self {
        let prompt = prompt.to_lowercase();
        let contains_any = |words: &[&str]| words.iter().any(|word| prompt.contains(word));
        let mut words = prompt.split(|c: char| !c.is_alphanumeric());
        if contains_any(&["connect", "real model", "ollama"]) {
            Self::Connect
        } else if contains_any(&["story", "이야기"]) {
            Self::Story
        } else if contains_any(&["몇 시", "몇시", "시간"]) || words.any(|word| word == "time")
        {
            Self::Time
        } else {
            Self::Other
        }
    }
}

/// `None` if the prompt names no place. The tool then returns local time.
fn find_zone(prompt: &str) -> Option<&'static str> {
    let prompt = prompt.to_lowercase();
    let mut places = PLACES.iter();
    places
        .find(|(place, _)| prompt.contains(place))
        .map(|(_, zone)| *zone)
}

fn call_get_time(prompt: &str, request: &ChatRequest) -> Vec<ScriptStep> {
    let Some(tool) = request.tools.get(&"humble".into(), "get_time") else {
        return answer_steps(include_str!("../../assets/demo/no_tool.md"));
    };
    let zone = find_zone(prompt);
    let mut arguments = Arguments::new();
    if let Some(zone) = zone {
        arguments.insert("timezone".to_owned(), zone.into());
    }
    let argument_text = zone.unwrap_or("the local time, because I recognize no place");
    let thinking = include_str!("../../assets/demo/thinking.md")
        .replace("{place}", zone.map_or("some place", place_name))
        .replace("{argument}", argument_text);
    let mut steps = thinking_steps(&thinking);
    steps.push(ScriptStep::call(&tool.native_name, arguments));
    steps
}

/// The reply to a tool result or to a denial.
fn reply_to_tool(prompt: &str, result: &ToolResultMessage) -> Vec<ScriptStep> {
    let content = result.content.as_str();
    if let Some((_, reason)) = content.split_once("The user denied get_time from humble.") {
        let reason = match reason.trim() {
            "" => ".".to_owned(),
            reason => format!(". Your reason: {}", code_span(reason)),
        };
        return answer_steps(
            &include_str!("../../assets/demo/denied.md").replace("{reason}", &reason),
        );
    }
    match TimeResult::parse(content).filter(|_| !result.is_error) {
        Some(time) => {
            let mut steps = thinking_steps(
                &time.fill_template(include_str!("../../assets/demo/result.md"), prompt),
            );
            steps.extend(answer_steps(
                &time.fill_template(include_str!("../../assets/demo/time.md"), prompt),
            ));
            steps
        }
        None => {
            // The first line names the tool, and the last line instructs the model.
            let error_lines: Vec<&str> = content
                .lines()
                .skip(1)
                .take_while(|line| !line.starts_with("Call no other tool"))
                .collect();
            let quoted = error_lines.join("\n> ");
            answer_steps(&include_str!("../../assets/demo/failed.md").replace("{why}", &quoted))
        }
    }
}

/// The user's text as a code span, so that no part of it is rendered as Markdown. The fence is
/// longer than any run of backticks in the text.
fn code_span(text: &str) -> String {
    let runs = text.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0) + 1);
    // Markdown strips one space at either end.
    format!("{fence} {text} {fence}")
}

/// The fields of a `get_time` result, and the instant they describe.
struct TimeResult {
    date: String,
    time: String,
    zone: String,
    offset: String,
    moment: Timestamp,
}

impl TimeResult {
    fn parse(content: &str) -> Option<Self> {
        let json = &content[content.find('{')?..];
        let value: Value = serde_json::from_str(json).ok()?;
        let field = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
        let (date, time, offset) = (field("date")?, field("time")?, field("offset")?);
        let moment = format!("{date}T{time}{offset}").parse().ok()?;
        Some(Self {
            date,
            time,
            zone: field("zone")?,
            offset,
            moment,
        })
    }

    fn fill_template(&self, text: &str, prompt: &str) -> String {
        let mut parts = self.time.split(':');
        let mut next_part = || parts.next().unwrap_or_default();
        let (hour, minute) = (next_part(), next_part());
        let edit_remark = match find_zone(prompt) {
            Some(zone) if zone != self.zone => {
                format!("I had asked for `{zone}`, and you **edited** the call. ")
            }
            _ => String::new(),
        };
        text.replace("{edited}", &edit_remark)
            .replace("{table}", &self.time_table())
            .replace("{time}", &format!("{hour}:{minute}"))
            .replace("{hour}", hour)
            .replace("{minute}", minute)
            .replace("{place}", place_name(&self.zone))
            .replace("{date}", &self.date)
            .replace("{zone}", &self.zone)
            .replace("{offset}", &self.offset)
    }

    /// The same instant in this place and three others, as rows of a Markdown table.
    fn time_table(&self) -> String {
        let place = place_name(&self.zone);
        let time = self.time.get(..5).unwrap_or(&self.time);
        let first_row = format!(
            "| **{place}** | {} | **{time}** | {} |",
            self.date, self.offset
        );
        let other_zones = OTHER_ZONES.iter().filter(|zone| **zone != self.zone);
        let other_rows = other_zones.filter_map(|zone| {
            let local_time = self.moment.to_zoned(TimeZone::get(zone).ok()?);
            let cells = local_time.strftime("%Y-%m-%d | %H:%M | %:z");
            Some(format!("| {} | {cells} |", place_name(zone)))
        });
        std::iter::once(first_row)
            .chain(other_rows.take(3))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// The place of a time zone: New York for `America/New_York`.
fn place_name(zone: &str) -> &str {
    let entry = PLACES.iter().find(|(_, place_zone)| *place_zone == zone);
    match entry.map(|(place, _)| *place) {
        Some("new york") => "New York",
        Some("san francisco") => "San Francisco",
        _ => zone.rsplit('/').next().unwrap_or(zone),
    }
}

fn thinking_steps(text: &str) -> Vec<ScriptStep> {
    let words = split_words(text.trim_end());
    let steps = words.map(|word| {
        [
            ScriptStep::Wait(ANSWER_WORD_DELAY),
            ScriptStep::thinking(&word),
        ]
    });
    steps.flatten().collect()
}

fn answer_steps(text: &str) -> Vec<ScriptStep> {
    text_steps(text, ANSWER_WORD_DELAY)
}

fn text_steps(text: &str, word_delay: Duration) -> Vec<ScriptStep> {
    let words = split_words(text.trim_end());
    let steps = words.map(|word| [ScriptStep::Wait(word_delay), ScriptStep::text(&word)]);
    steps.flatten().collect()
}

/// Splits text into words that keep their trailing whitespace, so that nothing is lost.
fn split_words(text: &str) -> impl Iterator<Item = String> {
    let mut words: Vec<String> = Vec::new();
    for part in text.split_inclusive(char::is_whitespace) {
        match words.last_mut().filter(|_| part.trim().is_empty()) {
            Some(word) => word.push_str(part),
            None => words.push(part.to_owned()),
        }
    }
    words.into_iter()
}

#[cfg(test)]
mod tests;
