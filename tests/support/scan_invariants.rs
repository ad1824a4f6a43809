//! Invariants of the call scanner for every text and every way of splitting it into chunks.
//! Shared by the test suite and the fuzz target.
#![allow(dead_code, reason = "each crate uses a part of it")]

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

/// Whether the scanner may hold back this text: white space, then the possible start of a
/// marker or a call. A statement may follow another one, and a stream may start with a
/// message recipient.
pub fn may_withhold(emitted: &str, held: &str) -> bool {
    let begins = held.trim_start_matches(|c: char| c.is_whitespace() || ";,".contains(c));
    let emitted = emitted.trim_end_matches(|c: char| c.is_whitespace() || ";,".contains(c));
    begins.is_empty()
        || begins.starts_with(['<', '{', '[', '`', 'f', '}', ']'])
        || emitted.ends_with(')')
        || emitted.is_empty() && ("to=".starts_with(begins) || begins.starts_with("to="))
}

/// Joins adjacent events of the same kind.
pub fn joined_pieces(pieces: Vec<ScanEvent>) -> Vec<ScanEvent> {
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
fn scan<'a>(offered: &Arc<Toolset>, chunks: impl IntoIterator<Item = &'a str>) -> Vec<ScanEvent> {
    let mut scanner = CallScanner::new(Arc::clone(offered));
    let (mut given, mut emitted) = (String::new(), 0);
    let mut pieces = Vec::new();
    for chunk in chunks {
        given.push_str(chunk);
        let more = scanner.push(chunk);
        emitted += more.iter().map(|piece| piece.raw().len()).sum::<usize>();
        pieces.extend(more);
        let (before, held) = given.split_at(emitted);
        assert!(may_withhold(before, held), "held {held:?} of {given:?}");
    }
    pieces.extend(scanner.finish());
    let raws: String = pieces.iter().map(ScanEvent::raw).collect();
    assert_eq!(raws, given, "a character was lost or duplicated");
    let reclassified = pieces
        .iter()
        .filter(|piece| **piece == ScanEvent::TextWasThinking);
    assert!(reclassified.count() <= 1, "reclassified twice: {given:?}");
    joined_pieces(pieces)
}

/// Scans a text as a single chunk.
pub fn scan_whole(text: &str) -> Vec<ScanEvent> {
    scan(&test_toolset(), [text])
}

/// Panics if two ways of splitting `text` disagree, if a character is lost or duplicated,
/// or if too much text is held back.
pub fn check_cuts(text: &str, cuts: &[usize]) {
    let offered = test_toolset();
    let whole = scan(&offered, [text]);
    assert_eq!(
        scan(&offered, text.split_inclusive(|_| true)),
        whole,
        "{text:?} in characters"
    );
    let mut cuts: Vec<usize> = cuts
        .iter()
        .map(|cut| text.floor_char_boundary(cut % (text.len() + 1)))
        .chain([0, text.len()])
        .collect();
    cuts.sort_unstable();
    let chunks = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]);
    assert_eq!(scan(&offered, chunks), whole, "{text:?} cut at {cuts:?}");
}
