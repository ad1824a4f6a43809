//! The selected persona, or none for the system prompt, until the program ends. A running turn
//! keeps its persona.

use crate::config;
use crate::domain::{Banner, BannerCause, Notice, Persona, Server, ServerStatus, Toolset};
use crate::engine::cx::EngineCx;
use crate::protocol::Event;
use std::sync::Arc;

#[derive(Default)]
pub struct Personas {
    /// The personas from files.
    listed: Vec<Persona>,
    chosen: Option<Arc<Persona>>,
    /// The command line chose it, and its tools are not checked yet because servers are still
    /// connecting.
    is_unchecked: bool,
}

impl Personas {
    pub(super) fn new(listed: Vec<Persona>) -> Self {
        Self {
            listed,
            ..Self::default()
        }
    }

    pub(super) fn listed(&self) -> &[Persona] {
        &self.listed
    }

    pub fn chosen(&self) -> Option<&Arc<Persona>> {
        self.chosen.as_ref()
    }

    /// Selects the persona of the command line.
    pub fn select_from_command_line(&mut self, cx: &mut EngineCx) {
        if let Some(name) = cx.options.persona.clone() {
            match config::find_persona(&self.listed, &name) {
                Ok(persona) => {
                    self.chosen = Some(Arc::new(persona));
                    self.is_unchecked = !cx.options.no_tools;
                }
                Err(notice) => {
                    cx.add_banners([Banner::new(BannerCause::UnknownPersona, notice)]);
                }
            }
        }
        self.publish(cx);
    }

    /// Once no server is connecting any longer, warns about missing tools of the command
    /// line's persona.
    pub fn check_tools_once_connected(
        &mut self,
        servers: &[Server],
        offered: &Toolset,
        cx: &mut EngineCx,
    ) {
        let is_connecting = |server: &Server| {
            server.enabled && matches!(server.status, ServerStatus::Off | ServerStatus::Starting)
        };
        if !self.is_unchecked || servers.is_empty() || servers.iter().any(is_connecting) {
            return;
        }
        self.is_unchecked = false;
        let persona = self.chosen.clone();
        if let Some(missing) = persona.and_then(|persona| missing_tools_message(&persona, offered))
        {
            let message = format!("Persona: {}. {missing}", self.chosen_name());
            cx.notice(Notice::warning(message));
        }
    }

    fn chosen_name(&self) -> &str {
        let persona = self.chosen.as_ref();
        persona.map_or("", |persona| persona.name.as_str())
    }

    pub fn select(&mut self, name: Option<&str>, offered: &Toolset, cx: &mut EngineCx) {
        let chosen = name.map(|name| config::find_persona(&self.listed, name));
        match chosen.transpose() {
            Ok(persona) => {
                let message = match &persona {
                    Some(persona) => format!("Persona: {}.", persona.name),
                    None => "No persona: the system prompt is used.".to_owned(),
                };
                let missing = persona
                    .as_ref()
                    .and_then(|persona| missing_tools_message(persona, offered));
                self.chosen = persona.map(Arc::new);
                cx.clear_banner(&BannerCause::UnknownPersona);
                let notice = Notice::info(message);
                cx.notice(match missing {
                    Some(missing) => notice.with_reason(missing),
                    None => notice,
                });
            }
            Err(notice) => cx.notice(notice),
        }
        self.publish(cx);
    }

    /// The files changed: the selected persona takes its new content, or is deselected if it
    /// is gone.
    pub fn replace(&mut self, listed: Vec<Persona>, cx: &mut EngineCx) {
        self.listed = listed;
        if let Some(persona) = self.chosen.take() {
            match config::find_persona(&self.listed, &persona.name) {
                Ok(found) => self.chosen = Some(Arc::new(found)),
                Err(notice) => cx.notice(notice.with_reason("The system prompt is used instead.")),
            }
        }
        self.publish(cx);
    }

    fn publish(&self, cx: &mut EngineCx) {
        let personas = config::all_personas(&self.listed);
        let personas = Arc::new(personas.iter().map(Persona::summary).collect());
        let selected = self.chosen.as_ref().map(|persona| persona.name.clone());
        cx.outbox.push(Event::PersonasListed { personas, selected });
    }
}

/// Names the tools of a persona that no server offers.
fn missing_tools_message(persona: &Persona, offered: &Toolset) -> Option<String> {
    let offered = offered.tools();
    let tools = persona.tools.iter().flatten();
    let missing: Vec<String> = tools
        .filter(|name| !offered.iter().any(|tool| name.matches(tool)))
        .map(|name| format!("`{}`", name.qualified_name()))
        .collect();
    let count = persona.tools.as_ref().map_or(0, Vec::len);
    let names = missing.join(", ");
    match missing.len() {
        0 => None,
        all if all == count => Some(format!(
            "It has no tools, because no server offers any that it names: {names}."
        )),
        _ => Some(format!("It names tools that no server offers: {names}.")),
    }
}
