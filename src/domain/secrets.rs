//! Determines which values in a server's settings are secret, and which of them are credentials;
//! see [`super::SecretRegistry`].

use super::model::{ApiKey, ModelConfig, Secret};
use super::redact::pattern_matches;
use super::server::{LaunchConfig, ServerConfig};
use crate::text::{WordList, word_list};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::ops::Range;
use url::Url;

/// Shorter values whose name does not suggest a secret stay visible: hiding them would make logs
/// unreadable.
const VALUE_CHARS_MIN: usize = 6;
/// Shorter values stay visible even if their name suggests a secret.
const NAMED_SECRET_CHARS_MIN: usize = 4;
/// Shorter secrets may be ordinary words.
const CREDENTIAL_CHARS_MIN: usize = 8;
/// The same limit for secrets of lowercase letters, hyphens and underscores only.
const CREDENTIAL_WORD_CHARS_MIN: usize = 12;
/// The same limits for tokens that a server chose.
const RANDOM_TOKEN_BYTES_MIN: usize = 16;
const RANDOM_TOKEN_DIGITS_MIN: usize = 2;
/// A URL path segment of at least this length may be base64 or hex.
const SEGMENT_CHARS_MIN: usize = 20;
/// A segment of at least this length may be a token if it mixes letters and digits.
const MIXED_SEGMENT_CHARS_MIN: usize = 9;

/// Whether a variable, header, parameter or flag with this name is likely to hold a secret. One of its
/// words says so (`API_KEY`, `DB_PASSWORD_PROD`), and the last does not say that it is something else
/// (`TOKEN_ENDPOINT`). A word within another one does not count (`KEYCLOAK`, `AUTHOR`).
pub fn is_secret_name(name: &str) -> bool {
    static ENDINGS: WordList = word_list!("secret_names", "endings");
    static WORDS: WordList = word_list!("secret_names", "words");
    static OTHER_THINGS: WordList = word_list!("secret_names", "other things");
    let name = name.to_ascii_lowercase();
    // These variables contain the working directory, not a password.
    if matches!(name.as_str(), "pwd" | "oldpwd") {
        return false;
    }
    let words = name.split(|c: char| !c.is_ascii_alphabetic());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_secret = |word: &str| {
        let ends_so = |word: &str| ENDINGS.iter().any(|ending| word.ends_with(ending));
        let singular = word.strip_suffix('s').unwrap_or(word);
        ends_so(word) || ends_so(singular) || WORDS.contains(&word)
    };
    let is_other = |last: &&str| OTHER_THINGS.contains(last);
    words.iter().any(|word| is_secret(word)) && !words.last().is_some_and(is_other)
}

/// Prefixes by which access tokens are recognized, whatever their name.
static TOKEN_PREFIXES: WordList = word_list!("token_prefixes", "prefixes");
/// Prefixes that ordinary words have too, so the rest must contain a digit.
static AMBIGUOUS_PREFIXES: WordList = word_list!("token_prefixes", "ambiguous");
/// Minimum length of the text after the prefix, with and without digits; `sk-learn` is not a token.
const TOKEN_REST_BYTES_MIN: usize = 4;
const TOKEN_REST_LETTERS_MIN: usize = 6;
/// A word of at least this length that mixes letters and digits may be a token without a prefix.
const UNKNOWN_TOKEN_BYTES_MIN: usize = 32;
const UNKNOWN_TOKEN_DIGITS_MIN: usize = 4;

/// The parts of a setting that are secret by their form or their context, in order and without
/// overlaps: tokens, private keys, values after `Bearer` or a secret name, and secrets in URLs.
pub fn secret_parts(text: &str) -> Vec<Range<usize>> {
    let mut parts = pattern_matches(text);
    if let Some(start) = text.find("-----BEGIN") {
        parts.push(start..text.len());
    }
    let is_token_char = |c: char| c.is_ascii_alphanumeric() || "-_.~+/=".contains(c);
    let mut start = 0;
    for word in text.split_inclusive(|c| !is_token_char(c)) {
        let token = word.trim_end_matches(|c| !is_token_char(c));
        parts.extend(token_in(token).map(|range| start + range.start..start + range.end));
        start += word.len();
    }
    parts.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut end = 0;
    parts.retain(|range| {
        let is_new = range.start >= end && !range.is_empty();
        end = end.max(range.end);
        is_new
    });
    parts
}

