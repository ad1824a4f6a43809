//! Patterns of arguments (S7.2, `8`): what a remembered grant covers. Whatever is in
//! doubt does not match: such a call asks, which harms nobody. A `*` stands for
//! letters within one segment of a path, a `?` for one letter, all else for itself.

use super::Arguments;
use icu_normalizer::ComposingNormalizerBorrowed;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Longer texts match no wildcard: nobody meant them.
const TEXT_BYTES_MAX: usize = 4_096;
/// Wildcards of one text.
const WILDCARDS_MAX: usize = 32;

/// For each argument what it must be. Arguments that are not listed must be absent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pattern {
    arguments: Vec<(String, Match)>,
}

/// What one argument must be.
#[derive(Debug, Clone, PartialEq)]
pub enum Match {
    /// The same JSON value; of two texts, the same after normalisation.
    Equal(Value),
    /// A text with wildcards.
    Glob(String),
}

impl Pattern {
    /// The pattern that covers calls with these very arguments.
    pub fn of(arguments: &Arguments) -> Self {
        let equal = |(key, value): (&String, &Value)| (key.clone(), Match::Equal(value.clone()));
        Self {
            arguments: arguments.iter().map(equal).collect(),
        }
    }

    pub fn arguments(&self) -> &[(String, Match)] {
        &self.arguments
    }

    pub fn covers(&self, arguments: &Arguments) -> bool {
        self.arguments.len() == arguments.len()
            && self
                .arguments
                .iter()
                .all(|(key, wanted)| arguments.get(key).is_some_and(|value| wanted.covers(value)))
    }

    /// Reads a pattern as a person edits it, and as the file keeps it: a text with `*`
    /// or `?` is a glob, `{ "equals": … }` is taken to the letter, and any other value
    /// is to be the same.
    ///
    /// # Errors
    /// Why something cannot be a pattern.
    pub fn from_json(written: &Map<String, Value>) -> Result<Self, String> {
        let read = |(key, value): (&String, &Value)| {
            let read = Match::from_json(value).map_err(|why| format!("`{key}`: {why}"))?;
            Ok((key.clone(), read))
        };
        let arguments = written.iter().map(read).collect::<Result<_, String>>()?;
        Ok(Self { arguments })
    }

    pub fn to_json(&self) -> Map<String, Value> {
        let written = |(key, wanted): &(String, Match)| (key.clone(), wanted.to_json());
        self.arguments.iter().map(written).collect()
    }
}

impl Match {
    fn from_json(value: &Value) -> Result<Self, String> {
        match value {
            Value::String(text) if has_wildcard(text) => {
                check_glob(text)?;
                Ok(Self::Glob(text.clone()))
            }
            Value::Object(map) if map.len() == 1 && map.contains_key("equals") => {
                Ok(Self::Equal(map["equals"].clone()))
            }
            other => Ok(Self::Equal(other.clone())),
        }
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Glob(text) => Value::from(text.as_str()),
            Self::Equal(Value::String(text)) if has_wildcard(text) => json!({ "equals": text }),
            Self::Equal(Value::Object(map)) if map.len() == 1 && map.contains_key("equals") => {
                json!({ "equals": map })
            }
            Self::Equal(value) => value.clone(),
        }
    }

    fn covers(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Equal(Value::String(wanted)), Value::String(text)) => same_text(wanted, text),
            (Self::Equal(wanted), value) => wanted == value,
            (Self::Glob(glob), Value::String(text)) => matches(glob, text),
            (Self::Glob(_), _) => false,
        }
    }
}

fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?'])
}

fn check_glob(glob: &str) -> Result<(), String> {
    if glob.len() > TEXT_BYTES_MAX {
        return Err(format!("it is longer than {TEXT_BYTES_MAX} bytes"));
    }
    if glob.chars().filter(|c| matches!(c, '*' | '?')).count() > WILDCARDS_MAX {
        return Err(format!("it has more than {WILDCARDS_MAX} wildcards"));
    }
    if glob.contains("**") {
        return Err("`**` is not known: a `*` stays within one segment".to_owned());
    }
    if climbs(glob) {
        return Err("`..` leads to another place each time: write where it leads".to_owned());
    }
    Ok(())
}

