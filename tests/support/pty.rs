//! Runs the real program on a pseudo-terminal. A passive terminal emulator processes its
//! output, so a test sees and types what a user would. All waits are for a condition, with
//! a deadline.
#![allow(dead_code, reason = "each test crate uses only some of these items")]

#[path = "pty_answers.rs"]
mod pty_answers;
#[path = "pty_screen.rs"]
pub mod pty_screen;

pub use pty_screen::{contains_text, screen_with_border};

use super::home::TestHome;
use portable_pty::{CommandBuilder, MasterPty, PtySize, SlavePty, native_pty_system};
use pty_screen::{assert_restored, cells_of, has_message, settings};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use vt100::{Parser, Screen};

const WAIT_TIMEOUT: Duration = Duration::from_secs(20);
/// How long output may take to be read once the program has ended.
const LAST_OUTPUT_TIMEOUT: Duration = Duration::from_secs(2);

/// Longer than a question must have been without keys before it takes an answer, and after an answer
/// before Enter counts again.
pub const QUIET_TIME: Duration = Duration::from_secs(1);

pub const ENTER: &str = "\r";
pub const ESC: &str = "\x1b";
pub const CTRL_C: &str = "\x03";
pub const CTRL_L: &str = "\x0c";
pub const UP: &str = "\x1b[A";
pub const LEFT: &str = "\x1b[D";

pub struct TerminalOptions<'a> {
    home: &'a TestHome,
    columns: u16,
    rows: u16,
    command: CommandBuilder,
}

impl<'a> TerminalOptions<'a> {
    pub fn in_home(home: &'a TestHome) -> Self {
        let mut options = Self::with_default_home(home);
        options.command.arg("--home");
        options.command.arg(home.path());
        options
    }

    /// Options without `--home`: the program finds its folder below this home.
    pub fn with_default_home(home: &'a TestHome) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_humble"));
        command.env_remove("HUMBLE_HOME");
        command.cwd(home.path());
        for (name, value) in home.environment() {
            command.env(name, value);
        }
        command.env("TERM", "xterm-256color");
        command.env_remove("NO_COLOR");
        Self {
            home,
            columns: 110,
            rows: 32,
            command,
        }
    }

    pub fn size(mut self, columns: u16, rows: u16) -> Self {
        (self.columns, self.rows) = (columns, rows);
        self
    }

    pub fn arg(mut self, arg: &str) -> Self {
        self.command.arg(arg);
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn start(self) -> PtyTerminal {
        PtyTerminal::new(self)
    }
}

struct PtyState {
    parser: Parser,
    raw: Vec<u8>,
    /// All output has been read.
    is_closed: bool,
    exit: Option<Exit>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    pub code: u32,
    pub signal: Option<String>,
}

type SharedState = Arc<(Mutex<PtyState>, Condvar)>;

pub struct PtyTerminal {
    shared: SharedState,
    keys: Sender<(Vec<u8>, Duration)>,
    master: Box<dyn MasterPty + Send>,
    /// Kept open until the program has ended: closing it would reset modes that the program
    /// failed to restore.
    slave: Option<Box<dyn SlavePty + Send>>,
    settings_before: String,
    process: Pid,
}

impl PtyTerminal {
    fn new(options: TerminalOptions) -> Self {
        let size = size_of(options.columns, options.rows);
        let pair = native_pty_system()
            .openpty(size)
            .expect("a pseudo-terminal");
        let settings_before = settings(&*pair.master);
        let mut child = pair
            .slave
            .spawn_command(options.command)
            .expect("the program starts");
        let process = child.process_id().and_then(|id| i32::try_from(id).ok());
        let (rows, columns) = cells_of(options.columns, options.rows);
        let shared: SharedState = Arc::new((
            Mutex::new(PtyState {
                parser: Parser::new(rows, columns, 0),
                raw: Vec::new(),
                is_closed: false,
                exit: None,
            }),
            Condvar::new(),
        ));
        let reader = pair.master.try_clone_reader().expect("a reader");
        let writer = pair.master.take_writer().expect("a writer");
        let (keys, key_receiver) = channel::<(Vec<u8>, Duration)>();
        // These threads end with the program or the pseudo-terminal and need no join.
        let state = shared.clone();
        std::thread::spawn(move || read_output(reader, &state));
        let state = shared.clone();
        std::thread::spawn(move || {
            let status = child.wait().expect("the program is our child");
            let exit = Exit {
                code: status.exit_code(),
                signal: status.signal().map(str::to_owned),
            };
            lock(&state).exit = Some(exit);
            state.1.notify_all();
        });
        std::thread::spawn(move || write_keys(writer, &key_receiver));
        Self {
            shared,
            keys,
            master: pair.master,
            slave: Some(pair.slave),
            settings_before,
            process: process
                .and_then(Pid::from_raw)
                .expect("the program is running"),
        }
    }

