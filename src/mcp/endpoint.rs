//! The means by which a server is reached.

use super::process::Program;
use crate::domain::server::{Inherit, RemoteTransport};
use crate::domain::{Launch, Redactor};
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
    /// Removes the secrets sent to the server from all of its text.
    pub redactor: Arc<Redactor>,
}

impl Endpoint {
    /// The endpoint of a launch configuration, or `None` if it is invalid.
    pub fn from_launch(launch: Launch, redactor: Arc<Redactor>) -> Option<Self> {
        match launch {
            Launch::Misconfigured { .. } => None,
            Launch::BuiltIn => Some(Self::BuiltIn),
            Launch::Remote {
                url,
                transport,
                headers,
            } => Some(Self::Remote(RemoteEndpoint {
                url,
                transport,
                headers,
                redactor,
            })),
            Launch::Stdio {
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

    pub fn inherit(&self) -> Option<&Inherit> {
        match self {
            Self::Process(program) => Some(&program.inherit),
            Self::BuiltIn | Self::Remote(_) => None,
        }
    }
}
