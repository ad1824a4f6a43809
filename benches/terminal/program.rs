//! The real program on a pseudo-terminal. A thread feeds its output to a terminal emulator.

use super::home::TestHome;
use super::process::ThreadCpuTimes;
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
const RUNNING_HINT: &str = "Ctrl+C stop";
/// A program that takes longer than this is considered hung.
const WAIT_TIMEOUT: Duration = Duration::from_secs(120);
const POLL_INTERVAL: Duration = Duration::from_millis(4);

struct PtyState {
    parser: Parser,
    bytes: usize,
    /// When the end of the first frame was read.
    first_frame: Option<Instant>,
    /// The last read ended at the end of a frame.
    ends_with_frame: bool,
    is_closed: bool,
}

type SharedState = Arc<(Mutex<PtyState>, Condvar)>;

pub struct Program {
    shared: SharedState,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    pub process: u32,
    pub started: Instant,
    /// Kept open, because closing it would end the program.
    _master: Box<dyn MasterPty + Send>,
}

impl Program {
    pub fn start(home: &TestHome) -> Self {
        // The variable selects another build to measure.
        let other_build = std::env::var_os("HUMBLE_BENCH_PROGRAM");
        let program = other_build.unwrap_or_else(|| env!("CARGO_BIN_EXE_humble").into());
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
            .expect("a pseudo-terminal is available");
        let started = Instant::now();
        let child = pair
            .slave
            .spawn_command(command)
            .expect("the program starts");
        let cells = |cells: u16| NonZeroU16::new(cells).expect("the screen is not empty");
        let shared: SharedState = Arc::new((
            Mutex::new(PtyState {
                parser: Parser::new(cells(ROWS), cells(COLUMNS), 0),
                bytes: 0,
                first_frame: None,
                ends_with_frame: false,
                is_closed: false,
            }),
            Condvar::new(),
        ));
        let reader = pair
            .master
            .try_clone_reader()
            .expect("the terminal is readable");
        let reader_state = shared.clone();
        // The thread ends with the program.
        std::thread::spawn(move || read_output(reader, &reader_state));
        Self {
            shared,
            keys: pair.master.take_writer().expect("the terminal is writable"),
            process: child.process_id().expect("the program is running"),
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

    pub fn cpu_times(&self) -> Option<ThreadCpuTimes> {
        ThreadCpuTimes::measure(self.process)
    }

    /// Time from the start to the end of the first frame.
    pub fn first_frame(&self) -> Duration {
        let mut first_frame = None;
        self.wait_until("the first frame", || {
            first_frame = self.state().first_frame;
            first_frame.is_some()
        });
        first_frame.expect("the first frame was read") - self.started
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
        let deadline = Instant::now() + WAIT_TIMEOUT;
        while !is_met() {
            if Instant::now() > deadline || self.state().is_closed {
                panic!(
                    "gave up waiting for {condition}\n{}",
                    self.state().parser.screen().contents()
                );
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Presses a key that moves the cursor; returns the time until the cursor has moved on the
    /// screen.
    pub fn key_latency(&mut self, key: &str) -> Duration {
        let cursor_before = self.state().parser.screen().cursor_position();
        let pressed_at = Instant::now();
        self.press(key);
        let mut state = self.shared.0.lock().expect("no thread panics");
        loop {
            let screen = state.parser.screen();
            let (row, column) = screen.cursor_position();
            // Require a complete frame, because the cursor also moves while a frame is drawn.
            if row == cursor_before.0 && column != cursor_before.1 && state.ends_with_frame {
                return pressed_at.elapsed();
            }
            assert!(
                pressed_at.elapsed() < WAIT_TIMEOUT,
                "the key press was never drawn"
            );
            let result = self.shared.1.wait_timeout(state, WAIT_TIMEOUT);
            state = result.expect("no thread panics").0;
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

fn read_output(mut reader: Box<dyn Read + Send>, shared: &SharedState) {
    const FRAME_END: &[u8] = b"\x1b[?2026l";
    let mut buffer = [0; 65_536];
    loop {
        let count = reader.read(&mut buffer).unwrap_or(0);
        let output = &buffer[..count];
        let mut state = shared.0.lock().expect("no thread panics");
        state.parser.process(output);
        state.bytes += count;
        state.is_closed = count == 0;
        state.ends_with_frame = output.ends_with(FRAME_END);
        let contains_frame_end = output
            .windows(FRAME_END.len())
            .any(|window| window == FRAME_END);
        if contains_frame_end && state.first_frame.is_none() {
            state.first_frame = Some(Instant::now());
        }
        drop(state);
        shared.1.notify_all();
        if count == 0 {
            return;
        }
    }
}
