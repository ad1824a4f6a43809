//! Recognizes secrets by their context: headers with keys, `Bearer`, command-line flags
//! such as `--api-key`, and user info in URLs. A single search finds all markers. The text
//! around each of them is then examined once.

use crate::domain::secrets::{could_be_token, is_secret_name};
use aho_corasick::{AhoCorasick, MatchKind};
use std::ops::Range;
use std::sync::LazyLock;

/// The maximum distance scanned from a marker, forward or backward.
const LOOKAROUND_BYTES_MAX: usize = 512;
/// The maximum length of a URL that is examined. Tokens used as user names can be long.
const URL_BYTES_MAX: usize = 8_192;
/// The minimum length of an unknown token in a URL path.
const TOKEN_CHARS_MIN: usize = 20;
/// Shorter words after a flag are probably ordinary text.
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
    /// A percent-encoded [`Self::UrlAuthority`].
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
    for marker in FINDER.find_iter(text) {
        if ranges.last().is_some_and(|last| marker.start() < last.end) {
            continue;
        }
        let end = marker.end();
        let range = match SECRET_MARKERS[marker.pattern().as_usize()].1 {
            SecretMarker::Name => {
                flag_value(text, marker.start(), end).or_else(|| named_value(text, end))
            }
            SecretMarker::Flag => flag_value(text, marker.start(), end),
            SecretMarker::Bearer => Some(end..end + token_length(&text[end..])),
            SecretMarker::UrlAuthority => {
                ranges.extend(user_info(text, end));
                ranges.extend(secrets_in_url(text, end));
                continue;
            }
            SecretMarker::EncodedUrlAuthority => encoded_user_info(text, end),
        };
        ranges.extend(range.filter(|range| !range.is_empty()));
    }
    ranges
}

/// The value after a name that ends at `name_end`: `: value`, `=value`, `":"value"`,
/// `\":\"value\"`, `", "value"`. It extends to the end of its string or list.
fn named_value(text: &str, name_end: usize) -> Option<Range<usize>> {
    let is_opening = |c: char| matches!(c, '"' | '\'' | '\\' | ' ' | '\t' | '(' | '[');
    let rest = &text[name_end..];
    let separators: &[char] = match rest.starts_with(['"', '\\']) {
        true => &[':', '=', ','],
        false => &[':', '='],
    };
    let mut value = rest
        .trim_start_matches(is_opening)
        .strip_prefix(separators)?;
    // Redacting twice must not add brackets.
    while value.starts_with(is_opening) && !value.starts_with(super::HIDDEN) {
        value = &value[1..];
    }
    let start = text.len() - value.len();
    let is_closing = |c: char| matches!(c, '"' | '\'' | '\\' | ',' | '}' | ')' | ';');
    let end = value.find(is_closing).unwrap_or(value.len());
    Some(start..start + credential_length(&value[..end]))
}

/// The length of the credential at the start of `value`: one word, a scheme such as `Bearer`
/// and one word, or a whole parameter list, as used by `Digest`.
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

fn token_length(text: &str) -> usize {
    let is_token_char = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
    text.find(|c| !is_token_char(c)).unwrap_or(text.len())
}

/// The value of a flag whose name contains the marker at `marker_start..marker_end`:
/// `--x-key VALUE`, `--x-key=VALUE`, `"--x-key", "VALUE"`.
fn flag_value(text: &str, marker_start: usize, marker_end: usize) -> Option<Range<usize>> {
    let is_name_byte =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let bytes = text.as_bytes();
    let before = bytes[..marker_start]
        .iter()
        .rev()
        .take(LOOKAROUND_BYTES_MAX);
    let name_start = marker_start - before.take_while(|byte| is_name_byte(byte)).count();
    let is_at_boundary = name_start == 0 || !bytes[name_start - 1].is_ascii_alphanumeric();
    if bytes.get(name_start) != Some(&b'-') || !is_at_boundary {
        return None;
    }
    let after = bytes[marker_end..].iter().take(LOOKAROUND_BYTES_MAX);
    let name_end = marker_end + after.take_while(|byte| is_name_byte(byte)).count();
    let rest = &text[name_end..];
    let is_assigned = rest.starts_with('=');
    let is_separator =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '\\' | ',' | ':' | '=');
    let value = rest.trim_start_matches(is_separator);
    let separator = &rest[..rest.len() - value.len()];
    if separator.is_empty() || !is_assigned && value.starts_with('-') {
        return None;
    }
    let is_quote = |c: char| matches!(c, '"' | '\'' | '`');
    let quote = separator.chars().next_back().filter(|last| is_quote(*last));
    let end = match quote {
        Some(quote) => value.find([quote, '\\']),
        None => value.find(|c: char| c.is_whitespace() || is_quote(c)),
    };
    let end = end.unwrap_or(value.len());
    let is_ordinary_word = !is_assigned && quote.is_none() && end < FLAG_VALUE_BYTES_MIN;
    let start = text.len() - value.len();
    (!is_ordinary_word).then_some(start..start + end)
}

