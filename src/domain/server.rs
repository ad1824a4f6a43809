//! MCP servers: their configuration and their current state.

use super::model::Secret;
use super::tool::canonical_hash;
use super::{LaunchId, Notice, ServerContent, ServerId, Tool};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The reserved name of the built-in server.
pub const BUILT_IN_SERVER: &str = "humble";

/// A server as configured in `mcp-servers.json`, possibly misconfigured.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerConfig {
    pub id: ServerId,
    pub description: Option<String>,
    pub enabled: bool,
    pub launch: LaunchConfig,
    /// The tools that are disabled individually.
    pub disabled_tools: BTreeSet<String>,
    /// The tools that requests always offer, even if others are held back.
    pub always_offered: BTreeSet<String>,
    pub startup_timeout: Duration,
    pub tool_timeout: Duration,
    pub protocol: ProtocolMode,
    /// How to sign in, if the server requires it.
    pub oauth: OAuthSettings,
    /// Values of expanded variables (`${NAME}`), values of inherited variables with secret names,
    /// and the secrets of `oauth`, longest first. They are removed from logs and screens.
    pub secrets: Vec<Secret>,
    /// The variables without a value, which keep the server from being launched.
    pub missing_variables: Vec<String>,
}

/// The settings for signing in to a remote server. The defaults suffice for most servers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OAuthSettings {
    /// The id of a client that the user registered.
    pub client_id: Option<String>,
    pub client_secret: Option<Secret>,
    /// A private key in PEM, which replaces the secret.
    pub private_key: Option<Secret>,
    /// The URL of a client metadata document, used as the client id where supported.
    pub client_metadata_url: Option<String>,
    /// The only authorization server that is accepted.
    pub issuer: Option<String>,
    pub callback_port: Option<u16>,
    /// The scopes to ask for. Empty: those that the server names.
    pub scopes: Vec<String>,
    /// Whether the client signs in with its own credentials, without a user (`grantType`).
    pub uses_client_credentials: bool,
}

/// The handshake used with a server (`protocol`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProtocolMode {
    /// The handshake is detected automatically and remembered.
    #[default]
    Auto,
    /// Protocol revisions with `initialize`.
    Legacy,
    /// The stateless protocol revision with `server/discover`.
    Modern,
}

/// How to reach a server. Variables (`${NAME}`) are already expanded.
#[derive(Debug, Clone, PartialEq)]
pub enum LaunchConfig {
    /// The built-in server, over an in-memory transport.
    BuiltIn,
    Stdio {
        command: String,
        args: Vec<String>,
        env: Vec<(String, String)>,
        cwd: Option<PathBuf>,
        inherit: InheritedEnv,
    },
    Remote {
        url: String,
        transport: RemoteTransport,
        headers: Vec<(String, String)>,
    },
    /// The server is listed with the reason, but never started.
    Misconfigured { why: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteTransport {
    /// Not specified. The last transport that worked (initially HTTP+SSE) is tried first, then
    /// the other one.
    Auto,
    Sse,
    Http,
}

/// Environment variables passed to the child process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InheritedEnv {
    AllowList,
    AllowListAnd(Vec<String>),
    All,
}

impl LaunchConfig {
    /// The identity of this configuration. It does not depend on the order of variables and
    /// headers, nor on the transport.
    pub fn identity(&self) -> LaunchId {
        let sorted = |pairs: &[(String, String)]| {
            let mut pairs = pairs.to_vec();
            pairs.sort();
            pairs
        };
        let parts: Value = match self {
            Self::BuiltIn => json!({ "builtIn": true }),
            Self::Stdio {
                command,
                args,
                env,
                cwd,
                inherit,
            } => {
                let mut parts = json!({
                    "command": command, "args": args, "env": sorted(env), "cwd": cwd,
                });
                // Inherited variables count, because some of them name code to load.
                match inherit {
                    InheritedEnv::AllowList => {}
                    InheritedEnv::AllowListAnd(names) => parts["inheritEnv"] = json!(names),
                    InheritedEnv::All => parts["inheritEnv"] = json!(true),
                }
                parts
            }
            Self::Remote { url, headers, .. } => {
                json!({ "url": url, "env": sorted(headers) })
            }
            Self::Misconfigured { why } => json!({ "misconfigured": why }),
        };
        LaunchId::from_hash(canonical_hash(&parts))
    }
}

/// A snapshot of a server's status and tools.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    pub id: ServerId,
    pub description: Option<String>,
    pub enabled: bool,
    pub status: ServerStatus,
    pub launch: LaunchId,
    /// Empty before the first connection, and if the server could not be started.
    pub tools: Arc<Vec<Tool>>,
    pub disabled_tools: BTreeSet<String>,
    /// The server's prompts and resources, known as long as its tools are.
    pub content: Arc<ServerContent>,
    /// What was left out of the server's tools, prompts and resources and why, one line each.
    pub omissions: Vec<String>,
    /// The last lines of its stderr, unsanitized.
    pub stderr: Vec<String>,
    pub instructions: Option<String>,
    /// The connected peer, while a session is open.
    pub peer: Option<PeerInfo>,
    /// Tools whose definition differs from the accepted one. Not offered until the user
    /// has reviewed the change.
    pub withheld_tools: BTreeSet<String>,
    pub always_offered: BTreeSet<String>,
    /// Tools that requests leave out to save tokens (`toolDiet`). The model can still find them.
    pub held_back_tools: BTreeSet<String>,
    /// The folders (MCP roots) that the server may request while the session that declared them is
    /// open.
    pub roots: Arc<Vec<PathBuf>>,
    /// The variables without a value, which keep the server from being launched.
    pub missing_variables: Vec<String>,
}

