//! The log: events of this program as lines in the day's file and in the log pane,
//! with every secret taken out first. It never writes to the terminal, and never
//! fails: a line that cannot be written is lost.

mod scrub;

use crate::domain::model::Secret;
use crate::files;
use crate::protocol::LogLine;
use jiff::Zoned;
use jiff::civil::Date;
use scrub::Scrubber;
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// Longer lines are cut, with a word on how much is missing.
/// At debug each request holds the whole conversation: uncut, a long one would
/// fill the disk.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// The same for the log pane, which keeps lines in memory.
const PANE_BYTES_MAX: usize = 4 * 1024;
const CRATE: &str = "humble";

/// Sends all events of the program to the day's file in `folder` and to `pane`
/// from now on. A second call in one program has no effect on the first.
pub fn init(
    folder: &Path,
    level: Level,
    pane: impl Fn(LogLine) + Send + Sync + 'static,
) -> LogHandle {
    let (sink, handle) = LogSink::new(folder, level, pane);
    let subscriber = tracing_subscriber::registry().with(sink);
    let _ = tracing::subscriber::set_global_default(subscriber);
    handle
}

/// The layer that writes the lines.
pub struct LogSink {
    shared: Arc<Mutex<Shared>>,
    pane: Box<dyn Fn(LogLine) + Send + Sync>,
    clock: fn() -> Zoned,
}

/// Changes what a running log does.
#[derive(Debug, Clone)]
pub struct LogHandle {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    level: Level,
    scrubber: Scrubber,
    folder: PathBuf,
    file: Option<(Date, File)>,
}

impl LogHandle {
    pub fn set_level(&self, level: Level) {
        lock(&self.shared).level = level;
        tracing::callsite::rebuild_interest_cache();
    }

    /// Takes these secrets, too, out of every line from now on.
    pub fn hide(&self, secrets: Vec<Secret>) {
        lock(&self.shared).scrubber.hide(secrets);
    }
}

/// A thread that panicked while it logged must not silence the others.
fn lock(shared: &Mutex<Shared>) -> std::sync::MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LogSink {
    /// A layer for a subscriber of one's own, and its handle.
    pub fn new(
        folder: &Path,
        level: Level,
        pane: impl Fn(LogLine) + Send + Sync + 'static,
    ) -> (Self, LogHandle) {
        Self::with_clock(folder, level, pane, Zoned::now)
    }

    fn with_clock(
        folder: &Path,
        level: Level,
        pane: impl Fn(LogLine) + Send + Sync + 'static,
        clock: fn() -> Zoned,
    ) -> (Self, LogHandle) {
        let shared = Arc::new(Mutex::new(Shared {
            level,
            scrubber: Scrubber::default(),
            folder: folder.to_owned(),
            file: None,
        }));
        let handle = LogHandle {
            shared: Arc::clone(&shared),
        };
        let sink = Self {
            shared,
            pane: Box::new(pane),
            clock,
        };
        (sink, handle)
    }
}

impl<S: Subscriber> Layer<S> for LogSink {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // The level can change, so that only what is never of interest is settled.
        if is_asked(metadata) && *metadata.level() <= most(metadata) {
            Interest::sometimes()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        let chosen = lock(&self.shared).level;
        is_asked(metadata) && *metadata.level() <= most(metadata).min(chosen)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let chosen = lock(&self.shared).level;
        Some(LevelFilter::from_level(chosen))
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let now = (self.clock)();
        let level = *event.metadata().level();
        let mut said = Said::default();
        event.record(&mut said);
        let said = format!("{}{}", said.message, said.fields);
        let target = event.metadata().target();
        let time = now.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z");
        let text = {
            let mut shared = lock(&self.shared);
            let said = shared.scrubber.scrubbed(&one_line(&said));
            let text = format!("{level:>5} {target}: {}", cut(&said, LINE_BYTES_MAX));
            shared.write(now.date(), &format!("{time} {text}\n"));
            text
        };
        // Outside the lock: the pane may be slow, and may itself log.
        (self.pane)(LogLine {
            level,
            text: cut(&text, PANE_BYTES_MAX),
        });
    }
}

/// An event, or the question of `tracing::enabled!` whether one would be heard,
/// which is neither an event nor a span.
fn is_asked(metadata: &Metadata<'_>) -> bool {
    !metadata.is_span()
}

/// The most talkative level that is of interest from this place.
fn most(metadata: &Metadata<'_>) -> Level {
    let target = metadata.target();
    let ours = target
        .strip_prefix(CRATE)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    if ours { Level::TRACE } else { Level::WARN }
}

impl Shared {
    fn write(&mut self, today: Date, line: &str) {
        if self.file.as_ref().is_none_or(|(day, _)| *day != today) {
            let name = format!("application-hac-{}.log", today.strftime("%Y-%m-%d"));
            let opened = files::open_append(&self.folder.join(name), files::PRIVATE);
            self.file = opened.ok().map(|file| (today, file));
        }
        if let Some((_, file)) = &mut self.file
            && file.write_all(line.as_bytes()).is_err()
        {
            self.file = None;
        }
    }
}

/// What an event says: its message, and its fields as ` name=value`.
#[derive(Default)]
struct Said {
    message: String,
    fields: String,
}

impl Visit for Said {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a String cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.message.push_str(value),
            _ => self.record_debug(field, &value),
        }
    }
}

