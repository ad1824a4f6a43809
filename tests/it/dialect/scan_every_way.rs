//! Scans a text split into chunks in many ways, and describes the events in a short form.

use crate::dialect::scan_invariants::join_adjacent;
use crate::dialect::tool_prompt::server;
use humble::dialect::scan::{CallScanner, ScanEvent};
use humble::domain::Toolset;
use serde_json::{Value, json};
use std::sync::Arc;

/// The definition of a tool with these required arguments.
pub fn tool(name: &str, required: &[&str]) -> Value {
    json!({
        "name": name,
        "inputSchema": { "type": "object", "required": required },
    })
}

/// Three servers; two of them have a tool `ping`.
pub fn test_toolset() -> Arc<Toolset> {
    Arc::new(Toolset::from_servers(&[
        server(
            "humble",
            &[tool("get_time", &[]), tool("get_weather", &["city"])],
        ),
        server("log", &[tool("add", &["a", "b"]), tool("ping", &[])]),
        server("docs", &[tool("ping", &[])]),
    ]))
}

/// Scans the chunks and joins adjacent events of the same kind.
pub fn scan<'a>(
    toolset: &Arc<Toolset>,
    chunks: impl IntoIterator<Item = &'a str>,
) -> Vec<ScanEvent> {
    let mut scanner = CallScanner::new(Arc::clone(toolset));
    let mut events = Vec::new();
    for chunk in chunks {
        events.extend(scanner.push(chunk));
    }
    events.extend(scanner.finish());
    join_adjacent(events)
}

/// Pairs of offsets are tried only within this many bytes at the start of a text.
pub const PAIRS_BYTES_MAX: usize = 200;
/// A smaller limit, for tests that scan many texts.
const FEWER_PAIRS_BYTES_MAX: usize = 40;

/// Scans `text` unsplit, split at each offset, at each pair of offsets within its first
/// `pairs_bytes` bytes, and into characters. The events must be the same each time.
pub fn scan_every_way(toolset: &Arc<Toolset>, text: &str, pairs_bytes: usize) -> Vec<ScanEvent> {
    let whole = scan(toolset, [text]);
    let raw: String = whole.iter().map(ScanEvent::raw).collect();
    assert_eq!(raw, text, "a character was lost or duplicated");
    let offsets: Vec<_> = text.char_indices().map(|(offset, _)| offset).collect();
    for (index, &first) in offsets.iter().enumerate() {
        let (start, rest) = text.split_at(first);
        assert_eq!(
            scan(toolset, [start, rest]),
            whole,
            "{text:?} cut at {first}"
        );
        for &second in offsets[index..]
            .iter()
            .take_while(|&&offset| offset < pairs_bytes)
        {
            let (middle, end) = rest.split_at(second - first);
            let events = scan(toolset, [start, middle, end]);
            assert_eq!(events, whole, "{text:?} cut at {first} and {second}");
        }
    }
    let characters = text.split_inclusive(|_| true);
    assert_eq!(scan(toolset, characters), whole, "{text:?} in characters");
    whole
}

/// Scans `text` with [`test_toolset`] in every way, and describes each event except markers.
pub fn describe_scan(text: &str) -> Vec<String> {
    describe_scan_with(&test_toolset(), text, FEWER_PAIRS_BYTES_MAX)
}

/// Like [`describe_scan`], with this toolset and this limit for pairs of offsets.
pub fn describe_scan_with(toolset: &Arc<Toolset>, text: &str, pairs_bytes: usize) -> Vec<String> {
    let short = |event: &ScanEvent| -> Option<String> {
        Some(match event {
            ScanEvent::Marker(_) => return None,
            ScanEvent::Text(text) => format!("text {text}"),
            ScanEvent::Thinking(text) => format!("thinking {text}"),
            ScanEvent::Call(call) => {
                let repaired = if call.was_repaired { " repaired" } else { "" };
                let arguments = Value::from(call.arguments.clone());
                let unterminated = if call.has_end { "" } else { " unterminated" };
                let server = call.server.as_ref().map_or("?", |server| server.as_str());
                let tool = &call.tool;
                format!("call {server}/{tool} {arguments}{repaired}{unterminated}")
            }
            ScanEvent::UnusableCall(call) => format!("unusable {}", call.reason),
            ScanEvent::TextWasThinking => "text was thinking".to_owned(),
        })
    };
    scan_every_way(toolset, text, pairs_bytes)
        .iter()
        .filter_map(short)
        .collect()
}
