//! Reduces text to its letters and digits, to recognize a quotation however it was wrapped, escaped or
//! spelled. Undoes JSON and XML escapes and compatibility forms, and ignores case.

use super::invisible::is_invisible;
use icu_normalizer::ComposingNormalizerBorrowed;
use std::borrow::Cow;

/// How often escapes within escapes are undone.
const ESCAPE_ROUNDS_MAX: usize = 8;
/// The characters that begin an escape or an entity.
const ESCAPES: [char; 3] = ['\\', '&', '%'];

/// The letters and digits of a text. Different texts may have the same ones, so use them to find
/// possible quotations, never to interpret text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NormalizedText {
    chars: String,
    /// Where a word starts.
    words: Starts,
    /// Where a word or a part of a joined name starts, such as `add` in `re_add`.
    parts: Starts,
}

/// One bit for each byte of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Starts(Vec<u64>);

impl Starts {
    fn mark(&mut self, at: usize) {
        self.0.resize(at / 64 + 1, 0);
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn has(&self, at: usize) -> bool {
        let bits = self.0.get(at / 64).copied().unwrap_or(0);
        bits >> (at % 64) & 1 == 1
    }
}

/// The kinds of characters between which a word ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharKind {
    /// An ASCII letter, or what follows one in a name.
    Letter,
    Digit,
    Other,
}

impl NormalizedText {
    /// With escapes undone. Takes linear time.
    pub fn new(text: &str) -> Self {
        Self::without_escapes(&decode(text))
    }

    /// With escapes undone, and as written if that differs: a backslash may just stand in a path.
    pub fn variants(text: &str) -> Vec<Self> {
        let mut variants = vec![Self::new(text)];
        if decode(text) != text {
            variants.push(Self::without_escapes(text));
        }
        variants
    }

    fn without_escapes(decoded: &str) -> Self {
        let mut normalized = Self::default();
        match decoded.is_ascii() {
            true => normalized.extend(decoded.chars()),
            false => {
                let visible = decoded.chars().filter(|c| !is_invisible(*c));
                let composed = ComposingNormalizerBorrowed::new_nfkc();
                normalized.extend(composed.normalize_iter(visible));
            }
        }
        normalized
    }

    pub fn as_str(&self) -> &str {
        &self.chars
    }

    fn extend(&mut self, chars: impl Iterator<Item = char>) {
        let mut previous = None;
        let mut follows_joint = false;
        for c in chars {
            follows_joint |= matches!(c, '_' | '-');
            let kind = match c {
                // Part of the names of tools.
                '_' => previous,
                '-' => previous.filter(|kind| *kind == CharKind::Letter),
                '0'..='9' if previous == Some(CharKind::Letter) => previous,
                '0'..='9' => Some(CharKind::Digit),
                _ if !c.is_alphanumeric() => None,
                // Korean particles follow a name without a space.
                _ if c.is_ascii() => Some(CharKind::Letter),
                _ => Some(CharKind::Other),
            };
            if c.is_alphanumeric() {
                let at = self.chars.len();
                let starts_word = kind != previous;
                if starts_word {
                    self.words.mark(at);
                }
                if std::mem::take(&mut follows_joint) || starts_word {
                    self.parts.mark(at);
                }
                // Through upper case, so that ß is ss, and a final sigma like any other.
                let folded = c.to_uppercase().flat_map(char::to_lowercase);
                self.chars.extend(folded.filter(|c| c.is_alphanumeric()));
            }
            previous = kind;
        }
    }

    fn is_word_end(&self, at: usize) -> bool {
        at == self.chars.len() || self.words.has(at)
    }

