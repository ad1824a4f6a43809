//! How a server is reached: inside this program, as a child process, or at a URL.

use crate::domain::LaunchConfig;
use crate::domain::server::{InheritedEnv, RemoteTransport};
use crate::mcp::stdio::process::Program;

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
}

impl Endpoint {
    /// The endpoint of a launch configuration, or `None` if it is invalid.
    pub fn from_launch(launch: LaunchConfig) -> Option<Self> {
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
