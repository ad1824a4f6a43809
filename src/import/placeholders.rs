//! Converts the variable syntax of other clients to `${NAME}`.

use crate::domain::new_server::{is_variable_name, variable_name_from};

/// Longer placeholders stay as they are, so that hostile text takes linear time.
const PLACEHOLDER_BYTES_MAX: usize = 1024;

/// Converts `${env:NAME}`, `{env:NAME}`, `${input:name}`, `${NAME:-default}`, `${userHome}` and a
/// text that is only `$NAME`. All other text stays as it is.
pub(super) fn normalize(text: &str) -> String {
    if let Some(name) = text.strip_prefix('$')
        && is_variable_name(name)
    {
        return format!("${{{name}}}");
    }
    let mut normalized = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(brace) = rest.find('{') {
        let (before, after) = (&rest[..brace], &rest[brace + 1..]);
        let (outer, has_dollar) = match before.strip_suffix('$') {
            Some(outer) => (outer, true),
            None => (before, false),
        };
        let limit = after.floor_char_boundary(PLACEHOLDER_BYTES_MAX);
        let variable = after[..limit]
            .find('}')
            .map(|end| (&after[..end], &after[end + 1..]))
            .and_then(|(inner, after)| Some((variable_of(inner, has_dollar)?, after)));
        match variable {
            Some((name, after)) => {
                normalized.push_str(outer);
                normalized.push_str(&format!("${{{name}}}"));
                rest = after;
            }
            None => {
                normalized.push_str(&rest[..=brace]);
                rest = after;
            }
        }
    }
    normalized + rest
}

/// The variable that the contents of a pair of braces refer to.
fn variable_of(inner: &str, has_dollar: bool) -> Option<String> {
    if let Some(name) = inner.strip_prefix("env:") {
        // A default may follow: `${env:NAME:-default}`.
        let name = name.split(':').next().unwrap_or_default();
        return is_variable_name(name).then(|| name.to_owned());
    }
    if !has_dollar {
        return None;
    }
    if let Some(input) = inner.strip_prefix("input:") {
        return variable_name_from(input);
    }
    match inner.split_once(":-") {
        Some((name, _)) if is_variable_name(name) => Some(name.to_owned()),
        _ => (inner == "userHome").then(|| "HOME".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::normalize;

    #[test]
    fn braces_without_end_take_linear_time() {
        let text = "${".repeat(1 << 20);
        let start = std::time::Instant::now();
        assert_eq!(normalize(&text), text);
        assert_eq!(normalize(&format!("{text}}}")).len(), text.len() + 1);
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    }

    #[test]
    fn variables_of_other_clients_are_converted() {
        for (text, expected) in [
            ("${env:API_KEY}", "${API_KEY}"),
            ("Bearer {env:API_KEY}", "Bearer ${API_KEY}"),
            ("${input:api-key}/${input:b}", "${API_KEY}/${B}"),
            ("${A:-sk-default}", "${A}"),
            ("$TOKEN", "${TOKEN}"),
            ("${userHome}/x", "${HOME}/x"),
            ("a $TOKEN", "a $TOKEN"),
            ("{\"a\": \"${B}\"} {x} ${", "{\"a\": \"${B}\"} {x} ${"),
            ("${env:B:-c}", "${B}"),
            ("$", "$"),
        ] {
            assert_eq!(normalize(text), expected, "{text}");
        }
    }
}
