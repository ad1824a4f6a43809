//! The form for a model of another server, as data.

use crate::domain::model::Secret;
use crate::domain::{NewModel, Notice, ProviderKind, QueryId};
use crate::tui::widgets::editor::Editor;

pub const PROVIDER: usize = 0;
pub const MODEL: usize = 1;
pub const ADDRESS: usize = 2;
pub const KEY: usize = 3;
/// Check and save.
pub const SAVE: usize = 4;
/// Save although the check failed.
pub const SAVE_ANYWAY: usize = 5;

const KEY_VARIABLES: [&str; 3] = ["OPENAI_API_KEY", "MISTRAL_API_KEY", "ANTHROPIC_API_KEY"];

/// In the order in which the arrows walk through them.
pub const PROVIDERS: [ProviderKind; 4] = [
    ProviderKind::OpenAi,
    ProviderKind::Mistral,
    ProviderKind::Anthropic,
    ProviderKind::Ollama,
];

#[derive(Debug, Clone, Default)]
pub struct Connect {
    /// Among [`PROVIDERS`].
    pub provider: usize,
    pub model: Editor,
    pub address: Editor,
    pub key: Editor,
    pub at: usize,
    /// The check under way.
    pub query: Option<QueryId>,
    pub fault: Option<Notice>,
    /// Esc was pressed over what is typed; the next one drops it.
    pub is_leaving: bool,
    /// The check failed: it can be saved all the same.
    pub failed: bool,
}

impl Connect {
    pub fn provider(&self) -> ProviderKind {
        PROVIDERS[self.provider % PROVIDERS.len()]
    }

    /// As a person calls it.
    pub fn provider_words(&self) -> &'static str {
        match self.provider() {
            ProviderKind::OpenAi => "OpenAI-compatible",
            ProviderKind::Mistral => "Mistral",
            ProviderKind::Anthropic => "Anthropic",
            ProviderKind::Ollama | ProviderKind::Scripted => "Ollama",
        }
    }

    /// What an empty address means.
    pub fn usual_address(&self) -> &'static str {
        match self.provider() {
            ProviderKind::OpenAi => "https://api.openai.com/v1",
            ProviderKind::Mistral => "https://api.mistral.ai/v1",
            ProviderKind::Anthropic => "https://api.anthropic.com/v1",
            ProviderKind::Ollama | ProviderKind::Scripted => "http://localhost:11434",
        }
    }

    fn variable(&self) -> Option<&'static str> {
        match self.provider() {
            ProviderKind::OpenAi => Some("OPENAI_API_KEY"),
            ProviderKind::Mistral => Some("MISTRAL_API_KEY"),
            ProviderKind::Anthropic => Some("ANTHROPIC_API_KEY"),
            ProviderKind::Ollama | ProviderKind::Scripted => None,
        }
    }

    /// Puts the variable of the provider into the key's field where it is set, and
    /// takes it out where it would go to a stranger: to another provider, or to an
    /// address of one's own (S2.2). What was typed stays.
    pub fn suggest_key(&mut self, set: &[String]) {
        if !self.key.is_empty() && !self.is_suggested() {
            return;
        }
        let is_usual = self.address.is_blank();
        let variable = self.variable().filter(|_| is_usual);
        let variable = variable.filter(|name| set.iter().any(|one| one == name));
        self.key.set(&variable.map(reference).unwrap_or_default());
    }

    /// Does the key's field hold what was put there, and not by the person?
    fn is_suggested(&self) -> bool {
        let key = self.key.text();
        KEY_VARIABLES.iter().any(|name| key == reference(name))
    }

    /// Typing a key replaces the one that was suggested.
    pub fn begin_typing(&mut self) {
        if self.at == KEY && self.is_suggested() {
            self.key.set("");
        }
    }

    /// The key as it may be shown: the name of a variable, or as many dots.
    pub fn masked_key(&self) -> String {
        let key = self.key.text();
        if key.starts_with("${") && key.ends_with('}') {
            key
        } else {
            "•".repeat(key.chars().count())
        }
    }

    /// Did the person type anything?
    pub fn is_filled(&self) -> bool {
        let key = !self.key.is_empty() && !self.is_suggested();
        key || !self.model.is_empty() || !self.address.is_empty()
    }

    /// What was filled in; None while the model is missing.
    pub fn new_model(&self) -> Option<NewModel> {
        let filled = |field: &Editor| {
            let text = field.text().trim().to_owned();
            Some(text).filter(|text| !text.is_empty())
        };
        let model = filled(&self.model)?;
        Some(NewModel {
            name: model.clone(),
            model,
            provider: self.provider(),
            base_url: filled(&self.address),
            api_key: filled(&self.key).map(Secret::new),
            like: None,
        })
    }

    pub fn field(&mut self) -> Option<&mut Editor> {
        match self.at {
            MODEL => Some(&mut self.model),
            ADDRESS => Some(&mut self.address),
            KEY => Some(&mut self.key),
            _ => None,
        }
    }

    /// The last row that there is.
    pub fn last(&self) -> usize {
        if self.failed { SAVE_ANYWAY } else { SAVE }
    }

    /// Something was changed: what the check said is about something else.
    pub fn changed(&mut self, set: &[String]) {
        // A key that is being typed is not completed.
        if self.at != KEY {
            self.suggest_key(set);
        }
        self.query = None;
        self.fault = None;
        self.failed = false;
    }
}

fn reference(variable: &str) -> String {
    format!("${{{variable}}}")
}
