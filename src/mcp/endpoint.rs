//! How a server is reached.

use super::process::Program;
use crate::domain::server::{InheritedEnv, RemoteTransport};
use crate::domain::{LaunchConfig, Redactor};
use std::sync::Arc;

/// What a server is reached through.
pub enum Endpoint {
    BuiltIn,
    Process(Program),
    Remote(RemoteEndpoint),
}

/// Where a server is, as it is configured.
pub struct RemoteEndpoint {
    pub url: String,
    pub transport: RemoteTransport,
    pub headers: Vec<(String, String)>,
    /// Removes what the server was told in confidence from all that it says.
    pub redactor: Arc<Redactor>,
}

impl Endpoint {
    /// Where the launch of a server leads, unless it leads nowhere.
    pub fn from_launch(launch: LaunchConfig, redactor: Arc<Redactor>) -> Option<Self> {
        match launch {
            LaunchConfig::Misconfigured { .. } => None,
            LaunchConfig::BuiltIn => Some(Self::BuiltIn),
            LaunchConfig::Remote {
                url,
                transport,
                headers,
            } => Some(Self::Remote(RemoteEndpoint {
                url,
                transport,
                headers,
                redactor,
            })),
            LaunchConfig::Stdio {
                command,
                args,
                env,
                cwd,
                inherit,
            } => Some(Self::Process(Program {
                command,
                args,
                env,
                cwd,
                inherit,
            })),
        }
    }

    pub fn inherit(&self) -> Option<&InheritedEnv> {
        match self {
            Self::Process(program) => Some(&program.inherit),
            Self::BuiltIn | Self::Remote(_) => None,
        }
    }
}
