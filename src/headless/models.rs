//! What `humble models` prints. Names and words of servers are made clean here.

use crate::domain::model::ApiKey;
use crate::domain::model_catalog::size_words;
use crate::domain::{ModelRef, ServerModel, Stock, StockState};
use crate::headless::advice;
use crate::text::Clean;
use crate::text::grapheme::width;
use serde_json::{Value, json};

/// A model of `config.json`, and how it stands with its key.
pub struct ConfiguredModel {
    pub model: ModelRef,
    /// Of its server, without credentials.
    pub url: String,
    pub is_active: bool,
    pub key: ApiKey,
}

/// One line of words, some of which may be a server's.
pub fn clean_line(words: &str) -> String {
    Clean::single_line(words).as_str().to_owned()
}

/// The list for a person.
pub fn render_text(file: &str, configured: &[ConfiguredModel], stocks: &[Stock]) -> String {
    let mut out = String::new();
    if configured.is_empty() {
        out += &format!("No model is configured in {file}.\n");
        out += "Start `humble` to choose one; `humble demo` needs none.\n";
    } else {
        out += &format!("Configured in {file}:\n");
        let rows = configured.iter().map(|one| {
            let mark = if one.is_active { "* " } else { "  " };
            let active = if one.is_active { "active" } else { "" };
            [
                format!("{mark}{}", one.model.name),
                one.model.provider.name().to_owned(),
                one.url.clone(),
                active.to_owned(),
                key_status(&one.key),
            ]
        });
        out += &align_rows(rows.collect());
    }
    for stock in stocks {
        let server = &stock.server;
        out += &format!("\n{} ({})\n", clean_line(&server.url), server.provider);
        match &stock.state {
            StockState::Asking => {}
            StockState::Failed(notice) => {
                out += &format!("  {}\n", clean_line(&advice::notice_line(notice)))
            }
            StockState::Has(catalogue) if catalogue.models.is_empty() => {
                out += "  It has no models.\n";
            }
            StockState::Has(catalogue) => {
                out += &align_rows(catalogue.models.iter().map(model_columns).collect());
                if catalogue.is_cut {
                    out += "  … and more than are listed here.\n";
                }
            }
        }
    }
    out
}

fn model_columns(model: &ServerModel) -> [String; 5] {
    let facts = &model.facts;
    let length = facts
        .context_length
        .map(|tokens| format!("{tokens} tokens"));
    let size = [&facts.family, &facts.parameter_size, &facts.quantization];
    let size: Vec<&str> = size.into_iter().flatten().map(String::as_str).collect();
    let abilities = facts.capabilities.iter().map(String::as_str);
    let loaded = (model.is_loaded == Some(true)).then_some("in memory");
    let abilities: Vec<&str> = loaded.into_iter().chain(abilities).collect();
    [
        format!("  {}", model.name),
        model.bytes.map(size_words).unwrap_or_default(),
        size.join(" "),
        length.unwrap_or_default(),
        abilities.join(", "),
    ]
}

/// Rows with their columns below one another; an empty column takes no room.
fn align_rows(rows: Vec<[String; 5]>) -> String {
    let rows: Vec<[String; 5]> = rows
        .into_iter()
        .map(|row| row.map(|cell| clean_line(&cell)))
        .collect();
    let widest = |column: usize| {
        rows.iter()
            .map(|row| width(&row[column]))
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..5).map(widest).collect();
    let mut out = String::new();
    for row in &rows {
        let mut words = String::new();
        for (cell, columns) in row.iter().zip(&widths).filter(|(_, columns)| **columns > 0) {
            words += cell;
            words += &" ".repeat(columns - width(cell) + 2);
        }
        out += words.trim_end();
        out.push('\n');
    }
    out
}

fn key_status(key: &ApiKey) -> String {
    match key {
        ApiKey::NotNeeded => String::new(),
        ApiKey::Known(_) => "key present".to_owned(),
        ApiKey::MissingVariable(name) => format!("key missing: {name} is not set"),
        ApiKey::Unusable(why) => format!("key unusable: {why}"),
    }
}

/// The same for programs: one object, its text raw.
pub fn render_json(configured: &[ConfiguredModel], stocks: &[Stock]) -> String {
    let configured: Vec<Value> = configured
        .iter()
        .map(|one| {
            let (key, variable) = match &one.key {
                ApiKey::NotNeeded => ("not_needed", None),
                ApiKey::Known(_) => ("present", None),
                ApiKey::MissingVariable(name) => ("missing", Some(name)),
                ApiKey::Unusable(_) => ("unusable", None),
            };
            let mut value = json!({
                "name": one.model.name,
                "model": one.model.model,
                "provider": one.model.provider,
                "url": one.url,
                "active": one.is_active,
                "key": key,
            });
            if let Some(variable) = variable {
                value["variable"] = json!(variable);
            }
            value
        })
        .collect();
    let servers: Vec<Value> = stocks
        .iter()
        .map(|stock| {
            let mut value = json!(stock.server);
            match &stock.state {
                StockState::Asking => {}
                StockState::Failed(notice) => value["error"] = json!(advice::notice_line(notice)),
                StockState::Has(catalogue) => {
                    value["models"] = json!(catalogue.models);
                    value["is_cut"] = json!(catalogue.is_cut);
                }
            }
            value
        })
        .collect();
    format!(
        "{}\n",
        json!({"configured": configured, "servers": servers})
    )
}