/// How a server identified itself, and the negotiated protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerInfo {
    /// As sent by the server, unsanitized.
    pub name: String,
    pub version: String,
    /// The negotiated protocol revision, such as `2025-11-25`.
    pub protocol: String,
    pub transport: ServerTransport,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerTransport {
    InMemory,
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE of revision 2024-11-05.
    Sse,
}

impl ServerTransport {
    pub fn label(self) -> &'static str {
        match self {
            Self::InMemory => "built in",
            Self::Stdio => "stdio",
            Self::Http => "streamable HTTP",
            Self::Sse => "HTTP+SSE",
        }
    }
}

impl Server {
    /// Whether the server is on but has no session because of an error or a missing sign-in.
    pub fn has_failed(&self) -> bool {
        let is_failure = matches!(
            self.status,
            ServerStatus::Failed(_) | ServerStatus::Misconfigured(_) | ServerStatus::NeedsSignIn(_)
        );
        self.enabled && is_failure
    }

    /// The tools that a model can call, also those that are held back and those of an ended
    /// session: a call starts a new session.
    pub fn available_tools(&self) -> impl Iterator<Item = &Tool> {
        let is_usable = self.enabled
            && matches!(
                self.status,
                ServerStatus::Connected | ServerStatus::Starting | ServerStatus::Failed(_)
            );
        let is_hidden =
            |name: &str| self.disabled_tools.contains(name) || self.withheld_tools.contains(name);
        self.tools
            .iter()
            .filter(move |tool| is_usable && !is_hidden(&tool.name))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum ServerStatus {
    Off,
    Starting,
    Connected,
    /// The server could not be started, or its session ended.
    Failed(Notice),
    /// The server requires signing in; the notice explains how.
    NeedsSignIn(Notice),
    Misconfigured(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(items: &[(&str, &str)]) -> Vec<(String, String)> {
        items
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn remote(url: &str, transport: RemoteTransport, headers: &[(&str, &str)]) -> LaunchId {
        let (url, headers) = (url.to_owned(), pairs(headers));
        LaunchConfig::Remote {
            url,
            transport,
            headers,
        }
        .identity()
    }

    fn child(
        command: &str,
        args: &[&str],
        env: &[(&str, &str)],
        inherit: InheritedEnv,
    ) -> LaunchId {
        LaunchConfig::Stdio {
            command: command.to_owned(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            env: pairs(env),
            cwd: None,
            inherit,
        }
        .identity()
    }

    #[test]
    fn url_and_headers_change_the_launch_identity_but_the_transport_does_not() {
        use RemoteTransport::{Auto, Http, Sse};
        let original = remote("https://a.example/mcp", Http, &[("X", "1"), ("Y", "2")]);
        for other in [
            remote("https://b.example/mcp", Http, &[("X", "1"), ("Y", "2")]),
            remote("http://a.example/mcp", Http, &[("X", "1"), ("Y", "2")]),
            remote("https://a.example/mcp/", Http, &[("X", "1"), ("Y", "2")]),
            remote("https://a.example/mcp", Http, &[("X", "2"), ("Y", "2")]),
            remote("https://a.example/mcp", Http, &[("X", "1")]),
        ] {
            assert_ne!(original, other);
        }
        for same in [
            remote("https://a.example/mcp", Sse, &[("X", "1"), ("Y", "2")]),
            remote("https://a.example/mcp", Auto, &[("Y", "2"), ("X", "1")]),
        ] {
            assert_eq!(original, same);
        }
    }

    #[test]
    fn command_arguments_and_variables_change_the_launch_identity() {
        let allow_list = || InheritedEnv::AllowList;
        let original = child("run", &["a", "b"], &[("X", "1"), ("Y", "2")], allow_list());
        for other in [
            child("Run", &["a", "b"], &[("X", "1"), ("Y", "2")], allow_list()),
            child("run", &["b", "a"], &[("X", "1"), ("Y", "2")], allow_list()),
            child("run", &["a b"], &[("X", "1"), ("Y", "2")], allow_list()),
            child("run", &["a", "b"], &[("X", "2"), ("Y", "1")], allow_list()),
            child("run", &["a", "b"], &[], allow_list()),
            child(
                "run",
                &["a", "b"],
                &[("X", "1"), ("Y", "2")],
                InheritedEnv::All,
            ),
            remote("run", RemoteTransport::Http, &[]),
            LaunchConfig::BuiltIn.identity(),
        ] {
            assert_ne!(original, other);
        }
        let reordered = child("run", &["a", "b"], &[("Y", "2"), ("X", "1")], allow_list());
        assert_eq!(original, reordered);
    }
}
