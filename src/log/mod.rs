//! The log: writes tracing events to the day's log file and to the log pane, with secrets
//! removed. Never writes to the terminal and never fails: a line that cannot be written is
//! dropped.

use crate::domain::SecretRegistry;
use crate::files;
use crate::protocol::LogLine;
use crate::sync::lock_ignoring_poison;
use crate::text::invisible::Invisible;
use jiff::Zoned;
use jiff::civil::Date;
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// Longer lines are truncated, and the number of omitted bytes is appended. At debug level each
/// request contains the whole conversation, which would otherwise fill the disk.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// The limit for lines in the log pane, which keeps them in memory.
const PANE_LINE_BYTES_MAX: usize = 4 * 1024;
const CRATE_NAME: &str = "humble";

/// Starts sending events to the day's file in `folder` and to `pane`, without `secrets`. A second
/// call in one process does not replace the first log.
pub fn init(
    folder: &Path,
    level: Level,
    secrets: SecretRegistry,
    pane: impl Fn(LogLine) + Send + Sync + 'static,
) -> LogHandle {
    let (layer, handle) = TracingLayer::new(folder, level, secrets, pane);
    let subscriber = tracing_subscriber::registry().with(layer);
    let _ = tracing::subscriber::set_global_default(subscriber);
    handle
}

/// The tracing layer that formats and writes the lines.
pub struct TracingLayer {
    state: Arc<Mutex<LogState>>,
    secrets: SecretRegistry,
    pane: Box<dyn Fn(LogLine) + Send + Sync>,
    clock: fn() -> Zoned,
}

/// Reconfigures a running log.
#[derive(Debug, Clone)]
pub struct LogHandle {
    state: Arc<Mutex<LogState>>,
}

#[derive(Debug)]
struct LogState {
    level: Level,
    folder: PathBuf,
    file: Option<(Date, File)>,
}

impl LogHandle {
    pub fn set_level(&self, level: Level) {
        lock_ignoring_poison(&self.state).level = level;
        tracing::callsite::rebuild_interest_cache();
    }

    /// Whether the last line was written to the log file.
    pub fn is_written(&self) -> bool {
        lock_ignoring_poison(&self.state).file.is_some()
    }
}

impl TracingLayer {
    /// Creates a layer, without installing it globally, and its handle.
    pub fn new(
        folder: &Path,
        level: Level,
        secrets: SecretRegistry,
        pane: impl Fn(LogLine) + Send + Sync + 'static,
    ) -> (Self, LogHandle) {
        Self::with_clock(folder, level, secrets, pane, Zoned::now)
    }

    fn with_clock(
        folder: &Path,
        level: Level,
        secrets: SecretRegistry,
        pane: impl Fn(LogLine) + Send + Sync + 'static,
        clock: fn() -> Zoned,
    ) -> (Self, LogHandle) {
        let state = Arc::new(Mutex::new(LogState {
            level,
            folder: folder.to_owned(),
            file: None,
        }));
        let handle = LogHandle {
            state: Arc::clone(&state),
        };
        let layer = Self {
            state,
            secrets,
            pane: Box::new(pane),
            clock,
        };
        (layer, handle)
    }
}

impl<S: Subscriber> Layer<S> for TracingLayer {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // The level can change later, so only callsites that are not logged at any level are ruled
        // out.
        if is_event(metadata) && *metadata.level() <= max_level(metadata) {
            Interest::sometimes()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        let configured = lock_ignoring_poison(&self.state).level;
        is_event(metadata) && *metadata.level() <= max_level(metadata).min(configured)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let configured = lock_ignoring_poison(&self.state).level;
        Some(LevelFilter::from_level(configured))
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let now = (self.clock)();
        let level = *event.metadata().level();
        let mut recorded = EventText::default();
        event.record(&mut recorded);
        let event_text = format!("{}{}", recorded.message, recorded.fields);
        let target = event.metadata().target();
        let time = now.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z");
        let text = format!("{target}: {}", format_line(&event_text, &self.secrets));
        let line = format!("{time} {level:>5} {text}\n");
        lock_ignoring_poison(&self.state).write(now.date(), &line);
        // Outside the lock, because the pane may be slow and may log itself.
        (self.pane)(LogLine {
            level,
            text: truncate_line(&text, PANE_LINE_BYTES_MAX),
        });
    }
}

/// True for events, and for the metadata of `tracing::enabled!`, which describes neither an event
/// nor a span.
fn is_event(metadata: &Metadata<'_>) -> bool {
    !metadata.is_span()
}

/// The most verbose level logged for a target: every event of this crate, but only warnings and
/// errors of dependencies.
fn max_level(metadata: &Metadata<'_>) -> Level {
    let target = metadata.target();
    let is_ours = target
        .strip_prefix(CRATE_NAME)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    if is_ours { Level::TRACE } else { Level::WARN }
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

/// The message of an event, and its fields as ` name=value`.
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

/// Escapes control characters and other invisible ones, so that an event stays on one line and
/// whoever reads the file sees all of it, in its order. Keeps joiners and style selectors, which
/// occur in ordinary words and emoji.
fn escape_invisible(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match Invisible::classify(character) {
            None | Some(Invisible::Joiner | Invisible::StyleSelector) => line.push(character),
            Some(_) if character == '\t' => line.push(character),
            Some(_) => line.extend(character.escape_default()),
        }
    }
    line
}

fn format_line(event_text: &str, secrets: &SecretRegistry) -> String {
    // Bounds the work for huge events.
    let start = &event_text[..event_text.floor_char_boundary(2 * LINE_BYTES_MAX)];
    let line = escape_invisible(start);
    let (mut text, used_bytes) = secrets.redact_prefix(&line, LINE_BYTES_MAX);
    let omitted_bytes = line.len() - used_bytes + event_text.len() - start.len();
    if omitted_bytes > 0 {
        text.push_str(&format!("… ({omitted_bytes} more bytes)"));
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
    format!("{}… ({} more bytes)", &line[..end], line.len() - end)
}

#[cfg(test)]
mod tests;
