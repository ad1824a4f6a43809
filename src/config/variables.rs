//! `${NAME}` in settings.

/// Looks up a variable of the environment; unset, or not Unicode, is `None`.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The environment of this program.
pub(super) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// `NAME` where `text` is `${NAME}` and nothing else.
pub(super) fn reference(text: &str) -> Option<&str> {
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
pub(super) fn replaced(text: &str, variables: Variables<'_>) -> Result<String, String> {
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
    use super::replaced;

    #[test]
    fn variables_are_replaced_and_an_unset_one_is_named() {
        let variables = |name: &str| (name == "A").then(|| "${B}x".to_owned());
        for (text, expected) in [
            ("", Ok("")),
            ("-${A}-${A}", Ok("-${B}x-${B}x")),
            ("${GONE}", Err("GONE")),
            ("${A:-1} ${ ${} $A ${한}", Ok("${A:-1} ${ ${} $A ${한}")),
            ("${${A}", Ok("${${B}x")),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(replaced(text, &variables), expected, "{text}");
        }
    }
}
