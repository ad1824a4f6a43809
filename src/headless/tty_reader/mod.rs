//! Reads lines from the controlling terminal, and answers to questions key by key. A line that was typed
//! before its question, or that was pasted, cannot approve anything.

mod answer;
mod keys;

pub use keys::restore;

use answer::{AnswerEnd, AnswerLine};
use keys::{TtyKeys, without_timeouts};
use rustix::termios::{
    LocalModes, OptionalActions, Termios, Winsize, tcgetattr, tcgetwinsize, tcsetattr,
};
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Read, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Mutex, mpsc};
use tokio::time::timeout;

/// Maximum number of reads that are buffered while nobody asks for them. Each has at most one line.
const READS_MAX: usize = 64;
/// The kernel keeps no longer line either.
const READ_BYTES_MAX: usize = 4_096;
/// An answer that begins sooner was typed before the question could be read.
const TYPE_AHEAD_WINDOW: Duration = Duration::from_millis(500);
/// Keys or lines that follow each other this quickly were pasted: nobody types so fast.
pub const PASTE_GAP: Duration = Duration::from_millis(40);
/// Whatever follows Enter this quickly is the rest of a paste, which may arrive in pieces.
const PASTE_END_GAP: Duration = Duration::from_millis(150);
/// How long SIGTSTP may take to stop the process.
const STOP_TIMEOUT: Duration = Duration::from_millis(500);
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
    /// The settings of the terminal outside of questions.
    settings: Termios,
    /// Whether the terminal passes on every key instead of whole lines.
    passes_keys: Arc<AtomicBool>,
    input: Mutex<TtyInput>,
}

/// The bytes of one read. Empty for Ctrl+D on an empty line.
struct ReadBytes {
    bytes: Vec<u8>,
    read_at: Instant,
}

struct TtyInput {
    reads: mpsc::Receiver<ReadBytes>,
    /// The beginning of a line whose end has not been read.
    unfinished: Vec<u8>,
}

enum Answer {
    Typed(Typed),
    /// Typed before the question could be read.
    Early,
    /// A whole line that arrived at once, and nothing else.
    WholeLine(String),
    Pasted,
    Suspended,
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
        Self::on(OpenOptions::new().read(true).write(true).open("/dev/tty")?)
    }

    fn on(file: File) -> io::Result<Self> {
        let settings = tcgetattr(&file)?;
        let passes_keys = Arc::new(AtomicBool::new(false));
        let (sender, reads) = mpsc::channel(READS_MAX);
        let (mut input, reads_keys) = (file.try_clone()?, Arc::clone(&passes_keys));
        std::thread::spawn(move || {
            // Blocks while the buffer is full; the next question discards old lines.
            while let Some(bytes) = read_bytes(&mut input, &reads_keys) {
                if sender.blocking_send(bytes).is_err() {
                    return;
                }
            }
        });
        let unfinished = Vec::new();
        Ok(Self {
            file,
            settings,
            passes_keys,
            input: Mutex::new(TtyInput { reads, unfinished }),
        })
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

    /// Asks, and waits for a line that was typed key by key after the question could be read: text
    /// that was typed ahead or pasted must not approve anything. `None` at the end of input.
    pub async fn ask(&self, question: &str) -> Option<String> {
        let mut input = self.input.lock().await;
        let mut code = None;
        loop {
            // Entered again for each attempt: another program may have had the terminal meanwhile.
            // Without keys, a paste cannot be told from typing, so nothing can be approved.
            let keys = TtyKeys::enter(&self.file, &self.settings, &self.passes_keys).ok()?;
            input.discard();
            // Before the question is printed: a key that comes at once must not vanish without a word.
            let asked_at = Instant::now();
            (&self.file).write_all(question.as_bytes()).ok()?;
            let is_echoed = keys.is_echoed();
            let answer = input.answer(asked_at, |echo| {
                if is_echoed {
                    let _ = (&self.file).write_all(echo.as_bytes());
                }
            });
            match answer.await? {
                Answer::Typed(typed) => return typed,
                Answer::WholeLine(line) => {
                    if let Some(answer) = code.and_then(|code: String| without_code(&line, &code)) {
                        return Some(answer);
                    }
                    let new_code = unpredictable_code();
                    eprintln!(
                        "(Ignored: it came all at once, like pasted text. If your terminal sends whole lines, add {new_code} to the answer.)"
                    );
                    code = Some(new_code);
                }
                Answer::Early => {
                    eprintln!("(Ignored: typed before the question could be read.)");
                }
                Answer::Pasted => eprintln!("(Ignored: that was pasted.)"),
                Answer::Suspended => {
                    drop(keys);
                    suspend().await.ok()?;
                }
            }
        }
    }

    /// The next line, typed at any time. `None` at the end of input, [`Typed`] `None` for Ctrl+D.
    /// Cancel-safe.
    pub async fn next_line(&self) -> Option<Typed> {
        self.input.lock().await.line().await
    }

    /// Asks for a value, which may be typed at once. `None` at the end of input.
    pub async fn read_line(&self, question: &str) -> Option<String> {
        let mut input = self.input.lock().await;
        (&self.file).write_all(question.as_bytes()).ok()?;
        let typed = input.line().await?;
        if typed.is_none() {
            // Ctrl+D does not end the line of the question.
            eprintln!();
        }
        typed
    }
}

