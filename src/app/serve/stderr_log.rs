//! Lines on standard error that never delay the server, even if nobody reads them: a client that
//! starts the server may leave its standard error unread.

use crate::headless::lines::clean_line;
use jiff::Zoned;
use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;
use tracing::Level;

/// Texts that wait to be written; later ones are dropped.
const QUEUE: usize = 256;
/// How long the last texts may take at the end.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

/// Cheap to clone.
#[derive(Clone)]
pub(super) struct StderrPrinter {
    sender: SyncSender<Text>,
}

enum Text {
    Lines(String),
    /// Everything before was written once this is dropped.
    Flush(SyncSender<()>),
}

impl StderrPrinter {
    pub(super) fn start() -> Self {
        let (sender, receiver) = sync_channel(QUEUE);
        // Ends with the last sender, or with the process.
        std::thread::spawn(move || write_all(&receiver));
        Self { sender }
    }

    /// Prints text that is safe for a terminal.
    pub(super) fn print(&self, text: &str) {
        let _ = self.sender.try_send(Text::Lines(format!("{text}\n")));
    }

    /// Prints a line of the log: the time instead of the names of modules.
    pub(super) fn log(&self, level: Level, text: &str) {
        if level > Level::INFO {
            return;
        }
        // The log file has the warnings of dependencies as well.
        let Some((target, message)) = text.trim_start().split_once(": ") else {
            return;
        };
        if !target.starts_with("humble") {
            return;
        }
        let time = Zoned::now().strftime("%H:%M:%S").to_string();
        let level = match level {
            Level::ERROR => "error: ",
            Level::WARN => "warning: ",
            _ => "",
        };
        self.print(&format!("{time} {level}{}", clean_line(message)));
    }

    /// Waits until everything is written, but not for a reader that has stopped.
    pub(super) fn finish(self) {
        let (sender, receiver) = sync_channel(1);
        if self.sender.try_send(Text::Flush(sender)).is_ok() {
            let _ = receiver.recv_timeout(FLUSH_TIMEOUT);
        }
    }
}

fn write_all(texts: &Receiver<Text>) {
    while let Ok(text) = texts.recv() {
        match text {
            // Without a reader, the log file still has the lines.
            Text::Lines(lines) => drop(std::io::stderr().write_all(lines.as_bytes())),
            Text::Flush(done) => drop(done),
        }
    }
}
