//! New servers for `mcp-servers.json`, and the result of an import.

mod add_command;
mod candidate_fields;
mod loader_variables;
mod secrets;

pub use add_command::parse_add_command;
pub use candidate_fields::transport_name;
pub use loader_variables::can_change_program;
pub use secrets::replace_secrets;

use super::model::Secret;
use super::server::RemoteTransport;
use std::path::PathBuf;

/// A server to be added to `mcp-servers.json`.
#[derive(Debug, Clone, PartialEq)]
pub struct NewServer {
    pub name: String,
    pub description: Option<String>,
    pub enabled: bool,
    pub launch: NewServerLaunch,
    /// Values of variables that are stored with the server.
    pub values: Vec<(String, Secret)>,
}

/// How the server is started or reached. `${NAME}` is not expanded.
#[derive(Debug, Clone, PartialEq)]
pub enum NewServerLaunch {
    Command {
        command: String,
        args: Vec<String>,
        env: Vec<(String, String)>,
        cwd: Option<PathBuf>,
    },
    Url {
        url: String,
        transport: RemoteTransport,
        headers: Vec<(String, String)>,
    },
}

/// A server of another client or of a registry, ready to be added.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerCandidate {
    pub server: NewServer,
    pub replaced_secrets: Vec<ReplacedSecret>,
    /// Sentences about parts of the source that are not imported.
    pub remarks: Vec<String>,
}

/// A secret of the source, and the variable that replaces it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplacedSecret {
    pub variable: String,
    pub value: Secret,
}

/// A server that cannot or need not be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedServer {
    pub name: String,
    /// Without a final period.
    pub reason: String,
    /// The same server is already configured, or was found before.
    pub is_already_there: bool,
}

/// The result of comparing found servers with `mcp-servers.json`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ImportPlan {
    pub candidates: Vec<ServerCandidate>,
    pub skipped: Vec<SkippedServer>,
}

/// The MCP servers of another client.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportSource {
    /// The client's name.
    pub client: String,
    /// The files that list its servers.
    pub files: Vec<PathBuf>,
    /// Its servers compared with ours, or why they cannot be listed, as a sentence.
    pub plan: Result<ImportPlan, String>,
}

impl NewServer {
    /// The names of all variables that the server needs, each once, in order of use.
    pub fn variables(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for text in self.launch.expanded_texts() {
            for name in referenced_variables(text) {
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        }
        names
    }

    /// The variables whose values are not stored with the server.
    pub fn needed_variables(&self) -> Vec<String> {
        let mut names = self.variables();
        names.retain(|name| !self.values.iter().any(|(stored, _)| stored == name));
        names
    }
}

impl ServerCandidate {
    pub fn stores_secrets(&self) -> bool {
        !self.server.values.is_empty()
    }

    /// Stores the secrets of the source with the server, or leaves their variables to the user.
    pub fn store_secrets(&mut self, stores: bool) {
        let secrets = self.replaced_secrets.iter().filter(|_| stores);
        let values = secrets.map(|secret| (secret.variable.clone(), secret.value.clone()));
        self.server.values = values.collect();
    }
}

/// The names of all variables that are not stored with their servers, each once, in order of use.
pub fn variables_of(candidates: &[ServerCandidate]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for candidate in candidates {
        for name in candidate.server.needed_variables() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

impl NewServerLaunch {
    /// The environment variables of a command, or the headers of a URL, as names and values.
    pub fn env_or_headers(&self) -> &[(String, String)] {
        match self {
            Self::Command { env, .. } => env,
            Self::Url { headers, .. } => headers,
        }
    }

    pub fn env_or_headers_mut(&mut self) -> &mut Vec<(String, String)> {
        match self {
            Self::Command { env, .. } => env,
            Self::Url { headers, .. } => headers,
        }
    }

    /// All strings in which `${NAME}` is replaced.
    fn expanded_texts(&self) -> Vec<&str> {
        let mut texts: Vec<&str> = match self {
            Self::Command { args, .. } => args.iter().map(String::as_str).collect(),
            Self::Url { url, .. } => vec![url.as_str()],
        };
        let values = self.env_or_headers().iter();
        texts.extend(values.map(|(_, value)| value.as_str()));
        texts
    }
}

/// Whether `${name}` is replaced by the value of a variable. Other braces are literal text.
pub fn is_variable_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The names in `text` written as `${NAME}`.
pub fn referenced_variables(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split("${").skip(1);
    parts.filter_map(|part| {
        let (name, _) = part.split_once('}')?;
        is_variable_name(name).then_some(name)
    })
}

/// Turns a text such as `api-key` into a name for a variable, such as `API_KEY`. `None` if the text
/// contains no ASCII letters or digits.
pub fn variable_name_from(text: &str) -> Option<String> {
    const CHARS_MAX: usize = 64;
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let mut name = words.join("_").to_ascii_uppercase();
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        name.insert(0, '_');
    }
    name.truncate(CHARS_MAX);
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_named_after_the_texts_that_they_replace() {
        for (text, expected) in [
            ("api-key", Some("API_KEY")),
            ("--x.y ", Some("X_Y")),
            ("1password", Some("_1PASSWORD")),
            ("날씨", None),
            ("날씨 token", Some("TOKEN")),
        ] {
            assert_eq!(variable_name_from(text).as_deref(), expected, "{text}");
        }
        let names: Vec<&str> = referenced_variables("${A}${B:-1}/${ ${C} ${}").collect();
        assert_eq!(names, ["A", "C"]);
    }
}
