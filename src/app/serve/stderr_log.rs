//! Writes to standard error without ever delaying the server: a client that starts the server may
//! leave its standard error unread.

use crate::headless::lines::clean_line;
use jiff::Zoned;
use std::io::{Write, stderr};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
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
        Self::with_output(stderr())
    }

    fn with_output(output: impl Write + Send + 'static) -> Self {
        let (sender, receiver) = sync_channel(QUEUE_CAPACITY);
        // The thread ends when the last sender is dropped, or with the process.
        thread::spawn(move || write_all(&receiver, output));
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
        let (done, flushed) = sync_channel(1);
        // In a thread, because the queue may be full, and sending to it has no timeout.
        thread::spawn(move || self.sender.send(PrinterMessage::Flush(done)));
        let _ = flushed.recv_timeout(FLUSH_TIMEOUT);
    }
}

fn write_all(messages: &Receiver<PrinterMessage>, mut output: impl Write) {
    while let Ok(message) = messages.recv() {
        match message {
            // Without a reader, the log file still has the lines.
            PrinterMessage::Lines(lines) => drop(output.write_all(lines.as_bytes())),
            PrinterMessage::Flush(done) => drop(done),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::{Arc, Mutex};

    /// Reports the start of each write, which blocks until the gate's sender is dropped.
    struct GatedOutput {
        started: SyncSender<()>,
        gate: Receiver<()>,
        lines: Arc<Mutex<Vec<String>>>,
    }

    impl Write for GatedOutput {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.started.try_send(());
            let _ = self.gate.recv();
            let line = String::from_utf8_lossy(bytes).into_owned();
            self.lines.lock().expect("no panic").push(line);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_in_a_full_queue_are_written_before_the_program_ends() {
        let (started, has_started) = sync_channel(1);
        let (opener, gate) = sync_channel(0);
        let lines = Arc::default();
        let printer = StderrPrinter::with_output(GatedOutput {
            started,
            gate,
            lines: Arc::clone(&lines),
        });
        printer.print("first");
        has_started.recv().expect("the first write");
        for line in 0..QUEUE_CAPACITY {
            printer.print(&line.to_string());
        }
        let finishing = thread::spawn(move || {
            printer.finish();
            lines.lock().expect("no panic").len()
        });
        drop(opener);
        let written = finishing.join().expect("no panic");
        assert_eq!(written, QUEUE_CAPACITY + 1);
    }

    #[test]
    fn output_that_is_never_read_delays_the_end_only_briefly() {
        let (started, _has_started) = sync_channel(1);
        let (_opener, gate) = sync_channel(0);
        let lines = Arc::default();
        let output = GatedOutput {
            started,
            gate,
            lines: Arc::clone(&lines),
        };
        let printer = StderrPrinter::with_output(output);
        for line in 0..2 * QUEUE_CAPACITY {
            printer.print(&line.to_string());
        }
        printer.finish();
        assert!(lines.lock().expect("no panic").is_empty());
    }
}
