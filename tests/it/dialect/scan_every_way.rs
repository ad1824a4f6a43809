//! Scans a text in every chunking, and describes the events in a short form.

use crate::dialect::scan_invariants::join_adjacent;
use crate::dialect::tool_prompt::server;
use humble::dialect::scan::{CallScanner, ScanEvent};
use humble::domain::Toolset;
use serde_json::{Value, json};
use std::sync::Arc;

pub fn tool(name: &str, required: &[&str]) -> Value {
    json!({
        "name": name,
        "inputSchema": { "type": "object", "required": required },
    })
}

/// `ping` exists on two servers.
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

/// Scans the chunks; joins neighboring events of one kind.
pub fn scan<'a>(
    offered: &Arc<Toolset>,
    chunks: impl IntoIterator<Item = &'a str>,
) -> Vec<ScanEvent> {
    let mut scanner = CallScanner::new(Arc::clone(offered));
    let mut pieces = Vec::new();
    for chunk in chunks {
        pieces.extend(scanner.push(chunk));
    }
    pieces.extend(scanner.finish());
    join_adjacent(pieces)
}

/// Number of bytes at the start of a text that are split at each pair of offsets.
pub const PAIRS_BYTES_MAX: usize = 200;
/// The same for the many minor variants of a text.
const FEWER_PAIRS: usize = 40;

/// Scans `text` unsplit, split at each offset, at each pair of offsets within its first
/// `pairs_below` bytes, and into characters. The events must be the same each time.
pub fn scan_every_way(offered: &Arc<Toolset>, text: &str, pairs_below: usize) -> Vec<ScanEvent> {
    let whole = scan(offered, [text]);
    let raws: String = whole.iter().map(ScanEvent::raw).collect();
    assert_eq!(raws, text, "a character was lost or duplicated");
    let offsets: Vec<_> = text.char_indices().map(|(at, _)| at).collect();
    for (number, &first) in offsets.iter().enumerate() {
        let (start, rest) = text.split_at(first);
        assert_eq!(
            scan(offered, [start, rest]),
            whole,
            "{text:?} cut at {first}"
        );
        for &second in offsets[number..].iter().take_while(|&&at| at < pairs_below) {
            let (middle, end) = rest.split_at(second - first);
            let cut = scan(offered, [start, middle, end]);
            assert_eq!(cut, whole, "{text:?} cut at {first} and {second}");
        }
    }
    let characters = text.split_inclusive(|_| true);
    assert_eq!(scan(offered, characters), whole, "{text:?} in characters");
    whole
}

/// The events in a short form, one string each.
pub fn describe_scan(text: &str) -> Vec<String> {
    describe_scan_with(&test_toolset(), text, FEWER_PAIRS)
}

/// The same with the tools `offered`, split at fewer pairs of offsets.
pub fn describe_scan_with(offered: &Arc<Toolset>, text: &str, pairs_below: usize) -> Vec<String> {
    let short = |piece: &ScanEvent| -> Option<String> {
        Some(match piece {
            ScanEvent::Marker(_) => return None,
            ScanEvent::Text(text) => format!("text {text}"),
            ScanEvent::Thinking(text) => format!("thinking {text}"),
            ScanEvent::Call(call) => {
                let repaired = if call.was_repaired { " repaired" } else { "" };
                let arguments = Value::Object(call.arguments.clone());
                let whole = if call.is_terminated { "" } else { " not whole" };
                let (server, tool) = (&call.server, &call.tool);
                format!("call {server}/{tool} {arguments}{repaired}{whole}")
            }
            ScanEvent::UnusableCall(call) => format!("unusable {}", call.reason),
            ScanEvent::TextWasThinking => "text was thinking".to_owned(),
        })
    };
    scan_every_way(offered, text, pairs_below)
        .iter()
        .filter_map(short)
        .collect()
}
