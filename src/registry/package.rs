//! Packages of an entry, turned into commands of a fixed form: `npx`, `uvx` or `docker run`, with
//! the version pinned. No shell is involved, but shell syntax is refused anyway, because an honest
//! entry has none.

use super::template::Input;
use crate::domain::NewServerLaunch;
use crate::domain::new_server::{can_change_program, is_variable_name};
use serde::Deserialize;

/// Names and values of environment variables.
type NamedValues = Vec<(String, String)>;

/// Characters that begin or end shell syntax, or are expanded by a shell. Braces are
/// allowed, because `{variable}` and `${NAME}` contain them.
const SHELL_CHARS: &str = ";&|<>()`\"'\\*!\n";

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Package {
    registry_type: String,
    registry_base_url: Option<String>,
    identifier: String,
    version: Option<String>,
    transport: Option<PackageTransport>,
    runtime_arguments: Option<Vec<Argument>>,
    package_arguments: Option<Vec<Argument>>,
    environment_variables: Option<Vec<Variable>>,
}

#[derive(Debug, Clone, Deserialize)]
struct PackageTransport {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Argument {
    #[serde(rename = "type")]
    kind: Option<String>,
    /// The flag of a named argument.
    name: Option<String>,
    value_hint: Option<String>,
    #[serde(flatten)]
    input: Input,
}

#[derive(Debug, Clone, Deserialize)]
struct Variable {
    name: String,
    #[serde(flatten)]
    input: Input,
}

impl Package {
    /// Such as `npm`.
    pub(super) fn kind(&self) -> &str {
        &self.registry_type
    }

    /// The launch and remarks about it, or why the package cannot be used.
    pub(super) fn launch(&self) -> Result<(NewServerLaunch, Vec<String>), String> {
        let transport = self
            .transport
            .as_ref()
            .map(|transport| transport.kind.as_str());
        if !matches!(transport, None | Some("stdio")) {
            return Err(format!(
                "the {} package is not started over stdio",
                self.registry_type
            ));
        }
        let (env, remarks) = self.env()?;
        let (command, mut args) = match self.registry_type.as_str() {
            "npm" => {
                self.check_source("https://registry.npmjs.org")?;
                ("npx", vec!["-y".to_owned(), self.npm_package()?])
            }
            "pypi" => {
                self.check_source("https://pypi.org")?;
                ("uvx", vec![self.pypi_package()?])
            }
            "oci" => ("docker", self.docker_args(&env)?),
            "mcpb" => {
                return Err(
                    "an mcpb package is a bundle that no package manager installs; download and \
                     check it yourself"
                        .to_owned(),
                );
            }
            other => return Err(format!("packages of type `{other}` are not supported")),
        };
        self.check_runtime_arguments()?;
        args.extend(self.package_arguments()?);
        let launch = NewServerLaunch::Command {
            command: command.to_owned(),
            args,
            env,
            cwd: None,
        };
        Ok((launch, remarks))
    }

    /// Rejects a package from another package registry: `npx` and `uvx` would install the package of
    /// the same name from the default one.
    fn check_source(&self, default: &str) -> Result<(), String> {
        match self.registry_base_url.as_deref() {
            None | Some("") => Ok(()),
            Some(url) if url.trim_end_matches('/') == default => Ok(()),
            Some(_) => Err(format!(
                "the {} package is not on {default}",
                self.registry_type
            )),
        }
    }

    fn npm_package(&self) -> Result<String, String> {
        let name = self.identifier.as_str();
        let is_part = |part: &str| is_word(part, "-._~");
        let is_valid = match name.strip_prefix('@').map(|scoped| scoped.split_once('/')) {
            None => is_part(name),
            Some(Some((scope, name))) => is_part(scope) && is_part(name),
            Some(None) => false,
        };
        if !is_valid {
            return Err("the name of its npm package is not valid".to_owned());
        }
        let version = self.pinned_version()?;
        let core = version.split(['-', '+']).next().unwrap_or_default();
        let is_number =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        // npm reads `1.2` as a range.
        if core.split('.').count() != 3 || !core.split('.').all(is_number) {
            return Err("its npm package has no exact version".to_owned());
        }
        Ok(format!("{name}@{version}"))
    }

    fn pypi_package(&self) -> Result<String, String> {
        match is_word(&self.identifier, "-._") {
            true => Ok(format!("{}=={}", self.identifier, self.pinned_version()?)),
            false => Err("the name of its PyPI package is not valid".to_owned()),
        }
    }

