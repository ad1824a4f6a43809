//! Expands `${NAME}` in settings, and derives the secrets to redact from variable values.

use crate::domain::new_server::is_variable_name;
use url::Url;

/// Minimum length of a redacted secret. Redacting shorter values would hide unrelated text.
const SECRET_BYTES_MIN: usize = 6;
/// Variables whose values are no secrets. Redacting them would make paths in the log unreadable.
const PUBLIC_VARIABLES: [&str; 9] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TMPDIR", "PWD",
];

pub(super) fn is_public_variable(name: &str) -> bool {
    PUBLIC_VARIABLES.contains(&name) || name.starts_with("XDG_")
}

/// The forms in which a secret value may appear: verbatim, percent-encoded in a URL path, in
/// lower case in a URL host, and without a prefix such as `Bearer`. Omits forms that are too short
/// to redact.
pub(super) fn secret_spellings(value: &str) -> Vec<String> {
    let path = value.split(['?', '#']).next().unwrap_or_default();
    let joined_url = Url::parse("http://h/").and_then(|base| base.join(&format!("/{path}")));
    let escaped = joined_url.map(|url| url.path().trim_start_matches('/').to_owned());
    let mut spellings = vec![value.to_owned(), path.to_owned(), value.to_lowercase()];
    spellings.extend(escaped);
    // `Bearer TOKEN`: the token may appear without its scheme.
    spellings.extend(value.split_once(' ').map(|(_, token)| token.to_owned()));
    spellings.retain(|spelling| spelling.len() >= SECRET_BYTES_MIN);
    spellings
}

/// Looks up an environment variable; `None` if it is unset or not Unicode.
pub type VariableLookup<'a> = &'a dyn Fn(&str) -> Option<String>;

pub(super) fn environment_variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// `NAME`, if `text` is exactly `${NAME}`. Does not check that the name is valid.
pub(super) fn referenced_name(text: &str) -> Option<&str> {
    text.strip_prefix("${")?.strip_suffix('}')
}

/// Braces without a valid name are kept: they may be meant for a shell. The error is the
/// name of the first variable that is not set.
pub(super) fn expand_variables(
    text: &str,
    variables: VariableLookup<'_>,
) -> Result<String, String> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        expanded.push_str(&rest[..start]);
        let after_opening = &rest[start + 2..];
        match after_opening.split_once('}') {
            Some((name, after)) if is_variable_name(name) => {
                expanded.push_str(&variables(name).ok_or(name)?);
                rest = after;
            }
            _ => {
                expanded.push_str("${");
                rest = after_opening;
            }
        }
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::expand_variables;

    #[test]
    fn variables_are_expanded_and_unset_ones_are_reported() {
        let variables = |name: &str| (name == "A").then(|| "${B}x".to_owned());
        for (text, expected) in [
            ("", Ok("")),
            ("-${A}-${A}", Ok("-${B}x-${B}x")),
            ("${GONE}", Err("GONE")),
            ("${A:-1} ${ ${} $A ${한}", Ok("${A:-1} ${ ${} $A ${한}")),
            ("${${A}", Ok("${${B}x")),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(expand_variables(text, &variables), expected, "{text}");
        }
    }
}
