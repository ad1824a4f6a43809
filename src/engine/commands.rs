//! What a front end asks for: each command, and what blocking work for it came to.

use super::actor::{Actor, Done, Running};
use super::saver::Epoch;
use super::turn::{Input, Setup, Turn};
use crate::config;
use crate::domain::{
    Banner, Dialect, ModelConfig, ModelRef, Notice, Prompt, QueryId, ServerId, Session, SessionId,
    ToolMode, Transcript, TurnEnd, TurnEvent, TurnId, Usage,
};
use crate::protocol::{Command, Event, Meter};
use std::collections::HashMap;
use std::sync::Arc;

/// An example that can be pasted into config.json (S2.8).
const EXAMPLE: &str =
    r#"{ "models": [ { "name": "qwen3:4b", "provider": "ollama", "active": true } ] }"#;

impl Actor {
    pub(super) fn command(&mut self, command: Command) {
        match command {
            Command::Submit { turn, prompt } => self.submit(turn, prompt),
            Command::Answer { ask, answer } => self.feed(Input::Answered { ask, answer }),
            Command::Interrupt => self.feed(Input::Interrupt),
            Command::SelectModel(model) => self.select_model(&model),
            Command::SetToolMode(mode) => self.set_tool_mode(mode),
            Command::ToggleServer(id) => self.toggle_server(&id),
            Command::ReconnectServer(id) => self.hub.reconnect(&id),
            Command::ToggleTool { server, tool } => self.toggle_tool(&server, tool),
            Command::NewSession => self.begin_session(Session::new(self.model_name())),
            Command::ListSessions(query) => self.list_sessions(query),
            Command::PreviewSession { query, session } => self.preview(query, session),
            Command::OpenSession(id) => {
                let sessions = Arc::clone(&self.sessions);
                self.jobs
                    .spawn_blocking(move || Done::Opened(sessions.open(&id)));
            }
            Command::DeleteSession(id) => {
                let sessions = Arc::clone(&self.sessions);
                self.jobs.spawn_blocking(move || {
                    let result = sessions.delete(&id);
                    Done::Deleted(id, result)
                });
            }
            Command::KeepDraft(text) => {
                let history = Arc::clone(&self.history);
                self.jobs.spawn_blocking(move || {
                    if let Err(fault) = history.keep_draft(&text) {
                        tracing::warn!("the draft was not kept: {fault}");
                    }
                    Done::Nothing
                });
            }
            // The select loop ends on it before it gets here.
            Command::Shutdown => {}
        }
    }

    fn model_name(&self) -> String {
        self.model
            .as_ref()
            .map_or_else(String::new, |model| model.name.clone())
    }

    fn submit(&mut self, id: TurnId, prompt: Prompt) {
        if !self.options.no_save {
            self.remember_typed(prompt.text.clone());
        }
        if self.running.is_some() {
            let busy = Notice::failure("Another prompt is still being answered.")
                .advise("Wait for it, or stop it with Ctrl+C.");
            self.reject(id, prompt, busy);
            return;
        }
        let Some(model) = self.model.clone() else {
            self.reject(id, prompt, self.no_model());
            return;
        };
        if self.session.started_at.is_none() {
            self.session.started_at = Some(jiff::Timestamp::now());
        }
        let setup = Setup {
            prompt: prompt.clone(),
            model: model.name.clone(),
            dialect: model.dialect,
            system_prompt: Arc::clone(&self.system_prompt),
            history: Arc::new(self.session.messages.clone()),
            offered: Arc::clone(&self.offered),
            approval: self.approval.clone(),
            limits: self.settings.limits.clone(),
        };
        let (turn, effects) = Turn::begin(setup, self.ids.clone());
        self.running = Some(Running {
            id,
            turn,
            prompt: prompt.text,
            model,
            transcript: Transcript::default(),
            reply: None,
            idle_at: None,
            calls: HashMap::new(),
            loading: None,
        });
        self.perform(effects);
    }

