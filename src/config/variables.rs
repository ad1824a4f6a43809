//! `${NAME}` in settings.

use url::Url;

/// Too short a value stands in too many words that have nothing to do with it.
const SECRET_BYTES_MIN: usize = 6;
/// What everybody may know, and every child process is told (S3.1): the log would be
/// unreadable without the paths that begin with it.
const PUBLIC_VARIABLES: [&str; 9] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TMPDIR", "PWD",
];

/// Is the value of this variable no secret, whoever uses it?
pub(super) fn is_public(name: &str) -> bool {
    PUBLIC_VARIABLES.contains(&name) || name.starts_with("XDG_")
}

/// How a value may be met again that is to be hidden: as it is, and as the path or the
/// host of a URL has it. None of what is too short to be hidden.
pub(super) fn secret_spellings(value: &str) -> Vec<String> {
    let path = value.split(['?', '#']).next().unwrap_or_default();
    let joined = Url::parse("http://h/").and_then(|base| base.join(&format!("/{path}")));
    let escaped = joined.map(|url| url.path().trim_start_matches('/').to_owned());
    let mut all = vec![value.to_owned(), path.to_owned(), value.to_lowercase()];
    all.extend(escaped);
    // `Bearer TOKEN`: the token may be met without its scheme.
    all.extend(value.split_once(' ').map(|(_, token)| token.to_owned()));
    all.retain(|spelling| spelling.len() >= SECRET_BYTES_MIN);
    all
}

/// Looks up a variable of the environment; unset, or not Unicode, is `None`.
pub type VariableLookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The environment of this program.
pub(super) fn environment_variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// `NAME` where `text` is `${NAME}` and nothing else.
pub(super) fn whole_reference(text: &str) -> Option<&str> {
    text.strip_prefix("${")?.strip_suffix('}')
}

pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Replaces each `${NAME}`. Braces that hold no name stay as they are: they may be
/// meant for somebody else, such as a shell.
///
/// # Errors
/// The first name that is not set.
pub(super) fn expand_variables(
    text: &str,
    variables: VariableLookup<'_>,
) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        out.push_str(&rest[..start]);
        let inside = &rest[start + 2..];
        match inside.split_once('}') {
            Some((name, after)) if is_name(name) => {
                out.push_str(&variables(name).ok_or(name)?);
                rest = after;
            }
            _ => {
                out.push_str("${");
                rest = inside;
            }
        }
    }
    out.push_str(rest);
    Ok(out)
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