    /// Where `words` occurs, from the start of a word to the end of one, within `range`.
    pub fn find_words<'a>(
        &'a self,
        words: &'a Self,
        range: std::ops::Range<usize>,
    ) -> impl Iterator<Item = usize> + 'a {
        let is_start = |at| self.words.has(at);
        self.find(words, range).filter(move |at| is_start(*at))
    }

    /// Where `name` occurs within `range`, also at the end of a longer name, as in `mcp__files__read`.
    pub fn find_name<'a>(
        &'a self,
        name: &'a Self,
        range: std::ops::Range<usize>,
    ) -> impl Iterator<Item = usize> + 'a {
        let is_start = |at| self.parts.has(at);
        self.find(name, range).filter(move |at| is_start(*at))
    }

    /// Where `words` occurs and a word ends with it.
    fn find<'a>(
        &'a self,
        words: &'a Self,
        range: std::ops::Range<usize>,
    ) -> impl Iterator<Item = usize> + 'a {
        let (start, words) = (range.start, words.as_str());
        let found = self.chars[range].match_indices(words);
        let found = found.map(move |(at, _)| start + at);
        found.filter(move |at| self.is_word_end(at + words.len()))
    }

    pub fn range(&self) -> std::ops::Range<usize> {
        0..self.chars.len()
    }

    /// The range around `at` of about `reach` bytes on either side.
    pub fn range_around(&self, at: usize, reach: usize) -> std::ops::Range<usize> {
        let start = self.chars.floor_char_boundary(at.saturating_sub(reach));
        start..self.chars.ceil_char_boundary(at + reach)
    }
}

/// Undoes escapes and entities until nothing changes, and drops the colors of a terminal.
fn decode(text: &str) -> Cow<'_, str> {
    let mut decoded = without_ansi_colors(text);
    for _ in 0..ESCAPE_ROUNDS_MAX {
        if !decoded.contains(ESCAPES) {
            break;
        }
        let next = decode_once(&decoded);
        if next == *decoded {
            break;
        }
        decoded = Cow::Owned(next);
    }
    decoded
}

fn decode_once(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(ESCAPES) {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        rest = match rest.as_bytes()[at] {
            b'\\' => push_escape(after, &mut out),
            b'%' => push_percent_escape(after, &mut out),
            _ => push_entity(after, &mut out),
        };
    }
    out + rest
}

/// Removes sequences of the form `ESC [ … letter`.
fn without_ansi_colors(text: &str) -> Cow<'_, str> {
    let mut parts = text.split("\u{1b}[");
    let mut out = Cow::Borrowed(parts.next().unwrap_or_default());
    for part in parts {
        let end = part.find(|c: char| c.is_ascii_alphabetic());
        let text = end.map_or(part, |letter| &part[letter + 1..]);
        out.to_mut().push_str(text);
    }
    out
}

/// Decodes consecutive percent escapes from the text after the first percent sign and returns the
/// remaining text.
fn push_percent_escape<'a>(after: &'a str, out: &mut String) -> &'a str {
    let (mut rest, mut bytes) = (Some(after), Vec::new());
    let mut remaining = after;
    while let Some(byte) = rest.and_then(|rest| parse_hex(rest, 2)) {
        bytes.extend(u8::try_from(byte));
        remaining = &remaining[2 + usize::from(bytes.len() > 1)..];
        rest = remaining.strip_prefix('%');
    }
    match bytes.is_empty() {
        true => out.push(' '),
        false => out.push_str(&String::from_utf8_lossy(&bytes)),
    }
    remaining
}

/// Decodes an escape from the text after its backslash and returns the remaining text. Consecutive
/// backslashes count as one, because each level of quoting doubles them.
fn push_escape<'a>(after: &'a str, out: &mut String) -> &'a str {
    let rest = after.trim_start_matches('\\');
    let digits = match rest.as_bytes().first() {
        // An escaped line break or tab is whitespace.
        Some(b'n' | b't' | b'r' | b'b' | b'f') => {
            out.push(' ');
            return &rest[1..];
        }
        Some(b'u') => 4,
        Some(b'x') => 2,
        _ => {
            out.push(' ');
            return rest;
        }
    };
    match parse_hex(&rest[1..], digits) {
        Some(high @ 0xd800..=0xdbff) => push_surrogate_pair(high, &rest[5..], out),
        Some(unit) => {
            out.extend(char::from_u32(unit));
            &rest[1 + digits..]
        }
        None => rest,
    }
}

/// Decodes the low surrogate in `after`, completing a character outside the BMP. Returns the
/// remaining text.
fn push_surrogate_pair<'a>(high: u32, after: &'a str, out: &mut String) -> &'a str {
    let rest = after.trim_start_matches('\\');
    let low = rest.strip_prefix('u').and_then(|rest| parse_hex(rest, 4));
    let Some(low @ 0xdc00..=0xdfff) = low else {
        return after;
    };
    let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    out.extend(char::from_u32(code));
    &rest[5..]
}

fn parse_hex(text: &str, digits: usize) -> Option<u32> {
    let digits = text.get(..digits)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(digits, 16).ok())?
}

