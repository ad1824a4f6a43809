//! Runs the whole program without a terminal or a network: keys drive the pure core of the
//! screen, its commands drive the real engine, a scripted model answers, and assertions read
//! the rendered screen. Time is virtual; nothing waits for a real clock.

use super::engine_harness::{OLLAMA_CONFIG, write_config};
use super::in_memory_server::InMemoryServer;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use humble::app;
use humble::app::built_in_server;
use humble::config::Home;
use humble::demo;
use humble::domain::{BuiltInSettings, Message, SecretRegistry};
use humble::engine::{self, EngineDeps, EngineHandle, EngineOptions};
use humble::mcp::ProcessGroups;
use humble::ports::LocalServer;
use humble::protocol::{Command, Event};
use humble::provider::Provider;
use humble::provider::scripted::{RecordedRequests, Script};
use humble::tui::clipboard::{CopyMethod, CopyReport};
use humble::tui::{self, Msg, UiEffect, UiInput, UiModel, update};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Typing speed of the simulated user.
const KEY_INTERVAL: Duration = Duration::from_millis(80);
/// Time that the simulated user spends reading, long enough for a dialog to accept keys.
const READING_TIME: Duration = Duration::from_millis(1_000);

/// Maximum number of checks for a text on the screen before the test fails.
const SCREEN_CHECKS_MAX: usize = 1_000;

pub struct Chat {
    runtime: Runtime,
    home: Option<TempDir>,
    handle: EngineHandle,
    requests: RecordedRequests,
    model: UiModel,
    now: Duration,
    has_quit: bool,
    clipboard: Option<String>,
}

/// Starts the program in a new home with one configured Ollama model.
pub fn chat(script: Script) -> Chat {
    let home = TempDir::new().expect("a temporary folder");
    write_config(&home, OLLAMA_CONFIG);
    chat_in(home, script)
}

/// Starts the program in an existing home.
pub fn chat_in(home: TempDir, script: Script) -> Chat {
    let (engine, tui) = (EngineOptions::default(), tui::TuiOptions::default());
    start(home, script, engine, &tui)
}

/// Like [`chat`], with this server instead of the built-in one.
pub fn chat_with(server: &InMemoryServer, script: Script) -> Chat {
    let home = TempDir::new().expect("a temporary folder");
    write_config(&home, OLLAMA_CONFIG);
    let (engine, tui) = (EngineOptions::default(), tui::TuiOptions::default());
    start_with(home, script, engine, &tui, Arc::new(server.clone()))
}

/// Starts the program for the first time, in an empty home.
pub fn first_run(script: Script) -> Chat {
    first_run_in(TempDir::new().expect("a temporary folder"), script)
}

/// Starts the program in a home that lists no model.
pub fn first_run_in(home: TempDir, script: Script) -> Chat {
    let engine = EngineOptions {
        offers_models: true,
        ..EngineOptions::default()
    };
    let tui = tui::TuiOptions {
        needs_no_model: tui::NeedsNoModelFn(humble::notes::NoteIntent::is_search),
        ..tui::TuiOptions::default()
    };
    start(home, script, engine, &tui)
}

/// Starts `humble demo` in this home.
pub fn demo_in(home: TempDir) -> Chat {
    demo_with(home, app::demo_options(false))
}

pub fn demo_with(home: TempDir, engine: EngineOptions) -> Chat {
    let tui = tui::TuiOptions {
        tour_prompts: Some(app::DEMO_PROMPTS),
        ..tui::TuiOptions::default()
    };
    start(home, demo::script(), engine, &tui)
}

fn start(home: TempDir, script: Script, engine: EngineOptions, tui: &tui::TuiOptions) -> Chat {
    let paths = Home::at(home.path());
    let server = built_in_server(&paths, BuiltInSettings::default(), Provider::new());
    start_with(home, script, engine, tui, server)
}

