//! Describes old and new values for the review dialog: texts by the lines that differ, secrets
//! only by their length.

use crate::domain::model::ApiKey;
use crate::text::common_prefix_suffix::common_prefix_suffix;
use url::Url;

pub(super) fn comma_list(names: impl IntoIterator<Item = String>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// The lines of each text from the first to the last difference; `None` if there are none.
pub(super) fn differing_lines(before: &str, after: &str) -> (Option<String>, Option<String>) {
    let old: Vec<&str> = before.split('\n').collect();
    let new: Vec<&str> = after.split('\n').collect();
    let (prefix, suffix) = common_prefix_suffix(&old, &new);
    let differing = |lines: &[&str]| {
        let lines = &lines[prefix..lines.len() - suffix];
        (!lines.is_empty()).then(|| lines.join("\n"))
    };
    (differing(&old), differing(&new))
}

/// Escapes newlines, so no part of a value can look like a separate line.
pub(super) fn escape_newlines(text: &str) -> String {
    text.replace('\n', "⟨LF⟩")
}

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

/// A URL with its password and secret query values replaced by placeholders.
pub(super) fn redact_url(text: &str, is_secret: impl Fn(&str) -> bool) -> String {
    let Ok(mut url) = Url::parse(text) else {
        return text.to_owned();
    };
    let has_secret_pairs = url.query_pairs().any(|(name, _)| is_secret(&name));
    if url.password().is_none() && !has_secret_pairs {
        return text.to_owned();
    }
    if let Some(password) = url.password().map(hidden_secret) {
        // Cannot fail: a URL with a password has a host.
        let _ = url.set_password(Some(&password));
    }
    if has_secret_pairs {
        let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        let pairs = pairs.iter().map(|(name, value)| match is_secret(name) {
            true => (name.clone(), hidden_secret(value)),
            false => (name.clone(), value.clone()),
        });
        url.query_pairs_mut().clear().extend_pairs(pairs);
    }
    url.to_string()
}
