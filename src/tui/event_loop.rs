//! The loop: keys, events and time go into `update`, effects come out, and a frame
//! is drawn when something changed. A key draws at once, streaming at most sixty
//! times a second, and at rest nothing wakes it.

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

/// The least time between two frames while text streams in.
const FRAME: Duration = Duration::from_millis(16);
/// Terminal events taken in before a frame is drawn.
const BATCH_MAX: usize = 8_192;
/// How long a stop may take to arrive after it was asked for.
const STOP_MAX: Duration = Duration::from_millis(50);
/// How long the engine may be too busy to hear of the draft.
const KEEP_MAX: Duration = Duration::from_millis(300);
const ASK_BACKGROUND: &[u8] = b"\x1b]11;?\x1b\\";

/// Why the screen was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The person left.
    Left,
    /// The person left for the demo.
    Demo,
    /// A signal, by its number.
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
    #[error("the terminal cannot be used: {0}")]
    Terminal(#[from] io::Error),
    #[error("the terminal is gone")]
    InputLost,
    #[error("the screen failed because of a fault in the program")]
    Panicked,
    #[error("the engine stopped")]
    EngineGone,
}

impl From<panic::Panicked> for TuiError {
    fn from(_: panic::Panicked) -> Self {
        Self::Panicked
    }
}

/// Runs the screen until the person leaves, a signal comes, or the terminal is
/// lost. The terminal is restored and the engine shut down when it returns.
///
/// # Errors
/// The terminal cannot be used or is gone, the engine stopped by itself, or the
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

/// How the engine is told to end. Only a user who leaves gives the turn under way up.
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

/// What the terminal sends, looked at only when it says that there is something:
/// each look of crossterm's own fights for a lock that another thread holds.
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
    /// None while another program has the terminal.
    input: Option<Keys>,
    tty: Option<AsyncFd<OwnedFd>>,
    commands: &'a Sender<Command>,
    start: Instant,
    /// When the last frame was drawn.
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
            // Kept while it stays the same: a new one would wake the thread that
            // watches over all timers.
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
                    // Whoever left may have given the terminal back already.
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

    /// The next frame that is due, or the model's own wish.
    fn wake(&self) -> Option<Instant> {
        let frame = self.drawn.filter(|_| self.dirty).map(|drawn| drawn + FRAME);
        let model = self.model.wake().map(|at| self.start + at);
        [frame, model].into_iter().flatten().min()
    }

    /// Takes in everything that was read at once: only so is a burst of keys told
    /// from typing.
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
            // Polled with this task's own waker: crossterm keeps the first one it is
            // given until it wakes it, and a key for another one would be lost.
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

    /// The person did not leave: a signal came, or the terminal went.
    async fn keep_draft(&self) {
        if let Ok(Some(kept)) = panic::watch(|| interrupt::kept_draft(&self.model)) {
            let keep = self.commands.send(Command::KeepDraft(kept));
            let _ = timeout(KEEP_MAX, keep).await;
        }
    }

    /// One step of the core, and what it asks for.
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

    /// Gives the terminal back. Nothing of ours reads it from then on.
    fn step_aside(&mut self) {
        terminal::restore();
        // Its thread reads on until it is dropped, and a new one waits for that
        // thread: the old one goes first.
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
        // The stop may reach another thread first: without this the terminal
        // could be taken again before the process stands still.
        let _ = timeout(STOP_MAX, resumed.recv()).await;
        self.come_back()
    }

    /// None where a signal ended the program meanwhile.
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
        // Ctrl+C in the other program was meant for it.
        self.signals = Signals::install()?;
        self.come_back()?;
        let edited = edited.map_err(|why| advice::sentence(&why));
        Ok(Some(Input::Edited(edited)))
    }
}
