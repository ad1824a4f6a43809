//! The real program on a pseudo-terminal. A thread feeds its output to a terminal emulator; waiting
//! callers poll rarely, so that they take no processor time from the program.

use super::home::TestHome;
use super::process::ProcessUsage;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use vt100::{Parser, Screen};

pub const COLUMNS: u16 = 110;
pub const ROWS: u16 = 32;
pub const ENTER: &str = "\r";
pub const CTRL_O: &str = "\x0f";
pub const LEFT: &str = "\x1b[D";
/// The hint shown while a turn is running.
const RUNNING_HINT: &str = "Ctrl+C stop";
/// Longer waits mean that the program hangs.
const WAIT_DEADLINE: Duration = Duration::from_secs(120);
const POLL_INTERVAL: Duration = Duration::from_millis(4);

struct PtyState {
    parser: Parser,
    bytes: usize,
    /// When the end of the first frame was read.
    first_frame: Option<Instant>,
    /// The last read ended with the end of a frame.
    is_whole: bool,
    is_closed: bool,
}

type SharedState = Arc<(Mutex<PtyState>, Condvar)>;

pub struct Program {
    shared: SharedState,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    pub process: u32,
    pub started: Instant,
    /// Closing it would end the program.
    _master: Box<dyn MasterPty + Send>,
}

impl Program {
    pub fn start(home: &TestHome) -> Self {
        // Allows measuring another build.
        let other = std::env::var_os("HUMBLE_BENCH_PROGRAM");
        let program = other.unwrap_or_else(|| env!("CARGO_BIN_EXE_humble").into());
        let mut command = CommandBuilder::new(program);
        command.arg("--home");
        command.arg(home.path());
        command.cwd(home.path());
        for (name, value) in home.environment() {
            command.env(name, value);
        }
        command.env("TERM", "xterm-256color");
        command.env_remove("NO_COLOR");
        let size = PtySize {
            rows: ROWS,
            cols: COLUMNS,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system()
            .openpty(size)
            .expect("pseudo-terminal available");
        let started = Instant::now();
        let child = pair
            .slave
            .spawn_command(command)
            .expect("the program starts");
        let cells = |cells: u16| NonZeroU16::new(cells).expect("screen is not empty");
        let shared: SharedState = Arc::new((
            Mutex::new(PtyState {
                parser: Parser::new(cells(ROWS), cells(COLUMNS), 0),
                bytes: 0,
                first_frame: None,
                is_whole: false,
                is_closed: false,
            }),
            Condvar::new(),
        ));
        let reader = pair
            .master
            .try_clone_reader()
            .expect("terminal is readable");
        let reader_state = shared.clone();
        // The thread ends with the program.
        std::thread::spawn(move || read(reader, &reader_state));
        Self {
            shared,
            keys: pair.master.take_writer().expect("terminal is writable"),
            process: child.process_id().expect("program is running"),
            child,
            started,
            _master: pair.master,
        }
    }

    /// Starts the program and waits until it accepts prompts.
    pub fn open(home: &TestHome) -> Self {
        let program = Self::start(home);
        program.wait_for_text("qwen3:4b");
        program
    }

    pub fn press(&mut self, keys: &str) {
        self.keys
            .write_all(keys.as_bytes())
            .and_then(|()| self.keys.flush())
            .expect("the program reads its terminal");
    }

    pub fn send_prompt(&mut self, prompt: &str) {
        self.press(prompt);
        self.wait_for_text(prompt);
        // Enter directly after a burst of keys would count as part of a paste.
        std::thread::sleep(Duration::from_millis(100));
        self.press(ENTER);
    }

    pub fn bytes_written(&self) -> usize {
        self.state().bytes
    }

    pub fn usage(&self) -> Option<ProcessUsage> {
        ProcessUsage::measure(self.process)
    }

    /// Time from the start to the end of the first frame.
    pub fn first_frame(&self) -> Duration {
        let mut found = None;
        self.wait_until("the first frame", || {
            found = self.state().first_frame;
            found.is_some()
        });
        found.expect("first frame was read") - self.started
    }

    pub fn wait_for_text(&self, text: &str) {
        self.wait_until(&format!("`{text}` to be shown"), || {
            contains_text(self.state().parser.screen(), text)
        });
    }

    pub fn wait_until_gone(&self, text: &str) {
        self.wait_until(&format!("`{text}` to disappear"), || {
            !contains_text(self.state().parser.screen(), text)
        });
    }

    pub fn wait_until_turn_ended(&self) {
        self.wait_until_gone(RUNNING_HINT);
    }

    fn wait_until(&self, condition: &str, mut is_met: impl FnMut() -> bool) {
        let deadline = Instant::now() + WAIT_DEADLINE;
        while !is_met() {
            if Instant::now() > deadline || self.state().is_closed {
                panic!(
                    "timed out waiting for {condition}\n{}",
                    self.state().parser.screen().contents()
                );
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Presses a key that moves the cursor; returns the time until the cursor has moved on the
    /// screen.
    pub fn echo(&mut self, key: &str) -> Duration {
        let before = self.state().parser.screen().cursor_position();
        let pressed = Instant::now();
        self.press(key);
        let mut state = self.shared.0.lock().expect("no thread panics");
        loop {
            let screen = state.parser.screen();
            let (row, column) = screen.cursor_position();
            // Only after a complete frame: the cursor moves while a frame is drawn.
            if row == before.0 && column != before.1 && state.is_whole {
                return pressed.elapsed();
            }
            assert!(
                pressed.elapsed() < WAIT_DEADLINE,
                "key press was never drawn"
            );
            let waited = self.shared.1.wait_timeout(state, WAIT_DEADLINE);
            state = waited.expect("no thread panics").0;
        }
    }

    fn state(&self) -> MutexGuard<'_, PtyState> {
        self.shared.0.lock().expect("no thread panics")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The program may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn contains_text(screen: &Screen, text: &str) -> bool {
    screen.contents().contains(text)
}

fn read(mut reader: Box<dyn Read + Send>, shared: &SharedState) {
    const FRAME_ENDS: &[u8] = b"\x1b[?2026l";
    let mut buffer = [0; 65_536];
    loop {
        let count = reader.read(&mut buffer).unwrap_or(0);
        let read = &buffer[..count];
        let mut state = shared.0.lock().expect("no thread panics");
        state.parser.process(read);
        state.bytes += count;
        state.is_closed = count == 0;
        state.is_whole = read.ends_with(FRAME_ENDS);
        let is_frame = read
            .windows(FRAME_ENDS.len())
            .any(|part| part == FRAME_ENDS);
        if is_frame && state.first_frame.is_none() {
            state.first_frame = Some(Instant::now());
        }
        drop(state);
        shared.1.notify_all();
        if count == 0 {
            return;
        }
    }
}
