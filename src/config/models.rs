//! Parses an entry of `models` in `config.json`.

use super::fields::{self, ConfigObject, FieldError};
use super::variables::{self, VariableLookup};
use crate::domain::model::{ApiKey, Secret, TEMPERATURE, ToolRole};
use crate::domain::new_server::is_variable_name;
use crate::domain::{Dialect, HostScope, ModelConfig, ModelRef, ProviderKind, Think};
use serde_json::Value;
use std::path::Path;
use url::Url;

const TOOL_CALLS: [&str; 4] = ["auto", "native", "prompt", "xml"];

#[derive(Debug)]
pub(super) struct ParsedModel {
    pub(super) model: Option<ModelConfig>,
    /// All errors. If there is a model, they concern fields that were ignored.
    pub(super) errors: Vec<FieldError>,
}

/// The name, model and provider, which identify an entry.
pub(super) fn parse_reference(entry: &ConfigObject) -> Result<ModelRef, Vec<FieldError>> {
    let mut errors = Vec::new();
    let name = ok_or_push(fields::non_empty_text(entry, "name"), &mut errors);
    let model = ok_or_push(fields::non_empty_text(entry, "model"), &mut errors);
    let name_or_model = name.flatten().or(model.flatten());
    if name_or_model.is_none() && errors.is_empty() {
        errors.push("it has neither `name` nor `model`; give at least one".to_owned());
    }
    let providers = ProviderKind::ALL.map(ProviderKind::name);
    let provider = ok_or_push(fields::one_of(entry, "provider", &providers), &mut errors);
    if provider == Some(None) {
        let expected = providers.join("`, `");
        errors.push(format!(
            "it has no `provider`; expected one of `{expected}`"
        ));
    }
    match (name_or_model, provider.flatten()) {
        (Some(name_or_model), Some(provider)) if errors.is_empty() => Ok(ModelRef {
            name: name.flatten().unwrap_or(name_or_model).to_owned(),
            model: model.flatten().unwrap_or(name_or_model).to_owned(),
            provider: ProviderKind::from_name(provider).expect("`one_of` returns one of the names"),
        }),
        _ => Err(errors),
    }
}

fn ok_or_push<T>(result: Result<T, FieldError>, errors: &mut Vec<FieldError>) -> Option<T> {
    result.map_err(|error| errors.push(error)).ok()
}

/// Parses an entry; a relative `caFile` is relative to `root`. Identity and URL must be
/// valid, and the key a string: a key that cannot be used is recorded in the model. Any other
/// invalid field is ignored.
pub(super) fn parse_model(
    entry: &ConfigObject,
    root: &Path,
    variables: VariableLookup<'_>,
) -> ParsedModel {
    let mut errors = Vec::new();
    let reference = parse_reference(entry)
        .map_err(|reference_errors| errors.extend(reference_errors))
        .ok();
    // The other fields are checked even without a provider, to report all errors at once.
    let provider = reference
        .as_ref()
        .map_or(ProviderKind::OpenAi, |reference| reference.provider);
    let given_url = ok_or_push(fields::non_empty_text(entry, "baseUrl"), &mut errors).flatten();
    let base_url = match given_url {
        Some(url) => ok_or_push(normalize_base_url("baseUrl", url, provider), &mut errors),
        None => Some(provider.default_base_url().to_owned()),
    };
    let api_key = parse_api_key(entry, provider, given_url.is_some(), variables);
    let api_key = ok_or_push(api_key, &mut errors);
    let is_usable = errors.is_empty();

    let options = ok_or_push(fields::object(entry, "options"), &mut errors).flatten();
    let mut options = options.cloned().unwrap_or_default();
    for key in provider.reserved_options() {
        if options.shift_remove(*key).is_some() {
            errors.push(reserved_option_error(key));
        }
    }
    let active = ok_or_push(fields::boolean(entry, "active"), &mut errors).flatten();
    let context_length = ok_or_push(fields::count(entry, "contextLength"), &mut errors).flatten();
    let think = ok_or_push(parse_think(entry, provider), &mut errors).flatten();
    let tool_calls = fields::one_of(entry, "toolCalls", &TOOL_CALLS);
    let dialect = dialect_or_default(ok_or_push(tool_calls, &mut errors).flatten(), provider);
    let tool_role = ok_or_push(parse_tool_role(entry), &mut errors).flatten();
    let vision = ok_or_push(fields::boolean(entry, "vision"), &mut errors).flatten();
    let keep_alive = ok_or_push(parse_keep_alive(entry), &mut errors).flatten();
    if keep_alive.is_some() && provider != ProviderKind::Ollama {
        errors.push("`keepAlive` has no effect, because only `ollama` takes it".to_owned());
    }
    if tool_role.is_some() && dialect == Dialect::Native {
        let why = "`toolRole` has no effect, because `toolCalls` is `native`";
        errors.push(why.to_owned());
    }
    let ca_file = ok_or_push(fields::non_empty_text(entry, "caFile"), &mut errors).flatten();

    let model = match (reference, base_url, api_key) {
        (Some(reference), Some(base_url), Some(api_key)) if is_usable => Some(ModelConfig {
            name: reference.name,
            model: reference.model,
            provider,
            base_url,
            api_key,
            active: active.unwrap_or(false),
            context_length,
            think,
            dialect,
            tool_role,
            vision,
            keep_alive,
            options,
            ca_file: ca_file.map(|file| root.join(file)),
        }),
        _ => None,
    };
    ParsedModel { model, errors }
}

