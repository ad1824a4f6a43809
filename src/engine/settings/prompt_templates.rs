//! Prompt templates. They are read when the engine starts, with the settings files whenever one of
//! them or a template changes, and whenever the front end asks.

use crate::config;
use crate::domain::{PromptTemplate, PromptTemplates, SettingsChange};
use crate::engine::cx::EngineCx;
use crate::engine::jobs::JobResult;
use crate::protocol::Event;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(in crate::engine) fn list(cx: &mut EngineCx) {
    let home = cx.home.clone();
    cx.jobs.spawn_blocking(move || {
        let templates = Arc::new(config::read_prompt_templates(&home));
        JobResult::Events(vec![Event::PromptTemplatesListed(templates)])
    });
}

/// The templates that were read with the settings files, to report what changed.
#[derive(Debug, Default)]
pub(super) struct KnownTemplates {
    /// `None` until the settings files are first reloaded.
    last: Option<Arc<PromptTemplates>>,
    unreported: Vec<SettingsChange>,
}

impl KnownTemplates {
    /// Returns the templates if they differ from those that were read before.
    pub(super) fn replace(&mut self, templates: PromptTemplates) -> Option<Arc<PromptTemplates>> {
        if self.last.as_deref() == Some(&templates) {
            return None;
        }
        let templates = Arc::new(templates);
        if let Some(before) = self.last.replace(Arc::clone(&templates)) {
            let changes = template_changes(&before, &templates);
            self.unreported.extend(changes);
        }
        Some(templates)
    }

    pub(super) fn take_changes(&mut self) -> Vec<SettingsChange> {
        std::mem::take(&mut self.unreported)
    }
}

fn template_changes(before: &PromptTemplates, after: &PromptTemplates) -> Vec<SettingsChange> {
    let all = before.list.iter().chain(&after.list);
    let names: BTreeSet<&str> = all.map(|template| &*template.name).collect();
    let change = |name: &str| {
        let find = |templates: &PromptTemplates| -> Option<PromptTemplate> {
            let mut list = templates.list.iter();
            list.find(|template| template.name == name).cloned()
        };
        let what = match (find(before), find(after)) {
            (None, _) => "a new prompt template",
            (_, None) => "the prompt template was removed",
            (old, new) if old != new => "the prompt template changed",
            _ => return None,
        };
        Some(SettingsChange::harmless(
            &format!("prompts/{name}.md"),
            what,
        ))
    };
    names.into_iter().filter_map(change).collect()
}