fn start_with(
    home: TempDir,
    script: Script,
    options: EngineOptions,
    tui: &tui::TuiOptions,
    built_in: Arc<dyn LocalServer>,
) -> Chat {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let requests = script.requests();
    let paths = Home::at(home.path());
    let notes = Arc::new(app::notebook(&paths, Provider::new()));
    let handle = runtime.block_on(async {
        engine::spawn(EngineDeps {
            banners: paths.prepare(),
            home: paths,
            provider: Provider::scripted(script),
            built_in_server: built_in,
            notes,
            process_groups: ProcessGroups::default(),
            secrets: SecretRegistry::default(),
            log: None,
            options,
        })
    });
    let model = UiModel::new(tui, (104, 30));
    let home = Some(home);
    let now = Duration::ZERO;
    let mut chat = Chat {
        runtime,
        home,
        handle,
        requests,
        model,
        now,
        has_quit: false,
        clipboard: None,
    };
    chat.settle();
    chat
}

impl Chat {
    fn apply_input(&mut self, input: UiInput) {
        let effects = update(&mut self.model, Msg::new(self.now, input));
        for effect in effects {
            match effect {
                UiEffect::Send(command) => {
                    self.handle
                        .commands
                        .try_send(command)
                        .expect("the engine accepts commands");
                }
                UiEffect::Quit => self.has_quit = true,
                UiEffect::Copy(copied) => {
                    let method = CopyMethod::Terminal { is_tmux: false };
                    let report = CopyReport::new(&copied, method);
                    self.clipboard = Some(copied.text);
                    self.apply_input(UiInput::Copied(report));
                }
                _ => {}
            }
        }
        // A dialog accepts keys only after it has been drawn.
        if !self.model.dialogs.queued().is_empty() {
            self.screen();
        }
    }

    /// Lets the engine run until it needs input.
    fn settle(&mut self) {
        loop {
            let events = &mut self.handle.events;
            // The paused clock advances only when everything is idle, so the timeout means
            // that nothing is left to do.
            let event = self.runtime.block_on(async {
                tokio::time::timeout(Duration::from_millis(40), events.recv()).await
            });
            match event {
                Ok(Some(Event::ShutDown) | None) | Err(_) => return,
                Ok(Some(event)) => self.apply_input(UiInput::Engine(Box::new(event))),
            }
        }
    }

    /// Presses a key and waits until it has acted.
    pub fn press(&mut self, code: KeyCode, modifiers: KeyModifiers) -> &mut Self {
        self.enters(UiInput::Key(KeyEvent::new(code, modifiers)));
        let is_answering = self.model.dialogs.answering_letter().is_some();
        match self.model.dialogs.letter_due_at().filter(|_| is_answering) {
            Some(due) => self.waits(due.saturating_sub(self.now)),
            None => self,
        }
    }

    fn enters(&mut self, input: UiInput) {
        self.now += KEY_INTERVAL;
        self.apply_input(input);
        self.settle();
    }

    pub fn key(&mut self, key: char) -> &mut Self {
        self.press(KeyCode::Char(key), KeyModifiers::NONE)
    }

    /// Holds a key down, which most terminals report as presses.
    pub fn holds(&mut self, key: char, repeats: usize) -> &mut Self {
        for _ in 0..repeats {
            self.enters(UiInput::Key(KeyEvent::from(KeyCode::Char(key))));
        }
        self
    }

    pub fn ctrl(&mut self, key: char) -> &mut Self {
        self.press(KeyCode::Char(key), KeyModifiers::CONTROL)
    }

    pub fn enter(&mut self) -> &mut Self {
        self.press(KeyCode::Enter, KeyModifiers::NONE)
    }

    pub fn up(&mut self) -> &mut Self {
        self.press(KeyCode::Up, KeyModifiers::NONE)
    }

