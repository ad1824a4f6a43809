//! Reviews the models of `config.json`. An entry changes as a whole: while any part of it
//! needs consent, the whole entry stays unchanged.

use super::describe::{describe_api_key, escape_newlines, redact_url};
use super::{CONFIG, ChangeReviewer, EarlierEntries};
use crate::config::rejected_edits::model_entry;
use crate::domain::secrets::is_secret_name;
use crate::domain::{ChangeImpact, ModelConfig, SettingsChange};

/// The change to ask about when a model is used for the first time: it shows where
/// conversations would be sent.
pub fn model_use_change(model: &ModelConfig) -> SettingsChange {
    let what = format!("model `{}` would be used from now on", model.name);
    SettingsChange::needs_consent(CONFIG, what, None, Some(destination(model)))
}

/// The file and the entry that [`model_use_change`] is about.
pub fn model_use_entry(model: &ModelConfig) -> (String, String) {
    (CONFIG.to_owned(), model_entry(&model.name))
}

/// Where conversations with a model go, one field per line.
fn destination(model: &ModelConfig) -> String {
    let mut lines = vec![
        format!("provider: {}", model.provider.name()),
        format!("model: {}", escape_newlines(&model.model)),
        format!(
            "baseUrl: {}",
            escape_newlines(&redact_url(&model.base_url, is_secret_name))
        ),
    ];
    lines.extend(model.ca_file.as_ref().map(|file| {
        let file = file.display().to_string();
        format!("caFile: {}", escape_newlines(&file))
    }));
    lines.join("\n")
}

pub(super) fn review_models(
    reviewer: &mut ChangeReviewer,
    before: &[ModelConfig],
    after: &[ModelConfig],
    earlier: &EarlierEntries,
) -> Vec<ModelConfig> {
    let earlier_indexes = matching_models(before, after);
    let mut reviewed = Vec::new();
    for (model, earlier_index) in after.iter().zip(&earlier_indexes) {
        if let Some(old) = earlier_index.map(|index| &before[index]) {
            reviewed.push(review_model(reviewer, old, model));
            continue;
        }
        // To the user, a new entry with the name of a model that was removed in this run would look
        // like that model, even if it uses a different server.
        let namesake = earlier.models.iter().find(|old| old.name == model.name);
        match namesake.filter(|old| model_changes(old, model).iter().any(needs_consent)) {
            Some(old) => {
                review_model(reviewer, old, model);
            }
            None if earlier.is_rejected(CONFIG, &model_entry(&model.name)) => {
                let entry = model_entry(&model.name);
                let what = format!("new model `{}`", model.name);
                let after = Some(destination(model));
                reviewer.add_needing_consent((CONFIG, &entry), what, None, after);
            }
            None => {
                reviewer.add_harmless(CONFIG, format!("model `{}` was added", model.name));
                reviewed.push(model.clone());
            }
        }
    }
    for (index, model) in before.iter().enumerate() {
        if !earlier_indexes.contains(&Some(index)) {
            reviewer.add_harmless(CONFIG, format!("model `{}` was removed", model.name));
        }
    }
    reviewed
}

/// For each model of `after`, the index of its earlier version: the same name, provider and
/// model if possible, else the same name.
fn matching_models(before: &[ModelConfig], after: &[ModelConfig]) -> Vec<Option<usize>> {
    let mut is_matched = vec![false; before.len()];
    let mut earlier_indexes = vec![None; after.len()];
    for by_name_only in [false, true] {
        let is_same = |a: &ModelConfig, b: &ModelConfig| match by_name_only {
            true => a.name == b.name,
            false => a.reference() == b.reference(),
        };
        for (model, earlier_index) in after.iter().zip(&mut earlier_indexes) {
            if earlier_index.is_some() {
                continue;
            }
            let matching = before
                .iter()
                .enumerate()
                .find(|(index, old)| !is_matched[*index] && is_same(old, model));
            if let Some((index, _)) = matching {
                is_matched[index] = true;
                *earlier_index = Some(index);
            }
        }
    }
    earlier_indexes
}

