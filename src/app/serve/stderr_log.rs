//! Writes to standard error without ever delaying the server: a client that starts the server may
//! leave its standard error unread.

use crate::headless::lines::clean_line;
use jiff::Zoned;
use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;
use tracing::Level;

/// Maximum number of messages waiting to be written; further ones are dropped.
const QUEUE_CAPACITY: usize = 256;
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

/// Queues text for a thread that writes it to standard error. Cheap to clone.
#[derive(Clone)]
pub(super) struct StderrPrinter {
    sender: SyncSender<PrinterMessage>,
}

enum PrinterMessage {
    Lines(String),
    /// The sender is dropped once everything before it has been written.
    Flush(SyncSender<()>),
}

impl StderrPrinter {
    pub(super) fn start() -> Self {
        let (sender, receiver) = sync_channel(QUEUE_CAPACITY);
        // The thread ends when the last sender is dropped, or with the process.
        std::thread::spawn(move || write_all(&receiver));
        Self { sender }
    }

    /// Prints text, which the caller has made safe for a terminal.
    pub(super) fn print(&self, text: &str) {
        let message = PrinterMessage::Lines(format!("{text}\n"));
        let _ = self.sender.try_send(message);
    }

    /// Prints a log line of this program, unless it is below `info`, with the time in place of the
    /// module path.
    pub(super) fn log(&self, level: Level, text: &str) {
        if level > Level::INFO {
            return;
        }
        let Some((target, message)) = text.trim_start().split_once(": ") else {
            return;
        };
        // Warnings from dependencies go only to the log file.
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

    /// Waits until everything is written, but only briefly, and not at all if the queue is full,
    /// because the reader may have stopped.
    pub(super) fn finish(self) {
        let (sender, receiver) = sync_channel(1);
        if self.sender.try_send(PrinterMessage::Flush(sender)).is_ok() {
            let _ = receiver.recv_timeout(FLUSH_TIMEOUT);
        }
    }
}

fn write_all(messages: &Receiver<PrinterMessage>) {
    while let Ok(message) = messages.recv() {
        match message {
            // Without a reader, the log file still has the lines.
            PrinterMessage::Lines(lines) => drop(std::io::stderr().write_all(lines.as_bytes())),
            PrinterMessage::Flush(done) => drop(done),
        }
    }
}
