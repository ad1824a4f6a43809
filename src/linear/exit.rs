//! The options of the linear chat, and the reasons for its end.

use std::time::Duration;

/// How long the engine may take to acknowledge an interrupt.
pub const ACKNOWLEDGE_TIMEOUT: Duration = Duration::from_secs(1);

pub struct LinearOptions {
    /// The command line names a conversation, which the engine is opening.
    pub opens_session: bool,
    /// The terminal ignores escape sequences or prints them (`TERM=dumb`).
    pub is_dumb: bool,
    /// A line that explains this run, such as that a script answers.
    pub greeting: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinearExit {
    Quit,
    Signal(u8),
    /// The terminal is gone.
    InputLost,
    EngineGone,
}

impl LinearExit {
    pub fn code(self) -> u8 {
        match self {
            Self::Quit => crate::headless::EXIT_SUCCESS,
            Self::Signal(code) => code,
            Self::InputLost | Self::EngineGone => crate::headless::EXIT_FAILED,
        }
    }
}
