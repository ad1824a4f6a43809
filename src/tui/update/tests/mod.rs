//! Drives `update` with key scripts and checks commands and screens. A script is typed text with
//! named keys in angle brackets, such as `hello<Enter>`.

mod add_form;
mod approval;
mod approval_random;
mod around_chat;
mod attached_twice;
mod attachments;
mod busy;
mod changed_keys;
mod chat_ends;
mod cleared;
mod commands;
mod completion;
mod dialog;
mod dialog_choices;
mod dialog_edits;
mod dialog_keys;
mod dialog_room;
mod draft;
mod earlier_run;
mod find;
mod first_run;
mod help;
mod help_here;
mod hints;
mod imports;
mod key_places;
mod lasting;
mod left_tasks;
mod line_selection;
mod lists;
mod long_prompts;
mod mentions;
mod message;
mod new_servers;
mod notice_area;
mod queue;
mod read_before_run;
mod removed_files;
mod reopened_questions;
mod sampling;
mod screen;
mod selecting;
mod selecting_by_mouse;
mod server_form;
mod servers;
mod servers_viewer;
mod sessions_browser;
mod set_aside;
mod settings_edits;
mod spoofing;
mod starting_servers;
mod stopped_turns;
mod templates;
mod themes;
mod tools_list;
mod trust;
mod typed_words;
mod unread_resources;

use crate::commands::CommandRow;
use crate::domain::Decision;
use crate::domain::tool::{CallOrigin, ToolCall, ToolState};
use crate::domain::{
    AskId, CallId, EntryBody, ModelRef, PieceId, PieceKind, ProviderKind, Session, TurnId,
};
use crate::domain::{QueryId, SchemaCheck};
use crate::fixtures;
use crate::front_end::advice;
use crate::protocol::{
    CallToApprove, Event, ModelJob, Question, QuestionOwner, UserAnswer, UserChoice,
};
use crate::questions;
use crate::text::styled_line::StyledLine;
use crate::tui::TuiOptions;
use crate::tui::panes::Focus;
use crate::tui::update::*;
use crossterm::event::{KeyCode, KeyEventKind, KeyModifiers};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// A screen without an engine. Tests send it keys and engine events.
struct ChatHarness {
    model: UiModel,
    /// Effects returned by `update` since they were last taken.
    sent: Vec<UiEffect>,
}

