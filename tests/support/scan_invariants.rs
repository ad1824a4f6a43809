//! What must hold of every text that the scanner reads, however it is cut: shared by
//! the generated texts of the suite and by the fuzz target.
#![allow(dead_code, reason = "each crate uses a part of it")]

use super::fixtures::{server, tool, tool_with};
use humble::dialect::scan::{CallScanner, ScanEvent};
use humble::domain::Toolset;
use serde_json::json;
use std::sync::Arc;

/// Short names, so that a text made at random often names a tool: `f` takes every
/// kind of argument, `g` takes none, and two servers have an `h`.
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

/// White space at a seam, then what may become a marker or a form. Behind a statement
/// another may follow, and a stream may begin with the recipient of a message.
pub fn may_withhold(told: &str, held: &str) -> bool {
    let begins = held.trim_start_matches(|c: char| c.is_whitespace() || ";,".contains(c));
    let told = told.trim_end_matches(|c: char| c.is_whitespace() || ";,".contains(c));
    begins.is_empty()
        || begins.starts_with(['<', '{', '[', '`', 'f', '}', ']'])
        || told.ends_with(')')
        || told.is_empty() && ("to=".starts_with(begins) || begins.starts_with("to="))
}

/// Neighbours of one kind joined.
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

/// The pieces of `chunks`; what was held back after each was looked at.
fn scan<'a>(offered: &Arc<Toolset>, chunks: impl IntoIterator<Item = &'a str>) -> Vec<ScanEvent> {
    let mut scanner = CallScanner::new(Arc::clone(offered));
    let (mut given, mut told) = (String::new(), 0);
    let mut pieces = Vec::new();
    for chunk in chunks {
        given.push_str(chunk);
        let more = scanner.push(chunk);
        told += more.iter().map(|piece| piece.raw().len()).sum::<usize>();
        pieces.extend(more);
        let (before, held) = given.split_at(told);
        assert!(may_withhold(before, held), "held {held:?} of {given:?}");
    }
    pieces.extend(scanner.finish());
    let raws: String = pieces.iter().map(ScanEvent::raw).collect();
    assert_eq!(raws, given, "a character was lost or doubled");
    let turned = pieces
        .iter()
        .filter(|piece| **piece == ScanEvent::TextWasThinking);
    assert!(turned.count() <= 1, "reclassified twice: {given:?}");
    joined_pieces(pieces)
}

/// The pieces of a text that comes at once.
pub fn scan_whole(text: &str) -> Vec<ScanEvent> {
    scan(&test_toolset(), [text])
}

/// Panics where two ways of cutting `text` disagree, where a character is lost or
/// doubled, or where more is held back than may be.
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
