//! Who answers: the system prompt or a persona, chosen for as long as the program
//! runs (S4.4). A turn goes on as what it began with.

use super::actor::Actor;
use super::turn::Input;
use crate::config;
use crate::domain::{Banner, BannerCause, Notice, Offered, Persona, Server, ServerStatus};
use crate::protocol::Event;
use std::sync::Arc;

impl Actor {
    /// The persona that the command line names.
    pub(super) fn choose_first_persona(&mut self) {
        if let Some(name) = self.cx.options.persona.clone() {
            match config::find_persona(&self.personas, &name) {
                Ok(persona) => {
                    self.persona = Some(Arc::new(persona));
                    self.persona_unchecked = !self.cx.options.no_tools;
                }
                Err(notice) => {
                    self.cx
                        .add_banners([Banner::new(BannerCause::UnknownPersona, notice)]);
                }
            }
        }
        self.list_personas();
    }

    /// Once no server is on its way any more: does somebody offer what the persona of
    /// the command line asks for?
    pub(super) fn check_first_persona(&mut self, servers: &[Server]) {
        let is_coming = |server: &Server| {
            server.enabled && matches!(server.status, ServerStatus::Off | ServerStatus::Starting)
        };
        if !self.persona_unchecked || servers.is_empty() || servers.iter().any(is_coming) {
            return;
        }
        self.persona_unchecked = false;
        let persona = self.persona.clone();
        if let Some(missing) = persona.and_then(|persona| self.missing(&persona)) {
            let what = format!("`{}` answers. {missing}", self.persona_name());
            self.cx.notice(Notice::warning(what));
        }
    }

    fn persona_name(&self) -> &str {
        let persona = self.persona.as_ref();
        persona.map_or("", |persona| persona.name.as_str())
    }

    pub(super) fn select_persona(&mut self, name: Option<&str>) {
        let chosen = name.map(|name| config::find_persona(&self.personas, name));
        match chosen.transpose() {
            Ok(persona) => {
                let said = match &persona {
                    Some(persona) => format!("`{}` answers from now on.", persona.name),
                    None => "The system prompt is in force again.".to_owned(),
                };
                let missing = persona.as_ref().and_then(|persona| self.missing(persona));
                self.persona = persona.map(Arc::new);
                self.cx.clear_banner(&BannerCause::UnknownPersona);
                let notice = Notice::info(said);
                self.cx.notice(match missing {
                    Some(missing) => notice.because(missing),
                    None => notice,
                });
            }
            Err(notice) => self.cx.notice(notice),
        }
        self.list_personas();
    }

    /// The files changed: the chosen one is what its file says now, or nobody.
    pub(super) fn personas_changed(&mut self) {
        if let Some(persona) = self.persona.take() {
            match config::find_persona(&self.personas, &persona.name) {
                Ok(found) => self.persona = Some(Arc::new(found)),
                Err(notice) => self
                    .cx
                    .notice(notice.because("The system prompt is in force again.")),
            }
        }
        self.list_personas();
    }

    fn list_personas(&mut self) {
        let personas = config::all_personas(&self.personas);
        let personas = Arc::new(personas.iter().map(Persona::summary).collect());
        let selected = self.persona.as_ref().map(|persona| persona.name.clone());
        self.cx
            .outbox
            .push(Event::PersonasListed { personas, selected });
    }

    /// Tools that a persona names and no server offers now.
    fn missing(&self, persona: &Persona) -> Option<String> {
        let offered = self.offered.tools();
        let tools = persona.tools.iter().flatten();
        let missing: Vec<String> = tools
            .filter(|name| !offered.iter().any(|tool| name.means(tool)))
            .map(|name| format!("`{}`", name.written()))
            .collect();
        let count = persona.tools.as_ref().map_or(0, Vec::len);
        let names = missing.join(", ");
        match missing.len() {
            0 => None,
            all if all == count => Some(format!(
                "It has no tools: no server offers any that it asks for now: {names}."
            )),
            _ => Some(format!(
                "It asks for tools that no server offers now: {names}."
            )),
        }
    }

    /// The text that the next turn's system message begins with.
    pub(super) fn system_text(&self) -> Arc<str> {
        let text = match self.persona.as_ref().map(|persona| &persona.text) {
            Some(Ok(text)) => text.as_str().into(),
            _ => Arc::clone(&self.system_prompt),
        };
        self.trust
            .with_instructions(text, &self.offered_now(), &self.hub.servers())
    }

    /// The tools that the next turn begins with.
    pub(super) fn offered_now(&self) -> Arc<Offered> {
        match &self.persona {
            Some(persona) => Arc::new(self.offered.within(persona)),
            None => Arc::clone(&self.offered),
        }
    }

    /// The turn under way hears of a change in what is on offer to it.
    pub(super) fn feed_offered(&mut self) {
        let persona = self.turn.as_ref().and_then(|turn| turn.persona.clone());
        let offered = match persona {
            Some(persona) => Arc::new(self.offered.within(&persona)),
            None => Arc::clone(&self.offered),
        };
        self.feed(Input::OfferedChanged(offered));
    }
}
