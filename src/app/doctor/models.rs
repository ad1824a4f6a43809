//! Asks each model server for its models, all at the same time.

use super::report::Check;
use crate::config::{self, ConfigLoad, KnownServer};
use crate::domain::model::ApiKey;
use crate::domain::model_info::{ModelList, is_same_model};
use crate::domain::{ModelConfig, Notice, ProviderKind};
use crate::provider::Provider;
use futures::future::join_all;
use std::time::Duration;

const LIST_TIMEOUT: Duration = Duration::from_secs(5);

/// One check for each server and one for each of its configured models that cannot be used. The
/// model of the notes gets a check of its own.
pub async fn model_checks(load: &ConfigLoad, provider: &Provider) -> Vec<Check> {
    let settings = &load.snapshot.settings;
    let embedding_model = settings.notes().embedding_model;
    let servers = config::model_servers(&settings.models);
    let listings = servers.into_iter().map(|server| async move {
        let listed = provider.list_models(&server.config, LIST_TIMEOUT).await;
        let listed = listed.map_err(|error| error.notice());
        server_checks(&settings.models, &server, &listed)
    });
    let embedding = async {
        match embedding_model.as_deref() {
            Some(model) => Some(embedding_check(model, provider).await),
            // Without a notes folder, nothing is embedded.
            None => settings.notes.vault.is_some().then(no_embedding_model),
        }
    };
    let (checks, embedding) = tokio::join!(join_all(listings), embedding);
    let mut checks = checks.concat();
    if settings.models.is_empty() {
        let advice = "Start `humble` to choose one; `humble demo` needs none.";
        checks.push(Check::problem("models", "No model is configured.", advice));
    }
    checks.extend(embedding);
    checks
}

fn no_embedding_model() -> Check {
    Check::skipped(
        "embedding model",
        "None is configured, so notes are found by their words.",
        "Set `notes.embedModel` in config.json to find them by meaning too.",
    )
}

type Listed = Result<ModelList, Notice>;

fn server_checks(models: &[ModelConfig], server: &KnownServer, listed: &Listed) -> Vec<Check> {
    let model_server = server.config.server();
    let url = model_server.url.as_str();
    let address = url.split_once("://").map_or(url, |(_, address)| address);
    let subject = format!("model server {address}");
    let mut checks = Vec::new();
    match listed {
        Ok(list) => checks.push(Check::ok(
            subject,
            super::settings::counted(list.models.len(), "model"),
        )),
        Err(notice) => {
            let advice = "Start the server, or correct `baseUrl` in config.json.";
            checks.push(Check::from_notice(subject, notice, advice));
        }
    }
    let on_server = models.iter().filter(|model| model.server() == model_server);
    for model in on_server {
        checks.extend(key_problem(model).or_else(|| {
            let list = listed.as_ref().ok()?;
            Some(presence_check(format!("model {}", model.name), model, list))
        }));
    }
    checks
}

fn key_problem(model: &ModelConfig) -> Option<Check> {
    let subject = format!("model {}", model.name);
    match &model.api_key {
        ApiKey::NotNeeded | ApiKey::Known(_) => None,
        ApiKey::MissingVariable(name) => Some(Check::problem(
            subject,
            format!("Its API key is missing: {name} is not set."),
            format!("Set {name} before you start humble, or `apiKey` in config.json."),
        )),
        ApiKey::Unusable(why) => Some(Check::problem(
            subject,
            format!("Its API key cannot be used: {why}."),
            "Correct `apiKey` in config.json.",
        )),
    }
}

async fn embedding_check(model: &ModelConfig, provider: &Provider) -> Check {
    match provider.list_models(model, LIST_TIMEOUT).await {
        Ok(list) => presence_check("embedding model".to_owned(), model, &list),
        Err(error) => {
            let advice = "Start the server, or change `notes.embedModel` in config.json.";
            Check::from_notice("embedding model", &error.notice(), advice)
        }
    }
}

/// Lists of hosted servers may be incomplete, so there a missing model is only a warning.
fn presence_check(subject: String, model: &ModelConfig, list: &ModelList) -> Check {
    let name = &model.model;
    let is_listed = list
        .models
        .iter()
        .any(|listed| is_same_model(&listed.name, name));
    let finding = format!("The server does not list {name}.");
    match model.provider {
        _ if is_listed => Check::ok(subject, format!("{name} is there")),
        ProviderKind::Ollama if !list.is_truncated => {
            let advice = format!("Download it with `humble models pull {name}`.");
            Check::problem(subject, finding, advice)
        }
        _ => {
            let advice = "`humble models` shows its models; correct `model` in config.json.";
            Check::warning(subject, finding, advice)
        }
    }
}
