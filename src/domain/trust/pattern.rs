//! Argument patterns of stored rules. When in doubt, a pattern does not match, which only
//! means that the user is asked. `*` matches letters, digits, `_`, `-` and `.`; `?` matches one
//! of them; every other character matches itself. Therefore a wildcard cannot introduce
//! another host, option, word or statement, whichever program interprets the text later.

use crate::domain::Arguments;
use crate::text::invisible::is_invisible;
use icu_normalizer::ComposingNormalizerBorrowed;
use icu_normalizer::properties::CanonicalCombiningClassMapBorrowed;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The longest text that a glob matches. A longer match would hardly be intended.
const TEXT_BYTES_MAX: usize = 4_096;
const WILDCARDS_MAX: usize = 32;

/// The conditions for a call's arguments. Arguments without a condition must be absent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ArgumentPattern {
    arguments: Vec<(String, ArgumentMatcher)>,
}

/// The condition for one argument.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgumentMatcher {
    /// The argument must equal this JSON value. Texts count as equal if they are canonically
    /// equivalent or denote the same path.
    Equal(Value),
    Glob(String),
}

impl ArgumentPattern {
    /// The pattern that matches exactly these arguments.
    pub fn from_arguments(arguments: &Arguments) -> Self {
        let to_entry =
            |(key, value): (&String, &Value)| (key.clone(), ArgumentMatcher::Equal(value.clone()));
        Self {
            arguments: arguments.iter().map(to_entry).collect(),
        }
    }

    pub fn arguments(&self) -> &[(String, ArgumentMatcher)] {
        &self.arguments
    }

    /// Never for a number that a double cannot hold: the pattern has only the rounded number.
    pub fn matches(&self, arguments: &Arguments) -> bool {
        !arguments.has_digits()
            && self.arguments.len() == arguments.len()
            && self.arguments.iter().all(|(key, matcher)| {
                arguments
                    .get(key)
                    .is_some_and(|value| matcher.matches(value))
            })
    }

    /// Parses the JSON used in files and in the editor. A text with `*` or `?` is a glob;
    /// `{"equals": …}` and any other value are matched by equality.
    ///
    /// # Errors
    /// The reason the pattern is invalid.
    pub fn from_json(json: &Map<String, Value>) -> Result<Self, String> {
        let parse_entry = |(key, value): (&String, &Value)| {
            let matcher =
                ArgumentMatcher::from_json(value).map_err(|why| format!("`{key}`: {why}"))?;
            Ok((key.clone(), matcher))
        };
        let arguments = json
            .iter()
            .map(parse_entry)
            .collect::<Result<_, String>>()?;
        Ok(Self { arguments })
    }

    pub fn to_json(&self) -> Map<String, Value> {
        let to_entry =
            |(key, matcher): &(String, ArgumentMatcher)| (key.clone(), matcher.to_json());
        self.arguments.iter().map(to_entry).collect()
    }
}

impl ArgumentMatcher {
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

    fn matches(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Equal(Value::String(wanted)), Value::String(text)) => is_same_text(wanted, text),
            (Self::Equal(wanted), value) => wanted == value,
            (Self::Glob(glob), Value::String(text)) => glob_matches(glob, text),
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
        return Err("`**` is not supported: `*` matches within one segment only".to_owned());
    }
    if has_parent_segment(glob) {
        return Err("`..` is not allowed: write the full path".to_owned());
    }
    Ok(())
}

/// Whether both texts are canonically equivalent (Unicode NFC) or denote the same path. `..` is
/// not resolved, because after a symbolic link it leads elsewhere.
fn is_same_text(wanted: &str, text: &str) -> bool {
    let (wanted, text) = (nfc(wanted), nfc(text));
    wanted == text
        || (is_path(&wanted)
            && is_path(&text)
            && significant_segments(&wanted) == significant_segments(&text))
}

fn glob_matches(glob: &str, text: &str) -> bool {
    if text.len() > TEXT_BYTES_MAX || check_glob(glob).is_err() || has_parent_segment(text) {
        return false;
    }
    let (glob, text) = (nfc(glob), nfc(text));
    let all_segments = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
    let (glob, text) = match is_path(&glob.replace(['*', '?'], "_")) && is_path(&text) {
        true => (significant_segments(&glob), significant_segments(&text)),
        false => (all_segments(&glob), all_segments(&text)),
    };
    let mut segment_pairs = glob.iter().zip(&text);
    glob.len() == text.len() && segment_pairs.all(|(glob, text)| segment_matches(glob, text))
}

