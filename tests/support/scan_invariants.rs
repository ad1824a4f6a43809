//! Invariants of the call scanner for every text and every way of splitting it into chunks.
//! Shared by the test suite and the fuzz target.
#![allow(dead_code, reason = "each crate uses only part of it")]

use super::fixtures::{server, tool, tool_with};
use humble::dialect::scan::{CallScanner, ScanEvent};
use humble::domain::Toolset;
use serde_json::json;
use std::sync::Arc;

/// Short names, so that random text often names a tool: `f` takes arguments of every type,
/// `g` takes none, and both servers have an `h`.
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

/// Whether the scanner may withhold this text: whitespace, then the possible start of a marker
/// or a call. After a Python call, it may be another statement; at the start of a stream, a
/// message recipient (`to=`).
pub fn may_withhold(emitted: &str, withheld: &str) -> bool {
    let start = withheld.trim_start_matches(|c: char| c.is_whitespace() || ";,".contains(c));
    let emitted = emitted.trim_end_matches(|c: char| c.is_whitespace() || ";,".contains(c));
    start.is_empty()
        || start.starts_with(['<', '{', '[', '`', 'f', '}', ']'])
        || emitted.ends_with(')')
        || emitted.is_empty() && ("to=".starts_with(start) || start.starts_with("to="))
}

/// Joins adjacent events of the same kind.
pub fn join_adjacent(pieces: Vec<ScanEvent>) -> Vec<ScanEvent> {
    let mut joined: Vec<ScanEvent> = Vec::new();
    for piece in pieces {
        match (joined.last_mut(), piece) {
            (Some(ScanEvent::Text(last)), ScanEvent::Text(more))
            | (Some(ScanEvent::Thinking(last)), ScanEvent::Thinking(more))
            | (Some(ScanEvent::Marker(last)), ScanEvent::Marker(more)) => last.push_str(&more),
            (_, piece) => joined.push(piece),
        }
    }
    joined
}

/// Scans `chunks` and checks the withheld text after each.
fn scan<'a>(toolset: &Arc<Toolset>, chunks: impl IntoIterator<Item = &'a str>) -> Vec<ScanEvent> {
    let mut scanner = CallScanner::new(Arc::clone(toolset));
    let (mut input, mut emitted_bytes) = (String::new(), 0);
    let mut pieces = Vec::new();
    for chunk in chunks {
        input.push_str(chunk);
        let more = scanner.push(chunk);
        emitted_bytes += more.iter().map(|piece| piece.raw().len()).sum::<usize>();
        pieces.extend(more);
        let (before, withheld) = input.split_at(emitted_bytes);
        assert!(
            may_withhold(before, withheld),
            "withheld {withheld:?} of {input:?}"
        );
    }
    pieces.extend(scanner.finish());
    let raw: String = pieces.iter().map(ScanEvent::raw).collect();
    assert_eq!(raw, input, "a character was lost or duplicated");
    let reclassified = pieces
        .iter()
        .filter(|piece| **piece == ScanEvent::TextWasThinking);
    assert!(reclassified.count() <= 1, "reclassified twice: {input:?}");
    join_adjacent(pieces)
}

/// Scans a text as a single chunk.
pub fn scan_whole(text: &str) -> Vec<ScanEvent> {
    scan(&test_toolset(), [text])
}

/// Panics if two ways of splitting `text` disagree, if a character is lost or duplicated,
/// or if too much text is withheld.
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