/// One event is one line, whatever text from outside stands in it.
fn one_line(said: &str) -> String {
    let mut line = String::with_capacity(said.len());
    for letter in said.chars() {
        if letter.is_control() && letter != '\t' {
            line.extend(letter.escape_default());
        } else {
            line.push(letter);
        }
    }
    line
}

fn cut(line: &str, bytes_max: usize) -> String {
    if line.len() <= bytes_max {
        return line.to_owned();
    }
    let end = (0..=bytes_max)
        .rev()
        .find(|end| line.is_char_boundary(*end))
        .unwrap_or(0);
    format!("{}… ({} bytes more)", &line[..end], line.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::sync::atomic::{AtomicI64, Ordering};
    use tracing::{debug, info, warn};

    /// The lines of the log pane while `talk` runs.
    fn logged(
        folder: &Path,
        level: Level,
        clock: fn() -> Zoned,
        talk: impl FnOnce(&LogHandle),
    ) -> Vec<String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let pane = Arc::clone(&lines);
        let keep = move |line: LogLine| pane.lock().unwrap().push(line.text);
        let (sink, handle) = LogSink::with_clock(folder, level, keep, clock);
        let subscriber = tracing_subscriber::registry().with(sink);
        tracing::subscriber::with_default(subscriber, || talk(&handle));
        let lines = lines.lock().unwrap();
        lines.clone()
    }

    fn files_in(folder: &Path) -> Vec<(String, String)> {
        let mut files: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|item| {
                let item = item.unwrap();
                let text = fs::read_to_string(item.path()).unwrap();
                (item.file_name().into_string().unwrap(), text)
            })
            .collect();
        files.sort();
        files
    }

    #[test]
    fn events_of_ours_at_the_level_and_warnings_of_others_are_lines() {
        let folder = tempfile::tempdir().unwrap();
        let lines = logged(folder.path(), Level::INFO, Zoned::now, |handle| {
            info!(tokens = 3, name = "한글", "answered");
            debug!("too quiet");
            info!(target: "hyper::client", "not ours");
            info!(target: "humbleness", "not ours either");
            warn!(target: "hyper::client", "reset");
            handle.set_level(Level::DEBUG);
            debug!("now heard\r\nwith a \u{1b}[31mtrick");
        });
        let expected = [
            " INFO humble::log::tests: answered tokens=3 name=\"한글\"",
            " WARN hyper::client: reset",
            "DEBUG humble::log::tests: now heard\\r\\nwith a \\u{1b}[31mtrick",
        ];
        assert_eq!(lines, expected);
        let files = files_in(folder.path());
        let written: Vec<_> = files[0].1.lines().map(|line| &line[30..]).collect();
        assert_eq!(written, expected);
    }

    #[test]
    fn no_secret_reaches_the_file_or_the_pane() {
        let folder = tempfile::tempdir().unwrap();
        let lines = logged(folder.path(), Level::DEBUG, Zoned::now, |handle| {
            handle.hide(vec![Secret::new("hunter2hunter2")]);
            debug!(key = "hunter2hunter2", "Authorization: Bearer abc");
        });
        // An unquoted header goes up to the next mark: rather too much than too little.
        let expected = "DEBUG humble::log::tests: Authorization: [hidden]\"[hidden]\"";
        assert_eq!(lines, [expected]);
        let text = &files_in(folder.path())[0].1;
        assert!(!text.contains("hunter2") && !text.contains("abc"), "{text}");
    }

    #[test]
    fn each_local_day_has_its_own_file_that_only_the_person_can_read() {
        static DAY: AtomicI64 = AtomicI64::new(0);
        fn clock() -> Zoned {
            let late: Zoned = "2026-12-31T23:59:59+09:00[Asia/Seoul]".parse().unwrap();
            late + jiff::Span::new().seconds(DAY.load(Ordering::SeqCst))
        }
        let folder = tempfile::tempdir().unwrap();
        logged(folder.path(), Level::INFO, clock, |_| {
            info!("old");
            DAY.store(1, Ordering::SeqCst);
            info!("new");
        });
        let line = |time: &str, word: &str| format!("{time}  INFO humble::log::tests: {word}\n");
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
    fn a_folder_that_is_not_there_costs_the_file_and_nothing_else() {
        let lines = logged(
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
    fn the_question_whether_an_event_would_be_heard_is_answered() {
        let folder = tempfile::tempdir().unwrap();
        logged(folder.path(), Level::INFO, Zoned::now, |handle| {
            assert!(!tracing::enabled!(Level::DEBUG));
            handle.set_level(Level::DEBUG);
            assert!(tracing::enabled!(Level::DEBUG));
            assert!(!tracing::enabled!(target: "hyper::client", Level::DEBUG));
        });
    }

    #[test]
    fn a_line_without_end_is_cut_in_the_file_and_shorter_in_the_pane() {
        let folder = tempfile::tempdir().unwrap();
        let lines = logged(folder.path(), Level::INFO, Zoned::now, |_| {
            info!("{}", "한".repeat(500_000));
        });
        assert!(lines[0].len() < PANE_BYTES_MAX + 40, "{}", lines[0].len());
        assert!(lines[0].ends_with(" bytes more)"));
        let text = &files_in(folder.path())[0].1;
        assert!(text.ends_with(" bytes more)\n"));
        let room = LINE_BYTES_MAX..LINE_BYTES_MAX + 120;
        assert!(room.contains(&text.len()), "{}", text.len());
    }
}
