//! The output of `humble models`. Text from servers is sanitized here, except in JSON.

use super::advice;
use super::lines::{clean_line, notice_line};
use crate::domain::model::ApiKey;
use crate::domain::model_catalog::format_size;
use crate::domain::{CatalogState, ListedModel, ModelConfig, ServerCatalog};
use crate::text::columns::Columns;
use serde_json::{Value, json};

pub fn render_text(file: &str, configured: &[ModelConfig], servers: &[ServerCatalog]) -> String {
    let mut out = String::new();
    if configured.is_empty() {
        out += &format!("No model is configured in {file}.\n");
        out += "Start `humble` to choose one; `humble demo` needs none.\n";
    } else {
        out += &format!("Configured in {file}:\n");
        out += &table(configured.iter().map(configured_row));
    }
    for catalog in servers {
        let server = &catalog.server;
        out += &format!("\n{} ({})\n", clean_line(&server.url), server.provider);
        match &catalog.state {
            CatalogState::Loading => {}
            CatalogState::Failed(notice) => out += &format!("  {}\n", notice_line(notice)),
            CatalogState::Listed(listed) if listed.models.is_empty() => {
                out += "  It has no models.\n";
            }
            CatalogState::Listed(listed) => {
                out += &table(listed.models.iter().map(listed_row));
                if listed.is_truncated {
                    out += "  … and more that are not shown.\n";
                }
            }
        }
    }
    out
}

fn configured_row(model: &ModelConfig) -> [String; 5] {
    let mark = if model.active { "* " } else { "  " };
    let active = if model.active { "active" } else { "" };
    [
        format!("{mark}{}", model.name),
        model.provider.name().to_owned(),
        model.server().url,
        active.to_owned(),
        key_status(&model.api_key),
    ]
}

fn listed_row(model: &ListedModel) -> [String; 5] {
    let info = &model.info;
    let context_length = info.context_length.map(|tokens| format!("{tokens} tokens"));
    let variant = [&info.family, &info.parameter_size, &info.quantization];
    let variant: Vec<&str> = variant.into_iter().flatten().map(String::as_str).collect();
    let capabilities = info.capabilities.iter().map(String::as_str);
    let loaded = (model.is_loaded == Some(true)).then_some("in memory");
    let traits: Vec<&str> = loaded.into_iter().chain(capabilities).collect();
    [
        format!("  {}", model.name),
        model.bytes.map(format_size).unwrap_or_default(),
        variant.join(" "),
        context_length.unwrap_or_default(),
        traits.join(", "),
    ]
}

fn table(rows: impl Iterator<Item = [String; 5]>) -> String {
    let rows: Vec<_> = rows.map(|row| row.map(|cell| clean_line(&cell))).collect();
    let columns = Columns::fit(&rows);
    let lines = rows.iter().map(|row| columns.format_row(row) + "\n");
    lines.collect()
}

fn key_status(key: &ApiKey) -> String {
    match key {
        ApiKey::NotNeeded => String::new(),
        ApiKey::Known(_) => "key present".to_owned(),
        ApiKey::MissingVariable(name) => format!("key missing: {name} is not set"),
        ApiKey::Unusable(why) => format!("key unusable: {why}"),
    }
}

/// The lists as one JSON object, not sanitized.
pub fn render_json(configured: &[ModelConfig], servers: &[ServerCatalog]) -> Value {
    let configured: Vec<Value> = configured
        .iter()
        .map(|model| {
            let (key, variable) = match &model.api_key {
                ApiKey::NotNeeded => ("not_needed", None),
                ApiKey::Known(_) => ("present", None),
                ApiKey::MissingVariable(name) => ("missing", Some(name)),
                ApiKey::Unusable(_) => ("unusable", None),
            };
            let mut value = json!({
                "name": model.name,
                "model": model.model,
                "provider": model.provider,
                "url": model.server().url,
                "active": model.active,
                "key": key,
            });
            if let Some(variable) = variable {
                value["variable"] = json!(variable);
            }
            value
        })
        .collect();
    let servers: Vec<Value> = servers
        .iter()
        .map(|catalog| {
            let mut value = json!(catalog.server);
            match &catalog.state {
                CatalogState::Loading => {}
                CatalogState::Failed(notice) => value["error"] = json!(advice::notice_line(notice)),
                CatalogState::Listed(listed) => {
                    value["models"] = json!(listed.models);
                    value["is_cut"] = json!(listed.is_truncated);
                }
            }
            value
        })
        .collect();
    json!({"configured": configured, "servers": servers})
}