/// The same text, or the same path. A `..` is not resolved: where a link stands before
/// it, it leads elsewhere.
fn same_text(wanted: &str, text: &str) -> bool {
    if wanted == text {
        return true;
    }
    match (Path::of(&nfc(wanted)), Path::of(&nfc(text))) {
        (Some(wanted), Some(text)) => wanted == text,
        _ => false,
    }
}

fn matches(glob: &str, text: &str) -> bool {
    if text.len() > TEXT_BYTES_MAX || check_glob(glob).is_err() {
        return false;
    }
    let (glob, text) = (nfc(glob), nfc(text));
    let (Some(glob), Some(text)) = (Path::of(&glob), Path::of(&text)) else {
        return false;
    };
    glob.is_absolute == text.is_absolute
        && glob.segments.len() == text.segments.len()
        && glob
            .segments
            .iter()
            .zip(&text.segments)
            .all(|(glob, text)| segment_matches(glob, text))
}

fn nfc(text: &str) -> Cow<'_, str> {
    const { ComposingNormalizerBorrowed::new_nfc() }.normalize(text)
}

/// A text as the segments between its slashes, without those that say nothing.
#[derive(PartialEq)]
struct Path<'a> {
    is_absolute: bool,
    segments: Vec<&'a str>,
}

impl<'a> Path<'a> {
    /// None where it climbs, or holds what cuts it short elsewhere.
    fn of(text: &'a str) -> Option<Self> {
        if climbs(text) || text.contains('\0') {
            return None;
        }
        let segments = text.split('/');
        Some(Self {
            is_absolute: text.starts_with('/'),
            segments: segments
                .filter(|segment| !matches!(*segment, "" | "."))
                .collect(),
        })
    }
}

/// Does a segment lead upwards, with whichever slash? Written in percent it does too,
/// for whoever decodes it.
fn climbs(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let plain = text
        .replace("%2e", ".")
        .replace("%2f", "/")
        .replace("%5c", "\\");
    plain
        .split(['/', '\\'])
        .any(|segment| segment.trim() == "..")
}

/// One segment against one with wildcards: greedy, with one place to go back to.
fn segment_matches(glob: &str, text: &str) -> bool {
    let (glob, text): (Vec<char>, Vec<char>) = (glob.chars().collect(), text.chars().collect());
    let (mut g, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match glob.get(g) {
            Some('*') => {
                star = Some((g, t));
                g += 1;
            }
            Some('?') if is_common(&text, t) => (g, t) = (g + 1, t + 1),
            // A wildcard of the pattern is one, also before a letter that looks like it.
            Some(c) if *c != '?' && *c == text[t] => (g, t) = (g + 1, t + 1),
            _ => match star {
                Some((at, upto)) if is_common(&text, upto) => {
                    star = Some((at, upto + 1));
                    (g, t) = (at + 1, upto + 1);
                }
                _ => return false,
            },
        }
    }
    glob[g..].iter().all(|c| *c == '*')
}

/// May a wildcard stand for this letter? Not for what could lead out of the segment or
/// hide in it, for whoever reads the text later: another kind of slash, an escape, a
/// sign of a shell, a hidden character, the dot or the tilde in front.
fn is_common(text: &[char], at: usize) -> bool {
    let c = text[at];
    let crosses = matches!(
        c,
        '/' | '\\' | '%' | '\u{2044}' | '\u{2215}' | '\u{ff0f}' | '\u{ff3c}'
    );
    let is_sign = matches!(c, '$' | '`' | ';' | '|' | '&' | '<' | '>' | '"' | '\'');
    let leads = at == 0 && matches!(c, '.' | '~' | '-');
    !(crosses || is_sign || leads || c.is_control() || is_hidden(c))
}

fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}
