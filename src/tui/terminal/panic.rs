//! Panics. One in the screen's own code gives the terminal back before it says
//! anything; one in another task must not, since the screen lives on.

use crate::tui::{RedactFn, terminal};
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::Once;

thread_local! {
    /// This thread runs the screen's code just now.
    static IN_SCREEN_CODE: Cell<bool> = const { Cell::new(false) };
}

/// The screen's code panicked; the hook has said so already.
#[derive(Debug)]
pub struct ScreenPanicked;

/// Runs `work`, a step of the screen, and reports whether it panicked.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, ScreenPanicked> {
    IN_SCREEN_CODE.set(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IN_SCREEN_CODE.set(false);
    done.map_err(|_| ScreenPanicked)
}

/// Installs the hook, once in the life of the program.
pub fn install(report: Option<PathBuf>, redact: RedactFn) {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if IN_SCREEN_CODE.get() {
                terminal::restore();
                let place = write_report(report.as_deref(), info, redact);
                print_panic(info, place, redact);
            } else if terminal::is_taken() {
                write_report(report.as_deref(), info, redact);
                tracing::error!("a task panicked: {info}");
            } else {
                before(info);
            }
        }));
    });
}

fn print_panic(info: &PanicHookInfo, place: Option<&Path>, redact: RedactFn) {
    let mut err = std::io::stderr();
    // Stderr may be gone with the terminal; then nobody is left to be told.
    let _ = match place {
        Some(place) => writeln!(
            err,
            "humble: a fault in the program. The report: {}",
            place.display()
        ),
        None => {
            let info = redact.0(&info.to_string());
            writeln!(err, "humble: a fault in the program: {info}")
        }
    };
}

fn write_report<'a>(
    report: Option<&'a Path>,
    info: &PanicHookInfo,
    redact: RedactFn,
) -> Option<&'a Path> {
    let path = report?;
    let mut open = OpenOptions::new();
    let mut file = open.append(true).create(true).mode(0o600).open(path).ok()?;
    let version = env!("CARGO_PKG_VERSION");
    let info = redact.0(&info.to_string());
    let trace = Backtrace::force_capture();
    writeln!(file, "humble {version}\n{info}\n{trace}\n").ok()?;
    Some(path)
}