/// A chat with a configured model.
fn chat() -> ChatHarness {
    let mut chat = ChatHarness {
        model: UiModel::new(&TuiOptions::default(), (80, 24)),
        sent: Vec::new(),
    };
    let model = ModelRef {
        name: "qwen3".into(),
        provider: ProviderKind::Ollama,
        model: "qwen3:4b".into(),
    };
    chat.engine_event(Event::ModelsListed {
        models: vec![model.clone()],
        selected: Some(model),
        selected_server: None,
    });
    chat.wait(1_000);
    chat
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> KeyEvent {
    KeyEvent::new(code, modifiers)
}

fn parse_key(name: &str) -> KeyEvent {
    let (modifiers, name) = match name.split_once('+') {
        Some(("Ctrl", name)) => (KeyModifiers::CONTROL, name),
        Some(("Alt", name)) => (KeyModifiers::ALT, name),
        _ => (KeyModifiers::NONE, name),
    };
    let code = match name {
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        "Delete" => KeyCode::Delete,
        "Backspace" => KeyCode::Backspace,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "PgUp" => KeyCode::PageUp,
        "PgDn" => KeyCode::PageDown,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "Space" => KeyCode::Char(' '),
        name if name.len() > 1 && name.starts_with('F') => {
            KeyCode::F(name[1..].parse().expect("a number"))
        }
        name => KeyCode::Char(name.chars().next().expect("a key")),
    };
    key(code, modifiers)
}

/// The keys of a script: characters, and names in angle brackets.
fn script_keys(script: &str) -> Vec<KeyEvent> {
    let mut keys = Vec::new();
    let mut rest = script;
    while let Some(c) = rest.chars().next() {
        let end = rest.find('>').filter(|_| c == '<');
        keys.push(match end {
            Some(end) => parse_key(&rest[1..end]),
            None => key(KeyCode::Char(c), KeyModifiers::NONE),
        });
        rest = &rest[end.map_or(c.len_utf8(), |end| end + 1)..];
    }
    keys
}

impl ChatHarness {
    /// Pages through the body of the dialog until every row has been drawn, and pauses.
    fn page_through(&mut self) -> &mut Self {
        for _ in 0..2_000 {
            let dialog = self.model.dialogs.current().expect("a dialog");
            if dialog.was_fully_drawn() {
                break;
            }
            self.keys("<PgDn>");
        }
        self.wait(600)
    }

    fn dialog_rows(&self) -> Vec<String> {
        let dialog = self.model.dialogs.current().expect("a dialog");
        dialog.body_rows().iter().map(StyledLine::text).collect()
    }

    /// Runs a command without typing it into the message.
    fn run(&mut self, row: &'static CommandRow) -> &mut Self {
        let mut effects = Vec::new();
        actions::run_command(&mut self.model, row, "", &mut effects);
        requests::run_requests(&mut self.model, &mut effects);
        self.sent.extend(effects);
        self
    }

    fn input(&mut self, input: UiInput) -> &mut Self {
        let msg = Msg::new(self.model.now, input);
        for effect in update(&mut self.model, msg) {
            if let UiEffect::Copy(request) = &effect {
                let method = CopyMethod::Terminal { is_tmux: false };
                let report = CopyReport::new(request, method);
                self.input(UiInput::Copied(report));
            }
            self.sent.push(effect);
        }
        // A dialog accepts keys only after it has been drawn.
        if !self.model.dialogs.queued().is_empty() {
            let (width, height) = self.model.screen.size;
            let area = ratatui::layout::Rect::new(0, 0, width, height);
            let mut buffer = ratatui::buffer::Buffer::empty(area);
            crate::tui::view::paint(&mut self.model, &mut buffer);
        }
        self
    }

    /// Presses the keys of a script, one every 30 ms, and waits until each has acted.
    fn keys(&mut self, script: &str) -> &mut Self {
        for event in script_keys(script) {
            self.wait(30).input(UiInput::Key(event)).wait_for_letter();
        }
        self
    }

    /// Waits until a letter that is held because it may begin a word has acted.
    fn wait_for_letter(&mut self) -> &mut Self {
        let is_answering = self.model.dialogs.answering_letter().is_some();
        match self.model.dialogs.letter_due_at().filter(|_| is_answering) {
            Some(due) => self.wait(due.saturating_sub(self.model.now).as_millis() as u64),
            None => self,
        }
    }

    /// Presses the keys of a script with this many milliseconds before each.
    fn keys_every(&mut self, millis: u64, script: &str) -> &mut Self {
        for event in script_keys(script) {
            self.wait(millis).input(UiInput::Key(event));
        }
        self
    }

    /// Sends text that arrives in a single read, as from another program.
    fn type_at_once(&mut self, text: &str) -> &mut Self {
        let event = |c| match c {
            '\n' => key(KeyCode::Enter, KeyModifiers::NONE),
            c => key(KeyCode::Char(c), KeyModifiers::NONE),
        };
        let events: Vec<_> = text.chars().map(event).collect();
        for input in inputs_from_keys(&self.model, &events) {
            self.input(input);
        }
        self
    }

    fn copied(&mut self) -> Option<String> {
        let sent = std::mem::take(&mut self.sent);
        sent.into_iter().rev().find_map(|effect| match effect {
            UiEffect::Copy(request) => Some(request.text),
            _ => None,
        })
    }

    fn wait(&mut self, millis: u64) -> &mut Self {
        self.model.now += Duration::from_millis(millis);
        self.input(UiInput::Tick)
    }

    fn engine_event(&mut self, event: Event) -> &mut Self {
        self.input(UiInput::Engine(Box::new(event)))
    }

    fn turn_event(&mut self, event: TurnEvent) -> &mut Self {
        let id = self.model.running_turn().expect("a turn is running");
        self.engine_event(Event::Turn(id, event))
    }

    fn model_says(&mut self, text: &str) -> &mut Self {
        self.turn_event(TurnEvent::Delta {
            piece: PieceId(1),
            kind: PieceKind::Text,
            text: text.into(),
        })
    }

    fn turn_ends(&mut self, end: TurnEnd) -> &mut Self {
        self.turn_event(TurnEvent::Ended {
            end,
            usage: Usage::default(),
        })
    }

    fn model_answers(&mut self, text: &str) -> &mut Self {
        self.model_says(text).turn_ends(TurnEnd::Answered {
            text: text.into(),
            is_truncated: false,
        })
    }

    fn ask_about_calls(&mut self, ids: &[u64]) -> &mut Self {
        let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
        let tool = Arc::new(fixtures::tool_with("add", schema));
        for id in ids {
            self.turn_event(TurnEvent::Tool(ToolCall {
                id: CallId(*id),
                origin: CallOrigin::Text {
                    form: "Hermes",
                    repaired: false,
                    is_taught: false,
                },
                repeats: (*id > 1).then_some(CallId(1)),
                ..fixtures::tool_call("sums", "add", json!({"a": 1}))
            }));
        }
        let calls = ids.iter().map(|id| CallToApprove {
            call: CallId(*id),
            tool: tool.clone(),
        });
        self.ask_question(questions::approve(calls.collect()))
    }

    fn ask_question(&mut self, question: Question) -> &mut Self {
        let owner = QuestionOwner::Job(ModelJob::Turn(TurnId(1)));
        self.engine_event(Event::Asked {
            ask: AskId(7),
            owner,
            question,
        })
    }

    fn quits(&mut self) -> &mut Self {
        interrupt::quit(&mut self.model, &mut self.sent);
        self
    }

    /// Takes the commands sent since the effects were last taken, except those that every typed
    /// command causes: requests for prompt templates and saving its name.
    fn commands(&mut self) -> Vec<Command> {
        let sent = std::mem::take(&mut self.sent);
        let commands = sent.into_iter().filter_map(|effect| match effect {
            UiEffect::Send(Command::ListPromptTemplates | Command::RememberCommand(_)) => None,
            UiEffect::Send(command) => Some(command),
            _ => None,
        });
        commands.collect()
    }

    fn pending_check(&mut self) -> QueryId {
        match self.commands().as_slice() {
            [Command::CheckArguments { query, .. }] => *query,
            other => panic!("unexpected commands: {other:?}"),
        }
    }

    fn accept_check(&mut self) -> &mut Self {
        let query = self.pending_check();
        let check = SchemaCheck::Valid;
        self.engine_event(Event::ArgumentsChecked { query, check })
    }

    fn is_asking(&self) -> bool {
        !self.model.dialogs.queued().is_empty()
    }

    /// Takes the decisions in the last command that does not save a draft. That command must answer
    /// an approval dialog.
    fn decisions(&mut self) -> Vec<Decision> {
        let mut commands = self.commands();
        commands.retain(|command| !matches!(command, Command::SaveDraft(_)));
        match commands.pop() {
            Some(Command::Answer {
                answer: UserAnswer::Calls(calls),
                ..
            }) => calls.into_iter().map(|(_, decision)| decision).collect(),
            other => panic!("unexpected commands: {other:?}"),
        }
    }

    fn prompts(&mut self) -> Vec<String> {
        let prompt = |command| match command {
            Command::Submit { prompt, .. } => Some(prompt.text),
            _ => None,
        };
        self.commands().into_iter().filter_map(prompt).collect()
    }

    fn size(&mut self, width: u16, height: u16) -> &mut Self {
        self.input(UiInput::Resize { width, height })
    }

    fn screen(&mut self) -> String {
        let (width, height) = self.model.screen.size;
        let backend = ratatui::backend::TestBackend::new(width, height);
        let mut terminal = ratatui::Terminal::new(backend).expect("a test terminal");
        terminal
            .draw(|frame| crate::tui::view::draw(&mut self.model, frame))
            .expect("drawn");
        let cells = terminal.backend().buffer().content.chunks(width.into());
        let line = |row: &[ratatui::buffer::Cell]| row.iter().map(|cell| cell.symbol()).collect();
        cells.map(line).collect::<Vec<String>>().join("\n")
    }

    fn message(&self) -> String {
        self.model.composer.editor.text()
    }

    fn notice(&self) -> String {
        let notice = self.model.notices.current();
        notice.map_or_else(String::new, advice::notice_line)
    }

    /// A chat with an approval dialog that already accepts keys.
    fn with_approval_dialog(ids: &[u64]) -> Self {
        let mut chat = chat();
        chat.keys("sum<Enter>").ask_about_calls(ids).wait(600);
        chat.sent.clear();
        chat
    }
}