    /// Sends keys as a terminal would. Never blocks, even if the program does not read them.
    pub fn press(&self, keys: &str) {
        self.press_in_pieces(&[keys], Duration::ZERO);
    }

    /// Sends bytes with a pause after each piece, as a slow connection does.
    pub fn press_in_pieces(&self, pieces: &[&str], pause: Duration) {
        for piece in pieces {
            // Fails only after the program has ended.
            let _ = self.keys.send((piece.as_bytes().to_vec(), pause));
        }
    }

    /// Types text and waits until it is on the screen.
    pub fn type_text(&self, text: &str) {
        self.press(text);
        // A terminal in cooked mode would also echo the text.
        self.wait_for(&format!("`{text}` is typed"), |screen| {
            screen.alternate_screen() && contains_text(screen, text)
        });
    }

    /// Types a prompt and submits it.
    pub fn send_prompt(&self, prompt: &str) {
        self.type_text(prompt);
        self.press(ENTER);
    }

    /// Sends a bracketed paste.
    pub fn paste(&self, text: &str) {
        self.press(&format!("\x1b[200~{text}\x1b[201~"));
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        let (cell_rows, cell_columns) = cells_of(columns, rows);
        lock(&self.shared).parser.set_size(cell_rows, cell_columns);
        self.master
            .resize(size_of(columns, rows))
            .expect("the size changes");
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.process, signal).expect("the program is running");
    }

    /// The current screen.
    pub fn screen(&self) -> Screen {
        lock(&self.shared).parser.screen().clone()
    }

    /// All output so far.
    pub fn raw(&self) -> Vec<u8> {
        lock(&self.shared).raw.clone()
    }

    /// Number of bytes written so far.
    pub fn bytes_written(&self) -> usize {
        lock(&self.shared).raw.len()
    }

    /// Waits until more than this many bytes were written.
    pub fn wait_for_output_beyond(&self, bytes: usize) {
        drop(self.wait("new output", |state| {
            state.exit.is_none() && state.raw.len() > bytes
        }));
    }

