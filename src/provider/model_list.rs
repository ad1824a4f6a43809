//! What model servers have and say about it. Each question has a deadline, and each
//! answer a bound; a detail that does not come in time is left out.

use super::error::{Cause, Fault, Garbled};
use super::http::{Http, refusal};
use super::model_info::{from_list, from_props, from_ps, from_show, from_tags, is_llama_cpp};
use super::reply_builder::parse;
use crate::domain::facts::is_same_model;
use crate::domain::{Catalogue, ModelConfig, ModelFacts, ProviderKind, ServerModel};
use crate::http_util::read_body_prefix;
use futures::stream::{self, StreamExt};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

const LOADED_TIME_MAX: Duration = Duration::from_secs(1);
const FACTS_TIME_MAX: Duration = Duration::from_secs(3);
/// A license and a tokenizer may stand in an answer about one model.
const ANSWER_BYTES_MAX: usize = 16 << 20;
/// Models of one server that are listed.
const MODELS_MAX: usize = 500;
/// Questions about single models that are open at once.
const OPEN_MAX: usize = 4;
/// Pages of a list that are asked for; a server that repeats itself ends there.
const PAGES_MAX: usize = 10;
const NO_LIST: Cause = Cause::Garbled(Garbled::NoList);

impl Http {
    /// See [`super::Provider::is_loaded`].
    pub(super) async fn is_loaded(&self, model: &ModelConfig) -> Option<bool> {
        if model.provider != ProviderKind::Ollama {
            return None;
        }
        let asked = timeout(LOADED_TIME_MAX, self.loaded(model)).await;
        let loaded = asked.ok()??;
        Some(
            loaded
                .iter()
                .any(|(name, _)| is_same_model(name, &model.model)),
        )
    }

    /// See [`super::Provider::facts`].
    pub(super) async fn facts(&self, model: &ModelConfig) -> Result<ModelFacts, Fault> {
        let deadline = Instant::now() + FACTS_TIME_MAX;
        let facts = async {
            match model.provider {
                ProviderKind::Ollama => self.ollama_facts(model, deadline).await,
                ProviderKind::OpenAi | ProviderKind::Mistral => {
                    self.listed_facts(model, deadline).await
                }
                ProviderKind::Anthropic | ProviderKind::Scripted => Ok(ModelFacts::default()),
            }
        };
        within(deadline, FACTS_TIME_MAX, facts)
            .await
            .map_err(|cause| Fault::new(model, cause))
    }

    /// See [`super::Provider::catalogue`].
    pub(super) async fn catalogue(
        &self,
        server: &ModelConfig,
        time_max: Duration,
    ) -> Result<Catalogue, Fault> {
        let deadline = Instant::now() + time_max;
        let list = async {
            match server.provider {
                ProviderKind::Ollama => self.ollama_list(server, deadline).await,
                ProviderKind::OpenAi | ProviderKind::Mistral => {
                    let (list, models) = self.list(server).await?;
                    let mut models = models;
                    // A server of one model tells what it has in memory.
                    if let [only] = models.as_mut_slice()
                        && is_llama_cpp(&list)
                        && only.facts.loaded_context.is_none()
                    {
                        only.facts.loaded_context = self.props(server, deadline).await;
                    }
                    Ok((models, false))
                }
                ProviderKind::Anthropic => self.pages(server).await,
                ProviderKind::Scripted => Ok((Vec::new(), false)),
            }
        };
        let listed = within(deadline, time_max, list).await;
        let (mut models, mut is_cut) = listed.map_err(|cause| Fault::new(server, cause))?;
        is_cut |= models.len() > MODELS_MAX;
        models.truncate(MODELS_MAX);
        Ok(Catalogue { models, is_cut })
    }

    async fn ollama_facts(
        &self,
        model: &ModelConfig,
        deadline: Instant,
    ) -> Result<ModelFacts, Cause> {
        let asked = json!({"model": model.model});
        let show = self.json(model, Method::POST, "api/show", Some(&asked));
        // What is in memory is worth no failure: the deadline is a little earlier.
        let loaded = timeout_at(deadline - LOADED_TIME_MAX / 2, self.loaded(model));
        let (show, loaded) = tokio::join!(show, loaded);
        let mut facts = from_show(&show?);
        let loaded = loaded.ok().flatten().unwrap_or_default();
        facts.loaded_context = loaded
            .iter()
            .find(|(name, _)| is_same_model(name, &model.model))
            .and_then(|(_, context)| *context);
        Ok(facts)
    }

    async fn listed_facts(
        &self,
        model: &ModelConfig,
        deadline: Instant,
    ) -> Result<ModelFacts, Cause> {
        let (list, models) = self.list(model).await?;
        let is_only = models.len() == 1;
        // A server of one model answers whatever name it is asked for.
        let found = models
            .into_iter()
            .find(|listed| is_only || listed.name == model.model);
        let mut facts = found.map(|model| model.facts).unwrap_or_default();
        if is_only && is_llama_cpp(&list) && facts.loaded_context.is_none() {
            facts.loaded_context = self.props(model, deadline).await;
        }
        Ok(facts)
    }

