//! Why a call ran without asking.

/// A permission given before the call, so the user was not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandingPermission {
    /// The tool mode is auto.
    AutoMode,
    /// The user allowed the tool for this session.
    Session,
    /// A rule in `trust.json` allows the call.
    Rule,
    /// The command line allowed the tool.
    CommandLine,
    /// `find_tools`, which the program answers itself.
    ToolSearch,
}
