//! Chips: long pastes shown as a label. In the raw text, a chip is one character of the
//! supplementary private use area B; this table holds its text. The same characters in the user's
//! text get entries of their own, so nothing is lost or confused.

use crate::text::Clean;
use crate::text::numbers::group_digits;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

/// A paste with more lines than this becomes a chip.
pub const PASTE_LINES_MAX: usize = 10;
/// A paste with more characters than this becomes a chip.
pub const PASTE_CHARS_MAX: usize = 2_000;
/// Maximum number of folded pastes; further pastes are inserted as text.
const CHIPS_MAX: usize = 1_000;

/// Whether a character of the raw text may stand for a chip.
pub fn is_chip_char(c: char) -> bool {
    matches!(c, '\u{100000}'..='\u{10FFFD}')
}

#[derive(Debug, Clone, Default)]
pub struct Chips {
    entries: BTreeMap<char, Chip>,
}

#[derive(Debug, Clone)]
struct Chip {
    text: String,
    label: String,
    /// False for a private use character of the user's text.
    is_folded_paste: bool,
}

impl Chips {
    /// The raw text for inserted text: private use characters are replaced by placeholders.
    pub fn raw<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        // All of these characters begin with the same byte.
        if !text.bytes().any(|byte| byte == 0xF4) {
            return Cow::Borrowed(text);
        }
        let to_placeholder = |c| if is_chip_char(c) { self.literal(c) } else { c };
        Cow::Owned(text.chars().map(to_placeholder).collect())
    }

    /// The placeholder for a private use character of the user's text.
    fn literal(&mut self, c: char) -> char {
        let text = c.to_string();
        let entry = match self.entries.get(&c) {
            None => Some(c),
            Some(chip) if chip.text == text => return c,
            Some(_) => {
                let is_same = |(_, chip): &(_, &Chip)| chip.text == text;
                match self.entries.iter().find(is_same) {
                    Some((entry, _)) => return *entry,
                    None => self.unused(),
                }
            }
        };
        // An unused character exists unless the text contains tens of thousands of different private
        // use characters.
        let Some(entry) = entry else {
            return char::REPLACEMENT_CHARACTER;
        };
        let chip = Chip {
            label: Clean::escaped(&text).into(),
            text,
            is_folded_paste: false,
        };
        self.entries.insert(entry, chip);
        entry
    }

    /// An unused placeholder. Text rarely contains the last characters of the area, so those are
    /// tried first.
    fn unused(&self) -> Option<char> {
        let is_unused = |c: &char| !self.entries.contains_key(c);
        ('\u{100000}'..='\u{10FFFD}').rev().find(is_unused)
    }

    /// Folds a long paste. Returns `None` if the paste is to be inserted as text: it is short, or
    /// there are too many chips.
    pub fn fold(&mut self, text: &str) -> Option<char> {
        let lines = text.lines().count();
        let label = if lines > PASTE_LINES_MAX {
            format!("[Pasted {} lines]", group_digits(lines))
        } else if text.len() > PASTE_CHARS_MAX && text.chars().count() > PASTE_CHARS_MAX {
            let chars = group_digits(text.chars().count());
            format!("[Pasted {chars} characters]")
        } else {
            return None;
        };
        let same = |(_, chip): &(&char, &Chip)| chip.is_folded_paste && chip.text == text;
        if let Some((entry, _)) = self.entries.iter().find(same) {
            return Some(*entry);
        }
        if self.pastes().count() >= CHIPS_MAX {
            return None;
        }
        let entry = self.unused()?;
        let chip = Chip {
            text: text.to_owned(),
            label,
            is_folded_paste: true,
        };
        self.entries.insert(entry, chip);
        Some(entry)
    }

    fn pastes(&self) -> impl Iterator<Item = &Chip> {
        self.entries.values().filter(|chip| chip.is_folded_paste)
    }

    /// The label of the chip in a cluster of the raw text, and whether it is a folded paste. Marks
    /// may join the chip to a larger cluster.
    pub fn label(&self, cluster: &str) -> Option<(String, bool)> {
        let chip = cluster.chars().find_map(|c| self.entries.get(&c))?;
        let shown = cluster.chars().map(|c| match self.entries.get(&c) {
            Some(chip) => chip.label.clone(),
            None => Clean::escaped(c.encode_utf8(&mut [0; 4])).into(),
        });
        Some((shown.collect(), chip.is_folded_paste))
    }

    /// The text of a folded paste.
    pub fn pasted(&self, c: char) -> Option<&str> {
        let chip = self.entries.get(&c).filter(|chip| chip.is_folded_paste)?;
        Some(&chip.text)
    }

    /// Whether the raw text has a chip.
    pub fn occur_in(&self, raw: &str) -> bool {
        !self.entries.is_empty() && raw.contains(is_chip_char)
    }

    /// The user's text: each chip is replaced by its text.
    pub fn expand<'a>(&self, raw: &'a str) -> Cow<'a, str> {
        if !self.occur_in(raw) {
            return Cow::Borrowed(raw);
        }
        let mut text = String::with_capacity(raw.len());
        for c in raw.chars() {
            match self.entries.get(&c) {
                Some(chip) => text.push_str(&chip.text),
                None => text.push(c),
            }
        }
        Cow::Owned(text)
    }

    /// Bytes of the raw text and of its chips' texts.
    pub fn expanded_len(&self, raw: &str) -> usize {
        if !self.occur_in(raw) {
            return raw.len();
        }
        let chips = raw.chars().filter_map(|c| self.entries.get(&c));
        raw.len() + chips.map(|chip| chip.text.len()).sum::<usize>()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Removes the chips that occur in none of these raw texts.
    pub fn retain_used<'a>(&mut self, texts: impl Iterator<Item = &'a str>) {
        let used: HashSet<char> = texts
            .flat_map(|text| text.chars().filter(|c| is_chip_char(*c)))
            .collect();
        self.entries.retain(|entry, _| used.contains(entry));
    }
}
