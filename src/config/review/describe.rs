//! Describes old and new values for a dialog: texts by their differing lines, secrets only by
//! their length.

use crate::domain::model::ApiKey;
use crate::text::common_prefix_suffix::common_prefix_suffix;
use url::Url;

pub(super) fn comma_list(names: impl IntoIterator<Item = String>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// The differing lines of two texts, from the first to the last difference.
pub(super) fn differing_lines(before: &str, after: &str) -> (Option<String>, Option<String>) {
    let old: Vec<&str> = before.split('\n').collect();
    let new: Vec<&str> = after.split('\n').collect();
    let (head, tail) = common_prefix_suffix(&old, &new);
    let middle = |lines: &[&str]| {
        let lines = &lines[head..lines.len() - tail];
        (!lines.is_empty()).then(|| lines.join("\n"))
    };
    (middle(&old), middle(&new))
}

/// Escapes line ends, so that no part of a value can pass for a separate line.
pub(super) fn escape_newlines(text: &str) -> String {
    text.replace('\n', "⟨LF⟩")
}

/// A placeholder with the length of a secret.
pub(super) fn hidden_secret(secret: &str) -> String {
    format!("(hidden, {} characters)", secret.chars().count())
}

pub(super) fn describe_api_key(key: &ApiKey) -> String {
    match key {
        ApiKey::NotNeeded => "none".to_owned(),
        ApiKey::Known(secret) => hidden_secret(secret.expose()),
        ApiKey::MissingVariable(name) => format!("${{{name}}}, which is not set"),
        ApiKey::Unusable(why) => format!("unusable: {why}"),
    }
}

/// A URL without its password and secret query values.
pub(super) fn redact_url(text: &str, is_secret: impl Fn(&str) -> bool) -> String {
    let Ok(mut url) = Url::parse(text) else {
        return text.to_owned();
    };
    let secret_pairs = url.query_pairs().any(|(name, _)| is_secret(&name));
    if url.password().is_none() && !secret_pairs {
        return text.to_owned();
    }
    if let Some(password) = url.password().map(hidden_secret) {
        // Cannot fail: a URL with a password has a host.
        let _ = url.set_password(Some(&password));
    }
    if secret_pairs {
        let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        let pairs = pairs.iter().map(|(name, value)| match is_secret(name) {
            true => (name.clone(), hidden_secret(value)),
            false => (name.clone(), value.clone()),
        });
        url.query_pairs_mut().clear().extend_pairs(pairs);
    }
    url.to_string()
}
