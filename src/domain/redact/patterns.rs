//! Recognizes secrets by their context: headers with keys, `Bearer`, command-line flags
//! such as `--api-key`, and user info in URLs. A single search finds all markers; each is
//! then examined once.

use crate::domain::secrets::{could_be_token, is_secret_name};
use aho_corasick::{AhoCorasick, MatchKind};
use std::ops::Range;
use std::sync::LazyLock;

/// The maximum distance scanned forward or backward.
const LOOKAROUND_BYTES_MAX: usize = 512;
/// Tokens used as user names can be long.
const USER_INFO_BYTES_MAX: usize = 8_192;
/// The minimum length of an unknown token in a URL path.
const TOKEN_CHARS_MIN: usize = 20;
/// A shorter word after a flag is probably ordinary text.
const FLAG_VALUE_BYTES_MIN: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SecretMarker {
    /// `NAME: value` in a header, JSON or an assignment.
    Name,
    /// Part of a flag name, `--NAME value`.
    Flag,
    Bearer,
    /// Between the scheme and the authority of a URL.
    UrlAuthority,
    /// The same, percent-encoded.
    EncodedUrlAuthority,
}

const SECRET_MARKERS: [(&str, SecretMarker); 17] = [
    ("authorization", SecretMarker::Name),
    ("api-key", SecretMarker::Name),
    ("api_key", SecretMarker::Name),
    ("apikey", SecretMarker::Name),
    ("access_token", SecretMarker::Name),
    ("refresh_token", SecretMarker::Name),
    ("key", SecretMarker::Flag),
    ("token", SecretMarker::Flag),
    ("secret", SecretMarker::Flag),
    ("pass", SecretMarker::Flag),
    ("pwd", SecretMarker::Flag),
    ("credential", SecretMarker::Flag),
    ("bearer ", SecretMarker::Bearer),
    ("://", SecretMarker::UrlAuthority),
    (r":\/\/", SecretMarker::UrlAuthority),
    (r":\\/\\/", SecretMarker::UrlAuthority),
    ("%3a%2f%2f", SecretMarker::EncodedUrlAuthority),
];

static FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(SECRET_MARKERS.map(|(word, _)| word))
        .expect("a small fixed set of words")
});

/// The parts of `text` that are secret by context, in order.
pub(in crate::domain) fn secret_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for found in FINDER.find_iter(text) {
        if ranges.last().is_some_and(|last| found.start() < last.end) {
            continue;
        }
        let at = found.end();
        let range = match SECRET_MARKERS[found.pattern().as_usize()].1 {
            SecretMarker::Name => {
                flag_value(text, found.start(), at).or_else(|| named_value(text, at))
            }
            SecretMarker::Flag => flag_value(text, found.start(), at),
            SecretMarker::Bearer => Some(at..at + token_length(&text[at..])),
            SecretMarker::UrlAuthority => {
                ranges.extend(user_info(text, at));
                ranges.extend(secrets_in_url(text, at));
                continue;
            }
            SecretMarker::EncodedUrlAuthority => encoded_user_info(text, at),
        };
        ranges.extend(range.filter(|range| !range.is_empty()));
    }
    ranges
}

/// The value after a name that ends at `at`: `: value`, `=value`, `":"value"`,
/// `\":\"value\"`, `", "value"`. It ends with the text or the surrounding list.
fn named_value(text: &str, at: usize) -> Option<Range<usize>> {
    let opens = |letter: char| matches!(letter, '"' | '\'' | '\\' | ' ' | '\t' | '(' | '[');
    let rest = &text[at..];
    let separators: &[char] = match rest.starts_with(['"', '\\']) {
        true => &[':', '=', ','],
        false => &[':', '='],
    };
    let behind = rest.trim_start_matches(opens).strip_prefix(separators)?;
    let mut value = behind;
    // Redacting twice must not add brackets.
    while value.starts_with(opens) && !value.starts_with(super::HIDDEN) {
        value = &value[1..];
    }
    let start = text.len() - value.len();
    let ends = |letter: char| matches!(letter, '"' | '\'' | '\\' | ',' | '}' | ')' | ';');
    let end = value.find(ends).unwrap_or(value.len());
    Some(start..start + credential_length(&value[..end]))
}

/// A credential is one word, or a scheme such as `Bearer` and one word. A parameter list,
/// as in `Digest`, is a credential as a whole.
fn credential_length(value: &str) -> usize {
    if value.contains('=') && value.contains(' ') {
        return value.len();
    }
    let mut words = value.split_inclusive(char::is_whitespace);
    let first = words.next().unwrap_or_default();
    let is_scheme = first
        .trim_end()
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic());
    let second = words.next().filter(|_| is_scheme).unwrap_or_default();
    value[..first.len() + second.len()].trim_end().len()
}

fn token_length(rest: &str) -> usize {
    let is_token = |letter: char| letter.is_ascii_alphanumeric() || "-._~+/=".contains(letter);
    rest.find(|letter| !is_token(letter)).unwrap_or(rest.len())
}

