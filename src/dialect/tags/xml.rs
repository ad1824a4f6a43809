//! The subset of XML that the forms use: attributes, character references (XML 1.0 section 4.1), the
//! five predefined entities (4.6) and CDATA sections (2.7).

use std::borrow::Cow;

pub(super) const CDATA: &str = "<![CDATA[";
pub(super) const CDATA_END: &str = "]]>";
/// Maximum length of a reference, including `&` and `;`.
const REFERENCE_BYTES_MAX: usize = 12;

#[derive(Debug, Default, PartialEq)]
pub(super) struct XmlAttributes(Vec<(String, String)>);

impl XmlAttributes {
    /// Parses `name="value" other='value' third=value`; `None` if the syntax is different.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut attributes = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let end = rest.find(|c: char| c == '=' || c.is_whitespace())?;
            let (name, after) = rest.split_at(end);
            let value = after.trim_start().strip_prefix('=')?.trim_start();
            let (value, after) = match value.chars().next()? {
                quote @ ('"' | '\'') => value[1..].split_once(quote)?,
                _ => value.split_at(value.find(char::is_whitespace).unwrap_or(value.len())),
            };
            attributes.push((name.to_owned(), unescaped(value).into_owned()));
            rest = after.trim_start();
        }
        Some(Self(attributes))
    }

    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let index = self.0.iter().position(|(other, _)| other == name)?;
        Some(self.0.swap_remove(index).1)
    }
}

pub(super) fn unquoted(text: &str) -> &str {
    let strip = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    strip('"').or_else(|| strip('\'')).unwrap_or(text)
}

/// Resolves references and unwraps CDATA sections. Everything else stays unchanged, because most
/// models do not escape text. O(len).
pub(super) fn content(text: &str) -> Cow<'_, str> {
    // If the value begins and ends with a section, the whitespace around it is layout.
    let trimmed = text.trim();
    let is_in_sections = trimmed.starts_with(CDATA) && trimmed.ends_with(CDATA_END);
    let mut rest = if is_in_sections { trimmed } else { text };
    if !rest.contains(CDATA) {
        return unescaped(rest);
    }
    let mut content = String::with_capacity(rest.len());
    while let Some((before, section)) = rest.split_once(CDATA) {
        let Some((verbatim, after)) = section.split_once(CDATA_END) else {
            break;
        };
        content.push_str(&unescaped(before));
        content.push_str(verbatim);
        rest = after;
    }
    content.push_str(&unescaped(rest));
    content.into()
}

fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(ampersand) = rest.find('&') {
        plain.push_str(&rest[..ampersand]);
        rest = &rest[ampersand..];
        match reference(rest) {
            Some((c, length)) => {
                plain.push(c);
                rest = &rest[length..];
            }
            None => {
                plain.push('&');
                rest = &rest[1..];
            }
        }
    }
    plain.push_str(rest);
    plain.into()
}

/// The character of the reference at the start of `text`, and the reference's length.
fn reference(text: &str) -> Option<(char, usize)> {
    let end = text
        .bytes()
        .take(REFERENCE_BYTES_MAX)
        .position(|byte| byte == b';')?;
    let name = text.get(1..end)?;
    let c = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let number = name.strip_prefix('#')?;
            let (digits, radix) = match number.strip_prefix(['x', 'X']) {
                Some(digits) => (digits, 16),
                None => (number, 10),
            };
            // `from_str_radix` also accepts a sign.
            let starts_with_digit = digits.starts_with(|c: char| c.is_digit(radix));
            let code = u32::from_str_radix(digits, radix)
                .ok()
                .filter(|_| starts_with_digit)?;
            char::from_u32(code).filter(|&c| c != '\0')?
        }
    };
    Some((c, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_parsed_with_either_quote_style_or_none() {
        let parse = |text| XmlAttributes::parse(text).map(|attributes| attributes.0);
        let pairs = |pairs: &[(&str, &str)]| {
            let owned = pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            Some(owned.collect::<Vec<_>>())
        };
        assert_eq!(
            parse(" name=\"날씨\"\n string = 'a\"b' x=1 "),
            pairs(&[("name", "날씨"), ("string", "a\"b"), ("x", "1")])
        );
        assert_eq!(parse(" name=\"a &amp; b\""), pairs(&[("name", "a & b")]));
        assert_eq!(parse(""), pairs(&[]));
        for text in [" name", " name=", " name=\"a", " a b=\"c\""] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn character_references_are_decoded_and_other_ampersands_kept() {
        for (text, expected) in [
            ("a &lt; b &amp;&amp; c &gt; d", "a < b && c > d"),
            ("&quot;&apos;", "\"'"),
            ("&#44032;&#xAC00;&#XAC01;&#x1F600;", "가가각😀"),
            ("&amp;lt;", "&lt;"),
            ("a && b & c; &nbsp; &lt &", "a && b & c; &nbsp; &lt &"),
            (
                "&#0;&#xD800;&#x110000;&#+65;&#;&#x;",
                "&#0;&#xD800;&#x110000;&#+65;&#;&#x;",
            ),
            ("&한글;&", "&한글;&"),
        ] {
            assert_eq!(content(text), expected);
        }
    }

    #[test]
    fn cdata_is_kept_verbatim() {
        for (text, expected) in [
            ("<![CDATA[a < b &amp; </param>]]>", "a < b &amp; </param>"),
            ("\n  <![CDATA[한\n글]]>\n", "한\n글"),
            ("<![CDATA[a]]]]><![CDATA[>b]]>", "a]]>b"),
            ("&lt;<![CDATA[&lt;]]> x", "<&lt; x"),
            ("a <![CDATA[ b &amp;", "a <![CDATA[ b &"),
        ] {
            assert_eq!(content(text), expected);
        }
    }
}
