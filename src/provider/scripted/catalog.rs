//! Scripted servers, whose models are listed, pulled and removed without a network.

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
    Progress { done: u64, total: u64 },
    Fail(FailureCause),
    Hang,
}

/// The scripted servers and pulls, shared by the clones of a script. Listing the models of a server
/// that was not added fails, as if it refused connections.
#[derive(Debug, Clone, Default)]
pub struct ScriptedCatalog(Arc<Mutex<ScriptedCatalogState>>);

#[derive(Debug, Default)]
struct ScriptedCatalogState {
    /// By base URL; `None` for a server that never answers.
    servers: HashMap<String, Option<Vec<ListedModel>>>,
    pulls: VecDeque<Vec<PullStep>>,
}

impl ScriptedCatalog {
    /// With `None`, the server never answers.
    pub(in crate::provider) fn add_server(&self, url: &str, models: Option<Vec<ListedModel>>) {
        lock_ignoring_poison(&self.0)
            .servers
            .insert(url.to_owned(), models);
    }

    pub(in crate::provider) fn add_pull(&self, steps: Vec<PullStep>) {
        lock_ignoring_poison(&self.0).pulls.push_back(steps);
    }

    /// The names of a server's current models.
    pub fn model_names(&self, url: &str) -> Vec<String> {
        let state = lock_ignoring_poison(&self.0);
        let models = state.servers.get(url).into_iter().flatten().flatten();
        models.map(|model| model.name.clone()).collect()
    }

    pub(in crate::provider) async fn list_models(
        &self,
        server: &ModelConfig,
    ) -> Result<ModelList, ProviderError> {
        let models = lock_ignoring_poison(&self.0)
            .servers
            .get(&server.base_url)
            .cloned();
        match models {
            None => Err(ProviderError::new(server, FailureCause::ConnectionRefused)),
            Some(None) => std::future::pending().await,
            Some(Some(models)) => Ok(ModelList {
                models,
                is_truncated: false,
            }),
        }
    }

    /// Empty if the server does not have the model.
    pub(in crate::provider) fn model_info(&self, model: &ModelConfig) -> ModelInfo {
        let state = lock_ignoring_poison(&self.0);
        let models = state.servers.get(&model.base_url).into_iter();
        let listed = models
            .flatten()
            .flatten()
            .find(|listed| is_same_model(&listed.name, &model.model));
        listed.map(|listed| listed.info.clone()).unwrap_or_default()
    }

    pub(in crate::provider) fn pull(&self, server: &ModelConfig, name: &str) -> PullStream {
        let steps = lock_ignoring_poison(&self.0)
            .pulls
            .pop_front()
            .unwrap_or_default();
        let state = (self.clone(), server.clone(), name.to_owned(), steps);
        let steps = stream::unfold(Some(state), |state| async {
            let (catalog, server, name, mut steps) = state?;
            if steps.is_empty() {
                let mut catalog_state = lock_ignoring_poison(&catalog.0);
                let models = catalog_state
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
                PullStep::Progress { done, total } => {
                    let progress = PullProgress {
                        status: "pulling".to_owned(),
                        done,
                        total,
                    };
                    Some((Ok(progress), Some((catalog, server, name, steps))))
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
        let mut state = lock_ignoring_poison(&self.0);
        let models = state
            .servers
            .get_mut(&server.base_url)
            .and_then(Option::as_mut);
        let index = models.as_ref().and_then(|models| {
            let mut models = models.iter();
            models.position(|listed| is_same_model(&listed.name, name))
        });
        match (models, index) {
            (Some(models), Some(index)) => {
                models.remove(index);
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
