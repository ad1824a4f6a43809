//! The model catalog as filtered rows of the dialog, and as items of the first-run offer.

use crate::domain::model_info::is_same_model;
use crate::domain::{
    CatalogState, ListedModel, ModelCatalog, ModelRef, ModelServer, ServerCatalog,
};
use crate::tui::advice;

#[derive(Debug, Clone, PartialEq)]
pub enum Row<'a> {
    Server(&'a ServerCatalog),
    Model(ModelRow<'a>),
    /// A remark about the server, and whether it is an error.
    Words(String, bool),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelRow<'a> {
    pub server: &'a ModelServer,
    /// None if the server does not list the model or has not answered.
    pub listed: Option<&'a ListedModel>,
    pub configured: Option<&'a ModelRef>,
    /// The server answered but does not list the model.
    pub is_missing: bool,
}

impl ModelRow<'_> {
    /// The name that the server uses.
    pub fn model(&self) -> &str {
        let configured = self.configured.map(|entry| entry.model.as_str());
        let listed = self.listed.map(|model| model.name.as_str());
        listed.or(configured).unwrap_or_default()
    }

    /// The name that the user sees: the configured one, if any.
    pub fn name(&self) -> &str {
        let configured = self.configured.map(|entry| entry.name.as_str());
        configured.unwrap_or_else(|| self.model())
    }

    fn matches(&self, wanted: &str) -> bool {
        let facts = self.listed.map(|model| &model.info);
        let family = facts.and_then(|facts| facts.family.as_deref());
        let capabilities = facts.into_iter().flat_map(|facts| &facts.capabilities);
        let mut words = [self.name(), self.model(), family.unwrap_or_default()]
            .into_iter()
            .chain(capabilities.map(String::as_str));
        wanted.is_empty() || words.any(|word| word.to_lowercase().contains(wanted))
    }
}

/// The rows that match a filter.
pub fn rows<'a>(catalog: &'a ModelCatalog, filter: &str) -> Vec<Row<'a>> {
    let wanted = filter.trim().to_lowercase();
    let mut rows = Vec::new();
    for server in &catalog.servers {
        let mut models = models_of(server);
        models.retain(|row| row.matches(&wanted));
        // An Ollama that is not configured may be absent; that is no error.
        let is_expected = !server.configured.is_empty() || catalog.offers_discovered;
        let words = words_of(server).filter(|(_, is_fault)| is_expected || !is_fault);
        if models.is_empty() && (words.is_none() || !wanted.is_empty()) {
            continue;
        }
        rows.push(Row::Server(server));
        rows.extend(words.map(|(words, is_fault)| Row::Words(words, is_fault)));
        rows.extend(models.into_iter().map(Row::Model));
    }
    rows
}

/// A server's models: the listed ones, then those that are only configured.
fn models_of(catalog: &ServerCatalog) -> Vec<ModelRow<'_>> {
    let answer = catalog.listed();
    let listed = answer.map_or(&[][..], |answer| &answer.models);
    let row = |listed, configured| ModelRow {
        server: &catalog.server,
        listed,
        configured,
        is_missing: listed.is_none() && answer.is_some(),
    };
    let is_same = |entry: &ModelRef, model: &ListedModel| is_same_model(&entry.model, &model.name);
    let mut rows = Vec::new();
    for model in listed {
        let entries = catalog.configured.iter();
        let mut entries = entries.filter(|entry| is_same(entry, model)).peekable();
        if entries.peek().is_none() {
            rows.push(row(Some(model), None));
        }
        rows.extend(entries.map(|entry| row(Some(model), Some(entry))));
    }
    let is_listed = |entry: &ModelRef| listed.iter().any(|model| is_same(entry, model));
    let unlisted = catalog.configured.iter().filter(|entry| !is_listed(entry));
    rows.extend(unlisted.map(|entry| row(None, Some(entry))));
    rows
}

fn words_of(catalog: &ServerCatalog) -> Option<(String, bool)> {
    match &catalog.state {
        CatalogState::Loading => Some(("Loading …".to_owned(), false)),
        CatalogState::Failed(notice) => Some((advice::notice_line(notice), true)),
        CatalogState::Listed(listed) if listed.models.is_empty() => {
            Some(("No models yet.".to_owned(), false))
        }
        CatalogState::Listed(listed) if listed.is_truncated => Some((
            "This server has more models than are listed here.".to_owned(),
            false,
        )),
        CatalogState::Listed(_) => None,
    }
}

/// The model rows, which can be selected.
pub fn model_rows<'a>(catalog: &'a ModelCatalog, filter: &str) -> Vec<ModelRow<'a>> {
    let models = rows(catalog, filter)
        .into_iter()
        .filter_map(|row| match row {
            Row::Model(row) => Some(row),
            Row::Server(_) | Row::Words(..) => None,
        });
    models.collect()
}

/// Would the dialog be empty even without a filter?
pub fn is_nothing_known(catalog: &ModelCatalog) -> bool {
    rows(catalog, "").is_empty()
}

/// `3 models`, `1 model`.
pub fn count_words(count: usize) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} model{plural}")
}

/// Models in the first-run offer. Two more items follow, so all numbers have one digit.
const OFFERED_MAX: usize = 7;

/// An item of the first-run offer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FirstRunItem<'a> {
    Model(&'a ModelServer, &'a ListedModel),
    AnotherServer,
    Demo,
}

/// The items of the first-run offer, in the order of their numbers.
pub fn first_run_items(catalog: &ModelCatalog) -> Vec<FirstRunItem<'_>> {
    let models = catalog.servers.iter().flat_map(|catalog| {
        let listed = catalog
            .listed()
            .into_iter()
            .flat_map(|listed| &listed.models);
        let chats = listed.filter(|model| model.can_chat());
        chats.map(|model| FirstRunItem::Model(&catalog.server, model))
    });
    models
        .take(OFFERED_MAX)
        .chain([FirstRunItem::AnotherServer, FirstRunItem::Demo])
        .collect()
}
