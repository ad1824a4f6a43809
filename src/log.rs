//! The log: events of this program as lines in the day's file and in the log pane,
//! with every secret taken out first. It never writes to the terminal, and never
//! fails: a line that cannot be written is lost.

use crate::domain::Redactor;
use crate::domain::model::Secret;
use crate::files;
use crate::protocol::LogLine;
use crate::sync::lock_ignoring_poison;
use jiff::Zoned;
use jiff::civil::Date;
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, TryLockError};
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
const PANE_LINE_BYTES_MAX: usize = 4 * 1024;
const CRATE_NAME: &str = "humble";

/// Sends all events of the program to the day's file in `folder` and to `pane`
/// from now on. A second call in one program has no effect on the first.
pub fn init(
    folder: &Path,
    level: Level,
    pane: impl Fn(LogLine) + Send + Sync + 'static,
) -> LogHandle {
    let (sink, handle) = TracingLayer::new(folder, level, pane);
    let subscriber = tracing_subscriber::registry().with(sink);
    let _ = tracing::subscriber::set_global_default(subscriber);
    let _ = INSTALLED.set(handle.clone());
    handle
}

/// The log of the program, for [`redacted`].
static INSTALLED: OnceLock<LogHandle> = OnceLock::new();

/// `text` without the secrets that the log of this program hides. Never blocks, so that
/// the panic hook can use it.
pub fn redact(text: &str) -> String {
    let Some(handle) = INSTALLED.get() else {
        return Redactor::default().redact(text);
    };
    match handle.redactor.try_read() {
        Ok(redactor) => redactor.redact(text),
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner().redact(text),
        // Somebody is changing it, perhaps this very thread.
        Err(TryLockError::WouldBlock) => crate::domain::redact::HIDDEN.to_owned(),
    }
}

/// The layer that writes the lines.
pub struct TracingLayer {
    shared: Arc<Mutex<LogState>>,
    redactor: SharedRedactor,
    pane: Box<dyn Fn(LogLine) + Send + Sync>,
    clock: fn() -> Zoned,
}

/// Changes what a running log does.
#[derive(Debug, Clone)]
pub struct LogHandle {
    shared: Arc<Mutex<LogState>>,
    redactor: SharedRedactor,
}

/// Read by every line and replaced when the settings change.
type SharedRedactor = Arc<RwLock<Arc<Redactor>>>;

#[derive(Debug)]
struct LogState {
    level: Level,
    folder: PathBuf,
    file: Option<(Date, File)>,
}

impl LogHandle {
    pub fn set_level(&self, level: Level) {
        lock_ignoring_poison(&self.shared).level = level;
        tracing::callsite::rebuild_interest_cache();
    }

    /// Takes these secrets, too, out of every line from now on.
    pub fn add_secrets(&self, secrets: Vec<Secret>) {
        let mut shared = self
            .redactor
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let mut redactor = Redactor::clone(&shared);
        redactor.add_secrets(secrets);
        *shared = Arc::new(redactor);
    }
}

impl TracingLayer {
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
        let shared = Arc::new(Mutex::new(LogState {
            level,
            folder: folder.to_owned(),
            file: None,
        }));
        let redactor = SharedRedactor::default();
        let handle = LogHandle {
            shared: Arc::clone(&shared),
            redactor: Arc::clone(&redactor),
        };
        let sink = Self {
            shared,
            redactor,
            pane: Box::new(pane),
            clock,
        };
        (sink, handle)
    }
}

impl<S: Subscriber> Layer<S> for TracingLayer {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // The level can change, so that only what is never of interest is settled.
        if is_event(metadata) && *metadata.level() <= max_level(metadata) {
            Interest::sometimes()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        let chosen = lock_ignoring_poison(&self.shared).level;
        is_event(metadata) && *metadata.level() <= max_level(metadata).min(chosen)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let chosen = lock_ignoring_poison(&self.shared).level;
        Some(LevelFilter::from_level(chosen))
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let now = (self.clock)();
        let level = *event.metadata().level();
        let mut said = EventText::default();
        event.record(&mut said);
        let said = format!("{}{}", said.message, said.fields);
        let target = event.metadata().target();
        let time = now.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z");
        let redactor = {
            let shared = self.redactor.read().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(&shared)
        };
        let text = format!("{level:>5} {target}: {}", format_line(&said, &redactor));
        lock_ignoring_poison(&self.shared).write(now.date(), &format!("{time} {text}\n"));
        // Outside the lock: the pane may be slow, and may itself log.
        (self.pane)(LogLine {
            level,
            text: truncate_line(&text, PANE_LINE_BYTES_MAX),
        });
    }
}

/// An event, or the question of `tracing::enabled!` whether one would be heard,
/// which is neither an event nor a span.
fn is_event(metadata: &Metadata<'_>) -> bool {
    !metadata.is_span()
}

/// The most talkative level that is of interest from this place.
fn max_level(metadata: &Metadata<'_>) -> Level {
    let target = metadata.target();
    let ours = target
        .strip_prefix(CRATE_NAME)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    if ours { Level::TRACE } else { Level::WARN }
}

impl LogState {
    fn write(&mut self, today: Date, line: &str) {
        if self.file.as_ref().is_none_or(|(day, _)| *day != today) {
            let name = format!("application-hac-{}.log", today.strftime("%Y-%m-%d"));
            let opened = files::open_append(&self.folder.join(name), files::PRIVATE_MODE);
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
struct EventText {
    message: String,
    fields: String,
}

impl Visit for EventText {
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
fn escape_controls(said: &str) -> String {
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

/// An event as it is written: on one line, without secrets and without its end where it is
/// too long.
fn format_line(said: &str, redactor: &Redactor) -> String {
    // Whatever the length of an event, only so much of it is looked at.
    let looked_at = &said[..said.floor_char_boundary(2 * LINE_BYTES_MAX)];
    let line = escape_controls(looked_at);
    let (mut text, used) = redactor.redact_prefix(&line, LINE_BYTES_MAX);
    let rest = line.len() - used + said.len() - looked_at.len();
    if rest > 0 {
        text.push_str(&format!("… ({rest} bytes more)"));
    }
    text
}

fn truncate_line(line: &str, bytes_max: usize) -> String {
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
mod tests;
