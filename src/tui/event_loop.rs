//! The event loop: passes keys, engine events and time to `update`, performs the resulting
//! effects and draws a frame when something changed. Key presses draw immediately,
//! streaming draws at most 60 times a second, and an idle screen sets no timer.

use crate::protocol::{Command, EVENTS_MAX, Event};
use crate::tui::advice;
use crate::tui::model::Model;
use crate::tui::msg::{Effect, Input, Msg};
use crate::tui::terminal::external_editor::run_editor;
use crate::tui::terminal::frame_writer::Screen;
use crate::tui::terminal::shutdown::shut_down;
use crate::tui::terminal::signals::{Signals, answers_questions, hung_up, watched_tty};
use crate::tui::terminal::{Guard, panic};
use crate::tui::update::{inputs, interrupt, update};
use crate::tui::{Options, terminal, view};
use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{Event as Terminal, EventStream, KeyEvent};
use futures::StreamExt;
use futures::stream::{SelectAll, select_all};
use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll};
use std::time::Duration;
use thiserror::Error;
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::time::{Instant, sleep, timeout};

/// Minimum time between two frames while text streams in.
const FRAME: Duration = Duration::from_millis(16);
/// Maximum number of terminal events processed before a frame is drawn.
const BATCH_MAX: usize = 8_192;
/// How long SIGTSTP may take to arrive.
const STOP_MAX: Duration = Duration::from_millis(50);
/// How long to wait for the engine to accept the draft.
const KEEP_MAX: Duration = Duration::from_millis(300);
const ASK_BACKGROUND: &[u8] = b"\x1b]11;?\x1b\\";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The user quit.
    Left,
    /// The user started the demo.
    Demo,
    /// Signal number.
    Signal(i32),
}

impl Exit {
    /// The exit code of the process.
    pub fn code(self) -> u8 {
        match self {
            Self::Left | Self::Demo => 0,
            Self::Signal(number) => u8::try_from(128 + number).unwrap_or(u8::MAX),
        }
    }
}

#[derive(Debug, Error)]
pub enum TuiError {
    #[error("cannot use the terminal: {0}")]
    Terminal(#[from] io::Error),
    #[error("the terminal was closed")]
    InputLost,
    #[error("the screen crashed because of a bug in humble")]
    Panicked,
    #[error("the engine stopped unexpectedly")]
    EngineGone,
}

impl From<panic::Panicked> for TuiError {
    fn from(_: panic::Panicked) -> Self {
        Self::Panicked
    }
}

/// Runs the screen until the user quits, a signal arrives or the terminal is lost. On
/// return the terminal is restored and the engine is shut down.
///
/// # Errors
/// Fails if the terminal is unusable or lost, if the engine stopped on its own, or if the
/// screen's own code panicked.
pub async fn run(
    commands: Sender<Command>,
    mut events: Receiver<Event>,
    options: Options,
) -> Result<Exit, TuiError> {
    panic::install(options.panic_report.clone(), options.redact);
    let outcome = show(&commands, &mut events, &options).await;
    terminal::restore();
    if !matches!(outcome, Err(TuiError::EngineGone)) {
        shut_down(farewell(&outcome), &commands, &mut events).await;
    }
    outcome
}

/// Only quitting cancels the running turn; a signal or a lost terminal leaves it resumable.
fn farewell(outcome: &Result<Exit, TuiError>) -> Command {
    match outcome {
        Ok(Exit::Left | Exit::Demo) => Command::Shutdown,
        _ => Command::Abandon,
    }
}

async fn show(
    commands: &Sender<Command>,
    events: &mut Receiver<Event>,
    options: &Options,
) -> Result<Exit, TuiError> {
    let signals = Signals::install()?;
    let guard = Guard::take(options)?;
    let size = terminal::size()?;
    let mut app = App {
        model: Model::new(options, (size.width, size.height)),
        screen: Screen::new(),
        guard,
        signals,
        input: Some(keys()),
        tty: watched_tty(),
        commands,
        start: Instant::now(),
        drawn: None,
        dirty: true,
        left: None,
        #[cfg(debug_assertions)]
        test_panic: std::env::var_os("HUMBLE_TEST_PANIC").is_some(),
    };
    app.draw()?;
    if !options.no_color && answers_questions() {
        app.screen.send(ASK_BACKGROUND)?;
    }
    let ended = app.turn(events).await;
    if !matches!(
        ended,
        Ok(Exit::Left | Exit::Demo) | Err(TuiError::EngineGone)
    ) {
        app.keep_draft().await;
    }
    ended
}

/// Terminal input, polled only when crossterm signals readiness: each direct poll would
/// contend for a lock that crossterm's reader thread holds.
type Keys = SelectAll<EventStream>;

fn keys() -> Keys {
    select_all([EventStream::new()])
}

fn poll_event(
    input: &mut Option<Keys>,
    context: &mut Context<'_>,
) -> Poll<Option<io::Result<Terminal>>> {
    match input {
        Some(input) => input.poll_next_unpin(context),
        None => Poll::Pending,
    }
}

async fn next_event(input: &mut Option<Keys>) -> Option<io::Result<Terminal>> {
    poll_fn(|context| poll_event(input, context)).await
}

struct App<'a> {
    model: Model,
    screen: Screen,
    guard: Guard,
    signals: Signals,
    /// `None` while another program owns the terminal.
    input: Option<Keys>,
    tty: Option<AsyncFd<OwnedFd>>,
    commands: &'a Sender<Command>,
    start: Instant,
    drawn: Option<Instant>,
    dirty: bool,
    left: Option<Exit>,
    #[cfg(debug_assertions)]
    test_panic: bool,
}