impl TtyInput {
    fn discard(&mut self) {
        while self.reads.try_recv().is_ok() {}
        self.unfinished.clear();
    }

    /// The next line that the terminal has edited. Cancel-safe.
    async fn line(&mut self) -> Option<Typed> {
        loop {
            if let Some(end) = self.unfinished.iter().position(|byte| *byte == b'\n') {
                let rest = self.unfinished.split_off(end + 1);
                return Some(Some(text_of(std::mem::replace(&mut self.unfinished, rest))));
            }
            let read = self.reads.recv().await?;
            match (read.bytes.is_empty(), self.unfinished.is_empty()) {
                (true, true) => return Some(None),
                (true, false) => {
                    return Some(Some(text_of(std::mem::take(&mut self.unfinished))));
                }
                (false, _) => self.unfinished.extend(read.bytes),
            }
        }
    }

    /// One attempt to answer a question. `echo` prints what the terminal itself would have printed.
    async fn answer(&mut self, asked_at: Instant, echo: impl Fn(&str)) -> Option<Answer> {
        let mut line = AnswerLine::default();
        let end = loop {
            let read = self.reads.recv().await?;
            // Read before the question was printed.
            if read.read_at < asked_at {
                continue;
            }
            let (change, end) = line.push(&read.bytes, read.read_at);
            echo(&change);
            if let Some(end) = end {
                break end;
            }
        };
        echo("\n");
        let mut is_followed = false;
        while let Ok(Some(_)) = timeout(PASTE_END_GAP, self.reads.recv()).await {
            is_followed = true;
        }
        let is_early = line
            .begun_at
            .is_some_and(|begun_at| begun_at < asked_at + TYPE_AHEAD_WINDOW);
        Some(match end {
            AnswerEnd::Suspend => Answer::Suspended,
            _ if is_early => Answer::Early,
            _ if is_followed => Answer::Pasted,
            AnswerEnd::Pasted {
                is_whole_line: false,
            } => Answer::Pasted,
            AnswerEnd::Pasted { .. } => Answer::WholeLine(line.into_text()),
            AnswerEnd::Enter => Answer::Typed(Some(line.into_text())),
            AnswerEnd::EndOfInput => Answer::Typed(None),
        })
    }
}

/// Four digits that show that the user has read the question, because no text to paste contains them.
fn unpredictable_code() -> String {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since_epoch.map_or(0, |time| time.subsec_nanos());
    (1_000 + nanos / 1_000 % 9_000).to_string()
}

fn without_code(line: &str, code: &str) -> Option<String> {
    line.trim_end().strip_suffix(code).map(str::to_owned)
}

/// Stops the program as the terminal would after Ctrl+Z, and returns once it goes on.
async fn suspend() -> io::Result<()> {
    let mut resumed = signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?;
    rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
    // Another thread may receive the stop signal first.
    let _ = timeout(STOP_TIMEOUT, resumed.recv()).await;
    Ok(())
}

fn text_of(line: Vec<u8>) -> String {
    String::from_utf8_lossy(&line)
        .trim_end_matches(['\r', '\n'])
        .to_owned()
}

/// Reads a line, or keys. `None` if the terminal is gone: unlike a file, it can be read again after
/// Ctrl+D.
fn read_bytes(input: &mut File, passes_keys: &AtomicBool) -> Option<ReadBytes> {
    let mut bytes = vec![0; READ_BYTES_MAX];
    let count = without_timeouts(passes_keys, || {
        loop {
            match input.read(&mut bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => {
                    break result
                        .ok()
                        .filter(|count| *count > 0 || input.is_terminal());
                }
            }
        }
    })?;
    bytes.truncate(count);
    let read_at = Instant::now();
    Some(ReadBytes { bytes, read_at })
}
