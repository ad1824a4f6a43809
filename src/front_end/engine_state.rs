//! The state that the engine last reported: models, settings, permissions and log. Features only
//! read it. The screen adds a few log lines of its own.

use crate::domain::reply_trace::TraceLine;
use crate::domain::{
    Banner, ModelCatalog, ModelRef, ModelServer, NotePaths, PersonaSummary, PromptTemplates, Pull,
    Think, ToolMode, TrustEntry,
};
use crate::protocol::{ContextMeter, Event, LogLine};
use std::collections::VecDeque;
use std::sync::Arc;

const LOG_LINES_MAX: usize = 1_000;

#[derive(Debug, Default)]
pub struct EngineState {
    pub models: Vec<ModelRef>,
    pub selected: Option<ModelRef>,
    /// The server of the selected model, which `models` need not contain.
    pub selected_server: Option<ModelServer>,
    pub catalog: Arc<ModelCatalog>,
    pub pull: Option<Pull>,
    pub think: Option<Think>,
    pub personas: Arc<Vec<PersonaSummary>>,
    /// `None` means the plain system prompt.
    pub persona: Option<String>,
    pub templates: Arc<PromptTemplates>,
    /// The note path that the engine searched for last, and the notes that match it.
    pub note_paths: (String, Arc<NotePaths>),
    pub mode: ToolMode,
    pub trust_entries: Arc<Vec<TrustEntry>>,
    pub context_meter: ContextMeter,
    pub banners: Vec<Banner>,
    pub log: VecDeque<LogLine>,
    /// Trace of the last answer; `None` until the engine has sent one.
    pub trace: Option<Arc<Vec<TraceLine>>>,
}

impl EngineState {
    /// Applies an engine-state event; returns every other event unchanged.
    pub fn apply(&mut self, event: Event) -> Option<Event> {
        match event {
            Event::ModelsListed {
                models,
                selected,
                selected_server,
            } => {
                (self.models, self.selected) = (models, selected);
                self.selected_server = selected_server;
            }
            Event::PersonasListed { personas, selected } => {
                (self.personas, self.persona) = (personas, selected);
            }
            Event::PromptTemplatesListed(templates) => self.templates = templates,
            Event::NotePathsFound { fragment, found } => self.note_paths = (fragment, found),
            Event::PullChanged(pull) => self.pull = pull,
            Event::ThinkChanged(think) => self.think = think,
            Event::ToolModeChanged(mode) => self.mode = mode,
            Event::ContextMeasured(meter) => self.context_meter = meter,
            Event::BannersChanged(banners) => self.banners = banners,
            Event::ReplyTraceLoaded(lines) => self.trace = Some(lines),
            Event::LogLineWritten(line) => self.push_log_line(line),
            other => return Some(other),
        }
        None
    }

    /// Adds a line to the log, and drops the oldest one beyond [`LOG_LINES_MAX`].
    pub fn push_log_line(&mut self, line: LogLine) {
        self.log.push_back(line);
        if self.log.len() > LOG_LINES_MAX {
            self.log.pop_front();
        }
    }

    /// Name of the selected model, or an empty string.
    pub fn model_name(&self) -> &str {
        self.selected.as_ref().map_or("", |model| &model.name)
    }
}
