//! Takes the terminal and gives it back: on leaving, on a panic, on a signal, and
//! for as long as another program has it.

use crate::tui::TuiOptions;
use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste,
    EnableFocusChange, EnableMouseCapture, KeyboardEnhancementFlags, PopKeyboardEnhancementFlags,
    PushKeyboardEnhancementFlags,
};
use crossterm::style::{ResetColor, force_color_output};
use crossterm::terminal::{
    DisableLineWrap, EnableLineWrap, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::layout::Size;
use rustix::termios::tcgetwinsize;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// The terminal is ours: what was changed must be undone. A panic hook has no
/// other way to know.
static TAKEN: AtomicBool = AtomicBool::new(false);
static KEYS_PUSHED: AtomicBool = AtomicBool::new(false);

/// The terminal, for as long as this lives.
pub struct TerminalGuard {
    enhanced_keys: bool,
    pub captures_mouse: bool,
}

impl TerminalGuard {
    /// # Errors
    /// There is no terminal, or it does not take what is written.
    pub fn take(options: &TuiOptions) -> io::Result<Self> {
        // With NO_COLOR crossterm writes resets in place of colours, which would
        // end bold and reverse too; the theme leaves colours out by itself.
        force_color_output(true);
        let this = Self {
            enhanced_keys: !options.plain_keys && supports_kitty_keys(),
            captures_mouse: true,
        };
        this.enter()?;
        Ok(this)
    }

    /// Takes the terminal, also again after [`restore`].
    pub fn enter(&self) -> io::Result<()> {
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let mut out = io::stdout();
        queue!(
            out,
            EnterAlternateScreen,
            // A cluster that the terminal draws wider than we count must not run
            // over into the next row.
            DisableLineWrap,
            EnableBracketedPaste,
            EnableFocusChange
        )?;
        if self.captures_mouse {
            queue!(out, EnableMouseCapture)?;
        }
        if self.enhanced_keys {
            KEYS_PUSHED.store(true, Ordering::SeqCst);
            let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES
                | KeyboardEnhancementFlags::REPORT_EVENT_TYPES;
            queue!(out, PushKeyboardEnhancementFlags(flags))?;
        }
        out.flush()
    }

    pub fn capture_mouse(&mut self, capture: bool) -> io::Result<()> {
        self.captures_mouse = capture;
        if capture {
            execute!(io::stdout(), EnableMouseCapture)
        } else {
            execute!(io::stdout(), DisableMouseCapture)
        }
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        restore();
    }
}

/// Columns and rows of the terminal. Asked before each frame: an event about it
/// may come late.
///
/// # Errors
/// Nothing tells the size.
pub fn size() -> io::Result<Size> {
    match tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 => Ok(Size::new(size.ws_col, size.ws_row)),
        // Other ways are slower.
        _ => crossterm::terminal::size().map(Size::from),
    }
}

pub fn is_taken() -> bool {
    TAKEN.load(Ordering::SeqCst)
}

/// Gives the terminal back. Doing it twice does no harm. What cannot be written
/// to a lost terminal is left: there is nobody to tell.
pub fn restore() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    if KEYS_PUSHED.swap(false, Ordering::SeqCst) {
        let _ = queue!(out, PopKeyboardEnhancementFlags);
    }
    let _ = execute!(
        out,
        EndSynchronizedUpdate,
        DisableMouseCapture,
        DisableFocusChange,
        DisableBracketedPaste,
        ResetColor,
        EnableLineWrap,
        LeaveAlternateScreen,
        Show
    );
    let _ = disable_raw_mode();
}

/// Asking a terminal costs up to two seconds where it does not answer: only those
/// that are known by name get the enhanced keys.
fn supports_kitty_keys() -> bool {
    let is = |name: &str, part: &str| {
        std::env::var(name).is_ok_and(|value| value.to_lowercase().contains(part))
    };
    ["kitty", "foot", "ghostty", "wezterm"]
        .iter()
        .any(|name| is("TERM", name) || is("TERM_PROGRAM", name))
}
pub mod diff_encoder;
pub(super) mod external_editor;
pub(super) mod frame_writer;
pub(super) mod panic;
pub(super) mod shutdown;
pub(super) mod signals;
