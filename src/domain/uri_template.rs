//! URI templates (RFC 6570), as in `resources/templates/list`.

use std::collections::BTreeMap;

/// The text of a URI template, split at its variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UriTemplate {
    text: String,
    parts: Vec<UriPart>,
    has_too_many_variables: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum UriPart {
    Text(String),
    Expression {
        operator: UriOperator,
        names: Vec<String>,
    },
}

/// The operators of RFC 6570. Each sets the first character, the separator, whether names are
/// written, and whether reserved characters are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UriOperator {
    Simple,
    Reserved,
    Fragment,
    Label,
    Path,
    PathParameter,
    Query,
    QueryContinuation,
}

/// Maximum number of variables. Further expressions stay text, and
/// [the template cannot be used](UriTemplate::has_too_many_variables).
pub const VARIABLES_MAX: usize = 20;

impl UriTemplate {
    /// Braces that hold no valid expression stay text.
    pub fn parse(text: &str) -> Self {
        let mut parts = Vec::new();
        let (mut rest, mut count) = (text, 0);
        let mut has_too_many_variables = false;
        while let Some((before, after)) = rest.split_once('{') {
            let expression = after
                .split_once('}')
                .and_then(|(inside, after)| Some((parse_expression(inside)?, after)));
            if let Some((UriPart::Expression { names, .. }, _)) = &expression {
                count += names.len();
                has_too_many_variables |= count > VARIABLES_MAX;
            }
            match expression.filter(|_| !has_too_many_variables) {
                Some((expression, after)) => {
                    push_text(&mut parts, before);
                    parts.push(expression);
                    rest = after;
                }
                None => {
                    push_text(&mut parts, before);
                    push_text(&mut parts, "{");
                    rest = after;
                }
            }
        }
        push_text(&mut parts, rest);
        let text = text.to_owned();
        Self {
            text,
            parts,
            has_too_many_variables,
        }
    }

    /// Whether the template has more than [`VARIABLES_MAX`] variables, so its URIs would be wrong.
    pub fn has_too_many_variables(&self) -> bool {
        self.has_too_many_variables
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of the variables in the order of their first use, each once.
    pub fn variables(&self) -> Vec<&str> {
        let mut variables = Vec::new();
        for part in &self.parts {
            if let UriPart::Expression { names, .. } = part {
                for name in names {
                    if !variables.contains(&name.as_str()) {
                        variables.push(name.as_str());
                    }
                }
            }
        }
        variables
    }

    /// The URI with these values; variables without a value expand to nothing.
    pub fn expand(&self, values: &BTreeMap<String, String>) -> String {
        let mut uri = String::new();
        for part in &self.parts {
            match part {
                UriPart::Text(text) => uri.push_str(text),
                UriPart::Expression { operator, names } => {
                    let given = names.iter().filter_map(|name| {
                        let value = values.get(name).filter(|value| !value.is_empty())?;
                        Some((name.as_str(), value.as_str()))
                    });
                    operator.expand(given, &mut uri);
                }
            }
        }
        uri
    }
}

fn push_text(parts: &mut Vec<UriPart>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(UriPart::Text(last)) => last.push_str(text),
        _ => parts.push(UriPart::Text(text.to_owned())),
    }
}

fn parse_expression(inside: &str) -> Option<UriPart> {
    let operator = UriOperator::of(inside.chars().next()?);
    let list = match operator {
        UriOperator::Simple => inside,
        _ => &inside[1..],
    };
    let names: Option<Vec<String>> = list.split(',').map(variable_name).collect();
    let names = names?;
    Some(UriPart::Expression { operator, names })
}

/// The name of a variable without its modifier (`*` or `:3`).
fn variable_name(spec: &str) -> Option<String> {
    let name = spec.strip_suffix('*').unwrap_or(spec);
    let name = name.split_once(':').map_or(name, |(name, _)| name);
    let is_valid = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '%' | '-');
    (!name.is_empty() && name.chars().all(is_valid)).then(|| name.to_owned())
}

impl UriOperator {
    fn of(first: char) -> Self {
        match first {
            '+' => Self::Reserved,
            '#' => Self::Fragment,
            '.' => Self::Label,
            '/' => Self::Path,
            ';' => Self::PathParameter,
            '?' => Self::Query,
            '&' => Self::QueryContinuation,
            _ => Self::Simple,
        }
    }

    fn expand<'a>(self, given: impl Iterator<Item = (&'a str, &'a str)>, uri: &mut String) {
        let (first, separator) = match self {
            Self::Simple | Self::Reserved => ("", ","),
            Self::Fragment => ("#", ","),
            Self::Label => (".", "."),
            Self::Path => ("/", "/"),
            Self::PathParameter => (";", ";"),
            Self::Query => ("?", "&"),
            Self::QueryContinuation => ("&", "&"),
        };
        let is_named = matches!(
            self,
            Self::PathParameter | Self::Query | Self::QueryContinuation
        );
        let keeps_reserved = matches!(self, Self::Reserved | Self::Fragment);
        for (index, (name, value)) in given.enumerate() {
            uri.push_str(if index == 0 { first } else { separator });
            if is_named {
                uri.push_str(name);
                uri.push('=');
            }
            push_encoded(uri, value, keeps_reserved);
        }
    }
}

/// Appends a value, percent-encoded except for unreserved characters (RFC 3986) and, if
/// `keeps_reserved`, reserved ones.
fn push_encoded(uri: &mut String, value: &str, keeps_reserved: bool) {
    const RESERVED: &[u8] = b":/?#[]@!$&'()*+,;=";
    for byte in value.bytes() {
        let is_unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if is_unreserved || keeps_reserved && RESERVED.contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(template: &str, values: &[(&str, &str)]) -> String {
        let values = values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        UriTemplate::parse(template).expand(&values.collect())
    }

    #[test]
    fn templates_expand_as_in_rfc_6570() {
        let values = [
            ("var", "value"),
            ("path", "/foo/bar"),
            ("x", "10 한"),
            ("y", "7"),
        ];
        for (template, expected) in [
            ("r://{var}", "r://value"),
            ("{path}/here", "%2Ffoo%2Fbar/here"),
            ("{+path}/here", "/foo/bar/here"),
            ("a{#path}", "a#/foo/bar"),
            ("map?{x,y}", "map?10%20%ED%95%9C,7"),
            ("X{.var}", "X.value"),
            ("{/var,y}", "/value/7"),
            ("{;y,x}", ";y=7;x=10%20%ED%95%9C"),
            ("f{?y,none,var*}", "f?y=7&var=value"),
            ("f?a=1{&y}", "f?a=1&y=7"),
            ("f{none}g{?none}", "fg"),
            ("{", "{"),
            ("a{}b{a b}c{var", "a{}b{a b}c{var"),
        ] {
            assert_eq!(expand(template, &values), expected, "{template}");
        }
    }

    #[test]
    fn variables_are_listed_once_and_bounded() {
        let template = UriTemplate::parse("/{b}/{a}{?b,c:3}");
        assert_eq!(template.variables(), ["b", "a", "c"]);
        let many: String = (0..100).map(|n| format!("{{v{n}}}")).collect();
        let template = UriTemplate::parse(&many);
        assert_eq!(template.variables().len(), VARIABLES_MAX);
        assert!(template.expand(&BTreeMap::new()).starts_with("{v20}"));
    }
}
