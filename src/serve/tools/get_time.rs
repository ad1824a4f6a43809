//! The tool `get_time`: the current date and time in a time zone.

use super::arguments::{reject_unknown, text};
use super::tool::{BuiltInTool, ToolDescription, ToolInvocation, definition};
use futures::future::BoxFuture;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use rmcp::model::JsonObject;
use rmcp::model::Tool;
use serde_json::{Value, json};

const NAME: &str = "get_time";
/// Much more than the longest name has, so that the error quotes what a model wrote instead of one.
const ZONE_CHARS_MAX: usize = 500;
/// For an unknown time zone.
const SUGGESTIONS_MAX: usize = 5;

pub(super) struct GetTime;

impl BuiltInTool for GetTime {
    fn name(&self) -> &'static str {
        NAME
    }

    fn definition(&self) -> Tool {
        let input_schema = json!({
            "type": "object",
            "properties": {
                "timezone": {
                    "type": "string",
                    "description": "IANA name such as `Asia/Seoul`; left out, the local time zone",
                },
            },
            "additionalProperties": false,
        });
        let string_type = json!({ "type": "string" });
        let output_schema = json!({
            "type": "object",
            "properties": { "date": string_type, "time": string_type, "zone": string_type, "offset": string_type },
            "required": ["date", "time", "zone", "offset"],
        });
        definition(ToolDescription {
            name: NAME,
            title: "Date and time",
            description: "The present date and time, in the local time zone or in another.",
            input_schema,
            output_schema,
            is_read_only: true,
            is_idempotent: false,
            is_open_world: false,
        })
    }

    fn call<'a>(&self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async move { run(call.arguments) })
    }
}

fn run(arguments: &JsonObject) -> Result<Value, String> {
    reject_unknown(arguments, NAME, &["timezone"])?;
    let zone = match text(arguments, "timezone", "Asia/Seoul", ZONE_CHARS_MAX)? {
        None => TimeZone::system(),
        Some(name) => parse_zone(name)?,
    };
    Ok(describe(&Timestamp::now().to_zoned(zone)))
}

fn describe(now: &Zoned) -> Value {
    let zone = now.time_zone();
    let name = match zone.iana_name() {
        Some(name) => name.to_owned(),
        None => now.strftime("%Z").to_string(),
    };
    json!({
        "date": now.strftime("%Y-%m-%d").to_string(),
        "time": now.strftime("%H:%M:%S").to_string(),
        "zone": name,
        "offset": now.strftime("%:z").to_string(),
    })
}

fn parse_zone(name: &str) -> Result<TimeZone, String> {
    TimeZone::get(name).map_err(|_| {
        let near = suggest_zones(name);
        let hint = if near.is_empty() {
            "Use an IANA name such as `Asia/Seoul` or `Europe/Berlin`".to_owned()
        } else {
            format!("Did you mean {}? Use an IANA name", near.join(" or "))
        };
        format!("There is no time zone `{name}`. {hint}, or omit `timezone` for local time.")
    })
}

fn suggest_zones(name: &str) -> Vec<String> {
    let name = name.trim().to_lowercase().replace(' ', "_");
    let city = name.rsplit('/').next().unwrap_or_default();
    if city.len() < 3 {
        return Vec::new();
    }
    jiff::tz::db()
        .available()
        .filter(|zone| zone.as_str().to_lowercase().contains(city))
        .take(SUGGESTIONS_MAX)
        .map(|zone| format!("`{zone}`"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tool::object;
    use super::*;

    fn call_with(arguments: Value) -> Result<Value, String> {
        run(&object(arguments))
    }

    #[test]
    fn a_moment_is_described_in_its_time_zone() {
        let seoul = TimeZone::get("Asia/Seoul").expect("Seoul is in the time zone database");
        let moment = Timestamp::from_second(1_800_000_000).expect("in range");
        assert_eq!(
            describe(&moment.to_zoned(seoul)),
            json!({ "date": "2027-01-15", "time": "17:00:00", "zone": "Asia/Seoul", "offset": "+09:00" })
        );
    }

    #[test]
    fn get_time_accepts_a_missing_or_null_time_zone() {
        for arguments in [json!({}), json!({ "timezone": null })] {
            let time = call_with(arguments).expect("local time");
            assert_eq!(time.as_object().map(serde_json::Map::len), Some(4));
        }
    }

    #[test]
    fn unknown_zone_gets_a_suggestion() {
        let why = call_with(json!({ "timezone": "Seoul" })).expect_err("a city without a region");
        assert!(why.contains("`Asia/Seoul`"), "{why}");
        let why = call_with(json!({ "timezone": "Middle/Earth" })).expect_err("no such place");
        assert!(why.contains("IANA"), "{why}");
    }

    #[test]
    fn get_time_rejects_unknown_or_invalid_arguments() {
        assert!(call_with(json!({ "timezone": 9 })).is_err());
        let why = call_with(json!({ "zone": "UTC" })).expect_err("an unknown argument");
        assert!(why.contains("`zone`"), "{why}");
    }
}
