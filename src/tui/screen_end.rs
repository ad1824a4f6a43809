//! How the terminal interface ended: the reason, and what remains to be printed.

use crate::tui::terminal::panic;
use std::io;
use thiserror::Error;

/// The result of a screen that ended without an error.
#[derive(Debug)]
pub struct ScreenEnd {
    pub exit: ScreenExit,
    /// The title of the open conversation; `None` if `--continue` cannot open it again.
    pub saved_title: Option<String>,
    /// The width of the terminal; 0 if it is unknown.
    pub columns: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenExit {
    Quit,
    Demo,
    /// Number of the signal that arrived.
    Signal(i32),
}

impl ScreenExit {
    /// The exit code of the process.
    pub fn code(self) -> u8 {
        match self {
            Self::Quit | Self::Demo => 0,
            Self::Signal(number) => u8::try_from(128 + number).unwrap_or(u8::MAX),
        }
    }
}

#[derive(Debug, Error)]
pub enum TuiError {
    #[error("cannot use the terminal: {0}")]
    Terminal(#[from] io::Error),
    #[error("the terminal was closed")]
    InputLost,
    #[error("the screen crashed because of a bug in humble")]
    Panicked,
    #[error("the engine stopped unexpectedly")]
    EngineGone,
}

impl From<panic::ScreenPanicked> for TuiError {
    fn from(_: panic::ScreenPanicked) -> Self {
        Self::Panicked
    }
}
