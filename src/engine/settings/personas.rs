//! The selected persona; without one, the system prompt is used. The selection lasts until the
//! program ends or a saved session is opened, which has its own. A running turn keeps its persona.

use crate::config;
use crate::domain::{Banner, BannerCause, Notice, Persona, Server, ServerStatus, Toolset};
use crate::engine::cx::EngineCx;
use crate::protocol::Event;
use std::sync::Arc;

#[derive(Default)]
pub struct Personas {
    from_files: Vec<Persona>,
    selected: Option<Arc<Persona>>,
    /// The command line or a session selected the persona, and its tools must be checked once
    /// all servers have connected.
    is_unchecked: bool,
}

impl Personas {
    pub(super) fn new(from_files: Vec<Persona>) -> Self {
        Self {
            from_files,
            ..Self::default()
        }
    }

    pub(super) fn listed(&self) -> &[Persona] {
        &self.from_files
    }

    pub fn selected(&self) -> Option<&Arc<Persona>> {
        self.selected.as_ref()
    }

    pub fn select_from_command_line(&mut self, cx: &mut EngineCx) {
        if let Some(name) = cx.options.persona.clone() {
            match config::find_persona(&self.from_files, &name) {
                Ok(persona) => {
                    self.selected = Some(Arc::new(persona));
                    self.is_unchecked = !cx.options.no_tools;
                }
                Err(notice) => {
                    cx.add_banners([Banner::new(BannerCause::UnknownPersona, notice)]);
                }
            }
        }
        self.publish(cx);
    }

    /// Warns about missing tools of a persona from the command line or a session, once no server
    /// is still connecting.
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
        let persona = self.selected.clone();
        if let Some(missing) = persona.and_then(|persona| missing_tools_message(&persona, offered))
        {
            let message = format!("Persona: {}. {missing}", self.selected_name());
            cx.notice(Notice::warning(message));
        }
    }

    fn selected_name(&self) -> &str {
        let persona = self.selected.as_ref();
        persona.map_or("", |persona| persona.name.as_str())
    }

    pub fn select(&mut self, name: Option<&str>, offered: &Toolset, cx: &mut EngineCx) {
        let persona = name.map(|name| config::find_persona(&self.from_files, name));
        match persona.transpose() {
            Ok(persona) => {
                let message = match &persona {
                    Some(persona) => format!("Persona: {}.", persona.name),
                    None => "No persona: the system prompt is used.".to_owned(),
                };
                let missing = persona
                    .as_ref()
                    .and_then(|persona| missing_tools_message(persona, offered));
                self.selected = persona.map(Arc::new);
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

    /// Selects the persona of an opened session, or none.
    pub fn restore(&mut self, name: Option<&str>, cx: &mut EngineCx) {
        if self.selected.as_ref().map(|persona| persona.name.as_str()) == name {
            return;
        }
        let persona = name.map(|name| config::find_persona(&self.from_files, name));
        self.selected = match persona.transpose() {
            Ok(persona) => persona.map(Arc::new),
            Err(notice) => {
                cx.notice(Notice {
                    advice: Vec::new(),
                    ..notice.with_reason("The system prompt is used instead.")
                });
                None
            }
        };
        self.is_unchecked = self.selected.is_some() && !cx.options.no_tools;
        self.publish(cx);
    }

    /// Applies changed files. The selected persona gets its new content, or is deselected if it
    /// no longer exists.
    pub fn replace(&mut self, from_files: Vec<Persona>, cx: &mut EngineCx) {
        self.from_files = from_files;
        if let Some(persona) = self.selected.take() {
            match config::find_persona(&self.from_files, &persona.name) {
                Ok(persona) => self.selected = Some(Arc::new(persona)),
                Err(notice) => cx.notice(notice.with_reason("The system prompt is used instead.")),
            }
        }
        self.publish(cx);
    }

    fn publish(&self, cx: &mut EngineCx) {
        let personas = config::all_personas(&self.from_files);
        let personas = Arc::new(personas.iter().map(Persona::summary).collect());
        let selected = self.selected.as_ref().map(|persona| persona.name.clone());
        cx.outbox.push(Event::PersonasListed { personas, selected });
    }
}

fn missing_tools_message(persona: &Persona, offered: &Toolset) -> Option<String> {
    let offered = offered.tools();
    let tool_names = persona.tools.iter().flatten();
    let missing: Vec<String> = tool_names
        .filter(|name| !offered.iter().any(|tool| name.matches(tool)))
        .map(|name| format!("`{}`", name.qualified_name()))
        .collect();
    let tool_count = persona.tools.as_ref().map_or(0, Vec::len);
    let names = missing.join(", ");
    match missing.len() {
        0 => None,
        count if count == tool_count => Some(format!(
            "It has no tools, because no server offers any of the tools it names: {names}."
        )),
        _ => Some(format!("It names tools that no server offers: {names}.")),
    }
}
