//! One line of a text field as it is drawn: clean, wrapped, with the way back from
//! what is shown to the raw bytes.

use crate::text::Clean;
use crate::text::grapheme::clusters;
use crate::text::wrap::wrap_line;
use std::num::NonZeroU16;
use std::ops::Range;

/// A line as it is drawn.
#[derive(Debug, Clone)]
pub struct Shown {
    pub columns: u16,
    pub text: String,
    /// Where raw and shown bytes differ: pairs of starts, one a cluster.
    map: Option<Vec<(usize, usize)>>,
    pub rows: Vec<Range<usize>>,
}

impl Shown {
    pub fn new(raw: &str, columns: u16) -> Self {
        let (text, map) = clean_line(raw);
        let width = NonZeroU16::new(columns).unwrap_or(NonZeroU16::MIN);
        let rows = wrap_line(&text, width);
        Self {
            columns,
            text,
            map,
            rows,
        }
    }

    pub fn byte_of(&self, raw: usize) -> usize {
        let Some(map) = &self.map else { return raw };
        let after = map.partition_point(|pair| pair.0 < raw);
        map.get(after).map_or(self.text.len(), |pair| pair.1)
    }

    pub fn raw_of(&self, byte: usize) -> usize {
        let Some(map) = &self.map else { return byte };
        let after = map.partition_point(|pair| pair.1 <= byte);
        map.get(after.saturating_sub(1)).map_or(0, |pair| pair.0)
    }
}

/// A line as it may be drawn, with the map of its clusters where it differs.
fn clean_line(raw: &str) -> (String, Option<Vec<(usize, usize)>>) {
    if Clean::spelt_out(raw).as_str() == raw && !raw.contains('\t') {
        return (raw.to_owned(), None);
    }
    let mut text = String::with_capacity(raw.len());
    let mut map = Vec::new();
    let mut at = 0;
    for cluster in clusters(raw) {
        map.push((at, text.len()));
        at += cluster.len();
        match cluster {
            "\t" => text.push_str("    "),
            other => text.push_str(Clean::spelt_out(other).as_str()),
        }
    }
    map.push((at, text.len()));
    (text, Some(map))
}
