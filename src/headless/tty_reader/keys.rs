//! While a question is open, the terminal passes on every key, so that a pasted answer can be told
//! from a typed one: the terminal itself would hold back the beginning of a second pasted line, and
//! would not tell when the keys of the first one came.

use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcsetattr,
};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A read ends after this many tenths of a second without a key, so that the next one follows the
/// settings of the terminal at that time.
const READ_TIMEOUT_TENTHS: u8 = 2;
/// The value of a special key that is switched off (`_POSIX_VDISABLE`).
const DISABLED_KEY: u8 = if cfg!(target_os = "linux") { 0 } else { 0xff };

/// The terminal whose settings are changed at the moment, and the settings to restore.
static CHANGED: Mutex<Option<(File, Termios)>> = Mutex::new(None);

/// Restores the terminal when dropped. What was typed meanwhile is discarded, so that the rest of a
/// paste does not become the start of the next line.
pub struct TtyKeys<'a> {
    file: &'a File,
    settings: &'a Termios,
    passes_keys: &'a AtomicBool,
}

impl<'a> TtyKeys<'a> {
    /// Discards what was typed before.
    pub fn enter(
        file: &'a File,
        settings: &'a Termios,
        passes_keys: &'a AtomicBool,
    ) -> io::Result<Self> {
        let mut changed = settings.clone();
        // The signals of Ctrl+C and Ctrl+\ remain.
        changed.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN;
        changed.special_codes[SpecialCodeIndex::VMIN] = 0;
        changed.special_codes[SpecialCodeIndex::VTIME] = READ_TIMEOUT_TENTHS;
        // Ctrl+Z arrives as a key: the terminal has to be restored before the program stops.
        changed.special_codes[SpecialCodeIndex::VSUSP] = DISABLED_KEY;
        *lock_changed() = Some((file.try_clone()?, settings.clone()));
        // Dropped, and so restored, if the settings cannot be changed.
        let keys = Self {
            file,
            settings,
            passes_keys,
        };
        passes_keys.store(true, Ordering::SeqCst);
        set(file, &changed)?;
        Ok(keys)
    }

    /// Whether the terminal normally prints what is typed. Some programs that run `humble` in a
    /// terminal of theirs do that themselves.
    pub fn is_echoed(&self) -> bool {
        self.settings.local_modes.contains(LocalModes::ECHO)
    }
}

impl Drop for TtyKeys<'_> {
    fn drop(&mut self) {
        *lock_changed() = None;
        // Fails only if the terminal is gone.
        let _ = set(self.file, self.settings);
        self.passes_keys.store(false, Ordering::SeqCst);
    }
}

/// Restores the terminal before the process ends without dropping its values.
pub fn restore() {
    if let Some((file, settings)) = lock_changed().take() {
        let _ = set(&file, &settings);
    }
}

/// Changes the settings at once, also while the terminal holds its output back (Ctrl+S), and discards
/// what was typed.
fn set(file: &File, settings: &Termios) -> io::Result<()> {
    tcsetattr(file, OptionalActions::Now, settings)?;
    Ok(tcflush(file, QueueSelector::IFlush)?)
}

fn lock_changed() -> MutexGuard<'static, Option<(File, Termios)>> {
    CHANGED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Repeats a read that ended without bytes because no key came. Without bytes, a read of whole lines
/// means Ctrl+D. `None` if the terminal is gone.
pub fn without_timeouts(
    passes_keys: &AtomicBool,
    mut read: impl FnMut() -> Option<usize>,
) -> Option<usize> {
    loop {
        // Asked before the read: the settings may change while it waits.
        let was_reading_keys = passes_keys.load(Ordering::SeqCst);
        let count = read()?;
        if count > 0 || !was_reading_keys {
            return Some(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portable_pty::{PtySize, native_pty_system};
    use rustix::fs::{Mode, OFlags};
    use rustix::termios::tcgetattr;
    use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};

    #[test]
    fn a_panic_restores_the_terminal() {
        let pty = native_pty_system().openpty(PtySize::default());
        let pty = pty.expect("a pseudo-terminal");
        let path = pty.master.tty_name().expect("a name");
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        let file = rustix::fs::open(path, flags, Mode::empty()).expect("a terminal");
        let file = File::from(file);
        let settings = tcgetattr(&file).expect("settings");
        let passes_keys = AtomicBool::new(false);
        let reads_lines = || {
            let settings = tcgetattr(&file).expect("settings");
            settings.local_modes.contains(LocalModes::ICANON)
        };
        let result: Result<(), _> = catch_unwind(AssertUnwindSafe(|| {
            let _keys = TtyKeys::enter(&file, &settings, &passes_keys);
            panic_any(reads_lines());
        }));
        let read_lines = result.expect_err("it panicked").downcast::<bool>();
        assert_eq!(read_lines.ok(), Some(Box::new(false)));
        assert!(reads_lines());
        let keys = TtyKeys::enter(&file, &settings, &passes_keys).expect("entered");
        restore();
        assert!(reads_lines());
        drop(keys);
        assert!(reads_lines() && !passes_keys.load(Ordering::SeqCst));
    }
}