impl App<'_> {
    async fn turn(&mut self, events: &mut Receiver<Event>) -> Result<Exit, TuiError> {
        let mut arrived = Vec::with_capacity(EVENTS_MAX);
        let mut alarm = Box::pin(sleep(Duration::MAX));
        loop {
            let wake = self.wake();
            // Reset only when the deadline changes: each reset wakes the timer thread.
            if let Some(at) = wake.filter(|at| *at != alarm.deadline()) {
                alarm.as_mut().reset(at);
            }
            tokio::select! {
                biased;
                number = self.signals.next() => return Ok(Exit::Signal(number)),
                () = hung_up(self.tty.as_ref()) => return Err(TuiError::InputLost),
                event = next_event(&mut self.input) => {
                    let event = event.ok_or(TuiError::InputLost)?;
                    self.take_input(event.map_err(|_| TuiError::InputLost)?).await?;
                    // After an exit the terminal may already be restored.
                    if self.left.is_none() {
                        self.draw()?;
                    }
                }
                count = events.recv_many(&mut arrived, EVENTS_MAX) => {
                    if count == 0 {
                        return Err(TuiError::EngineGone);
                    }
                    for event in arrived.drain(..) {
                        self.feed(Input::Engine(Box::new(event))).await?;
                    }
                }
                () = &mut alarm, if wake.is_some() => self.feed(Input::Tick).await?,
            }
            if let Some(exit) = self.left {
                return Ok(exit);
            }
            if self.dirty && self.drawn.is_none_or(|drawn| drawn.elapsed() >= FRAME) {
                self.draw()?;
            }
        }
    }

    /// The earlier of the next due frame and the model's own deadline.
    fn wake(&self) -> Option<Instant> {
        let frame = self.drawn.filter(|_| self.dirty).map(|drawn| drawn + FRAME);
        let model = self.model.wake().map(|at| self.start + at);
        [frame, model].into_iter().flatten().min()
    }

    /// Handles all input that is ready at once. A paste that arrives as keys can only be
    /// told from typing if the whole batch is seen together.
    async fn take_input(&mut self, first: Terminal) -> Result<(), TuiError> {
        let mut keys: Vec<KeyEvent> = Vec::new();
        let mut next = Some(first);
        let mut taken = 0;
        while let Some(event) = next {
            taken += 1;
            let other = match event {
                Terminal::Key(key) => {
                    keys.push(key);
                    None
                }
                Terminal::Paste(text) => Some(Input::Paste(text)),
                Terminal::Mouse(mouse) => Some(Input::Mouse(mouse)),
                Terminal::Resize(width, height) => Some(Input::Resize { width, height }),
                Terminal::FocusGained => Some(Input::Focus(true)),
                Terminal::FocusLost => Some(Input::Focus(false)),
            };
            if let Some(other) = other {
                self.take_keys(&mut keys).await?;
                self.feed(other).await?;
            }
            // Polled with this task's own waker: crossterm keeps the first waker it gets
            // until it fires, so a key for any other waker would be lost.
            let ready = poll_fn(|context| Poll::Ready(poll_event(&mut self.input, context))).await;
            next = match ready {
                Poll::Ready(Some(Ok(event))) if taken < BATCH_MAX && self.left.is_none() => {
                    Some(event)
                }
                Poll::Ready(Some(Err(_)) | None) => return Err(TuiError::InputLost),
                Poll::Ready(Some(Ok(event))) => {
                    self.take_keys(&mut keys).await?;
                    taken = 0;
                    Some(event).filter(|_| self.left.is_none())
                }
                Poll::Pending => None,
            };
        }
        self.take_keys(&mut keys).await
    }

    async fn take_keys(&mut self, keys: &mut Vec<KeyEvent>) -> Result<(), TuiError> {
        #[cfg(debug_assertions)]
        if self.test_panic && !keys.is_empty() {
            panic::watch(|| panic!("HUMBLE_TEST_PANIC is set"))?;
        }
        for input in inputs(keys, &self.model.input.replies) {
            self.feed(input).await?;
        }
        keys.clear();
        Ok(())
    }

    /// Saves the draft when a signal or a lost terminal ended the screen.
    async fn keep_draft(&self) {
        if let Ok(Some(kept)) = panic::watch(|| interrupt::kept_draft(&self.model)) {
            let keep = self.commands.send(Command::KeepDraft(kept));
            let _ = timeout(KEEP_MAX, keep).await;
        }
    }

    /// Runs one `update` and the effects it returns.
    async fn feed(&mut self, input: Input) -> Result<(), TuiError> {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            let msg = Msg::new(self.start.elapsed(), input);
            self.dirty = true;
            for effect in panic::watch(|| update(&mut self.model, msg))? {
                inputs.extend(self.perform(effect).await?);
            }
        }
        Ok(())
    }

    async fn perform(&mut self, effect: Effect) -> Result<Option<Input>, TuiError> {
        match effect {
            Effect::Send(command) => {
                if let Err(TrySendError::Full(command)) = self.commands.try_send(command) {
                    return Ok(Some(Input::Unsent(Box::new(command))));
                }
            }
            Effect::Quit => self.left = self.left.or(Some(Exit::Left)),
            Effect::StartDemo => self.left = Some(Exit::Demo),
            Effect::Repaint => self.screen.clear(),
            Effect::Suspend => self.suspend().await?,
            Effect::EditText(text) => return self.edit_outside(&text).await,
            Effect::CaptureMouse(capture) => self.guard.capture_mouse(capture)?,
            Effect::CallBack(words) => {
                let sequence = format!("\x1b]9;{words}\x07\x07");
                self.screen.send(sequence.as_bytes())?;
            }
            Effect::Copy(text) => {
                let mut sequence = Vec::new();
                crossterm::queue!(sequence, CopyToClipboard::to_clipboard_from(text))?;
                self.screen.send(&sequence)?;
            }
        }
        Ok(None)
    }

    fn draw(&mut self) -> Result<(), TuiError> {
        let Self { model, screen, .. } = self;
        let size = terminal::size()?;
        panic::watch(|| screen.draw(size, |buffer| view::paint(model, buffer)))??;
        self.dirty = false;
        self.drawn = Some(Instant::now());
        Ok(())
    }

    /// Restores the terminal and stops reading from it.
    fn step_aside(&mut self) {
        terminal::restore();
        // Drop the old reader now: its thread keeps reading until dropped, and a new reader
        // would wait for it.
        self.input = None;
    }

    fn come_back(&mut self) -> Result<(), TuiError> {
        self.guard.enter()?;
        self.screen.clear();
        self.input = Some(keys());
        self.draw()
    }

    async fn suspend(&mut self) -> Result<(), TuiError> {
        let mut resumed = signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?;
        self.step_aside();
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)
            .map_err(io::Error::from)?;
        // The stop signal may reach another thread first. Without this wait we could
        // reclaim the terminal before the process has actually stopped.
        let _ = timeout(STOP_MAX, resumed.recv()).await;
        self.come_back()
    }

    /// Returns `None` if a signal ended the program meanwhile.
    async fn edit_outside(&mut self, text: &str) -> Result<Option<Input>, TuiError> {
        self.step_aside();
        let edited = tokio::select! {
            biased;
            edited = run_editor(text) => edited,
            number = self.signals.next_fatal() => {
                self.left = Some(Exit::Signal(number));
                return Ok(None);
            }
        };
        // Ctrl+C pressed in the editor was meant for the editor.
        self.signals = Signals::install()?;
        self.come_back()?;
        let edited = edited.map_err(|why| advice::sentence(&why));
        Ok(Some(Input::Edited(edited)))
    }
}