/// The value of a flag with the marker at `start..at` in its name: `--x-key VALUE`,
/// `--x-key=VALUE`, `"--x-key", "VALUE"`.
fn flag_value(text: &str, start: usize, at: usize) -> Option<Range<usize>> {
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let bytes = text.as_bytes();
    let before = bytes[..start].iter().rev().take(LOOKAROUND_BYTES_MAX);
    let name = start - before.take_while(|byte| in_name(byte)).count();
    let has_boundary = name == 0 || !bytes[name - 1].is_ascii_alphanumeric();
    if bytes.get(name) != Some(&b'-') || !has_boundary {
        return None;
    }
    let behind = bytes[at..].iter().take(LOOKAROUND_BYTES_MAX);
    let at = at + behind.take_while(|byte| in_name(byte)).count();
    let rest = &text[at..];
    let is_assigned = rest.starts_with('=');
    let separates = |letter: char| {
        letter.is_whitespace() || matches!(letter, '"' | '\'' | '`' | '\\' | ',' | ':' | '=')
    };
    let value = rest.trim_start_matches(separates);
    let separator = &rest[..rest.len() - value.len()];
    if separator.is_empty() || !is_assigned && value.starts_with('-') {
        return None;
    }
    let is_quote = |letter: char| matches!(letter, '"' | '\'' | '`');
    let quote = separator.chars().next_back().filter(|last| is_quote(*last));
    let end = match quote {
        Some(quote) => value.find([quote, '\\']),
        None => value.find(|letter: char| letter.is_whitespace() || is_quote(letter)),
    };
    let end = end.unwrap_or(value.len());
    let is_word = !is_assigned && quote.is_none() && end < FLAG_VALUE_BYTES_MIN;
    let start = text.len() - value.len();
    (!is_word).then_some(start..start + end)
}

/// The user info of a URL with its authority at `at`.
fn user_info(text: &str, at: usize) -> Option<Range<usize>> {
    let ends = |letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | '`' | '<');
    let rest = &text[at..];
    let rest = &rest[..rest.floor_char_boundary(USER_INFO_BYTES_MAX)];
    let ends_authority = |letter| ends(letter) || matches!(letter, '/' | '?' | '#' | '\\');
    let authority = &rest[..rest.find(ends_authority).unwrap_or(rest.len())];
    let end = authority.rfind('@').or_else(|| {
        // `user:pa/ss@host`: not a valid URL, but a common mistake. A number after the
        // colon is a port.
        let (_, port) = authority.split_once(':')?;
        let is_port = port.bytes().all(|byte| byte.is_ascii_digit()) || authority.contains(']');
        let rest = &rest[..rest.floor_char_boundary(LOOKAROUND_BYTES_MAX)];
        let rest = &rest[..rest.find(ends).unwrap_or(rest.len())];
        (!is_port).then(|| rest.rfind('@'))?
    })?;
    Some(at..at + end)
}

/// Whether this part of an arbitrary URL is a token, not just a long name.
fn is_likely_token(part: &str) -> bool {
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    part.len() >= TOKEN_CHARS_MIN && digits > 1 && could_be_token(part)
}

/// Tokens in the path, and parameters with secret names, in a URL with its authority at
/// `at`.
fn secrets_in_url(text: &str, at: usize) -> Vec<Range<usize>> {
    let ends = |letter: char| {
        letter.is_whitespace() || matches!(letter, '"' | '\'' | '`' | '<' | '>' | ')' | '\\')
    };
    let url = &text[at..];
    let url = &url[..url.floor_char_boundary(USER_INFO_BYTES_MAX)];
    // Reads each URL once, even if the next one follows without a space.
    let url = &url[..url.find("://").unwrap_or(url.len())];
    let url = &url[..url.find(ends).unwrap_or(url.len())];
    let path = url.find('/').unwrap_or(url.len());
    let query = url.find('?').unwrap_or(url.len());
    let (mut parts, mut start) = (Vec::new(), path.min(query));
    for part in url[start..].split_inclusive(['/', '?', '&', '#', ';']) {
        let text = part.trim_end_matches(['/', '?', '&', '#', ';', '.', ',', ':']);
        let hidden = match text.split_once('=') {
            Some((name, value)) if start >= query && is_secret_name(name) => {
                let value = start + name.len() + 1..start + name.len() + 1 + value.len();
                Some(value)
            }
            _ => is_likely_token(text).then(|| start..start + text.len()),
        };
        let is_new = |range: &Range<usize>| url[range.clone()] != *super::HIDDEN;
        parts.extend(
            hidden
                .filter(is_new)
                .map(|range| at + range.start..at + range.end),
        );
        start += part.len();
    }
    parts
}

fn encoded_user_info(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text.as_bytes()[at..];
    let rest = &rest[..rest.len().min(LOOKAROUND_BYTES_MAX)];
    let ends = |three: &[u8]| {
        let is_mark = matches!(three[0], b'"' | b'\'' | b'&' | b'/' | b'<');
        is_mark || three[0].is_ascii_whitespace() || three.eq_ignore_ascii_case(b"%2f")
    };
    let windows = || rest.windows(3);
    let authority = windows().position(ends).unwrap_or(rest.len());
    let end = windows()
        .take(authority)
        .rposition(|three| three == b"%40")?;
    Some(at..at + end)
}