    fn remember_typed(&mut self, typed: String) {
        let history = Arc::clone(&self.history);
        self.jobs.spawn_blocking(move || {
            if let Err(fault) = history.append(&typed) {
                tracing::warn!("the prompt was not added to the history: {fault}");
            }
            Done::Nothing
        });
    }

    /// A turn that ends before it began.
    fn reject(&mut self, id: TurnId, prompt: Prompt, notice: Notice) {
        let (model, usage) = (self.model_name(), Usage::default());
        let end = TurnEnd::Failed { notice };
        self.outbox
            .push(Event::Turn(id, TurnEvent::Started { prompt, model }));
        self.outbox
            .push(Event::Turn(id, TurnEvent::Ended { end, usage }));
    }

    fn no_model(&self) -> Notice {
        let notice =
            Notice::failure("No active model is configured. Use /set-model to choose a model.");
        // A file that could not be read may well list models: its banner says more.
        if self.settings.lists_models || self.banners.contains_key("config.json") {
            return notice;
        }
        let file = self.home.config();
        notice.advise(format!(
            "No model is listed in {} yet. Put this there, for example, and start humble again:\n{EXAMPLE}",
            file.display()
        ))
    }

    /// The model that the command line names, or the active one.
    pub(super) fn choose_first_model(&mut self) {
        let named = self
            .options
            .model
            .as_deref()
            .map(|name| (name, self.find_model(name)));
        let model = match named {
            Some((_, Some(model))) => Some(model),
            Some((name, None)) => {
                let names: Vec<&str> = self
                    .settings
                    .models
                    .iter()
                    .map(|model| model.name.as_str())
                    .collect();
                let notice = Notice::failure(format!("There is no model `{name}` in config.json."))
                    .advise(format!("It lists: {}.", names.join(", ")));
                self.banners
                    .insert("--model".to_owned(), Banner::new("--model", notice));
                None
            }
            None => self.settings.active().cloned(),
        };
        self.model = model.map(Arc::new);
        self.session = Session::new(self.model_name());
        self.warn_of_dialect();
    }

    /// Calls in the `xml` form are taught, but not read back yet: whoever chose it
    /// should not wonder why no tool ever runs.
    fn warn_of_dialect(&mut self) {
        const CAUSE: &str = "toolCalls";
        self.banners.remove(CAUSE);
        let Some(model) = &self.model else { return };
        if model.dialect == Dialect::Xml {
            let notice = Notice::warning(format!(
                "`{}` has `toolCalls` `xml`, whose calls are not read yet.",
                model.name
            ))
            .advise("Its tools will not run: use `auto`, `native` or `prompt`.");
            self.banners
                .insert(CAUSE.to_owned(), Banner::new(CAUSE, notice));
        }
    }

    fn find_model(&self, name: &str) -> Option<ModelConfig> {
        let models = &self.settings.models;
        let by_name = models.iter().find(|model| model.name == name);
        by_name
            .or_else(|| models.iter().find(|model| model.model == name))
            .cloned()
    }

    pub(super) fn list_models(&mut self) {
        let models = self
            .settings
            .models
            .iter()
            .map(ModelConfig::reference)
            .collect();
        let selected = self.model.as_ref().map(|model| model.reference());
        self.outbox.push(Event::ModelsListed { models, selected });
    }

    fn select_model(&mut self, wanted: &ModelRef) {
        let found = self
            .settings
            .models
            .iter()
            .find(|model| model.reference() == *wanted);
        let Some(model) = found.cloned() else {
            self.notice(Notice::warning(format!(
                "There is no model `{}` any more.",
                wanted.name
            )));
            return;
        };
        for other in &mut self.settings.models {
            other.active = other.reference() == *wanted;
        }
        self.model = Some(Arc::new(model));
        self.num_ctx = 0;
        self.meter = Meter::default();
        self.outbox.push(Event::ContextMeasured(self.meter));
        self.banners.remove("--model");
        self.banners.remove("active model");
        self.warn_of_dialect();
        self.push_banners();
        self.list_models();
        // A stand-in is in no file.
        if self.options.stand_in.is_some() {
            return;
        }
        let (home, wanted) = (self.home.clone(), wanted.clone());
        self.jobs
            .spawn_blocking(move || Done::Config(config::set_active_model(&home, &wanted)));
    }