/// The token in a word without spaces and quotes. It may follow a `=` or `/`.
fn token_in(word: &str) -> Option<Range<usize>> {
    let starts = word.match_indices(['=', '/']).map(|(at, _)| at + 1);
    let mut starts = std::iter::once(0).chain(starts);
    let prefixed = starts.find_map(|start| {
        let rest = &word[start..];
        let rest = &rest[..rest.find('/').unwrap_or(rest.len())];
        let is_match = |prefix: &str| {
            let Some(token) = rest.strip_prefix(prefix) else {
                return false;
            };
            match token.bytes().any(|byte| byte.is_ascii_digit()) {
                true => token.len() >= TOKEN_REST_BYTES_MIN,
                false if AMBIGUOUS_PREFIXES.contains(&prefix) => false,
                false => token.len() >= TOKEN_REST_LETTERS_MIN,
            }
        };
        let is_token = TOKEN_PREFIXES.iter().any(|prefix| is_match(prefix));
        is_token.then(|| start..start + rest.len())
    });
    prefixed.or_else(|| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        let has_letter = word.bytes().any(|byte| byte.is_ascii_alphabetic());
        // Paths, file names and host names contain these.
        let is_plain = !word.contains(['/', '.']);
        let is_token = word.len() >= UNKNOWN_TOKEN_BYTES_MIN
            && digits >= UNKNOWN_TOKEN_DIGITS_MIN
            && has_letter
            && is_plain;
        is_token.then_some(0..word.len())
    })
}

fn is_path(text: &str) -> bool {
    let has_drive = text.as_bytes().get(1) == Some(&b':');
    has_drive || text.starts_with(['/', '.', '~', '\\'])
}

/// Whether a token that a server chose looks random, so that no other text contains it by chance or
/// on purpose.
pub(super) fn is_random_token(token: &str) -> bool {
    let count = |is_kind: fn(&u8) -> bool| token.bytes().filter(is_kind).count();
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    token.len() >= RANDOM_TOKEN_BYTES_MIN
        && token.bytes().all(is_token_byte)
        && !is_path(token)
        && count(u8::is_ascii_digit) >= RANDOM_TOKEN_DIGITS_MIN
        && count(u8::is_ascii_alphabetic) >= RANDOM_TOKEN_DIGITS_MIN
}

impl ServerConfig {
    pub fn config_secrets(&self) -> ConfigSecrets {
        let mut secrets = ConfigSecrets::default();
        secrets.add_launch(&self.launch);
        secrets.values.extend(self.secrets.iter().cloned());
        let sign_in = [&self.oauth.client_secret, &self.oauth.private_key];
        secrets
            .credentials
            .extend(sign_in.into_iter().flatten().cloned());
        secrets
    }
}

impl ModelConfig {
    pub fn config_secrets(&self) -> ConfigSecrets {
        let mut secrets = ConfigSecrets::from_url(&self.base_url);
        if let ApiKey::Known(key) = &self.api_key {
            secrets.credentials.push(key.clone());
        }
        secrets
    }
}

/// Whether a secret cannot be mistaken for an ordinary word, a name, a number, a path or an address.
/// `AUTH_MODE=required` must not remove the word "required" from every tool result, nor the key
/// `lm-studio` that name.
pub(super) fn is_credential(secret: &str) -> bool {
    let secret = secret.trim();
    if secret.contains("-----BEGIN") {
        return true;
    }
    if is_path(secret) || secret.contains("://") || secret.contains(char::is_whitespace) {
        return false;
    }
    let is_number = secret.bytes().all(|byte| byte.is_ascii_digit());
    let is_word_byte = |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_');
    let chars_min = match secret.bytes().all(is_word_byte) {
        true => CREDENTIAL_WORD_CHARS_MIN,
        false => CREDENTIAL_CHARS_MIN,
    };
    secret.chars().count() >= chars_min && !is_number
}

/// The secrets in a part of the settings.
#[derive(Debug, Default)]
pub struct ConfigSecrets {
    /// Values that may be secret, and may also be ordinary words.
    pub(super) values: Vec<Secret>,
    /// Keys, tokens and passwords, by their name or place.
    pub(super) credentials: Vec<Secret>,
}

impl ConfigSecrets {
    /// The secret parts of the URL of a model server or a web service.
    pub fn from_url(url: &str) -> Self {
        let mut secrets = Self::default();
        secrets.add_url(url, true);
        secrets
    }

    #[must_use]
    pub fn and(mut self, more: Self) -> Self {
        self.values.extend(more.values);
        self.credentials.extend(more.credentials);
        self
    }

    /// The credentials that cannot be mistaken for ordinary words.
    pub fn into_credentials(self) -> Vec<Secret> {
        let mut credentials = self.credentials;
        credentials.retain(|secret| is_credential(secret.expose()));
        credentials
    }

    fn add_launch(&mut self, launch: &LaunchConfig) {
        match launch {
            LaunchConfig::Stdio { args, env, .. } => {
                self.add_args(args);
                env.iter()
                    .for_each(|(name, value)| self.add_named_value(name, value));
            }
            LaunchConfig::Remote { url, headers, .. } => {
                self.add_url(url, true);
                let headers = headers.iter();
                headers.for_each(|(name, value)| self.add_named_value(name, value));
            }
            LaunchConfig::BuiltIn | LaunchConfig::Misconfigured { .. } => {}
        }
    }

    /// Adds a value that may be secret, unless it is short.
    fn add_value(&mut self, value: &str) {
        if value.trim().chars().count() >= VALUE_CHARS_MIN {
            self.values.push(Secret::new(value));
        }
    }

