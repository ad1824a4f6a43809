//! How a server is reached: inside this program, as a child process, or at a URL.

use super::process::Program;
use crate::domain::server::{InheritedEnv, RemoteTransport};
use crate::domain::{LaunchConfig, Redactor};
use std::sync::Arc;

pub enum Endpoint {
    BuiltIn,
    Process(Program),
    Remote(RemoteEndpoint),
}

/// The configured address of a remote server.
pub struct RemoteEndpoint {
    pub url: String,
    pub transport: RemoteTransport,
    pub headers: Vec<(String, String)>,
    /// Removes the secrets sent to the server from all text that it returns.
    pub redactor: Arc<Redactor>,
}

impl Endpoint {
    /// The endpoint of a launch configuration, or `None` if it is invalid.
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

    pub fn inherited_env(&self) -> Option<&InheritedEnv> {
        match self {
            Self::Process(program) => Some(&program.inherit),
            Self::BuiltIn | Self::Remote(_) => None,
        }
    }
}