    fn set_tool_mode(&mut self, mode: ToolMode) {
        self.approval.mode = mode;
        self.feed(Input::ModeChanged(mode));
        self.outbox.push(Event::ToolModeChanged(mode));
        let home = self.home.clone();
        self.jobs
            .spawn_blocking(move || Done::Config(config::set_tool_mode(&home, mode)));
    }

    fn toggle_server(&mut self, id: &ServerId) {
        let Some(server) = self.servers.iter_mut().find(|server| server.id == *id) else {
            return;
        };
        server.enabled = !server.enabled;
        let (home, id, enabled) = (self.home.clone(), id.clone(), server.enabled);
        self.jobs
            .spawn_blocking(move || Done::Config(config::set_server_enabled(&home, &id, enabled)));
        self.configure_servers();
    }

    fn toggle_tool(&mut self, id: &ServerId, tool: String) {
        let Some(server) = self.servers.iter_mut().find(|server| server.id == *id) else {
            return;
        };
        let on = server.tools_off.remove(&tool);
        if !on {
            server.tools_off.insert(tool.clone());
        }
        let (home, id) = (self.home.clone(), id.clone());
        self.jobs
            .spawn_blocking(move || Done::Config(config::set_tool_enabled(&home, &id, &tool, on)));
        self.configure_servers();
    }

    fn configure_servers(&mut self) {
        if self.options.no_tools {
            return;
        }
        self.hub.configure(self.servers.clone());
        self.servers_changed();
        self.outbox.push(Event::ServersListed(self.hub.servers()));
    }

    fn list_sessions(&mut self, query: QueryId) {
        let sessions = Arc::clone(&self.sessions);
        self.jobs.spawn_blocking(move || {
            let sessions = Arc::new(sessions.list());
            Done::Events(vec![Event::SessionsListed { query, sessions }])
        });
    }

    fn preview(&mut self, query: QueryId, id: SessionId) {
        let sessions = Arc::clone(&self.sessions);
        self.jobs.spawn_blocking(move || {
            Done::Events(match sessions.preview(&id) {
                Ok(session) => {
                    vec![Event::SessionPreviewed {
                        query,
                        session: Arc::new(session),
                    }]
                }
                // The list says why it is broken.
                Err(_) => Vec::new(),
            })
        });
    }

    /// A conversation begins; a turn under way is stopped first.
    fn begin_session(&mut self, session: Session) {
        if self.running.is_some() {
            self.feed(Input::Interrupt);
            self.notice(Notice::warning(
                "The answer under way was stopped; its words are kept.",
            ));
        }
        self.epoch = Epoch(self.epoch.0 + 1);
        self.session = session;
        self.num_ctx = 0;
        self.meter = Meter::default();
        self.outbox
            .push(Event::SessionOpened(Arc::new(self.session.clone())));
        self.outbox.push(Event::ContextMeasured(self.meter));
    }

    pub(super) fn job_done(&mut self, done: Done) {
        match done {
            Done::Nothing | Done::Config(Ok(())) => {}
            Done::Events(events) => events.into_iter().for_each(|event| self.outbox.push(event)),
            Done::Opened(Ok(session)) => self.begin_session(session),
            Done::Opened(Err(fault)) => self.notice(fault.notice()),
            Done::Deleted(id, Ok(())) => {
                // What was deleted must not come back with the next answer.
                if self.session.id.as_ref() == Some(&id) {
                    self.begin_session(Session::new(self.model_name()));
                }
                self.outbox.push(Event::SessionDeleted(id));
            }
            Done::Deleted(_, Err(fault)) => self.notice(fault.notice()),
            Done::Config(Err(fault)) => self.notice(fault.notice()),
        }
    }
}
