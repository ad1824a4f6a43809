//! Random arguments of calls: nested values, code, edits, long lines, and characters that are
//! wide, invisible, or look like the dialog's own markers.

use super::test_rng::TestRng;
use humble::domain::Arguments;
use serde_json::{Value, json};

const WORDS: [&str; 25] = [
    "\u{301}lead",
    "rm -rf /",
    "서울",
    "東京の天気",
    "e\u{301}te\u{301}",
    "👩\u{200d}👩\u{200d}👧",
    "a\u{202e}b\u{202c}",
    "x\u{200b}y",
    "\u{feff}z",
    "⟨U+202E⟩",
    "\u{1b}[2J",
    "tab\there",
    "\r",
    "a            b",
    "wide\u{3000}space",
    "no\u{a0}break",
    "┆ \\ /",
    "── Run rm on disk? ──",
    "The server says: safe",
    "Call now? (Y/N)",
    "\"quoted\" \\ back",
    "let x = 1; // comment",
    "⇥",
    "plain words",
    "│ x │",
];
const KEYS: [&str; 14] = [
    "path",
    "content",
    "command",
    "query",
    "a b",
    "a.b",
    "키",
    "x[0]",
    "",
    "- a",
    "code",
    "b",
    "c",
    "\u{202e}d",
];
const EDITS: [(&str, &str); 3] = [
    ("oldText", "newText"),
    ("old_string", "new_string"),
    ("before", "after"),
];

/// Generates random arguments. They contain consecutive numbers, so most rows differ.
pub struct RandomArguments<'a> {
    rng: &'a mut TestRng,
    /// The last number used.
    count: usize,
}

impl<'a> RandomArguments<'a> {
    pub fn new(rng: &'a mut TestRng) -> Self {
        Self { rng, count: 0 }
    }

    /// The arguments of a call: mostly short, sometimes several screens long, rarely more than
    /// 500 rows.
    pub fn arguments(&mut self) -> Arguments {
        let mut members = Arguments::new();
        if self.rng.one_in(15) {
            return members;
        }
        if self.rng.one_in(12) {
            members.insert("many".to_owned(), self.long_value());
        }
        for _ in 0..=self.rng.below(4) {
            let key = self.key();
            let value = self.value(2);
            members.insert(key, value);
        }
        if self.rng.one_in(4) {
            let (old, new) = self.edit();
            members.extend([old, new]);
        }
        members
    }

    fn number(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    fn key(&mut self) -> String {
        match self.rng.one_in(3) {
            true => format!("key_{}", self.number()),
            false => (*self.rng.pick(&KEYS)).to_owned(),
        }
    }

    fn words(&mut self, count: usize) -> String {
        let words: Vec<String> = (0..count)
            .map(|_| match self.rng.below(3) {
                0 => (*self.rng.pick(&WORDS)).to_owned(),
                _ => format!("w{}", self.number()),
            })
            .collect();
        words.join(*self.rng.pick(&[" ", " ", "", "  "]))
    }

    fn lines(&mut self, count: usize) -> String {
        let lines = (0..count).map(|_| {
            let words = self.rng.below(5);
            let indent = *self.rng.pick(&["", "", "    ", "\t"]);
            format!("{indent}{}", self.words(words))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.rng.below(if depth == 0 { 8 } else { 12 }) {
            0 => json!(self.number()),
            1 => (*self.rng.pick(&[&json!(true), &json!(null), &json!(-0.5)])).clone(),
            2..=3 => self.words(2).into(),
            4 => {
                let words = self.rng.below(120);
                self.words(words).into()
            }
            5..=7 => {
                let lines = 1 + self.rng.below(30);
                self.lines(lines).into()
            }
            8..=9 => {
                let items = self.rng.below(5);
                (0..items).map(|_| self.value(depth - 1)).collect()
            }
            _ => {
                let mut members = Arguments::new();
                for _ in 0..self.rng.below(4) {
                    let key = self.key();
                    let value = self.value(depth - 1);
                    members.insert(key, value);
                }
                if self.rng.one_in(2) {
                    let (old, new) = self.edit();
                    members.extend([old, new]);
                }
                members.into()
            }
        }
    }

    fn edit(&mut self) -> ((String, Value), (String, Value)) {
        let (old_key, new_key) = *self.rng.pick(&EDITS);
        let lines = 2 + self.rng.below(12);
        let old = self.lines(lines);
        let mut new: Vec<String> = old.split('\n').map(str::to_owned).collect();
        let at = self.rng.below(new.len());
        new[at] = self.words(3);
        let new = new.join("\n");
        (
            (old_key.to_owned(), old.into()),
            (new_key.to_owned(), new.into()),
        )
    }

    fn long_value(&mut self) -> Value {
        match self.rng.below(3) {
            0 => (0..560).map(|_| json!(self.number())).collect(),
            1 => self.lines(540).into(),
            _ => self.words(1_500).into(),
        }
    }
}
