//! The scripted model of `humble demo`. It answers from the request alone and says that it is
//! a script. It reads no clock and no file: the time comes from the real tool, once the user
//! lets it run. Its texts are in `assets/demo`.

use crate::domain::model::ApiKey;
use crate::domain::{Arguments, Dialect, Message, ModelConfig, ProviderKind, ToolResultMessage};
use crate::provider::{ChatRequest, Script, ScriptStep};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;
use std::time::Duration;

/// Prompts that the guide can type.
pub const QUESTION: &str = "What time is it in Seoul?";
pub const STORY: &str = "Tell me a long story.";
pub const CONNECT: &str = "How do I connect a real model?";

/// The typical delay of a small local model before its first word.
const FIRST_WORD_DELAY: Duration = Duration::from_millis(600);
/// Delay between two words: fast for an answer, slow enough to stop a story.
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

/// The other rows of the time table.
const OTHER_ZONES: [&str; 4] = ["Asia/Seoul", "Europe/Berlin", "America/New_York", "UTC"];

/// The model configuration of the demo.
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
        Some(Message::ToolResult(result)) => steps.extend(after_tool(prompt, result)),
        _ => match Topic::from_prompt(prompt) {
            Topic::Time => steps.extend(call_get_time(prompt, request)),
            Topic::Story => steps.extend(text_steps(
                include_str!("../assets/demo/story.md"),
                STORY_WORD_DELAY,
            )),
            Topic::Connect => steps.extend(answer_steps(include_str!("../assets/demo/connect.md"))),
            Topic::Other => steps.extend(answer_steps(include_str!("../assets/demo/other.md"))),
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

/// The time zone of a place in the prompt. Without one, the tool returns local time.
fn find_zone(prompt: &str) -> Option<&'static str> {
    let prompt = prompt.to_lowercase();
    let mut places = PLACES.iter();
    places
        .find(|(place, _)| prompt.contains(place))
        .map(|(_, zone)| *zone)
}

fn call_get_time(prompt: &str, request: &ChatRequest) -> Vec<ScriptStep> {
    let Some(tool) = request.tools.get(&"humble".into(), "get_time") else {
        return answer_steps(include_str!("../assets/demo/no_tool.md"));
    };
    let zone = find_zone(prompt);
    let mut arguments = Arguments::new();
    if let Some(zone) = zone {
        arguments.insert("timezone".to_owned(), zone.into());
    }
    let argument = zone.unwrap_or("the local time, because I recognize no place");
    let thinking = include_str!("../assets/demo/thinking.md")
        .replace("{place}", zone.map_or("some place", place_name))
        .replace("{argument}", argument);
    let mut steps = thinking_steps(&thinking);
    steps.push(ScriptStep::call(&tool.native_name, arguments));
    steps
}

/// The reply to a tool result or to a denial.
fn after_tool(prompt: &str, result: &ToolResultMessage) -> Vec<ScriptStep> {
    let content = result.content.as_str();
    if let Some((_, reason)) = content.split_once("The user denied get_time from humble.") {
        let reason = match reason.trim() {
            "" => ".".to_owned(),
            reason => format!(". Your reason: {}", code_span(reason)),
        };
        return answer_steps(
            &include_str!("../assets/demo/denied.md").replace("{reason}", &reason),
        );
    }
    match TimeResult::parse(content).filter(|_| !result.is_error) {
        Some(time) => {
            let mut steps = thinking_steps(
                &time.fill_template(include_str!("../assets/demo/result.md"), prompt),
            );
            steps.extend(answer_steps(
                &time.fill_template(include_str!("../assets/demo/time.md"), prompt),
            ));
            steps
        }
        None => {
            // The first line names the tool; the last one instructs the model.
            let why: Vec<&str> = content
                .lines()
                .skip(1)
                .take_while(|line| !line.starts_with("Call no other tool"))
                .collect();
            let why = why.join("\n> ");
            answer_steps(&include_str!("../assets/demo/failed.md").replace("{why}", &why))
        }
    }
}

/// The user's text as a code span, so that nothing in it is Markdown. The fence is longer
/// than any run of backticks in the text.
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
        let mut clock = self.time.split(':');
        let mut next = || clock.next().unwrap_or_default();
        let (hour, minute) = (next(), next());
        let edited = match find_zone(prompt) {
            Some(asked) if asked != self.zone => {
                format!("I had asked for `{asked}`, and you **edited** the call. ")
            }
            _ => String::new(),
        };
        text.replace("{edited}", &edited)
            .replace("{table}", &self.table())
            .replace("{time}", &format!("{hour}:{minute}"))
            .replace("{hour}", hour)
            .replace("{minute}", minute)
            .replace("{place}", place_name(&self.zone))
            .replace("{date}", &self.date)
            .replace("{zone}", &self.zone)
            .replace("{offset}", &self.offset)
    }

    /// The same instant in other places, as rows of a Markdown table.
    fn table(&self) -> String {
        let place = place_name(&self.zone);
        let time = self.time.get(..5).unwrap_or(&self.time);
        let first = format!(
            "| **{place}** | {} | **{time}** | {} |",
            self.date, self.offset
        );
        let others = OTHER_ZONES.iter().filter(|zone| **zone != self.zone);
        let others = others.filter_map(|zone| {
            let there = self.moment.to_zoned(TimeZone::get(zone).ok()?);
            let cells = there.strftime("%Y-%m-%d | %H:%M | %:z");
            Some(format!("| {} | {cells} |", place_name(zone)))
        });
        std::iter::once(first)
            .chain(others.take(3))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// The place of a time zone: New York for `America/New_York`.
fn place_name(zone: &str) -> &str {
    let known = PLACES.iter().find(|(_, place_zone)| *place_zone == zone);
    match known.map(|(place, _)| *place) {
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

fn text_steps(text: &str, pace: Duration) -> Vec<ScriptStep> {
    let words = split_words(text.trim_end());
    let steps = words.map(|word| [ScriptStep::Wait(pace), ScriptStep::text(&word)]);
    steps.flatten().collect()
}

/// Splits text into words with their trailing space, without loss.
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
