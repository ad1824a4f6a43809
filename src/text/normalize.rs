//! Reduces text to its significant characters, to recognize a quotation however it was wrapped or
//! escaped. Drops whitespace, quotation marks, backticks and invisible characters, and decodes JSON
//! and XML escapes at any nesting depth.

use super::invisible::is_invisible;

/// The significant characters of `text`. Different texts may have the same normal form, so use it
/// to find possible quotations, never to interpret text. O(len).
pub fn normalize(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = match c {
            '\\' => push_escape(after, &mut out),
            '&' => push_entity(after, &mut out),
            _ => {
                push_significant(c, &mut out);
                after
            }
        };
    }
    out
}

/// Strips line prefixes (quote and comment marks, diff signs, line numbers) and ANSI colors.
/// Returns `None` if there were none.
pub fn strip_line_prefixes(text: &str) -> Option<String> {
    let is_prefix_char =
        |c: char| c.is_ascii_digit() || c.is_whitespace() || ">#/+-|*:;%│".contains(c);
    let text = strip_ansi_colors(text);
    let stripped = text
        .split('\n')
        .map(|line| line.trim_start_matches(is_prefix_char))
        .collect::<Vec<_>>()
        .join("\n");
    (stripped.len() < text.len() || matches!(text, std::borrow::Cow::Owned(_))).then_some(stripped)
}

/// Removes sequences of the form `ESC [ … letter`.
fn strip_ansi_colors(text: &str) -> std::borrow::Cow<'_, str> {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default();
    let mut out = std::borrow::Cow::Borrowed(first);
    for part in parts {
        let end = part.find(|c: char| c.is_ascii_alphabetic());
        out.to_mut()
            .push_str(end.map_or(part, |letter| &part[letter + 1..]));
    }
    out
}

fn push_significant(c: char, out: &mut String) {
    let is_quote = matches!(c, '"' | '\'' | '`' | '“' | '”' | '‘' | '’');
    if !is_quote && !c.is_whitespace() && !is_invisible(c) {
        out.push(c);
    }
}

/// Decodes an escape from the text after its backslash and returns the remaining text. Consecutive
/// backslashes count as one, because each level of quoting doubles them.
fn push_escape<'a>(after: &'a str, out: &mut String) -> &'a str {
    let rest = after.trim_start_matches('\\');
    match rest.as_bytes().first() {
        // An escaped line break or tab is whitespace.
        Some(b'n' | b't' | b'r' | b'b' | b'f') => &rest[1..],
        Some(b'u') => match parse_hex4(&rest[1..]) {
            Some(high @ 0xd800..=0xdbff) => push_surrogate_pair(high, &rest[5..], out),
            Some(unit) => {
                push_significant(char::from_u32(unit).unwrap_or_default(), out);
                &rest[5..]
            }
            None => rest,
        },
        _ => rest,
    }
}

/// Decodes the low surrogate in `after`, completing a character outside the BMP. Returns the
/// remaining text.
fn push_surrogate_pair<'a>(high: u32, after: &'a str, out: &mut String) -> &'a str {
    let rest = after.trim_start_matches('\\');
    let low = rest.strip_prefix('u').and_then(parse_hex4);
    let Some(low @ 0xdc00..=0xdfff) = low else {
        return after;
    };
    let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    push_significant(char::from_u32(code).unwrap_or_default(), out);
    &rest[5..]
}

fn parse_hex4(text: &str) -> Option<u32> {
    let digits = text.get(..4)?;
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
            push_significant(c, out);
            rest
        }
        None => {
            push_significant('&', out);
            rest
        }
    }
}

/// Decodes an XML entity without its `&`; returns the character and the remaining text.
pub fn decode_entity(text: &str) -> Option<(char, &str)> {
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

    const CALL: &str = r#"{"name": "get_weather", "arguments": {"city": "서울"}}"#;

    #[test]
    fn wrapping_and_escaping_do_not_change_the_normalized_text() {
        let plain_call = normalize(CALL);
        assert_eq!(plain_call, "{name:get_weather,arguments:{city:서울}}");
        let json = serde_json::Value::from(CALL).to_string();
        let json_twice = serde_json::Value::from(json.as_str()).to_string();
        for text in [
            CALL.replace(' ', ""),
            CALL.replace(' ', "\n\t\u{a0}"),
            CALL.replace('"', "'"),
            CALL.replace('"', "“"),
            CALL.replace('"', "&quot;"),
            CALL.replace('"', "&amp;amp;#34;"),
            CALL.replace("서", r"\uc11c"),
            CALL.replace("na", "n\u{200b}a"),
            CALL.replace(' ', r"\n"),
            json,
            json_twice,
            format!("```\n{CALL}\n```"),
        ] {
            assert_eq!(normalize(&text), plain_call, "{text}");
        }
    }

    #[test]
    fn different_texts_stay_different_when_normalized() {
        for text in [
            "{name:get_weather}",
            &CALL.replace("서울", "부산"),
            "",
            "&",
            "\\",
        ] {
            assert_ne!(normalize(text), normalize(CALL));
        }
        assert_eq!(normalize(r"a \ud83d\ude00 b"), "a😀b");
        assert_eq!(normalize(r"\ud83d x \u12"), "xu12");
        assert_eq!(
            normalize("a && b &unknown; &#x110000;"),
            "a&&b&unknown;&#x110000;"
        );
        assert_eq!(normalize("&#xac00;&#44032;"), "가가");
    }
}