    pub fn types(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            self.enters(UiInput::Key(KeyEvent::from(KeyCode::Char(c))));
        }
        self
    }

    pub fn says(&mut self, text: &str) -> &mut Self {
        self.types(text).enter()
    }

    pub fn pastes(&mut self, text: &str) -> &mut Self {
        self.enters(UiInput::Paste(text.to_owned()));
        self
    }

    /// Lets the user read, long enough for a dialog to accept keys.
    pub fn reads_screen(&mut self) -> &mut Self {
        self.waits(READING_TIME)
    }

    pub fn waits(&mut self, time: Duration) -> &mut Self {
        self.now += time;
        self.apply_input(UiInput::Tick);
        self.settle();
        self
    }

    /// Advances time until this text is visible.
    pub fn waits_until_sees(&mut self, text: &str) -> &mut Self {
        for _ in 0..SCREEN_CHECKS_MAX {
            if self.screen().contains(text) {
                return self;
            }
            self.waits(KEY_INTERVAL);
        }
        self.sees(text)
    }

    pub fn screen(&mut self) -> String {
        let (width, height) = (104, 30);
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a backend");
        terminal
            .draw(|frame| tui::view::draw(&mut self.model, frame))
            .expect("drawing into memory cannot fail");
        let buffer = terminal.backend().buffer();
        let mut lines = Vec::new();
        for y in 0..height {
            let mut line = String::new();
            let mut x = 0;
            while x < width {
                let symbol = buffer[(x, y)].symbol();
                line.push_str(symbol);
                let columns = humble::text::grapheme::width(symbol).max(1);
                x += u16::try_from(columns).expect("at most two columns");
            }
            lines.push(line.trim_end().to_owned());
        }
        lines.join("\n")
    }

    pub fn sees(&mut self, text: &str) -> &mut Self {
        let screen = self.screen();
        assert!(
            screen.contains(text),
            "no `{text}` on the screen:\n{screen}"
        );
        self
    }

    pub fn does_not_see(&mut self, text: &str) -> &mut Self {
        let screen = self.screen();
        assert!(
            !screen.contains(text),
            "`{text}` is on the screen:\n{screen}"
        );
        self
    }

    /// Asserts the number of requests to the model.
    pub fn model_received_requests(&mut self, count: usize) -> &mut Self {
        assert_eq!(
            self.requests.count(),
            count,
            "wrong number of requests; the screen:\n{}",
            self.screen()
        );
        self
    }

    /// Asserts that the last request contains this text after the system message.
    pub fn model_receives(&mut self, text: &str) -> &mut Self {
        let messages = self.last_model_messages();
        assert!(
            messages.contains(text),
            "the model did not receive `{text}`: {messages}"
        );
        self
    }

    pub fn model_does_not_receive(&mut self, text: &str) -> &mut Self {
        let messages = self.last_model_messages();
        assert!(
            !messages.contains(text),
            "the model received `{text}`: {messages}"
        );
        self
    }

    fn last_model_messages(&self) -> String {
        let mut messages = self.requests.all().pop().expect("a request").messages;
        messages.retain(|message| !matches!(message, Message::System(_)));
        format!("{messages:#?}")
    }

    /// The contents of `config.json`; empty if the file is missing.
    pub fn config(&mut self) -> String {
        let home = self.home.as_ref().expect("the home was not taken yet");
        std::fs::read_to_string(home.path().join("config.json")).unwrap_or_default()
    }

    /// Overwrites `config.json` as another program would.
    pub fn edits_config(&mut self, text: &str) -> &mut Self {
        let home = self.home.as_ref().expect("the home was not taken yet");
        std::fs::write(home.path().join("config.json"), text).expect("the home is writable");
        self
    }

    /// The last text copied to the clipboard.
    pub fn clipboard(&self) -> Option<&str> {
        self.clipboard.as_deref()
    }

    pub fn assert_exited(&mut self) -> &mut Self {
        assert!(
            self.has_quit,
            "the program is still running:\n{}",
            self.screen()
        );
        self
    }

    pub fn assert_running(&mut self) -> &mut Self {
        assert!(!self.has_quit, "the program has exited");
        self
    }

    /// The concatenated text of all files in a folder of the home.
    pub fn text_in_folder(&self, folder: &str) -> String {
        let home = self.home.as_ref().expect("the home was not taken yet");
        std::fs::read_dir(home.path().join(folder))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|file| std::fs::read_to_string(file.path()).ok())
            .collect()
    }

    /// Aborts the engine without a shutdown, like `kill -9`, and returns the home.
    pub fn kill(&mut self) -> TempDir {
        let task = &mut self.handle.task;
        task.abort();
        self.runtime.block_on(async {
            let _ = task.await;
        });
        self.home.take().expect("the home is taken only once")
    }

    /// Shuts the engine down and returns the home for inspection or a second start.
    pub fn shut_down(&mut self) -> TempDir {
        self.handle
            .commands
            .try_send(Command::Shutdown)
            .expect("the command queue is not full");
        self.settle();
        let task = &mut self.handle.task;
        self.runtime
            .block_on(async { task.await.expect("the engine ends without a panic") });
        self.home.take().expect("the home is taken only once")
    }
}