    /// The models of an Ollama, and whether it has more than are asked about.
    async fn ollama_list(
        &self,
        server: &ModelConfig,
        deadline: Instant,
    ) -> Result<(Vec<ServerModel>, bool), Cause> {
        let tags = self.json(server, Method::GET, "api/tags", None);
        let loaded = timeout_at(deadline - LOADED_TIME_MAX, self.loaded(server));
        let (tags, loaded) = tokio::join!(tags, loaded);
        let mut models = from_tags(&tags?).ok_or(NO_LIST)?;
        let is_cut = models.len() > MODELS_MAX;
        models.truncate(MODELS_MAX);
        // The list itself must be out before the deadline of the whole.
        let details_until = deadline - Duration::from_millis(250);
        let loaded = loaded.ok().flatten();
        let detailed = models.into_iter().map(|mut model| async {
            let asked = json!({"model": model.name});
            let show = self.json(server, Method::POST, "api/show", Some(&asked));
            if Instant::now() < details_until
                && let Ok(Ok(show)) = timeout_at(details_until, show).await
            {
                let listed = std::mem::replace(&mut model.facts, from_show(&show));
                let facts = &mut model.facts;
                facts.family = facts.family.take().or(listed.family);
                facts.parameter_size = facts.parameter_size.take().or(listed.parameter_size);
                facts.quantization = facts.quantization.take().or(listed.quantization);
            }
            if let Some(loaded) = &loaded {
                let mut loaded = loaded.iter();
                let found = loaded.find(|(name, _)| is_same_model(name, &model.name));
                model.is_loaded = Some(found.is_some());
                model.facts.loaded_context = found.and_then(|(_, context)| *context);
            }
            model
        });
        let models = stream::iter(detailed).buffered(OPEN_MAX).collect().await;
        Ok((models, is_cut))
    }

    /// `/v1/models` as it came, and what it lists.
    async fn list(&self, server: &ModelConfig) -> Result<(Value, Vec<ServerModel>), Cause> {
        let list = self.json(server, Method::GET, "models", None).await?;
        let models = from_list(&list).ok_or(NO_LIST)?;
        Ok((list, models))
    }

    /// Anthropic's list comes in pages, each beginning after the last name before.
    async fn pages(&self, server: &ModelConfig) -> Result<(Vec<ServerModel>, bool), Cause> {
        let mut models = Vec::new();
        let mut path = "models?limit=1000".to_owned();
        for _ in 0..PAGES_MAX {
            let page = self.json(server, Method::GET, &path, None).await?;
            models.extend(from_list(&page).ok_or(NO_LIST)?);
            let has_more = page.get("has_more").and_then(Value::as_bool) == Some(true);
            let last = page.get("last_id").and_then(Value::as_str);
            let Some(last) = last.filter(|_| has_more && models.len() < MODELS_MAX) else {
                return Ok((models, has_more));
            };
            let last: String = url::form_urlencoded::byte_serialize(last.as_bytes()).collect();
            path = format!("models?limit=1000&after_id={last}");
        }
        Ok((models, true))
    }

    /// The context in use at a llama.cpp, whose `/props` stand beside `/v1`.
    async fn props(&self, server: &ModelConfig, deadline: Instant) -> Option<u32> {
        let mut root = server.clone();
        root.base_url = server.base_url.rsplit_once('/')?.0.to_owned();
        let asked = self.json(&root, Method::GET, "props", None);
        let props = timeout_at(deadline - LOADED_TIME_MAX / 2, asked).await;
        from_props(&props.ok()?.ok()?)
    }

    /// What an Ollama has in memory. None where it does not say.
    async fn loaded(&self, server: &ModelConfig) -> Option<Vec<(String, Option<u32>)>> {
        let ps = self.json(server, Method::GET, "api/ps", None).await.ok()?;
        from_ps(&ps)
    }

    /// Asks for one JSON text.
    pub(super) async fn json(
        &self,
        server: &ModelConfig,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, Cause> {
        let response = self.send(server, method, path, body).await?;
        if !response.status().is_success() {
            return Err(refusal(response).await.0);
        }
        let body = read_body_prefix(response, ANSWER_BYTES_MAX).await;
        if body.is_empty() {
            return Err(Cause::Empty);
        }
        parse(&body).map_err(Cause::Garbled)
    }
}

async fn within<T>(
    deadline: Instant,
    whole: Duration,
    work: impl Future<Output = Result<T, Cause>>,
) -> Result<T, Cause> {
    let seconds = whole.as_secs();
    let done = timeout_at(deadline, work).await;
    done.unwrap_or(Err(Cause::Silent { seconds }))
}
