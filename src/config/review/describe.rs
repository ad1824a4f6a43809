//! Old and new values as a dialog shows them: texts by the lines that differ,
//! secrets by their length alone.

use crate::domain::model::ApiKey;
use crate::text::common_prefix_suffix::common_prefix_suffix;
use url::Url;

/// Names between commas.
pub(super) fn comma_list(names: impl IntoIterator<Item = String>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// The lines in which two texts differ, from the first to the last such line.
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

/// A value of which no part may pass for a line of its own.
pub(super) fn escape_newlines(text: &str) -> String {
    text.replace('\n', "⟨LF⟩")
}

/// A secret: nothing of it but its length.
pub(super) fn hidden_secret(secret: &str) -> String {
    format!("(hidden, {} characters)", secret.chars().count())
}

pub(super) fn describe_api_key(key: &ApiKey) -> String {
    match key {
        ApiKey::NotNeeded => "none".to_owned(),
        ApiKey::Known(secret) => hidden_secret(secret.expose()),
        ApiKey::MissingVariable(name) => format!("${{{name}}}, which is not set"),
        ApiKey::Unusable(why) => format!("one that cannot be used: {why}"),
    }
}

/// A URL without what may be secret in it.
pub(super) fn redact_url(text: &str, is_secret: impl Fn(&str) -> bool) -> String {
    let Ok(mut url) = Url::parse(text) else {
        return text.to_owned();
    };
    let secret_pairs = url.query_pairs().any(|(name, _)| is_secret(&name));
    if url.password().is_none() && !secret_pairs {
        return text.to_owned();
    }
    if let Some(password) = url.password().map(hidden_secret) {
        // It is a URL with a host, else it had no password.
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