/// The user info of the URL whose authority starts at `authority_start`.
fn user_info(text: &str, authority_start: usize) -> Option<Range<usize>> {
    let ends_url = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<');
    let rest = &text[authority_start..];
    let rest = &rest[..rest.floor_char_boundary(URL_BYTES_MAX)];
    let ends_authority = |c| ends_url(c) || matches!(c, '/' | '?' | '#' | '\\');
    let authority = &rest[..rest.find(ends_authority).unwrap_or(rest.len())];
    let end = authority.rfind('@').or_else(|| {
        // `user:pa/ss@host`: not a valid URL, but a common mistake. A number after the
        // colon is a port.
        let (_, port) = authority.split_once(':')?;
        let is_port = port.bytes().all(|byte| byte.is_ascii_digit()) || authority.contains(']');
        let rest = &rest[..rest.floor_char_boundary(LOOKAROUND_BYTES_MAX)];
        let rest = &rest[..rest.find(ends_url).unwrap_or(rest.len())];
        (!is_port).then(|| rest.rfind('@'))?
    })?;
    Some(authority_start..authority_start + end)
}

/// Whether this part of an arbitrary URL is a token, not just a long name.
fn is_likely_token(part: &str) -> bool {
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    part.len() >= TOKEN_CHARS_MIN && digits > 1 && could_be_token(part)
}

/// Tokens in the path, and the values of parameters with secret names, of the URL whose
/// authority starts at `authority_start`.
fn secrets_in_url(text: &str, authority_start: usize) -> Vec<Range<usize>> {
    let ends_url =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | ')' | '\\');
    let url = &text[authority_start..];
    let url = &url[..url.floor_char_boundary(URL_BYTES_MAX)];
    // Reads each URL once, even if the next one follows without a space.
    let url = &url[..url.find("://").unwrap_or(url.len())];
    let url = &url[..url.find(ends_url).unwrap_or(url.len())];
    let path_start = url.find('/').unwrap_or(url.len());
    let query_start = url.find('?').unwrap_or(url.len());
    let (mut secrets, mut start) = (Vec::new(), path_start.min(query_start));
    for part in url[start..].split_inclusive(['/', '?', '&', '#', ';']) {
        let content = part.trim_end_matches(['/', '?', '&', '#', ';', '.', ',', ':']);
        let secret = match content.split_once('=') {
            Some((name, value)) if start >= query_start && is_secret_name(name) => {
                let value_start = start + name.len() + 1;
                Some(value_start..value_start + value.len())
            }
            _ => is_likely_token(content).then(|| start..start + content.len()),
        };
        let is_unredacted = |range: &Range<usize>| url[range.clone()] != *super::HIDDEN;
        secrets.extend(
            secret
                .filter(is_unredacted)
                .map(|range| authority_start + range.start..authority_start + range.end),
        );
        start += part.len();
    }
    secrets
}

/// Like [`user_info`], for a percent-encoded URL.
fn encoded_user_info(text: &str, authority_start: usize) -> Option<Range<usize>> {
    let rest = &text.as_bytes()[authority_start..];
    let rest = &rest[..rest.len().min(LOOKAROUND_BYTES_MAX)];
    let ends_authority = |three: &[u8]| {
        let is_delimiter = matches!(three[0], b'"' | b'\'' | b'&' | b'/' | b'<');
        is_delimiter || three[0].is_ascii_whitespace() || three.eq_ignore_ascii_case(b"%2f")
    };
    let windows = || rest.windows(3);
    let authority = windows().position(ends_authority).unwrap_or(rest.len());
    let end = windows()
        .take(authority)
        .rposition(|three| three == b"%40")?;
    Some(authority_start..authority_start + end)
}