fn parse_api_key(
    entry: &ConfigObject,
    provider: ProviderKind,
    has_url: bool,
    variables: VariableLookup<'_>,
) -> Result<ApiKey, FieldError> {
    let key_text = fields::text(entry, "apiKey")?;
    let name = match key_text.map(|text| (text, variables::referenced_name(text))) {
        Some((_, Some(name))) if is_variable_name(name) => name,
        // The text may be the key itself, so it is not quoted.
        Some((_, Some(_))) => {
            let why = "`${…}` does not contain a variable name";
            return Ok(ApiKey::Unusable(why.to_owned()));
        }
        // If it were sent literally, the server would reject it as a wrong key.
        Some((broken, None)) if broken.contains("${") => {
            let why = "a variable reference must be exactly `${NAME}`";
            return Ok(ApiKey::Unusable(why.to_owned()));
        }
        Some((literal, None)) => return Ok(check_api_key(literal)),
        // A custom URL must not receive the provider's default key.
        None if has_url => return Ok(ApiKey::NotNeeded),
        None => match provider.key_variable() {
            Some(name) => name,
            None => return Ok(ApiKey::NotNeeded),
        },
    };
    Ok(match variables(name).filter(|value| !value.is_empty()) {
        Some(value) => check_api_key(&value),
        None => ApiKey::MissingVariable(name.to_owned()),
    })
}

/// Checks that a key is valid in a header. The error never quotes it.
fn check_api_key(key: &str) -> ApiKey {
    let why = if key.is_empty() {
        "the key is empty"
    } else if key.contains(['\n', '\r']) {
        "the key contains a line break"
    } else if key.chars().any(char::is_control) {
        "the key contains a control character"
    } else if !key.is_ascii() {
        "the key contains a non-ASCII character"
    } else if key.trim() != key {
        "the key begins or ends with a space"
    } else {
        return ApiKey::Known(Secret::new(key));
    };
    ApiKey::Unusable(why.to_owned())
}

/// The base URL in the field `key`: with a scheme, without an endpoint path, and with `/v1` if the
/// provider needs it.
pub(super) fn normalize_base_url(
    key: &str,
    given: &str,
    provider: ProviderKind,
) -> Result<String, FieldError> {
    let given = given.trim();
    let with_scheme = if given.contains("://") {
        given.to_owned()
    } else {
        format!("http://{given}")
    };
    let url = Url::parse(&with_scheme).map_err(|error| format!("`{key}` is not a URL: {error}"))?;
    // Never guess plain http for a remote server.
    if with_scheme != given && !HostScope::of_url(&url).is_some_and(HostScope::is_probably_loopback)
    {
        return Err(format!(
            "`{key}` has no scheme; start it with `https://` or `http://`"
        ));
    }
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!(
            "`{key}` begins with `{}://`, expected `http://` or `https://`",
            url.scheme()
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!(
            "`{key}` contains a `?` or `#`; it must end with the path"
        ));
    }
    let (base, path) = strip_endpoint(&with_scheme, url.path(), provider.request_paths());
    let last_segment = path.rsplit('/').next();
    if !provider.has_version_in_url() || last_segment.is_some_and(is_version_segment) {
        Ok(base.to_owned())
    } else {
        Ok(format!("{base}/v1"))
    }
}

/// Removes the endpoint path that users often copy along with the base URL.
fn strip_endpoint<'a>(url: &'a str, path: &'a str, endpoints: &[&str]) -> (&'a str, &'a str) {
    let (mut url, mut path) = (url.trim_end_matches('/'), path.trim_end_matches('/'));
    // Repeated, so that normalizing is idempotent.
    while let Some((shorter_url, shorter_path)) = endpoints
        .iter()
        .find_map(|endpoint| url.strip_suffix(endpoint).zip(path.strip_suffix(endpoint)))
    {
        (url, path) = (
            shorter_url.trim_end_matches('/'),
            shorter_path.trim_end_matches('/'),
        );
    }
    (url, path)
}

