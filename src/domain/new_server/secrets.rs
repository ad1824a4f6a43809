//! Replaces literal secrets with `${NAME}`. When in doubt, replaces: an unnecessary variable costs
//! the user one export, but a copied secret may leak.

use super::{
    NewServerLaunch, ReplacedSecret, ServerCandidate, referenced_variables, variable_name_from,
};
use crate::domain::model::Secret;
use crate::domain::secrets::{is_secret_name, secret_parts};
use serde_json::Value;

/// Values that are not secrets even under a name such as `AUTH`.
const ORDINARY_WORDS: [&str; 12] = [
    "true", "false", "yes", "no", "on", "off", "0", "1", "none", "null", "oauth", "required",
];
const AUTH_SCHEMES: [&str; 5] = ["bearer", "basic", "token", "apikey", "digest"];
/// The name of a variable for a secret whose source has no usable name.
const FALLBACK_NAME: &str = "MCP_SECRET";

/// The variables in use with their values. `None` if the value is unknown, because the file only
/// refers to the variable.
#[derive(Default)]
struct VariableNames(Vec<(String, Option<String>)>);

/// Replaces the secrets of these servers. Equal secrets get one variable; different secrets never
/// share one. Returns for each server whether all of them could be replaced.
///
/// # Errors
/// The reason, without a final period.
pub fn replace_secrets(candidates: &mut [&mut ServerCandidate]) -> Vec<Result<(), String>> {
    let mut names = VariableNames::default();
    for candidate in candidates.iter() {
        let own = referenced_own_variables(&candidate.server.launch);
        let names_used = candidate.server.variables().into_iter();
        names.0.extend(
            names_used
                .filter(|name| !own.contains(name))
                .map(|name| (name, None)),
        );
    }
    let candidates = candidates.iter_mut();
    candidates
        .map(|candidate| replace_in(candidate, &mut names))
        .collect()
}

/// Variables of the server's own `env` that its arguments refer to. The client replaces such
/// references with the value in `env`.
fn referenced_own_variables(launch: &NewServerLaunch) -> Vec<String> {
    let NewServerLaunch::Command { args, env, .. } = launch else {
        return Vec::new();
    };
    let referenced = args
        .iter()
        .flat_map(|argument| referenced_variables(argument));
    let is_own = |name: &&str| env.iter().any(|(own, _)| own == name);
    referenced.filter(is_own).map(str::to_owned).collect()
}

fn replace_in(candidate: &mut ServerCandidate, names: &mut VariableNames) -> Result<(), String> {
    let mut replacer = SecretReplacer {
        server: variable_name_from(&candidate.server.name),
        names,
        replaced: Vec::new(),
    };
    let referenced = referenced_own_variables(&candidate.server.launch);
    match &mut candidate.server.launch {
        NewServerLaunch::Command {
            command, args, env, ..
        } => {
            if !secret_parts(command).is_empty() {
                return Err(
                    "its command contains a secret; `${NAME}` is not expanded in commands".into(),
                );
            }
            replacer.replace_in_args(args);
            for (name, value) in env {
                if !referenced.contains(name) || value.contains("${") {
                    *value = replacer.replace_named(name, value);
                    continue;
                }
                // The arguments refer to the whole value, including `Bearer`.
                let reference = replacer.reference(value, Some(name));
                let old_reference = format!("${{{name}}}");
                for argument in args.iter_mut() {
                    *argument = argument.replace(&old_reference, &reference);
                }
                *value = reference;
            }
        }
        NewServerLaunch::Url { url, headers, .. } => {
            *url = replacer.replace_parts(url, None);
            for (name, value) in headers {
                // `Authorization` alone would be the same name for every server.
                let hint = match name.eq_ignore_ascii_case("authorization") {
                    true => None,
                    false => Some(name.as_str()),
                };
                *value = match is_secret_name(name) {
                    true => replacer.replace_value(value, hint),
                    false => replacer.replace_embedded(value, hint),
                };
            }
        }
    }
    candidate.replaced_secrets = replacer.replaced;
    Ok(())
}

struct SecretReplacer<'a> {
    /// The server's name as part of a variable.
    server: Option<String>,
    names: &'a mut VariableNames,
    /// The secrets of this server.
    replaced: Vec<ReplacedSecret>,
}

