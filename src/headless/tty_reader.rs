//! Reads lines from the controlling terminal. A line typed before a question cannot approve anything.

use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, Termios, Winsize, tcflush, tcgetattr, tcgetwinsize,
    tcsetattr,
};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, mpsc};
use tokio::time::timeout;

/// Maximum number of buffered lines typed while no question is open.
const LINES_MAX: usize = 64;
/// An answer that arrives sooner was typed before the question could be read.
pub const TYPE_AHEAD_WINDOW: Duration = Duration::from_millis(500);
/// Lines that follow each other this quickly were pasted: nobody types so fast.
pub const PASTE_GAP: Duration = Duration::from_millis(40);
/// Assumed width of a terminal that reports no width, or less than the minimum.
pub const COLUMNS_DEFAULT: u16 = 80;
const COLUMNS_MIN: u16 = 12;
/// Assumed height of a terminal that reports no height, or less than the minimum.
const ROWS_DEFAULT: u16 = 24;
const ROWS_MIN: u16 = 4;

/// A line, or `None` for Ctrl+D.
pub type Typed = Option<String>;

/// One thread reads the terminal for as long as the program runs: a read cannot be
/// cancelled, and two readers would take each other's lines.
pub struct TtyReader {
    file: File,
    lines: Mutex<mpsc::Receiver<Typed>>,
}

/// Shows typed characters again when dropped.
pub struct HiddenTyping {
    file: File,
    shown: Termios,
}

impl Drop for HiddenTyping {
    fn drop(&mut self) {
        let _ = tcsetattr(&self.file, OptionalActions::Now, &self.shown);
    }
}

impl TtyReader {
    /// Hides typed characters, except line breaks. `None` if the terminal cannot do that.
    pub fn hide_typing(&self) -> Option<HiddenTyping> {
        let file = self.file.try_clone().ok()?;
        let shown = tcgetattr(&file).ok()?;
        let mut hidden = shown.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        hidden.local_modes.insert(LocalModes::ECHONL);
        tcsetattr(&file, OptionalActions::Now, &hidden).ok()?;
        Some(HiddenTyping { file, shown })
    }

    pub fn open() -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        let input = file.try_clone()?;
        let (sender, lines) = mpsc::channel(LINES_MAX);
        std::thread::spawn(move || {
            let mut input = BufReader::new(input);
            // Blocks while the buffer is full; the next question discards old lines.
            while let Some(typed) = read_typed(&mut input) {
                if sender.blocking_send(typed).is_err() {
                    return;
                }
            }
        });
        let lines = Mutex::new(lines);
        Ok(Self { file, lines })
    }

    /// The width of the terminal, or a default.
    pub fn columns(&self) -> u16 {
        let columns = self.size().map_or(0, |size| size.ws_col);
        match columns < COLUMNS_MIN {
            true => COLUMNS_DEFAULT,
            false => columns,
        }
    }

    /// The height of the terminal, or a default.
    pub fn rows(&self) -> u16 {
        let rows = self.size().map_or(0, |size| size.ws_row);
        match rows < ROWS_MIN {
            true => ROWS_DEFAULT,
            false => rows,
        }
    }

    fn size(&self) -> Option<Winsize> {
        tcgetwinsize(&self.file).ok()
    }

    /// Asks, and waits for a line that was typed after the question could be read: lines typed
    /// ahead or several pasted lines must not approve anything. `None` at the end of input.
    pub async fn ask(&self, question: &str) -> Option<String> {
        let mut lines = self.lines.lock().await;
        loop {
            // If flushing fails, the check of the elapsed time below still applies.
            let _ = tcflush(&self.file, QueueSelector::IFlush);
            while lines.try_recv().is_ok() {}
            (&self.file).write_all(question.as_bytes()).ok()?;
            let asked_at = Instant::now();
            let typed = lines.recv().await?;
            if typed.is_none() {
                end_line();
            }
            let is_early = asked_at.elapsed() < TYPE_AHEAD_WINDOW;
            let mut is_pasted = false;
            while let Ok(Some(_)) = timeout(PASTE_GAP, lines.recv()).await {
                is_pasted = true;
            }
            match (is_early, is_pasted) {
                (true, _) => eprintln!("(Ignored: typed before the question could be read.)"),
                (false, true) => eprintln!("(Ignored: several lines came at once.)"),
                (false, false) => {
                    // The unfinished rest of a paste must not become the start of the next line.
                    let _ = tcflush(&self.file, QueueSelector::IFlush);
                    return typed;
                }
            }
        }
    }

    /// The next line, typed at any time. `None` at the end of input, [`Typed`] `None` for Ctrl+D.
    /// Cancel-safe.
    pub async fn next_line(&self) -> Option<Typed> {
        self.lines.lock().await.recv().await
    }

    /// Discards everything typed so far, so that it cannot answer the next question.
    pub fn discard_typed(&self) {
        let _ = tcflush(&self.file, QueueSelector::IFlush);
        if let Ok(mut lines) = self.lines.try_lock() {
            while lines.try_recv().is_ok() {}
        }
    }

    /// Asks for a value, which may be typed at once. `None` at the end of input.
    pub async fn read_line(&self, question: &str) -> Option<String> {
        let mut lines = self.lines.lock().await;
        (&self.file).write_all(question.as_bytes()).ok()?;
        let typed = lines.recv().await?;
        if typed.is_none() {
            end_line();
        }
        typed
    }
}

/// Ends the line of a question, because Ctrl+D does not.
fn end_line() {
    eprintln!();
}

/// Reads one line. `None` if the terminal is gone: unlike a file, it can be read again after Ctrl+D.
fn read_typed(input: &mut BufReader<File>) -> Option<Typed> {
    let mut line = Vec::new();
    match input.read_until(b'\n', &mut line).ok()? {
        0 => input.get_ref().is_terminal().then_some(None),
        _ => Some(Some(
            String::from_utf8_lossy(&line)
                .trim_end_matches(['\r', '\n'])
                .to_owned(),
        )),
    }
}