fn needs_consent(change: &SettingsChange) -> bool {
    change.impact == ChangeImpact::NeedsConsent
}

fn review_model(
    reviewer: &mut ChangeReviewer,
    before: &ModelConfig,
    after: &ModelConfig,
) -> ModelConfig {
    let changes = model_changes(before, after);
    let is_pending = changes.iter().any(needs_consent);
    // While any part needs consent, the harmless changes are not applied and not listed.
    let reported = changes
        .into_iter()
        .filter(|change| !is_pending || change.impact == ChangeImpact::NeedsConsent);
    reviewer.changes.extend(reported);
    if is_pending {
        let entry = (CONFIG.to_owned(), model_entry(&after.name));
        reviewer.entries.insert(entry);
    }
    match is_pending {
        true => before.clone(),
        false => after.clone(),
    }
}

fn model_changes(before: &ModelConfig, after: &ModelConfig) -> Vec<SettingsChange> {
    let ModelConfig {
        name,
        model,
        provider,
        base_url,
        api_key,
        options,
        ca_file,
        // Changing these is harmless: see `harmless_changes`.
        active: _,
        context_length: _,
        think: _,
        dialect: _,
        tool_role: _,
        vision: _,
        keep_alive: _,
    } = after;
    let mut changes = Vec::new();
    let mut compare = |field: &str, differs: bool, old: String, new: String| {
        if differs {
            let new = match old == new {
                true => format!("{new}, a different one"),
                false => new,
            };
            let what = format!("model `{name}`, `{field}`");
            let change = SettingsChange::needs_consent(CONFIG, what, Some(old), Some(new));
            changes.push(change);
        }
    };
    // These decide who receives the conversation. Even at the same URL, the owner of the key
    // can read the requests sent with it.
    compare(
        "model",
        before.model != *model,
        before.model.clone(),
        model.clone(),
    );
    let [old, new] = [before.provider, *provider].map(|kind| kind.name().to_owned());
    compare("provider", before.provider != *provider, old, new);
    let [old, new] = [&before.base_url, base_url].map(|text| redact_url(text, is_secret_name));
    compare("baseUrl", before.base_url != *base_url, old, new);
    let [old, new] = [&before.api_key, api_key].map(describe_api_key);
    compare("apiKey", before.api_key != *api_key, old, new);
    let [old, new] = [&before.ca_file, ca_file].map(|file| match file {
        Some(file) => file.display().to_string(),
        None => "none".to_owned(),
    });
    compare("caFile", before.ca_file != *ca_file, old, new);
    if !provider.options_only_tune_sampling() {
        let [old, new] = [&before.options, options]
            .map(|table| serde_json::Value::Object(table.clone()).to_string());
        compare("options", before.options != *options, old, new);
    }
    changes.extend(harmless_changes(before, after));
    changes
}

/// Changes that neither grant permissions nor redirect the conversation.
fn harmless_changes(before: &ModelConfig, after: &ModelConfig) -> Vec<SettingsChange> {
    let are_options_harmless = after.provider.options_only_tune_sampling();
    let fields = [
        ("active", before.active != after.active),
        (
            "contextLength",
            before.context_length != after.context_length,
        ),
        ("think", before.think != after.think),
        ("toolCalls", before.dialect != after.dialect),
        ("toolRole", before.tool_role != after.tool_role),
        ("vision", before.vision != after.vision),
        ("keepAlive", before.keep_alive != after.keep_alive),
        (
            "options",
            before.options != after.options && are_options_harmless,
        ),
    ];
    let differing = fields.into_iter().filter(|(_, differs)| *differs);
    let name = &after.name;
    let descriptions = differing.map(|(field, _)| match field {
        "active" if after.active => format!("new instances start with model `{name}`"),
        "active" => format!("new instances no longer start with model `{name}`"),
        "options" => format!("model `{name}` has different options"),
        _ => format!("model `{name}` has a different {field}"),
    });
    descriptions
        .map(|what| SettingsChange::harmless(CONFIG, what))
        .collect()
}