    /// Waits until the screen matches; `what` describes the condition on failure.
    pub fn wait_for(&self, what: &str, is_wanted: impl Fn(&Screen) -> bool) -> Screen {
        let state = self.wait(what, |state| {
            state.exit.is_some() || is_wanted(state.parser.screen())
        });
        let screen = state.parser.screen().clone();
        let exit = state.exit.clone();
        drop(state);
        if !is_wanted(&screen) {
            // The last output may be read after the end was noticed.
            let ended_at = Instant::now();
            while ended_at.elapsed() < LAST_OUTPUT_TIMEOUT {
                let screen = self.screen();
                if is_wanted(&screen) {
                    return screen;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            panic!(
                "{what}: the program ended first: {exit:?}\n{}",
                screen_with_border(&screen)
            );
        }
        screen
    }

    pub fn wait_for_text(&self, text: &str) -> Screen {
        self.wait_for(&format!("`{text}` is shown"), |screen| {
            contains_text(screen, text)
        })
    }

    pub fn wait_until_gone(&self, text: &str) -> Screen {
        self.wait_for(&format!("`{text}` is gone"), |screen| {
            !contains_text(screen, text)
        })
    }

    /// Waits until the program has ended and all its output has been read. Unless killed, it must
    /// restore the settings.
    pub fn exit(&mut self) -> Exit {
        drop(self.wait("the program ends", |state| state.exit.is_some()));
        let settings_after = settings(&*self.master);
        self.slave = None;
        let state = self.wait("all output is read", |state| state.is_closed);
        let exit = state.exit.clone().expect("the program has ended");
        drop(state);
        if exit.signal.as_deref() != Some("Killed") {
            assert_eq!(
                settings_after, self.settings_before,
                "the terminal settings were not restored"
            );
        }
        exit
    }

    /// Quits with Ctrl+C, even if a turn is just ending. The first Ctrl+C clears the message if
    /// it contains text.
    pub fn quit(&mut self) -> Exit {
        self.wait_until_gone("Ctrl+C stop");
        // The notice continues, but the smallest screens do not show the rest.
        let question = "Ctrl+C again";
        if has_message(&self.screen()) {
            self.press(CTRL_C);
            self.wait_for("the message is empty", |screen| !has_message(screen));
        }
        self.press(CTRL_C);
        let state = self.wait("the program exits or asks again", |state| {
            state.exit.is_some() || contains_text(state.parser.screen(), question)
        });
        let asks_again = state.exit.is_none();
        drop(state);
        if asks_again {
            self.press(CTRL_C);
        }
        self.exit()
    }

    /// Quits from the list of commands, which leaves the text of the message as it is.
    pub fn quit_with_draft(&mut self) -> Exit {
        self.press("\x10");
        self.wait_for_text("── Commands");
        self.type_text("exit");
        self.wait_for_text("/exit");
        self.press("\r");
        self.exit()
    }

    /// Asserts that the main screen is back and all modes are reset.
    pub fn assert_restored(&self) {
        assert_restored(&self.screen(), &self.raw());
    }

    fn wait(&self, what: &str, is_wanted: impl Fn(&PtyState) -> bool) -> MutexGuard<'_, PtyState> {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        let mut state = lock(&self.shared);
        while !is_wanted(&state) {
            let time_left = deadline.saturating_duration_since(Instant::now());
            if time_left.is_zero() {
                let screen = state.parser.screen().clone();
                drop(state);
                panic!("{what}: timed out\n{}", screen_with_border(&screen));
            }
            state = self
                .shared
                .1
                .wait_timeout(state, time_left)
                .expect("no thread panics while it holds the state")
                .0;
        }
        state
    }
}

impl Drop for PtyTerminal {
    fn drop(&mut self) {
        if lock(&self.shared).exit.is_none() {
            // Fails if the program is ending on its own right now.
            let _ = kill_process(self.process, Signal::KILL);
        }
    }
}

fn lock(shared: &SharedState) -> MutexGuard<'_, PtyState> {
    shared
        .0
        .lock()
        .expect("no thread panics while it holds the state")
}

fn read_output(mut reader: Box<dyn Read + Send>, shared: &SharedState) {
    let mut buffer = [0; 65_536];
    loop {
        let count = reader.read(&mut buffer).unwrap_or(0);
        let mut state = lock(shared);
        state.parser.process(&buffer[..count]);
        state.raw.extend(&buffer[..count]);
        state.is_closed = count == 0;
        drop(state);
        shared.1.notify_all();
        if count == 0 {
            return;
        }
    }
}

fn write_keys(mut writer: Box<dyn Write + Send>, keys: &Receiver<(Vec<u8>, Duration)>) {
    while let Ok((bytes, pause)) = keys.recv() {
        let written = writer.write_all(&bytes).and_then(|()| writer.flush());
        if written.is_err() {
            return;
        }
        std::thread::sleep(pause);
    }
}

fn size_of(columns: u16, rows: u16) -> PtySize {
    PtySize {
        rows,
        cols: columns,
        pixel_width: 0,
        pixel_height: 0,
    }
}