fn is_version_segment(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn parse_think(entry: &ConfigObject, provider: ProviderKind) -> Result<Option<Think>, FieldError> {
    let settings = |values: &[Think]| values.iter().map(|think| think.setting()).collect();
    let taken: Vec<&str> = settings(provider.think_values());
    let all: Vec<&str> = settings(&Think::ALL);
    let word = match fields::get(entry, "think") {
        Some(Value::Bool(on)) => Some(if *on { "true" } else { "false" }),
        _ => match (
            fields::one_of(entry, "think", &taken),
            fields::one_of(entry, "think", &all),
        ) {
            (Err(_), Ok(Some(other))) => {
                return Err(format!(
                    "`think` is `{other}`, which `{provider}` does not take; it takes {}",
                    fields::quoted_list(&taken)
                ));
            }
            (word, _) => word?,
        },
    };
    Ok(Think::ALL
        .into_iter()
        .find(|think| Some(think.setting()) == word))
}

fn reserved_option_error(key: &str) -> FieldError {
    match key {
        "temperature" => {
            format!("`options.temperature` has no effect, because requests use {TEMPERATURE}")
        }
        _ => format!("`options.{key}` has no effect, because each request sets it"),
    }
}

fn dialect_or_default(word: Option<&str>, provider: ProviderKind) -> Dialect {
    match word {
        Some("native") => Dialect::Native,
        Some("prompt") => Dialect::Prompt,
        Some("xml") => Dialect::Xml,
        _ => provider.default_dialect(),
    }
}

fn parse_tool_role(entry: &ConfigObject) -> Result<Option<ToolRole>, FieldError> {
    Ok(
        match fields::one_of(entry, "toolRole", &["tool", "user"])? {
            Some("user") => Some(ToolRole::User),
            Some(_) => Some(ToolRole::Tool),
            None => None,
        },
    )
}

fn parse_keep_alive(entry: &ConfigObject) -> Result<Option<Value>, FieldError> {
    match fields::get(entry, "keepAlive") {
        Some(value @ (Value::String(_) | Value::Number(_))) => Ok(Some(value.clone())),
        None => Ok(None),
        Some(_) => {
            Err("`keepAlive` must be a string such as \"5m\" or a number of seconds".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalize(given: &str, provider: ProviderKind) -> Result<String, FieldError> {
        normalize_base_url("baseUrl", given, provider)
    }

    #[test]
    fn base_urls_lose_endpoints_and_get_v1_if_they_need_a_version() {
        let cases = [
            ("http://h/", "http://h/v1"),
            ("http://h:1/api//", "http://h:1/api/v1"),
            ("http://h/v1/", "http://h/v1"),
            ("https://h/openai/v22", "https://h/openai/v22"),
            ("https://h/v1beta", "https://h/v1beta/v1"),
            ("https://v1", "https://v1/v1"),
            ("localhost:8000", "http://localhost:8000/v1"),
            ("127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
            ("localhost.:8000", "http://localhost.:8000/v1"),
            ("a.localhost:8000", "http://a.localhost:8000/v1"),
            ("[::ffff:127.0.0.1]", "http://[::ffff:127.0.0.1]/v1"),
            ("0.0.0.0:8000", "http://0.0.0.0:8000/v1"),
        ];
        for (given, expected) in cases {
            let normalized = normalize(given, ProviderKind::OpenAi);
            assert_eq!(normalized.as_deref(), Ok(expected), "{given}");
        }
        let urls_with_endpoints = [
            ("https://h/v1/chat/completions", "https://h/v1"),
            ("https://h/v1/chat/completions//", "https://h/v1"),
            ("localhost:8000/v1/messages", "http://localhost:8000/v1"),
            ("https://h/messages/", "https://h/v1"),
            (
                "https://h/inference//chat/completions",
                "https://h/inference/v1",
            ),
            ("https://h/my/messages/v2", "https://h/my/messages/v2"),
            ("https://h/mymessages", "https://h/mymessages/v1"),
            ("https://messages", "https://messages/v1"),
        ];
        for (given, expected) in urls_with_endpoints {
            for provider in [
                ProviderKind::OpenAi,
                ProviderKind::Mistral,
                ProviderKind::Anthropic,
            ] {
                let normalized = normalize(given, provider);
                assert_eq!(normalized.as_deref(), Ok(expected), "{given}");
                assert_eq!(
                    normalize(expected, provider),
                    normalized,
                    "{given} after normalizing"
                );
            }
        }
        let ollama = normalize("http://localhost:11434///", ProviderKind::Ollama);
        assert_eq!(ollama.as_deref(), Ok("http://localhost:11434"));
        let cases = [
            ("http://h/api/chat", "http://h"),
            ("http://h/api/", "http://h"),
            ("http://h/proxy/api", "http://h/proxy"),
            ("http://h/api/api/chat", "http://h"),
            ("http://h/v1", "http://h/v1"),
            ("http://h/myapi", "http://h/myapi"),
            ("http://api", "http://api"),
        ];
        for (given, expected) in cases {
            let normalized = normalize(given, ProviderKind::Ollama);
            assert_eq!(normalized.as_deref(), Ok(expected), "{given}");
        }
    }

    #[test]
    fn invalid_base_urls_are_rejected() {
        for given in [
            "api.example.com",
            "192.168.1.5:8000",
            "[64:ff9b::7f00:1]",
            "ftp://h",
            "http://",
            "http://h/?a=1",
            "h#x",
        ] {
            let normalized = normalize(given, ProviderKind::Mistral);
            assert!(normalized.is_err(), "{given}: {normalized:?}");
        }
    }
}
