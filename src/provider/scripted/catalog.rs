//! The models of scripted servers: listed, pulled and removed like real ones, without a network.

use super::super::error::{FailureCause, ProviderError};
use super::super::pull::{PullProgress, PullStream};
use crate::domain::model_info::is_same_model;
use crate::domain::{ListedModel, ModelConfig, ModelInfo, ModelList};
use crate::sync::lock_ignoring_poison;
use futures::stream;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

/// One step of a scripted pull.
#[derive(Debug, Clone, PartialEq)]
pub enum PullStep {
    At { done: u64, total: u64 },
    Fail(FailureCause),
    Hang,
}

/// Shared by the clones of a script. A server that was not added refuses connections.
#[derive(Debug, Clone, Default)]
pub struct ScriptedCatalog(Arc<Mutex<ScriptedCatalogState>>);

#[derive(Debug, Default)]
struct ScriptedCatalogState {
    /// By base URL; None for a server that never answers.
    servers: HashMap<String, Option<Vec<ListedModel>>>,
    pulls: VecDeque<Vec<PullStep>>,
}

impl ScriptedCatalog {
    pub(in crate::provider) fn stock(&self, url: &str, models: Option<Vec<ListedModel>>) {
        lock_ignoring_poison(&self.0)
            .servers
            .insert(url.to_owned(), models);
    }

    pub(in crate::provider) fn add_pull(&self, steps: Vec<PullStep>) {
        lock_ignoring_poison(&self.0).pulls.push_back(steps);
    }

    /// The names of a server's current models.
    pub fn names(&self, url: &str) -> Vec<String> {
        let inner = lock_ignoring_poison(&self.0);
        let models = inner.servers.get(url).into_iter().flatten().flatten();
        models.map(|model| model.name.clone()).collect()
    }

    pub(in crate::provider) async fn list_models(
        &self,
        server: &ModelConfig,
    ) -> Result<ModelList, ProviderError> {
        let stocked = lock_ignoring_poison(&self.0)
            .servers
            .get(&server.base_url)
            .cloned();
        match stocked {
            None => Err(ProviderError::new(server, FailureCause::ConnectionRefused)),
            Some(None) => std::future::pending().await,
            Some(Some(models)) => Ok(ModelList {
                models,
                is_truncated: false,
            }),
        }
    }

    /// Empty for a model that no server has.
    pub(in crate::provider) fn facts(&self, model: &ModelConfig) -> ModelInfo {
        let inner = lock_ignoring_poison(&self.0);
        let models = inner.servers.get(&model.base_url).into_iter();
        let found = models
            .flatten()
            .flatten()
            .find(|one| is_same_model(&one.name, &model.model));
        found.map(|one| one.info.clone()).unwrap_or_default()
    }

    pub(in crate::provider) fn pull(&self, server: &ModelConfig, name: &str) -> PullStream {
        let steps = lock_ignoring_poison(&self.0)
            .pulls
            .pop_front()
            .unwrap_or_default();
        let state = (self.clone(), server.clone(), name.to_owned(), steps);
        let steps = stream::unfold(Some(state), |state| async {
            let (shelf, server, name, mut steps) = state?;
            if steps.is_empty() {
                let mut inner = lock_ignoring_poison(&shelf.0);
                let models = inner
                    .servers
                    .entry(server.base_url.clone())
                    .or_default()
                    .get_or_insert_default();
                models.push(ListedModel {
                    name,
                    ..ListedModel::default()
                });
                return None;
            }
            match steps.remove(0) {
                PullStep::At { done, total } => {
                    let progress = PullProgress {
                        status: "pulling".to_owned(),
                        done,
                        total,
                    };
                    Some((Ok(progress), Some((shelf, server, name, steps))))
                }
                PullStep::Fail(cause) => Some((Err(ProviderError::new(&server, cause)), None)),
                PullStep::Hang => std::future::pending().await,
            }
        });
        PullStream::new(steps)
    }

    pub(in crate::provider) fn remove(
        &self,
        server: &ModelConfig,
        name: &str,
    ) -> Result<(), ProviderError> {
        let mut inner = lock_ignoring_poison(&self.0);
        let models = inner
            .servers
            .get_mut(&server.base_url)
            .and_then(Option::as_mut);
        let at = models
            .as_ref()
            .and_then(|models| models.iter().position(|one| is_same_model(&one.name, name)));
        match (models, at) {
            (Some(models), Some(at)) => {
                models.remove(at);
                Ok(())
            }
            _ => Err(ProviderError::new(
                server,
                FailureCause::Status {
                    status: 404,
                    message: Some(format!("model '{name}' not found")),
                    retry_after: None,
                    path: None,
                },
            )),
        }
    }
}
