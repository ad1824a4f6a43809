//! Calls between tags, with values as bare text. This file has the toolset of these tests and the
//! descriptions of expected events.

mod function;
mod generated;
mod glm;
mod invoke;
mod lookalikes;
mod request;
mod unclosed_values;

use crate::dialect::scan_every_way::{PAIRS_BYTES_MAX, describe_scan_with, tool};
use crate::dialect::tool_prompt::server;
use humble::domain::Toolset;
use serde_json::{Value, json};
use std::sync::Arc;

fn tag_toolset() -> Arc<Toolset> {
    let weather = json!({"name": "get_weather", "inputSchema": {
        "type": "object",
        "required": ["city"],
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "metric": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
    }});
    let write = json!({"name": "write", "inputSchema": {
        "type": "object",
        "required": ["path", "content"],
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
    }});
    Arc::new(Toolset::from_servers(&[
        server("humble", &[tool("get_time", &[]), weather]),
        server("fs", &[write, tool("ping", &[])]),
        server("docs", &[tool("ping", &[])]),
    ]))
}

fn describe(text: &str) -> Vec<String> {
    describe_scan_with(&tag_toolset(), text, 24)
}

/// Like [`describe`], but splits longer texts at all pairs of offsets, too.
fn describe_with_more_splits(text: &str) -> Vec<String> {
    describe_scan_with(&tag_toolset(), text, PAIRS_BYTES_MAX)
}

const TIME: &str = "call humble/get_time {}";
const CUT: &str = "unusable it was cut off before its end";
const STRAY: &str =
    "unusable there is text between its arguments, or a value contains its own end tag";

const UNCLOSED: &str = "unusable the value of `city` was not closed";

fn seoul() -> String {
    weather(&json!({"city": "서울"}))
}

fn weather(arguments: &Value) -> String {
    format!("call humble/get_weather {arguments}")
}

fn write_call(content: &str) -> String {
    let arguments = json!({"path": "가.md", "content": content});
    format!("call fs/write {arguments}")
}

fn unknown(name: &str) -> String {
    format!(
        "unusable there is no tool `{name}`; available: `get_time` (humble), `get_weather` (humble), `write` (fs), `ping` (fs), `ping` (docs)"
    )
}
