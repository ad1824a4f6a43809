//! The models of all servers as rows, narrowed by a filter.

use crate::domain::facts::is_same_model;
use crate::domain::{ModelRef, ModelServer, ServerModel, Stock, StockState, Stocks};
use crate::tui::advice;

/// A row of the list.
#[derive(Debug, Clone, PartialEq)]
pub enum Row<'a> {
    Server(&'a Stock),
    Model(ModelRow<'a>),
    /// Why the server has no rows, and whether that is a fault.
    Words(String, bool),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelRow<'a> {
    pub server: &'a ModelServer,
    /// None where its server did not list it.
    pub listed: Option<&'a ServerModel>,
    pub configured: Option<&'a ModelRef>,
    /// Its server said what it has.
    pub is_known: bool,
}

impl ModelRow<'_> {
    /// What the server is asked for.
    pub fn model(&self) -> &str {
        let configured = self.configured.map(|entry| entry.model.as_str());
        let listed = self.listed.map(|model| model.name.as_str());
        listed.or(configured).unwrap_or_default()
    }

    /// What a person picks it by.
    pub fn name(&self) -> &str {
        let configured = self.configured.map(|entry| entry.name.as_str());
        configured.unwrap_or_else(|| self.model())
    }

    fn is_meant(&self, wanted: &str) -> bool {
        let facts = self.listed.map(|model| &model.facts);
        let family = facts.and_then(|facts| facts.family.as_deref());
        let abilities = facts.map_or(&[][..], |facts| &facts.capabilities);
        let said = [self.name(), self.model(), family.unwrap_or_default()];
        let abilities = abilities.iter().map(String::as_str);
        let mut said = said.into_iter().chain(abilities);
        wanted.is_empty() || said.any(|word| word.to_lowercase().contains(wanted))
    }
}

/// The rows that a filter lets through.
pub fn rows<'a>(stocks: &'a Stocks, filter: &str) -> Vec<Row<'a>> {
    let wanted = filter.trim().to_lowercase();
    let mut rows = Vec::new();
    for stock in &stocks.servers {
        let models: Vec<_> = models_of(stock)
            .into_iter()
            .filter(|row| row.is_meant(&wanted))
            .collect();
        // An Ollama that nobody configured and that is not there is not missed.
        let is_missed = !stock.configured.is_empty() || stocks.offers;
        let words = words_of(stock).filter(|(_, is_fault)| is_missed || !is_fault);
        if models.is_empty() && (words.is_none() || !wanted.is_empty()) {
            continue;
        }
        rows.push(Row::Server(stock));
        rows.extend(words.map(|(words, is_fault)| Row::Words(words, is_fault)));
        rows.extend(models.into_iter().map(Row::Model));
    }
    rows
}

fn models_of(stock: &Stock) -> Vec<ModelRow<'_>> {
    let server = &stock.server;
    let listed = match &stock.state {
        StockState::Has(catalogue) => catalogue.models.as_slice(),
        _ => &[],
    };
    let mut rows = Vec::new();
    for model in listed {
        let entries = stock.configured.iter();
        let mut entries = entries
            .filter(|entry| is_same_model(&entry.model, &model.name))
            .peekable();
        let row = |configured| ModelRow {
            server,
            listed: Some(model),
            configured,
            is_known: true,
        };
        if entries.peek().is_none() {
            rows.push(row(None));
        }
        rows.extend(entries.map(|entry| row(Some(entry))));
    }
    let is_listed = |entry: &ModelRef| {
        let mut listed = listed.iter();
        listed.any(|model| is_same_model(&entry.model, &model.name))
    };
    let missing = stock.configured.iter().filter(|entry| !is_listed(entry));
    rows.extend(missing.map(|entry| ModelRow {
        server,
        listed: None,
        configured: Some(entry),
        is_known: matches!(stock.state, StockState::Has(_)),
    }));
    rows
}

fn words_of(stock: &Stock) -> Option<(String, bool)> {
    match &stock.state {
        StockState::Asking => Some(("Asking …".to_owned(), false)),
        StockState::Failed(notice) => Some((advice::sentence(notice), true)),
        StockState::Has(catalogue) if catalogue.models.is_empty() => {
            Some(("It has no models yet.".to_owned(), false))
        }
        StockState::Has(catalogue) if catalogue.is_cut => {
            Some(("It has more than are listed here.".to_owned(), false))
        }
        StockState::Has(_) => None,
    }
}

/// The rows that can be chosen.
pub fn choosable<'a>(rows: &[Row<'a>]) -> Vec<ModelRow<'a>> {
    let models = rows.iter().filter_map(|row| match row {
        Row::Model(row) => Some(*row),
        _ => None,
    });
    models.collect()
}

/// Is there nothing at all, whatever is searched for?
pub fn is_nothing_known(stocks: &Stocks) -> bool {
    rows(stocks, "").is_empty()
}

/// Models that only embed are for no conversation.
pub fn can_chat(model: &ServerModel) -> bool {
    model.facts.can("completion") != Some(false)
}

/// `3 models`, `1 model`.
pub fn count_words(count: usize) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} model{plural}")
}

/// Models that a first run offers by number; two more numbers follow.
const OFFERED_MAX: usize = 7;

/// One thing that a first run offers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FirstRunItem<'a> {
    Model(&'a ModelServer, &'a ServerModel),
    AnotherServer,
    Demo,
}

/// What a first run offers, in the order of its numbers.
pub fn first_run_items(stocks: &Stocks) -> Vec<FirstRunItem<'_>> {
    let models = stocks.servers.iter().flat_map(|stock| match &stock.state {
        StockState::Has(catalogue) => catalogue
            .models
            .iter()
            .filter(|model| can_chat(model))
            .map(|model| FirstRunItem::Model(&stock.server, model))
            .collect(),
        _ => Vec::new(),
    });
    let models = models.take(OFFERED_MAX);
    models
        .chain([FirstRunItem::AnotherServer, FirstRunItem::Demo])
        .collect()
}