/// Decodes an XML entity from the text after its `&` and returns the remaining text. The entity may
/// be escaped repeatedly (`&amp;lt;`).
fn push_entity<'a>(after: &'a str, out: &mut String) -> &'a str {
    let mut rest = after;
    while let Some(unescaped) = rest.strip_prefix("amp;") {
        rest = unescaped;
    }
    match decode_entity(rest) {
        Some((c, rest)) => {
            out.push(c);
            rest
        }
        None => {
            out.push(' ');
            rest
        }
    }
}

/// Decodes an XML entity without its `&`; returns the character and the remaining text.
fn decode_entity(text: &str) -> Option<(char, &str)> {
    /// Longer numbers are not decoded.
    const DIGITS_MAX: usize = 8;
    for (name, c) in [
        ("lt;", '<'),
        ("gt;", '>'),
        ("amp;", '&'),
        ("quot;", '"'),
        ("apos;", '\''),
        ("nbsp;", ' '),
    ] {
        if let Some(rest) = text.strip_prefix(name) {
            return Some((c, rest));
        }
    }
    let number = text.strip_prefix('#')?;
    let (radix, number) = match number.strip_prefix(['x', 'X']) {
        Some(number) => (16, number),
        None => (10, number),
    };
    let end = number
        .bytes()
        .take(DIGITS_MAX + 1)
        .position(|b| b == b';')?;
    let code = u32::from_str_radix(&number[..end], radix).ok()?;
    Some((char::from_u32(code)?, &number[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalize(text: &str) -> String {
        NormalizedText::new(text).chars
    }

    #[test]
    fn wrapping_and_spelling_do_not_change_the_normalized_text() {
        const CALL: &str = r#"{"name": "get_weather", "arguments": {"city": "서울"}}"#;
        let plain_call = normalize(CALL);
        assert_eq!(plain_call, "namegetweatherargumentscity서울");
        let json = serde_json::Value::from(CALL).to_string();
        let json_twice = serde_json::Value::from(json.as_str()).to_string();
        for text in [
            CALL.replace(' ', ""),
            CALL.replace(' ', "\n\t\u{a0}"),
            CALL.replace('"', "“"),
            CALL.replace('"', "&quot;"),
            CALL.replace('"', "&amp;amp;#34;"),
            CALL.replace("서", r"\uc11c"),
            CALL.replace("서", r"&#92;uc11c"),
            CALL.replace("서", "\u{1109}\u{1165}"),
            CALL.replace("get", "ＧＥＴ"),
            CALL.replace("get", r"\x67et"),
            CALL.replace("서", "%EC%84%9C").replace(' ', "%20"),
            CALL.replace("na", "n\u{200b}a"),
            CALL.replace("na", "n'+'a"),
            CALL.replace("city", "\u{1b}[31mcity\u{1b}[0m"),
            CALL.replace(' ', r"\n"),
            json,
            json_twice,
            format!("```\n{CALL}\n```"),
        ] {
            assert_eq!(normalize(&text), plain_call, "{text}");
        }
        assert_eq!(normalize(r"C:\new\table"), normalize(r"C:\\new\\table"));
        assert_eq!(normalize("a && b &unknown; &#x110000;"), "abunknownx110000");
        assert_eq!(normalize(r"\ud83d x \u12 &#xac00;&#44032;"), "xu12가가");
        assert_eq!(normalize(r"\ud835\udc1a"), "a");
        assert_eq!(normalize("100% %zz %41%4 %ff%42"), "100zza4b");
        assert_eq!(normalize("Straße ΟΔΌΣ İı"), normalize("STRASSE οδός Ii"));
    }

    #[test]
    fn words_are_found_from_start_to_end() {
        let text = "Add it, re-add, add_all, add-5, add5 address, add를, 덧셈add(1), add 2-3";
        let text = NormalizedText::new(text);
        let count = |words| {
            let words = NormalizedText::new(words);
            text.find_words(&words, text.range()).count()
        };
        assert_eq!(count("add"), 4);
        assert_eq!(["add it", "add_all", "2", "3"].map(count), [1; 4]);
        assert_eq!(["dd", "5", "all"].map(count), [0; 3]);
        let count_names = |name| {
            let name = NormalizedText::new(name);
            text.find_name(&name, text.range()).count()
        };
        assert_eq!(
            ["add", "all", "dd", "address"].map(count_names),
            [5, 1, 0, 1]
        );
    }
}