    /// Adds a value that is known to be secret.
    fn add_secret(&mut self, value: &str) {
        let value = value.trim();
        let chars = value.chars().count();
        if chars < NAMED_SECRET_CHARS_MIN {
            return;
        }
        self.credentials.push(Secret::new(value));
    }

    /// Adds the secrets in a variable of `env` or in a header.
    fn add_named_value(&mut self, name: &str, value: &str) {
        self.add_value(value);
        if is_secret_name(name) {
            self.add_secret(value);
            self.add_header_parts(value);
        } else if let Some((_, token)) = value.split_once(' ') {
            self.add_value(token);
        }
        self.add_embedded_secrets(value);
    }

    /// Adds the token of `Bearer TOKEN`, which may be printed without its scheme, and the
    /// decoded credentials of `Basic`.
    fn add_header_parts(&mut self, value: &str) {
        let Some((scheme, token)) = value.split_once(' ') else {
            return;
        };
        self.add_secret(token);
        if scheme.eq_ignore_ascii_case("basic")
            && let Ok(bytes) = STANDARD.decode(token.trim())
            && let Ok(text) = String::from_utf8(bytes)
        {
            self.add_secret(&text);
            if let Some((_, password)) = text.split_once(':') {
                self.add_secret(password);
            }
        }
    }

    /// Adds secrets embedded in a URL, a connection string or JSON.
    fn add_embedded_secrets(&mut self, value: &str) {
        for range in secret_parts(value) {
            self.add_secret(&value[range]);
        }
        if value.contains("://") {
            self.add_url(value, false);
        }
        if let Ok(json @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(value) {
            self.add_json("", &json);
            return;
        }
        for part in value.split([';', '&', '?', ' ']) {
            if let Some((name, value)) = part.split_once('=')
                && is_secret_name(name)
            {
                self.add_secret(value.trim_matches(['"', '\'']));
            }
        }
    }

    fn add_json(&mut self, name: &str, value: &Value) {
        match value {
            Value::String(text) if is_secret_name(name) => self.add_secret(text),
            Value::Array(items) => items.iter().for_each(|item| self.add_json(name, item)),
            Value::Object(fields) => {
                fields
                    .iter()
                    .for_each(|(name, value)| self.add_json(name, value));
            }
            _ => {}
        }
    }

    fn add_args(&mut self, args: &[String]) {
        // The name of the preceding flag, whose value may be the current argument.
        let mut preceding_flag = None;
        for arg in args {
            match preceding_flag.take() {
                Some(name) if is_secret_name(name) && !arg.starts_with("--") => {
                    self.add_secret(arg);
                    self.add_header_parts(arg);
                }
                Some(_) | None => {}
            }
            let name = arg.trim_start_matches('-');
            if name.len() < arg.len() && !arg.contains('=') {
                preceding_flag = Some(name);
            }
            // Matches `--api-key=x`, as well as `Authorization: x` (the value of `--header`) and
            // `PASS=x` (the value of `--env`).
            if let Some((name, value)) = arg.split_once(['=', ':'])
                && is_secret_name(name)
                && !value.starts_with("//")
            {
                let value = value.trim();
                self.add_secret(value);
                self.add_header_parts(value);
            }
            self.add_embedded_secrets(arg);
        }
    }

    /// Adds user info, tokens in the path, and query parameters: all of them if the URL is a
    /// server's own address, otherwise only those with secret names.
    fn add_url(&mut self, text: &str, is_server_address: bool) {
        let Ok(url) = Url::parse(text.trim()) else {
            return;
        };
        match url.password() {
            Some(password) => self.add_secret(&percent_decode(password)),
            // `https://TOKEN@host`
            None => self.add_secret(&percent_decode(url.username())),
        }
        let segments = url.path_segments().into_iter().flatten();
        for segment in segments
            .map(percent_decode)
            .filter(|segment| could_be_token(segment))
        {
            self.values.push(Secret::new(segment));
        }
        for (name, value) in url.query_pairs() {
            match is_secret_name(&name) {
                true => self.add_secret(&value),
                false if is_server_address => self.add_value(&value),
                false => {}
            }
        }
    }
}

fn percent_decode(part: &str) -> String {
    // The `url` crate decodes only query strings, in which `+` means a space.
    let query = format!("x={}", part.replace('+', "%2B").replace('&', "%26"));
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs
        .next()
        .map_or_else(String::new, |(_, value)| value.into_owned())
}

pub(in crate::domain) fn could_be_token(segment: &str) -> bool {
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~+=:".contains(&byte);
    let digits = segment.bytes().filter(u8::is_ascii_digit).count();
    let has_letters = segment.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_mixed = has_letters && digits > 1;
    segment.bytes().all(is_token_byte)
        && (segment.len() >= SEGMENT_CHARS_MIN
            || segment.len() >= MIXED_SEGMENT_CHARS_MIN && is_mixed)
}