fn nfc(text: &str) -> Cow<'_, str> {
    const { ComposingNormalizerBorrowed::new_nfc() }.normalize(text)
}

/// Whether the text is certainly a file path, in which repeated slashes are redundant. They are
/// significant in URLs, commands, expressions and share names.
fn is_path(text: &str) -> bool {
    let is_plain = |c: char| is_word_char(c) || matches!(c, '/' | '-' | '.');
    text.starts_with('/')
        && !text.starts_with("//")
        && text.chars().all(is_plain)
        && !has_parent_segment(text)
}

/// The segments of a path, without empty and `.` ones except the last. Ignores trailing slashes.
fn significant_segments(path: &str) -> Vec<String> {
    let path = path.trim_end_matches('/');
    let last = path.split('/').count() - 1;
    let segments = path.split('/').enumerate();
    segments
        .filter(|(index, segment)| !matches!(*segment, "" | ".") || *index == last)
        .map(|(_, segment)| segment.to_owned())
        .collect()
}

/// Whether any segment is `..`, with either slash, even if percent-encoded.
fn has_parent_segment(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let plain = text
        .replace("%2e", ".")
        .replace("%2f", "/")
        .replace("%5c", "\\");
    plain
        .split(['/', '\\'])
        .any(|segment| segment.trim() == "..")
}

/// Whether the glob matches the whole segment `text`. Greedy, with a single backtracking
/// point: the last `*`.
fn segment_matches(glob: &str, text: &str) -> bool {
    if text.is_empty() {
        return glob.is_empty();
    }
    let (glob, text): (Vec<char>, Vec<char>) = (glob.chars().collect(), text.chars().collect());
    let (mut g, mut t) = (0, 0);
    // The index of the last `*`, and the end of the text that it matches so far.
    let mut last_star: Option<(usize, usize)> = None;
    while t < text.len() {
        match glob.get(g) {
            Some('*') => {
                last_star = Some((g, t));
                g += 1;
            }
            Some('?') if may_match_wildcard(&text, t) => (g, t) = (g + 1, t + 1),
            // A `?` in the glob is always a wildcard, so it does not match a `?` in the text.
            Some(c) if *c != '?' && *c == text[t] => (g, t) = (g + 1, t + 1),
            _ => match last_star {
                Some((star, end)) if may_match_wildcard(&text, end) => {
                    last_star = Some((star, end + 1));
                    (g, t) = (star + 1, end + 1);
                }
                _ => return false,
            },
        }
    }
    glob[g..].iter().all(|c| *c == '*')
}

/// Whether a wildcard may match the character at `index`. A dash or dot must follow a word
/// character, because elsewhere it could start an option, a hidden file or a parent reference.
fn may_match_wildcard(text: &[char], index: usize) -> bool {
    let previous = index.checked_sub(1).map(|previous| text[previous]);
    let is_in_word = previous.is_some_and(|c| is_word_char(c) || is_combining_mark(c));
    match text[index] {
        '-' => is_in_word,
        '.' => is_in_word && text.get(index + 1) != Some(&'.'),
        c => is_word_char(c) || (is_in_word && is_combining_mark(c)),
    }
}

/// Whether `c` is `_`, or a letter or digit of any script that remains one under compatibility
/// normalization (`⒈` becomes a digit with a dot).
fn is_word_char(c: char) -> bool {
    let nfkc = const { ComposingNormalizerBorrowed::new_nfkc() };
    let mut buffer = [0; 4];
    let normalized = nfkc.normalize(c.encode_utf8(&mut buffer));
    let is_letter = |c: char| c == '_' || c.is_alphanumeric();
    let is_plain = |c: char| is_letter(c) || is_combining_mark(c);
    c == '_'
        || (is_letter(c)
            && normalized.chars().all(is_plain)
            && !is_invisible(c)
            && !looks_like_punctuation(c))
}

/// Whether `c` is a combining mark that changes the preceding letter. Overlays such as strokes
/// are excluded.
fn is_combining_mark(c: char) -> bool {
    let class = const { CanonicalCombiningClassMapBorrowed::new() }.get_u8(c);
    matches!(class, 7..=9 | 220 | 230)
}

/// Whether `c` is a letter that looks like punctuation: click letters look like bars, Lisu tone
/// letters like dots, and a Coptic letter like a slash.
fn looks_like_punctuation(c: char) -> bool {
    matches!(c, '\u{1c0}'..='\u{1c3}' | '\u{2cc6}' | '\u{a4f8}'..='\u{a4fd}')
}