impl SecretReplacer<'_> {
    fn replace_in_args(&mut self, args: &mut [String]) {
        // The name of the preceding flag, whose value may be the current argument.
        let mut flag: Option<String> = None;
        for arg in args {
            let preceding_flag = flag.take();
            if arg.starts_with('-') && !arg.contains(['=', ':', ' ']) {
                flag = Some(arg.trim_start_matches('-').to_owned());
                continue;
            }
            *arg = match preceding_flag {
                Some(name) if is_secret_name(&name) => self.replace_value(arg, Some(&name)),
                _ => self.replace_assignment(arg),
            };
        }
    }

    /// Handles `--api-key=x`, `API_KEY=x` and `Authorization: x`.
    fn replace_assignment(&mut self, arg: &str) -> String {
        let Some(at) = arg.find(['=', ':']) else {
            return self.replace_embedded(arg, None);
        };
        let (name, value) = (&arg[..at], &arg[at + 1..]);
        let is_url = value.starts_with("//");
        if is_url || name.contains(char::is_whitespace) || !is_secret_name(name) {
            return self.replace_embedded(arg, None);
        }
        let trimmed = value.trim_start();
        let space = &value[..value.len() - trimmed.len()];
        let replaced = self.replace_value(trimmed, Some(name));
        format!("{}{space}{replaced}", &arg[..=at])
    }

    fn replace_named(&mut self, name: &str, value: &str) -> String {
        match is_secret_name(name) {
            true => self.replace_value(value, Some(name)),
            false => self.replace_embedded(value, Some(name)),
        }
    }

    /// Replaces a value that is secret as a whole, except an authentication scheme before it.
    fn replace_value(&mut self, value: &str, hint: Option<&str>) -> String {
        let is_ordinary = ORDINARY_WORDS.contains(&value.trim().to_ascii_lowercase().as_str());
        if value.trim().is_empty() || is_ordinary {
            return value.to_owned();
        }
        let (scheme, secret) = split_scheme(value);
        if referenced_variables(secret).next().is_some() {
            return self.replace_embedded(value, hint);
        }
        format!("{scheme}{}", self.reference(secret, hint))
    }

    /// Replaces the secrets within a text, or all of it if it is JSON or a file reference that
    /// cannot be taken apart.
    fn replace_embedded(&mut self, text: &str, hint: Option<&str>) -> String {
        let replaced = self.replace_parts(text, hint);
        let has_secret_field = serde_json::from_str::<Value>(&replaced)
            .is_ok_and(|value| contains_secret_field(&value));
        if has_secret_field || replaced.contains("{file:") {
            return self.reference(text, hint);
        }
        replaced
    }

    fn replace_parts(&mut self, text: &str, hint: Option<&str>) -> String {
        let mut replaced = String::with_capacity(text.len());
        let mut end = 0;
        for range in secret_parts(text) {
            let (scheme, secret) = split_scheme(&text[range.clone()]);
            // A variable reference under a secret name is reported as a secret, too.
            if range.start < end || secret.contains("${") || secret.trim().is_empty() {
                continue;
            }
            replaced.push_str(&text[end..range.start + scheme.len()]);
            replaced.push_str(&self.reference(secret, hint));
            end = range.end;
        }
        replaced + &text[end..]
    }

    /// `${NAME}` for a secret. The name comes from `hint` or, failing that, the server's name.
    fn reference(&mut self, secret: &str, hint: Option<&str>) -> String {
        let own_name = hint.and_then(variable_name_from);
        let with_server = self.server.as_ref().map(|server| match &own_name {
            Some(own) => format!("{server}_{own}"),
            None => format!("{server}_TOKEN"),
        });
        let attempts = own_name.iter().chain(&with_server).cloned();
        let base = with_server.as_deref().unwrap_or(FALLBACK_NAME);
        let numbered = (1..).map(|number| match number {
            1 => base.to_owned(),
            _ => format!("{base}_{number}"),
        });
        let name = self.names.assign(attempts.chain(numbered), secret);
        if !self.replaced.iter().any(|known| known.variable == name) {
            self.replaced.push(ReplacedSecret {
                variable: name.clone(),
                value: Secret::new(secret),
            });
        }
        format!("${{{name}}}")
    }
}

impl VariableNames {
    /// The first name that is free or already stands for `secret`.
    fn assign(&mut self, mut names: impl Iterator<Item = String>, secret: &str) -> String {
        let name = names.find(|name| {
            let known = self.0.iter().find(|(other, _)| other == name);
            known.is_none_or(|(_, value)| value.as_deref() == Some(secret))
        });
        let name = name.expect("there are more numbers than names");
        if !self.0.iter().any(|(other, _)| *other == name) {
            self.0.push((name.clone(), Some(secret.to_owned())));
        }
        name
    }
}

/// Splits `Bearer x` into `Bearer ` and `x`.
fn split_scheme(value: &str) -> (&str, &str) {
    match value.split_once(' ') {
        Some((scheme, secret)) if AUTH_SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()) => {
            value.split_at(value.len() - secret.len())
        }
        _ => ("", value),
    }
}

fn contains_secret_field(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(contains_secret_field),
        Value::Object(fields) => fields.iter().any(|(name, value)| match value {
            Value::String(text) => is_secret_name(name) && !text.is_empty() && !text.contains("${"),
            other => contains_secret_field(other),
        }),
        _ => false,
    }
}
