//! The event loop: passes keys, engine events and time to `update`, performs the resulting
//! effects and draws a frame when something changed. Key presses draw immediately,
//! streaming draws about 60 times a second at most, and an idle screen sets no timer.

use crate::domain::Notice;
use crate::front_end::advice;
use crate::front_end::shutdown::shut_down;
use crate::protocol::{Command, EVENT_QUEUE_MAX, Event};
use crate::tui::input::sequences::TerminalReport;
use crate::tui::msg::{Msg, UiEffect, UiInput};
use crate::tui::screen_end::{ScreenEnd, ScreenExit, TuiError};
use crate::tui::terminal::clipboard::Clipboard;
use crate::tui::terminal::external_editor::run_editor;
use crate::tui::terminal::frame_writer::FrameWriter;
use crate::tui::terminal::input::TerminalInput;
use crate::tui::terminal::signals::{TerminalSignals, may_query_terminal};
use crate::tui::terminal::{TerminalGuard, panic};
use crate::tui::ui_model::UiModel;
use crate::tui::update::{inputs_from_keys, interrupt, update};
use crate::tui::{TuiOptions, terminal, view};
use crossterm::event::{Event as Terminal, KeyEvent};
use ratatui::layout::Size;
use std::future::poll_fn;
use std::io;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::time::{Instant, sleep, timeout};

/// Minimum time between two frames while text streams in.
const FRAME_INTERVAL: Duration = Duration::from_millis(16);
/// How long SIGTSTP may take to stop the process.
const STOP_TIMEOUT: Duration = Duration::from_millis(50);
/// How long to wait for space in the command queue before the draft is discarded.
const KEEP_DRAFT_TIMEOUT: Duration = Duration::from_millis(300);
/// Asks the terminal for its background color (OSC 11).
const BACKGROUND_QUERY: &[u8] = b"\x1b]11;?\x1b\\";

/// Runs the screen until the user quits or starts the demo, a signal arrives or the terminal is
/// lost. On return the terminal is restored and the engine is shut down.
///
/// # Errors
/// Fails if the terminal is unusable or lost, if the engine stopped on its own, or if the
/// screen's own code panicked.
pub async fn run(
    commands: Sender<Command>,
    mut events: Receiver<Event>,
    options: TuiOptions,
) -> Result<ScreenEnd, TuiError> {
    panic::install(options.panic_report.clone(), options.redact);
    let outcome = run_screen(&commands, &mut events, &options).await;
    terminal::restore();
    if !matches!(outcome, Err(TuiError::EngineGone)) {
        shut_down(shutdown_command(&outcome), &commands, &mut events).await;
    }
    outcome
}

/// Only quitting or starting the demo cancels the running turn; a signal or a lost terminal leaves
/// it resumable.
fn shutdown_command(outcome: &Result<ScreenEnd, TuiError>) -> Command {
    match outcome.as_ref().map(|end| end.exit) {
        Ok(ScreenExit::Quit | ScreenExit::Demo) => Command::Shutdown,
        _ => Command::ShutdownKeepingTurn,
    }
}

async fn run_screen(
    commands: &Sender<Command>,
    events: &mut Receiver<Event>,
    options: &TuiOptions,
) -> Result<ScreenEnd, TuiError> {
    let signals = TerminalSignals::install()?;
    let resizes = signal(SignalKind::window_change())?;
    let guard = TerminalGuard::acquire(options)?;
    let size = terminal::size()?;
    let mut model = UiModel::new(options, (size.width, size.height));
    model.keymap.set_protocol(guard.key_protocol());
    let mut event_loop = EventLoop {
        model,
        screen: FrameWriter::new(),
        guard,
        signals,
        resizes,
        input: TerminalInput::open()?,
        commands,
        start: Instant::now(),
        clipboard: Clipboard::default(),
        last_frame: None,
        needs_draw: true,
        exit: None,
        #[cfg(debug_assertions)]
        is_test_panic_enabled: std::env::var_os("HUMBLE_TEST_PANIC").is_some(),
    };
    event_loop.draw()?;
    if !options.no_color && may_query_terminal() {
        event_loop.screen.write_sequence(BACKGROUND_QUERY)?;
    }
    let outcome = event_loop.run(events).await;
    if !matches!(
        outcome,
        Ok(ScreenExit::Quit | ScreenExit::Demo) | Err(TuiError::EngineGone)
    ) {
        event_loop.keep_draft().await;
    }
    let saved_title = event_loop.model.conversation.saved_title();
    let columns = event_loop.model.screen.size.0;
    outcome.map(|exit| ScreenEnd {
        exit,
        saved_title,
        columns,
    })
}

