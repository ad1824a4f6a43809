//! Tests of the lines in the log file and in the log pane.

use super::*;
use crate::domain::model::Secret;
use std::fs;
use std::sync::atomic::{AtomicI64, Ordering};
use tracing::{debug, info, warn};

/// The lines that the log pane receives while `run` logs.
fn log_events(
    folder: &Path,
    level: Level,
    clock: fn() -> Zoned,
    run: impl FnOnce(&LogHandle),
) -> Vec<String> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let pane = Arc::clone(&lines);
    let send_to_pane = move |line: LogLine| {
        let shown = format!("{:>5} {}", line.level, line.text);
        pane.lock().unwrap().push(shown);
    };
    let secrets = SecretRegistry::default();
    secrets.add_credentials([Secret::new("hunter2hunter2")]);
    let (layer, handle) = TracingLayer::with_clock(folder, level, secrets, send_to_pane, clock);
    let subscriber = tracing_subscriber::registry().with(layer);
    tracing::subscriber::with_default(subscriber, || run(&handle));
    let lines = lines.lock().unwrap();
    lines.clone()
}

fn files_in(folder: &Path) -> Vec<(String, String)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let text = fs::read_to_string(entry.path()).unwrap();
            (entry.file_name().into_string().unwrap(), text)
        })
        .collect();
    files.sort();
    files
}

#[test]
fn own_events_and_warnings_of_dependencies_are_logged() {
    let folder = tempfile::tempdir().unwrap();
    let lines = log_events(folder.path(), Level::INFO, Zoned::now, |handle| {
        info!(tokens = 3, name = "한글", "answered");
        debug!("too quiet");
        info!(target: "hyper::client", "not ours");
        info!(target: "humbleness", "not ours either");
        warn!(target: "hyper::client", "reset");
        handle.set_level(Level::DEBUG);
        debug!("now logged\r\nwith a \u{1b}[31mtrick");
        debug!("\u{202e}reversed\u{2028}\u{200b}👩‍💻");
    });
    let expected = [
        " INFO humble::log::tests: answered tokens=3 name=\"한글\"",
        " WARN hyper::client: reset",
        "DEBUG humble::log::tests: now logged\\r\\nwith a \\u{1b}[31mtrick",
        "DEBUG humble::log::tests: \\u{202e}reversed\\u{2028}\\u{200b}👩‍💻",
    ];
    assert_eq!(lines, expected);
    let files = files_in(folder.path());
    let written: Vec<_> = files[0].1.lines().map(|line| &line[30..]).collect();
    assert_eq!(written, expected);
}

#[test]
fn no_secret_reaches_the_file_or_the_pane() {
    let folder = tempfile::tempdir().unwrap();
    let lines = log_events(folder.path(), Level::DEBUG, Zoned::now, |_| {
        debug!(key = "hunter2hunter2", "Authorization: Bearer abc");
    });
    // An unquoted header is redacted up to the next quotation mark: hiding too much is safer.
    let expected = "DEBUG humble::log::tests: Authorization: [hidden]\"[hidden]\"";
    assert_eq!(lines, [expected]);
    let text = &files_in(folder.path())[0].1;
    assert!(!text.contains("hunter2") && !text.contains("abc"), "{text}");
}

#[test]
fn each_local_day_has_a_private_file_of_its_own() {
    static DAY: AtomicI64 = AtomicI64::new(0);
    fn clock() -> Zoned {
        let last_second: Zoned = "2026-12-31T23:59:59+09:00[Asia/Seoul]".parse().unwrap();
        last_second + jiff::Span::new().seconds(DAY.load(Ordering::SeqCst))
    }
    let folder = tempfile::tempdir().unwrap();
    log_events(folder.path(), Level::INFO, clock, |_| {
        info!("old");
        DAY.store(1, Ordering::SeqCst);
        info!("new");
    });
    let line = |time: &str, message: &str| format!("{time}  INFO humble::log::tests: {message}\n");
    let expected = [
        (
            "application-hac-2026-12-31.log".to_owned(),
            line("2026-12-31T23:59:59.000+09:00", "old"),
        ),
        (
            "application-hac-2027-01-01.log".to_owned(),
            line("2027-01-01T00:00:00.000+09:00", "new"),
        ),
    ];
    assert_eq!(files_in(folder.path()), expected);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.path().join(&expected[0].0);
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_missing_folder_loses_only_the_log_file() {
    let lines = log_events(
        Path::new("/nowhere/at/all"),
        Level::INFO,
        Zoned::now,
        |_| {
            info!("still in the pane");
        },
    );
    assert_eq!(lines, [" INFO humble::log::tests: still in the pane"]);
}

#[test]
fn enabled_reports_whether_an_event_would_be_logged() {
    let folder = tempfile::tempdir().unwrap();
    log_events(folder.path(), Level::INFO, Zoned::now, |handle| {
        assert!(!tracing::enabled!(Level::DEBUG));
        handle.set_level(Level::DEBUG);
        assert!(tracing::enabled!(Level::DEBUG));
        assert!(!tracing::enabled!(target: "hyper::client", Level::DEBUG));
    });
}

#[test]
fn huge_lines_are_truncated_more_in_the_pane_than_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let lines = log_events(folder.path(), Level::INFO, Zoned::now, |_| {
        info!("{}", "한".repeat(500_000));
    });
    assert!(
        lines[0].len() < PANE_LINE_BYTES_MAX + 40,
        "{}",
        lines[0].len()
    );
    assert!(lines[0].ends_with(" more bytes)"));
    let text = &files_in(folder.path())[0].1;
    assert!(text.ends_with(" more bytes)\n"));
    let expected_len = LINE_BYTES_MAX..LINE_BYTES_MAX + 120;
    assert!(expected_len.contains(&text.len()), "{}", text.len());
}
