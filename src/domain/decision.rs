//! The user's decisions about tool calls.

use super::{ArgumentPattern, Arguments, Pin};
use std::collections::BTreeMap;

/// The user's decision about one call.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    Run,
    /// Run it, and allow this tool until the conversation ends.
    RunForSession,
    /// Run it, and always allow this tool.
    RunAlways,
    /// Run it, and always allow the server's current tools.
    RunWholeServer,
    /// Run it, and always allow these tools, which its server marks as read-only. They were shown to
    /// the user.
    RunReadOnly {
        tools: BTreeMap<String, Pin>,
    },
    /// Run it, and always allow this tool if its arguments match.
    RunMatching {
        pattern: ArgumentPattern,
    },
    /// Block this tool; the turn continues.
    Never,
    /// Do not run it, and end the turn without asking the model again.
    Refuse,
    /// Do not run it, and pass the denial to the model; the turn continues.
    Deny {
        message: Option<String>,
    },
    Edit {
        arguments: Arguments,
    },
    /// Return the result of the earlier identical call.
    ReuseResult,
    /// Show the call as text, because it was not meant as a call.
    TreatAsText,
}

impl Decision {
    /// Whether the call runs, with the arguments shown or edited ones.
    pub fn runs(&self) -> bool {
        match self {
            Self::Run
            | Self::RunForSession
            | Self::RunAlways
            | Self::RunWholeServer
            | Self::RunReadOnly { .. }
            | Self::RunMatching { .. }
            | Self::Edit { .. } => true,
            Self::Never
            | Self::Refuse
            | Self::Deny { .. }
            | Self::ReuseResult
            | Self::TreatAsText => false,
        }
    }
}
