//! The `Bearer` challenge of a 401 or 403 response (`WWW-Authenticate`, RFC 6750 and RFC 9728).

use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};

/// Longer headers are ignored.
const HEADER_BYTES_MAX: usize = 16 << 10;
/// Further scopes are ignored.
const SCOPES_MAX: usize = 100;

/// A server's requirements for the access token.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BearerChallenge {
    pub resource_metadata: Option<String>,
    /// The scopes that the request needs.
    pub scopes: Vec<String>,
    pub error: Option<String>,
}

impl BearerChallenge {
    /// The first `Bearer` challenge in the headers of a response.
    pub fn from_headers(headers: &HeaderMap) -> Option<Self> {
        headers
            .get_all(WWW_AUTHENTICATE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .find_map(Self::parse)
    }

    fn parse(header: &str) -> Option<Self> {
        if header.len() > HEADER_BYTES_MAX {
            return None;
        }
        let mut challenge = None::<Self>;
        for item in split_outside_quotes(header) {
            // An item is a parameter, or a scheme that may be followed by its first parameter.
            let (scheme, parameter) = match item.split_once(|c: char| c.is_ascii_whitespace()) {
                Some((scheme, rest))
                    if !scheme.contains('=') && !rest.trim_start().starts_with('=') =>
                {
                    (Some(scheme), rest.trim())
                }
                _ if !item.contains('=') => (Some(item), ""),
                _ => (None, item),
            };
            if let Some(scheme) = scheme {
                if challenge.is_some() {
                    break;
                }
                if scheme.eq_ignore_ascii_case("bearer") {
                    challenge = Some(Self::default());
                }
            }
            if let (Some(challenge), Some((name, value))) =
                (&mut challenge, parameter.split_once('='))
            {
                challenge.set(name.trim(), unquote(value.trim()));
            }
        }
        challenge
    }

    fn set(&mut self, name: &str, value: String) {
        match name.to_ascii_lowercase().as_str() {
            "resource_metadata" => self.resource_metadata = Some(value),
            "scope" => self.scopes = split_scopes(&value),
            "error" => self.error = Some(value),
            _ => {}
        }
    }

    /// Whether the access token is valid but lacks a scope.
    pub fn is_insufficient_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

/// The scopes of a space-separated list. Skips duplicates, and scopes with characters that RFC 6749
/// forbids.
pub fn split_scopes(text: &str) -> Vec<String> {
    let mut scopes: Vec<String> = Vec::new();
    for scope in text.split_ascii_whitespace().take(SCOPES_MAX) {
        let is_valid = scope
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\');
        if is_valid && !scopes.iter().any(|known| known == scope) {
            scopes.push(scope.to_owned());
        }
    }
    scopes
}

/// Splits at commas that are not inside a quoted string.
fn split_outside_quotes(header: &str) -> Vec<&str> {
    let (mut items, mut start, mut is_quoted, mut is_escaped) = (Vec::new(), 0, false, false);
    for (index, byte) in header.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b',' if !is_quoted => {
                items.push(header[start..index].trim());
                start = index + 1;
            }
            _ => {}
        }
    }
    items.push(header[start..].trim());
    items
}

fn unquote(value: &str) -> String {
    let Some(quoted) = value.strip_prefix('"') else {
        return value.to_owned();
    };
    let quoted = quoted.strip_suffix('"').unwrap_or(quoted);
    let mut text = String::with_capacity(quoted.len());
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => text.extend(characters.next()),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(header: &str) -> Option<BearerChallenge> {
        BearerChallenge::parse(header)
    }

    #[test]
    fn challenge_parameters_are_read_in_any_order_and_with_any_quoting() {
        let expected = BearerChallenge {
            resource_metadata: Some("https://a.example/x,y".to_owned()),
            scopes: vec!["read".to_owned(), "write".to_owned()],
            error: Some("insufficient_scope".to_owned()),
        };
        for header in [
            r#"Bearer scope="read write", resource_metadata="https://a.example/x,y", error="insufficient_scope""#,
            r#"bearer error=insufficient_scope,realm="a \" b",scope = "read write read",resource_metadata="https://a.example/x,y""#,
            r#"Basic realm="x", Bearer scope="read write", resource_metadata="https://a.example/x,y", error=insufficient_scope, DPoP error="other""#,
        ] {
            assert_eq!(parse(header).as_ref(), Some(&expected), "{header}");
        }
    }

    #[test]
    fn only_a_bearer_challenge_counts() {
        assert_eq!(parse("Bearer"), Some(BearerChallenge::default()));
        assert_eq!(parse(r#"Basic realm="Bearer scope=x""#), None);
        assert_eq!(parse(""), None);
        assert_eq!(
            parse(&format!("Bearer scope=\"{}\"", "x".repeat(20_000))),
            None
        );
    }

    #[test]
    fn scopes_with_control_characters_and_quotes_are_dropped() {
        assert_eq!(split_scopes("a \u{1b}[31m b\"c d 한국 a"), ["a", "d"]);
    }
}
