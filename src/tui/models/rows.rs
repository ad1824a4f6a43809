//! The model catalog as filtered rows of the picker, and as items of the first-run choice.

use crate::domain::model_info::is_same_model;
use crate::domain::{
    CatalogState, ListedModel, ModelCatalog, ModelRef, ModelServer, ServerCatalog,
};
use crate::front_end::advice;
use crate::front_end::engine_state::EngineState;

/// Everything that the picker lists.
#[derive(Debug, Clone, Copy)]
pub struct KnownModels<'a> {
    pub catalog: &'a ModelCatalog,
    /// The models of `config.json`, in its order. Their numbers count from 1.
    pub configured: &'a [ModelRef],
    pub selected: Option<&'a ModelRef>,
    pub selected_server: Option<&'a ModelServer>,
}

impl<'a> KnownModels<'a> {
    pub fn new(engine: &'a EngineState) -> Self {
        Self {
            catalog: &engine.catalog,
            configured: &engine.models,
            selected: engine.selected.as_ref(),
            selected_server: engine.selected_server.as_ref(),
        }
    }

    pub fn is_in_use(&self, row: &ModelRow<'_>) -> bool {
        let Some(selected) = self.selected else {
            return false;
        };
        match row.configured {
            Some(entry) => entry == selected,
            None => {
                row.server == self.selected_server && is_same_model(row.model(), &selected.model)
            }
        }
    }

    /// The number of a model in `/set-model NUMBER`.
    pub fn number(&self, model: &ModelRef) -> Option<usize> {
        let mut models = self.configured.iter();
        models.position(|known| known == model).map(|at| at + 1)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum ModelListRow<'a> {
    Server(&'a ServerCatalog),
    Choice(ModelListChoice<'a>),
    /// The progress or outcome of listing a server's models, and whether it is an error.
    ServerStatus(String, bool),
}

/// A row that can be selected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ModelListChoice<'a> {
    Model(ModelRow<'a>),
    Action(PickerAction),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PickerAction {
    /// Number 0. Keeps the current model, if there is one.
    KeepCurrent,
    Pull,
    AddServer,
    Demo,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelRow<'a> {
    /// `None` until the catalog has the server of a configured model.
    pub server: Option<&'a ModelServer>,
    /// `None` if the server does not list the model or has not answered.
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

    /// Whether two rows, possibly from different catalogs, are about the same model.
    fn is_same(&self, other: &Self) -> bool {
        match (self.configured, other.configured) {
            (Some(entry), Some(other)) => entry == other,
            _ => self.server == other.server && self.model() == other.model(),
        }
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

impl ModelListChoice<'_> {
    /// Whether two rows, possibly from different catalogs, are the same choice.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Model(row), Self::Model(other)) => row.is_same(other),
            (Self::Action(action), Self::Action(other)) => action == other,
            _ => false,
        }
    }
}

/// The rows that match a filter. The actions follow the models.
pub fn rows<'a>(known: KnownModels<'a>, filter: &str) -> Vec<ModelListRow<'a>> {
    let wanted = filter.trim().to_lowercase();
    let mut rows = Vec::new();
    let catalog = known.catalog;
    for server in &catalog.servers {
        let mut models = models_of(server);
        models.retain(|row| row.matches(&wanted));
        // An Ollama server that is not configured may be absent; that is not an error.
        let is_expected = !server.configured.is_empty() || catalog.offers_discovered;
        let words = server_status(server).filter(|(_, is_error)| is_expected || !is_error);
        if models.is_empty() && (words.is_none() || !wanted.is_empty()) {
            continue;
        }
        rows.push(ModelListRow::Server(server));
        rows.extend(words.map(|(words, is_error)| ModelListRow::ServerStatus(words, is_error)));
        rows.extend(
            models
                .into_iter()
                .map(|row| ModelListRow::Choice(ModelListChoice::Model(row))),
        );
    }
    let servers = catalog.servers.iter();
    let without_server = known.configured.iter().filter(|model| {
        let mut servers = servers.clone();
        !servers.any(|server| server.configured.contains(model))
    });
    let without_server = without_server.map(|model| ModelRow {
        server: None,
        listed: None,
        configured: Some(model),
        is_missing: false,
    });
    let without_server = without_server.filter(|row| row.matches(&wanted));
    rows.extend(without_server.map(|row| ModelListRow::Choice(ModelListChoice::Model(row))));
    let actions = actions(known, wanted.is_empty());
    rows.extend(actions.map(|action| ModelListRow::Choice(ModelListChoice::Action(action))));
    rows
}

/// A filtered list offers only the actions that may lead to the missing model.
fn actions(known: KnownModels, is_unfiltered: bool) -> impl Iterator<Item = PickerAction> {
    [
        (PickerAction::KeepCurrent, is_unfiltered),
        (PickerAction::Pull, true),
        (PickerAction::AddServer, true),
        (
            PickerAction::Demo,
            is_unfiltered && known.catalog.offers_discovered,
        ),
    ]
    .into_iter()
    .filter_map(|(action, is_offered)| is_offered.then_some(action))
}

/// One server's models: each listed one with its entries, then the entries that it does not list.
fn models_of(catalog: &ServerCatalog) -> Vec<ModelRow<'_>> {
    let answer = catalog.listed();
    let listed = answer.map_or(&[][..], |answer| &answer.models);
    let row = |listed, configured| ModelRow {
        server: Some(&catalog.server),
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

fn server_status(catalog: &ServerCatalog) -> Option<(String, bool)> {
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

/// The rows that can be selected.
pub fn choices<'a>(known: KnownModels<'a>, filter: &str) -> Vec<ModelListChoice<'a>> {
    let choices = rows(known, filter).into_iter().filter_map(|row| match row {
        ModelListRow::Choice(choice) => Some(choice),
        ModelListRow::Server(_) | ModelListRow::ServerStatus(..) => None,
    });
    choices.collect()
}

/// `3 models`, `1 model`.
pub fn model_count(count: usize) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} model{plural}")
}

// Labels of the picker and of the first-run choice.
pub const ADD_SERVER_LABEL: &str =
    "Another server: Ollama, OpenAI-compatible, Mistral, Anthropic …";
pub const DEMO_LABEL: &str = "Look around: the demo needs nothing";

pub const IMPORT_LABEL: &str = "Import MCP servers from Claude Desktop, Cursor, VS Code …";

/// Models in the first-run choice. Three more items follow, so all numbers have one digit.
const OFFERED_MODELS_MAX: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FirstRunItem<'a> {
    Model(&'a ModelServer, &'a ListedModel),
    /// Offered if a server answers but lists no model that can chat.
    Pull,
    AnotherServer,
    ImportServers,
    Demo,
}

/// The items of the first-run choice, in the order of their numbers.
pub fn first_run_items(catalog: &ModelCatalog) -> Vec<FirstRunItem<'_>> {
    let listings = catalog
        .servers
        .iter()
        .filter_map(|catalog| Some((&catalog.server, catalog.listed()?)));
    let models = listings.clone().flat_map(|(server, listed)| {
        let chats = listed.models.iter().filter(|model| model.can_chat());
        chats.map(move |model| FirstRunItem::Model(server, model))
    });
    let mut items: Vec<_> = models.take(OFFERED_MODELS_MAX).collect();
    if items.is_empty() && listings.clone().next().is_some() {
        items.push(FirstRunItem::Pull);
    }
    items.extend([
        FirstRunItem::AnotherServer,
        FirstRunItem::ImportServers,
        FirstRunItem::Demo,
    ]);
    items
}
