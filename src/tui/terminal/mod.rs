//! Acquires the terminal and restores it on exit, on a panic, on a signal, and while
//! another program uses it.

pub mod clipboard;
pub mod diff_encoder;
pub(super) mod external_editor;
pub(super) mod frame_writer;
pub(super) mod input;
pub(super) mod panic;
pub(super) mod signals;

use crate::tui::TuiOptions;
use crate::tui::keymap::KeyProtocol;
use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste,
    EnableFocusChange, KeyboardEnhancementFlags, PopKeyboardEnhancementFlags,
    PushKeyboardEnhancementFlags,
};
use crossterm::style::{Print, ResetColor, force_color_output};
use crossterm::terminal::{
    DisableLineWrap, EnableLineWrap, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{Command, execute, queue};
use ratatui::layout::Size;
use rustix::termios::tcgetwinsize;
use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the program owns the terminal and must restore it. Static because the panic hook cannot
/// reach a [`TerminalGuard`].
static IS_ACQUIRED: AtomicBool = AtomicBool::new(false);
static ARE_ENHANCED_KEYS_ON: AtomicBool = AtomicBool::new(false);

/// Reports presses, drags and the wheel (modes 1002 and 1006), but no motion without a button:
/// nothing reacts to it, and each report would wake the program. crossterm's own command includes
/// such motion; its `DisableMouseCapture` ends these modes too.
struct EnableMouseDrags;

impl Command for EnableMouseDrags {
    fn write_ansi(&self, f: &mut impl fmt::Write) -> fmt::Result {
        f.write_str("\x1b[?1002h\x1b[?1006h")
    }
}

/// Owns the terminal; restores it on drop.
pub struct TerminalGuard {
    uses_enhanced_keys: bool,
    pub captures_mouse: bool,
}

impl TerminalGuard {
    /// Acquires the terminal and enables the features that `options` ask for.
    ///
    /// # Errors
    /// Fails if there is no terminal or if writing to it fails.
    pub fn acquire(options: &TuiOptions) -> io::Result<Self> {
        // With `NO_COLOR`, crossterm would replace colors with resets, which also end bold
        // and reverse video. The theme already omits colors.
        force_color_output(true);
        let guard = Self {
            uses_enhanced_keys: !options.plain_keys && supports_enhanced_keys(),
            captures_mouse: true,
        };
        guard.enter()?;
        Ok(guard)
    }

    /// How the terminal reports keys.
    pub fn key_protocol(&self) -> KeyProtocol {
        match self.uses_enhanced_keys {
            true => KeyProtocol::Enhanced,
            false => KeyProtocol::Legacy,
        }
    }

    /// Acquires the terminal, either initially or again after [`restore`].
    pub fn enter(&self) -> io::Result<()> {
        enable_raw_mode()?;
        IS_ACQUIRED.store(true, Ordering::SeqCst);
        let mut out = io::stdout();
        queue!(
            out,
            EnterAlternateScreen,
            // A cluster that the terminal draws wider than we measured must not wrap to the
            // next row.
            DisableLineWrap,
            EnableBracketedPaste,
            EnableFocusChange
        )?;
        if self.captures_mouse {
            queue!(out, EnableMouseDrags)?;
        }
        if self.uses_enhanced_keys {
            ARE_ENHANCED_KEYS_ON.store(true, Ordering::SeqCst);
            let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES
                | KeyboardEnhancementFlags::REPORT_EVENT_TYPES;
            // The reply confirms that Esc arrives as a sequence.
            queue!(out, PushKeyboardEnhancementFlags(flags), Print("\x1b[?u"))?;
        }
        out.flush()
    }

    pub fn capture_mouse(&mut self, is_captured: bool) -> io::Result<()> {
        self.captures_mouse = is_captured;
        if is_captured {
            execute!(io::stdout(), EnableMouseDrags)
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

/// The terminal's size in columns and rows. Queried before each frame because resize events may
/// arrive late.
///
/// # Errors
/// Fails if the terminal does not report its size.
pub fn size() -> io::Result<Size> {
    match tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 => Ok(Size::new(size.ws_col, size.ws_row)),
        // crossterm also works if stdout is not a terminal, but is slower.
        _ => crossterm::terminal::size().map(Size::from),
    }
}

pub fn is_acquired() -> bool {
    IS_ACQUIRED.load(Ordering::SeqCst)
}

/// Restores the terminal. Idempotent. Ignores write errors: a lost terminal cannot be
/// restored.
pub fn restore() {
    if !IS_ACQUIRED.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    if ARE_ENHANCED_KEYS_ON.swap(false, Ordering::SeqCst) {
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

/// Whether the terminal is known to support enhanced keys (the kitty keyboard protocol). The
/// terminal is recognized by name, because a query may wait up to two seconds for a reply.
pub fn supports_enhanced_keys() -> bool {
    let variable_contains = |name: &str, part: &str| {
        std::env::var(name).is_ok_and(|value| value.to_lowercase().contains(part))
    };
    ["kitty", "foot", "ghostty", "wezterm"]
        .iter()
        .any(|name| variable_contains("TERM", name) || variable_contains("TERM_PROGRAM", name))
}
