//! The selected model (`select`), the catalogs of model servers (`catalog`), adding models to
//! the settings (`add`), pulling and removing models (`pull`).

mod add;
pub(super) mod catalog;
pub(super) mod pull;
pub(super) mod select;

use super::context::ContextBudget;
use super::cx::EngineCx;
use crate::config::KnownServer;
use crate::domain::{
    Advice, ModelConfig, ModelList, ModelRef, ModelServer, NewServerError, Notice, Pull, QueryId,
};
use crate::protocol::Event;
use crate::provider::{ProviderError, PullProgress};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

const EVENTS_MAX: usize = 64;

pub(super) struct ModelRegistry {
    current: Option<Arc<ModelConfig>>,
    pub(super) context: ContextBudget,
    servers: Vec<KnownServer>,
    /// The settings list no model, so discovered models are offered. Choosing one adds it to
    /// the settings.
    offers_discovered: bool,
    pull: Option<ActivePull>,
    catalog_requests: JoinSet<()>,
    /// The listing of a server that is not configured yet; dropping it stops it.
    new_server_listing: Option<AbortOnDropHandle<()>>,
    tasks: JoinSet<()>,
    sender: mpsc::Sender<ModelTaskEvent>,
    events: mpsc::Receiver<ModelTaskEvent>,
}

#[derive(Debug)]
pub(super) enum ModelTaskEvent {
    Listed(ModelServer, Result<ModelList, ProviderError>),
    NewServerListed(QueryId, Result<ModelList, NewServerError>),
    Pulling(PullProgress),
    Pulled(Result<(), ProviderError>),
    Removed(ModelServer, String, Result<(), ProviderError>),
    /// The model does not support thinking; these are its capabilities.
    ThinkUnsupported(ModelRef, Vec<String>),
}

/// Dropping it stops the pull.
struct ActivePull {
    pull: Pull,
    _task: AbortOnDropHandle<()>,
}

impl Default for ModelRegistry {
    fn default() -> Self {
        let (sender, events) = mpsc::channel(EVENTS_MAX);
        Self {
            current: None,
            context: ContextBudget::default(),
            servers: Vec::new(),
            offers_discovered: false,
            pull: None,
            catalog_requests: JoinSet::new(),
            new_server_listing: None,
            tasks: JoinSet::new(),
            sender,
            events,
        }
    }
}

impl ModelRegistry {
    pub(super) fn current(&self) -> Option<&Arc<ModelConfig>> {
        self.current.as_ref()
    }

    /// Empty if no model is selected.
    pub(super) fn current_name(&self) -> String {
        let current = self.current.as_ref();
        current.map_or_else(String::new, |model| model.name.clone())
    }

    /// Runs a task that reports at most one event.
    fn spawn_task(&mut self, task: impl Future<Output = Option<ModelTaskEvent>> + Send + 'static) {
        // Reap finished tasks.
        while self.tasks.try_join_next().is_some() {}
        let sender = self.sender.clone();
        self.tasks.spawn(async move {
            if let Some(event) = task.await {
                let _ = sender.send(event).await;
            }
        });
    }

    /// Cancel-safe.
    pub(super) async fn next_event(&mut self) -> ModelTaskEvent {
        match self.events.recv().await {
            Some(event) => event,
            // Unreachable: `self.sender` keeps the channel open.
            None => std::future::pending().await,
        }
    }

    pub(super) fn handle_task_event(&mut self, event: ModelTaskEvent, cx: &mut EngineCx) {
        match event {
            ModelTaskEvent::Listed(server, result) => self.handle_catalog(&server, result, cx),
            ModelTaskEvent::NewServerListed(query, result) => {
                let result = result.map(Arc::new);
                cx.outbox.push(Event::ServerModelsListed { query, result });
            }
            ModelTaskEvent::Pulling(progress) => self.handle_pull_progress(progress, cx),
            ModelTaskEvent::Pulled(result) => self.handle_pull_ended(result, cx),
            ModelTaskEvent::Removed(server, name, result) => {
                self.handle_model_removed(&server, &name, result, cx);
            }
            ModelTaskEvent::ThinkUnsupported(model, capabilities) => {
                self.undo_set_think(&model, &capabilities, cx);
            }
        }
    }
}

/// Drops the advice if it suggests `/retry`: no prompt failed here, so that would resend an
/// older one.
pub(super) fn without_retry(mut notice: Notice) -> Notice {
    let retries = [Advice::Retry, Advice::RetryLater];
    if notice.advice.iter().any(|advice| retries.contains(advice)) {
        notice.advice.clear();
    }
    notice
}
