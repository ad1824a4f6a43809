//! Panic handling. A panic in screen code restores the terminal before anything is printed. A
//! panic in another task leaves the terminal alone, because the screen keeps running.

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
    static IN_SCREEN_CODE: Cell<bool> = const { Cell::new(false) };
}

/// Screen code panicked; the hook has already reported it.
#[derive(Debug)]
pub struct ScreenPanicked;

/// Runs screen code and reports a panic as an error.
pub fn catch_panic<T>(screen_code: impl FnOnce() -> T) -> Result<T, ScreenPanicked> {
    IN_SCREEN_CODE.set(true);
    let result = catch_unwind(AssertUnwindSafe(screen_code));
    IN_SCREEN_CODE.set(false);
    result.map_err(|_| ScreenPanicked)
}

/// Installs the panic hook, at most once.
pub fn install(report_path: Option<PathBuf>, redact: RedactFn) {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous_hook = take_hook();
        set_hook(Box::new(move |info| {
            if IN_SCREEN_CODE.get() {
                terminal::restore();
                let written_path = write_report(report_path.as_deref(), info, redact);
                print_panic(info, written_path, redact);
            } else if terminal::is_acquired() {
                write_report(report_path.as_deref(), info, redact);
                tracing::error!("a task panicked: {info}");
            } else {
                previous_hook(info);
            }
        }));
    });
}

fn print_panic(info: &PanicHookInfo, report_path: Option<&Path>, redact: RedactFn) {
    let mut stderr = std::io::stderr();
    // Stderr may be gone with the terminal, so ignore write errors.
    let _ = match report_path {
        Some(path) => writeln!(
            stderr,
            "humble crashed because of a bug. Report: {}",
            path.display()
        ),
        None => {
            let info = redact.0(&info.to_string());
            writeln!(stderr, "humble crashed because of a bug: {info}")
        }
    };
}

fn write_report<'a>(
    report_path: Option<&'a Path>,
    info: &PanicHookInfo,
    redact: RedactFn,
) -> Option<&'a Path> {
    let path = report_path?;
    let mut options = OpenOptions::new();
    let mut file = options
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
        .ok()?;
    let version = env!("CARGO_PKG_VERSION");
    let info = redact.0(&info.to_string());
    let trace = Backtrace::force_capture();
    writeln!(file, "humble {version}\n{info}\n{trace}\n").ok()?;
    Some(path)
}