struct EventLoop<'a> {
    model: UiModel,
    screen: FrameWriter,
    guard: TerminalGuard,
    signals: TerminalSignals,
    resizes: Signal,
    input: TerminalInput,
    commands: &'a Sender<Command>,
    start: Instant,
    clipboard: Clipboard,
    last_frame: Option<Instant>,
    needs_draw: bool,
    exit: Option<ScreenExit>,
    #[cfg(debug_assertions)]
    is_test_panic_enabled: bool,
}

impl EventLoop<'_> {
    async fn run(&mut self, events: &mut Receiver<Event>) -> Result<ScreenExit, TuiError> {
        let mut new_events = Vec::with_capacity(EVENT_QUEUE_MAX);
        let mut alarm = Box::pin(sleep(Duration::MAX));
        loop {
            let wake = self.next_wake();
            // Reset only when the deadline changes: each reset wakes the timer thread.
            if let Some(deadline) = wake.filter(|wake| *wake != alarm.deadline()) {
                alarm.as_mut().reset(deadline);
            }
            tokio::select! {
                biased;
                number = self.signals.next() => return Ok(ScreenExit::Signal(number)),
                ready = self.input.ready() => {
                    ready.map_err(|_| TuiError::InputLost)?;
                    self.read_input().await?;
                    // After an exit the terminal may already be restored.
                    if self.needs_draw && self.exit.is_none() {
                        self.draw()?;
                    }
                }
                _ = self.resizes.recv() => {
                    let Size { width, height } = terminal::size()?;
                    self.process(UiInput::Resize { width, height }).await?;
                    self.draw()?;
                }
                count = events.recv_many(&mut new_events, EVENT_QUEUE_MAX) => {
                    if count == 0 {
                        return Err(TuiError::EngineGone);
                    }
                    for event in new_events.drain(..) {
                        self.process(UiInput::Engine(Box::new(event))).await?;
                    }
                }
                copy = poll_fn(|context| self.clipboard.poll_finished(context)) => {
                    self.screen.write_sequence(&copy.sequence)?;
                    self.process(UiInput::Copied(copy.report)).await?;
                }
                () = &mut alarm, if wake.is_some() => {
                    if self.input.wake_at().is_some_and(|due| self.start.elapsed() >= due) {
                        self.read_input().await?;
                    }
                    self.process(UiInput::Tick).await?;
                }
            }
            if let Some(exit) = self.exit {
                return Ok(exit);
            }
            if self.needs_draw
                && self
                    .last_frame
                    .is_none_or(|frame| frame.elapsed() >= FRAME_INTERVAL)
            {
                self.draw()?;
            }
        }
    }

    fn next_wake(&self) -> Option<Instant> {
        let frame = self
            .last_frame
            .filter(|_| self.needs_draw)
            .map(|frame| frame + FRAME_INTERVAL);
        let model = self.model.next_wake().map(|wake| self.start + wake);
        let input = self.input.wake_at().map(|wake| self.start + wake);
        [frame, model, input].into_iter().flatten().min()
    }

    /// Handles all input that is ready. A paste that arrives as keys can be distinguished from
    /// typing only if the keys are seen together.
    async fn read_input(&mut self) -> Result<(), TuiError> {
        let reports = self.input.read(self.start.elapsed());
        let mut keys: Vec<KeyEvent> = Vec::new();
        for report in reports.map_err(|_| TuiError::InputLost)? {
            let input = match report {
                TerminalReport::Event(Terminal::Key(key)) => {
                    keys.push(key);
                    continue;
                }
                TerminalReport::Event(Terminal::Paste(text)) => UiInput::Paste(text),
                TerminalReport::Event(Terminal::Mouse(mouse)) => UiInput::Mouse(mouse),
                TerminalReport::Event(Terminal::FocusGained) => UiInput::Focus(true),
                TerminalReport::Event(Terminal::FocusLost) => UiInput::Focus(false),
                TerminalReport::Background(background) => UiInput::Background(background),
                // Sizes arrive as signals, and the reader keeps these replies.
                TerminalReport::Event(Terminal::Resize(..)) | TerminalReport::KittyKeys(_) => {
                    continue;
                }
            };
            self.flush_keys(&mut keys).await?;
            self.process(input).await?;
            if self.exit.is_some() {
                return Ok(());
            }
        }
        self.flush_keys(&mut keys).await
    }

    async fn flush_keys(&mut self, keys: &mut Vec<KeyEvent>) -> Result<(), TuiError> {
        #[cfg(debug_assertions)]
        if self.is_test_panic_enabled && !keys.is_empty() {
            panic::catch_panic(|| panic!("HUMBLE_TEST_PANIC is set"))?;
        }
        for input in inputs_from_keys(&self.model, keys) {
            self.process(input).await?;
        }
        keys.clear();
        Ok(())
    }

    /// Saves the draft after a signal or a lost terminal has ended the screen.
    async fn keep_draft(&self) {
        if let Ok(Some(draft)) = panic::catch_panic(|| interrupt::draft_to_save(&self.model)) {
            let sending = self.commands.send(Command::SaveDraft(draft));
            let _ = timeout(KEEP_DRAFT_TIMEOUT, sending).await;
        }
    }

    /// Applies `update` to the input and performs the effects, which may cause further inputs.
    async fn process(&mut self, input: UiInput) -> Result<(), TuiError> {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            let msg = Msg::new(self.start.elapsed(), input);
            self.needs_draw = true;
            for effect in panic::catch_panic(|| update(&mut self.model, msg))? {
                inputs.extend(self.run_effect(effect).await?);
            }
        }
        Ok(())
    }

    async fn run_effect(&mut self, effect: UiEffect) -> Result<Option<UiInput>, TuiError> {
        match effect {
            UiEffect::Send(command) => {
                if let Err(TrySendError::Full(command)) = self.commands.try_send(command) {
                    return Ok(Some(UiInput::CommandRejected(Box::new(command))));
                }
            }
            UiEffect::Quit => self.exit = self.exit.or(Some(ScreenExit::Quit)),
            UiEffect::StartDemo => self.exit = Some(ScreenExit::Demo),
            UiEffect::QueryBackground if !may_query_terminal() => {}
            UiEffect::QueryBackground => self.screen.write_sequence(BACKGROUND_QUERY)?,
            UiEffect::Repaint => self.screen.invalidate(),
            UiEffect::Suspend => self.suspend().await?,
            UiEffect::OpenEditor(text) => return self.run_external_editor(&text).await,
            UiEffect::OpenBrowser(address) => return Ok(open_browser(&address)),
            UiEffect::CaptureMouse(capture) => self.guard.capture_mouse(capture)?,
            UiEffect::Notify(text) => {
                let sequence = format!("\x1b]9;{text}\x07\x07");
                self.screen.write_sequence(sequence.as_bytes())?;
            }
            UiEffect::Copy(request) => self.clipboard.start(request),
        }
        Ok(None)
    }

    fn draw(&mut self) -> Result<(), TuiError> {
        let Self { model, screen, .. } = self;
        let size = terminal::size()?;
        panic::catch_panic(|| screen.draw(size, |buffer| view::paint(model, buffer)))??;
        self.needs_draw = false;
        self.last_frame = Some(Instant::now());
        Ok(())
    }

    fn reclaim_terminal(&mut self) -> Result<(), TuiError> {
        self.guard.enter()?;
        self.screen.invalidate();
        self.input.reset();
        self.draw()
    }

    async fn suspend(&mut self) -> Result<(), TuiError> {
        let mut resumed = signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?;
        terminal::restore();
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)
            .map_err(io::Error::from)?;
        // Another thread may receive the stop signal first. Without this wait, this thread
        // could reclaim the terminal before the process has stopped.
        let _ = timeout(STOP_TIMEOUT, resumed.recv()).await;
        self.reclaim_terminal()
    }

    /// Returns `None` if a signal arrived while the editor was open.
    async fn run_external_editor(&mut self, text: &str) -> Result<Option<UiInput>, TuiError> {
        terminal::restore();
        let edited = tokio::select! {
            biased;
            edited = run_editor(text) => edited,
            number = self.signals.next_fatal() => {
                self.exit = Some(ScreenExit::Signal(number));
                return Ok(None);
            }
        };
        // Discard signals such as a Ctrl+C that was pressed in the editor.
        self.signals = TerminalSignals::install()?;
        self.reclaim_terminal()?;
        let edited = edited.map_err(|notice| advice::notice_line(&notice));
        Ok(Some(UiInput::EditorClosed(edited)))
    }
}

fn open_browser(address: &str) -> Option<UiInput> {
    let error = crate::browser::open_detached(address).err()?;
    let notice = Notice::warning(format!("The browser could not be opened: {error}."))
        .with_advice("Copy the address and open it yourself.");
    Some(UiInput::Engine(Box::new(Event::NoticePosted(notice))))
}
