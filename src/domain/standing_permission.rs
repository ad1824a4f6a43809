//! Why a call ran without asking.

/// A permission given before the call, so the user was not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandingPermission {
    AutoMode,
    Session,
    /// A rule in `trust.json` allows the call.
    Rule,
    CommandLine,
    /// `find_tools`, which the program answers itself.
    ToolSearch,
}