    fn docker_args(&self, env: &[(String, String)]) -> Result<Vec<String>, String> {
        let image = self.identifier.as_str();
        if !is_word(image, "-._/:@") {
            return Err("the name of its image is not valid".to_owned());
        }
        let last_part = image.rsplit('/').next().unwrap_or_default();
        let image = match last_part.contains([':', '@']) {
            true => image.to_owned(),
            false => format!("{image}:{}", self.pinned_version()?),
        };
        if image.ends_with(":latest") {
            return Err("its image has no fixed version".to_owned());
        }
        let mut args: Vec<String> = ["run", "-i", "--rm"].map(str::to_owned).to_vec();
        for (name, _) in env {
            args.extend(["-e".to_owned(), name.clone()]);
        }
        args.push(image);
        Ok(args)
    }

    /// The version, if it names exactly one.
    fn pinned_version(&self) -> Result<&str, String> {
        let version = self.version.as_deref().unwrap_or_default();
        let starts_with_digit = version.starts_with(|first: char| first.is_ascii_digit())
            || self.registry_type == "oci" && !version.is_empty();
        match starts_with_digit && is_word(version, "-._+") {
            true => Ok(version),
            false => Err(format!(
                "its {} package has no exact version",
                self.registry_type
            )),
        }
    }

    /// Arguments for `npx`, `uvx` or `docker` could give the server more power, such as access to a
    /// folder of the host. Only arguments that are passed anyway are accepted.
    fn check_runtime_arguments(&self) -> Result<(), String> {
        for argument in self.runtime_arguments.iter().flatten() {
            let flag = argument.name.as_deref().or(argument.input.value.as_deref());
            let flag = flag.unwrap_or_default();
            let is_known = match self.registry_type.as_str() {
                "npm" => matches!(flag, "-y" | "--yes"),
                "oci" => matches!(
                    flag,
                    "run" | "-i" | "--interactive" | "--rm" | "-e" | "--env"
                ),
                _ => false,
            };
            if !is_known {
                return Err(format!(
                    "its {} package needs arguments for the program that starts it, which are not \
                     passed on",
                    self.registry_type
                ));
            }
        }
        Ok(())
    }

    fn package_arguments(&self) -> Result<Vec<String>, String> {
        let mut args = Vec::new();
        for argument in self.package_arguments.iter().flatten() {
            let hint = argument.value_hint.as_deref().or(argument.name.as_deref());
            let hint = hint.unwrap_or("argument");
            check_argument(argument.input.value.as_deref().unwrap_or_default())?;
            check_argument(argument.input.default.as_deref().unwrap_or_default())?;
            let value = argument.input.resolve(hint.trim_start_matches('-'))?;
            let is_named = argument.kind.as_deref() == Some("named");
            match (&argument.name, value) {
                (Some(flag), value) if is_named => {
                    // A flag without a value is passed only if it is required.
                    if value.is_none() && !argument.input.is_required {
                        continue;
                    }
                    check_argument(flag)?;
                    args.push(flag.clone());
                    args.extend(value);
                }
                (_, value) => args.extend(value),
            }
        }
        args.iter()
            .try_for_each(|argument| check_argument(argument))?;
        Ok(args)
    }

    /// The variables of the server, and a remark about optional ones.
    fn env(&self) -> Result<(NamedValues, Vec<String>), String> {
        let (mut env, mut optional) = (Vec::new(), Vec::new());
        for Variable { name, input } in self.environment_variables.iter().flatten() {
            if !is_variable_name(name) {
                return Err("the name of a variable is not valid".to_owned());
            }
            // A publisher has no reason to set such a variable.
            if can_change_program(name) {
                return Err(format!(
                    "it sets `{name}`, which can change which program runs"
                ));
            }
            match input.resolve(name)? {
                Some(value) => env.push((name.clone(), value)),
                None => optional.push(format!("`{name}`")),
            }
        }
        let remarks = match optional.is_empty() {
            true => Vec::new(),
            false => vec![format!("Optional variables: {}.", optional.join(", "))],
        };
        Ok((env, remarks))
    }
}

/// Whether `text` consists of letters, digits and characters of `others`, and begins with a letter
/// or digit.
fn is_word(text: &str, others: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || others.contains(c))
}

fn check_argument(text: &str) -> Result<(), String> {
    let is_refused = |c: char| c.is_control() || SHELL_CHARS.contains(c);
    let without_variables = text.replace("${", "").replace('}', "");
    match text.chars().any(is_refused) || without_variables.contains('$') {
        true => Err("an argument contains shell syntax or a control character".to_owned()),
        false => Ok(()),
    }
}
