//! Invariants of the call scanner for every text and every way of splitting it into chunks.
//! Shared by the test suite and the fuzz target.
#![allow(dead_code, reason = "each crate uses only some of these items")]

use super::fixtures::{server, tool, tool_with};
use humble::dialect::scan::{CallScanner, ScanEvent};
use humble::domain::Toolset;
use serde_json::json;
use std::sync::Arc;

/// Short names, so that random text often names a tool: `f` takes arguments of every type,
/// `g` declares none, and both servers have an `h`.
pub fn test_toolset() -> Arc<Toolset> {
    let typed = json!({
        "type": "object",
        "properties": {
            "city": { "type": "string" }, "n": { "type": "integer" }, "x": { "type": "number" },
            "ok": { "type": "boolean" }, "xs": { "type": "array" }, "o": { "type": "object" },
        },
        "required": ["city"],
    });
    Arc::new(Toolset::from_servers(&[
        server("s", vec![tool_with("f", typed), tool("g"), tool("h")]),
        server("t", vec![tool("h")]),
    ]))
}

/// Whether the scanner may withhold this text: whitespace, followed by a possible start of a marker
/// or a call. The scanner may also withhold another statement after a Python call, and the header of
/// a gpt-oss message.
pub fn may_withhold(emitted: &str, withheld: &str) -> bool {
    let unspaced = withheld.trim_start_matches(|c: char| c.is_whitespace() || ";,".contains(c));
    let emitted = emitted.trim_end_matches(|c: char| c.is_whitespace() || ";,".contains(c));
    unspaced.is_empty()
        || unspaced.starts_with(['<', '{', '[', '`', 'f', '}', ']'])
        || emitted.ends_with(')')
        || may_be_header(unspaced)
}

/// Whether the text may be, or follow, the header of a gpt-oss message without special tokens.
fn may_be_header(text: &str) -> bool {
    let channel = ["assistant", "commentary", "analysis"];
    let mut rest = text;
    while let Some(after) = channel.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = after.trim_start();
    }
    let is_start = |word: &&str| word.starts_with(rest) || rest.starts_with("to=");
    channel.iter().chain(&["to="]).any(is_start)
}

/// Joins adjacent events of the same kind.
pub fn join_adjacent(events: Vec<ScanEvent>) -> Vec<ScanEvent> {
    let mut joined: Vec<ScanEvent> = Vec::new();
    for event in events {
        match (joined.last_mut(), event) {
            (Some(ScanEvent::Text(last)), ScanEvent::Text(text))
            | (Some(ScanEvent::Thinking(last)), ScanEvent::Thinking(text))
            | (Some(ScanEvent::Marker(last)), ScanEvent::Marker(text)) => last.push_str(&text),
            (_, event) => joined.push(event),
        }
    }
    joined
}

/// Scans `chunks` and checks the withheld text after each.
fn scan<'a>(toolset: &Arc<Toolset>, chunks: impl IntoIterator<Item = &'a str>) -> Vec<ScanEvent> {
    let mut scanner = CallScanner::new(Arc::clone(toolset));
    let (mut input, mut emitted_bytes) = (String::new(), 0);
    let mut events = Vec::new();
    for chunk in chunks {
        input.push_str(chunk);
        let new_events = scanner.push(chunk);
        emitted_bytes += new_events
            .iter()
            .map(|event| event.raw().len())
            .sum::<usize>();
        events.extend(new_events);
        let (emitted, withheld) = input.split_at(emitted_bytes);
        assert!(
            may_withhold(emitted, withheld),
            "withheld {withheld:?} of {input:?}"
        );
    }
    events.extend(scanner.finish());
    let raw: String = events.iter().map(ScanEvent::raw).collect();
    assert_eq!(raw, input, "a character was lost or duplicated");
    let reclassified = events
        .iter()
        .filter(|event| **event == ScanEvent::TextWasThinking);
    assert!(reclassified.count() <= 1, "reclassified twice: {input:?}");
    join_adjacent(events)
}

/// Scans a text as a single chunk.
pub fn scan_whole(text: &str) -> Vec<ScanEvent> {
    scan(&test_toolset(), [text])
}

/// Scans `text` whole, one character at a time, and split at `cuts`.
///
/// # Panics
/// The results differ, a character was lost or duplicated, or too much text was withheld.
pub fn check_cuts(text: &str, cuts: &[usize]) {
    let toolset = test_toolset();
    let whole = scan(&toolset, [text]);
    assert_eq!(
        scan(&toolset, text.split_inclusive(|_| true)),
        whole,
        "{text:?} split into characters"
    );
    let mut cuts: Vec<usize> = cuts
        .iter()
        .map(|cut| text.floor_char_boundary(cut % (text.len() + 1)))
        .chain([0, text.len()])
        .collect();
    cuts.sort_unstable();
    let chunks = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]);
    assert_eq!(scan(&toolset, chunks), whole, "{text:?} cut at {cuts:?}");
}
