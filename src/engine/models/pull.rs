//! Pulls models to an Ollama server and removes them. One pull runs at a time, in the
//! background. It stops when the program ends.

use super::{ActivePull, ModelRegistry, ModelTaskEvent, without_retry};
use crate::config;
use crate::domain::model_catalog::{format_size, invalid_name_notice};
use crate::domain::model_info::is_same_model;
use crate::domain::{Advice, ModelConfig, ModelServer, Notice, Pull};
use crate::engine::cx::EngineCx;
use crate::engine::questions::PendingQuestion;
use crate::protocol::{Event, QuestionOwner, UserChoice};
use crate::provider::{FailureCause, ProviderError, PullProgress};
use crate::questions;
use futures::StreamExt;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

/// Minimum time between two progress reports with the same status.
const PROGRESS_INTERVAL_MIN: Duration = Duration::from_millis(100);

impl ModelRegistry {
    pub fn pull_model(&mut self, server: Option<ModelServer>, name: &str, cx: &mut EngineCx) {
        let name = name.trim();
        if let Some(active) = &self.pull {
            let other = active.pull.name.clone();
            let notice = Notice::warning(format!("`{other}` is already being pulled."));
            return cx.notice(notice.with_advice(Advice::StopPull));
        }
        if let Some(notice) = invalid_name_notice(name) {
            return cx.notice(notice);
        }
        let Some(ollama) = self.ollama_config(server.as_ref(), "pull models", cx) else {
            return;
        };
        let server = ollama.server();
        let mut stream = cx.provider.pull(&ollama, name);
        let sender = self.sender.clone();
        let task = tokio::spawn(async move {
            let mut last_report: Option<(Instant, String)> = None;
            let result = loop {
                match stream.next().await {
                    None => break Ok(()),
                    Some(Err(error)) => break Err(error),
                    Some(Ok(progress)) => {
                        let is_due = last_report.as_ref().is_none_or(|(at, status)| {
                            at.elapsed() >= PROGRESS_INTERVAL_MIN || *status != progress.status
                        });
                        if is_due {
                            last_report = Some((Instant::now(), progress.status.clone()));
                            let _ = sender.send(ModelTaskEvent::Pulling(progress)).await;
                        }
                    }
                }
            };
            let _ = sender.send(ModelTaskEvent::Pulled(result)).await;
        });
        self.pull = Some(ActivePull {
            pull: Pull {
                server,
                name: name.to_owned(),
                status: "asking".to_owned(),
                done: 0,
                total: 0,
            },
            _task: AbortOnDropHandle::new(task),
        });
        self.push_pull(cx);
    }

    fn push_pull(&mut self, cx: &mut EngineCx) {
        let pull = self.pull.as_ref().map(|active| active.pull.clone());
        cx.outbox.push(Event::PullChanged(pull));
    }

    /// The configuration for requests to an Ollama server. Without `server`, this is the server of
    /// the selected model, of the first configured Ollama model, or the local one. Notifies the user
    /// if `server` is not a known Ollama server.
    fn ollama_config(
        &mut self,
        server: Option<&ModelServer>,
        action: &str,
        cx: &mut EngineCx,
    ) -> Option<ModelConfig> {
        let config = match server {
            None => {
                let candidates = self
                    .current
                    .as_deref()
                    .into_iter()
                    .chain(&cx.settings.models);
                Some(config::server_for_pulls(&cx.home, candidates))
            }
            Some(server) => self.config_of(server, cx),
        };
        let ollama = config.filter(|config| config.provider.manages_models());
        if ollama.is_none() {
            let notice = Notice::warning(format!("Only an Ollama server can {action}."));
            cx.notice(notice);
        }
        ollama
    }

    pub fn handle_pull_progress(&mut self, progress: PullProgress, cx: &mut EngineCx) {
        let Some(active) = &mut self.pull else {
            return;
        };
        active.pull.status = progress.status;
        active.pull.done = progress.done;
        active.pull.total = progress.total;
        self.push_pull(cx);
    }

    pub fn handle_pull_ended(&mut self, result: Result<(), ProviderError>, cx: &mut EngineCx) {
        let Some(active) = self.pull.take() else {
            // The pull was stopped meanwhile.
            return;
        };
        self.push_pull(cx);
        let Pull { name, total, .. } = active.pull;
        match result {
            Ok(()) => {
                let size = match total {
                    0 => String::new(),
                    total => format!(" ({})", format_size(total)),
                };
                let notice = Notice::info(format!("Pulled {name}{size}."));
                cx.notice(notice.with_advice(Advice::UsePulledModel));
                self.list_catalog(cx);
            }
            Err(error) => cx.notice(pull_failed(&name, &error)),
        }
    }

    pub fn stop_pull(&mut self, cx: &mut EngineCx) {
        let Some(active) = self.pull.take() else {
            return cx.notice(Notice::info("No model is being pulled."));
        };
        self.push_pull(cx);
        let name = active.pull.name;
        let notice = Notice::info(format!("Stopped pulling {name}."));
        cx.notice(notice.with_advice(Advice::ResumePull(name)));
    }

    pub fn remove_model(
        &mut self,
        server: Option<ModelServer>,
        name: String,
        turn_model: Option<&ModelConfig>,
        cx: &mut EngineCx,
    ) {
        let Some(ollama) = self.ollama_config(server.as_ref(), "remove models", cx) else {
            return;
        };
        let server = ollama.server();
        if !self.check_removable(&server, &name, turn_model, cx) {
            return;
        }
        let listed = self.listed_model(&server, &name);
        if listed.is_none() && self.has_complete_catalog(&server) {
            let notice = Notice::warning(format!("{} has no model `{name}`.", server.url));
            return cx.notice(notice.with_advice(Advice::ListModels));
        }
        let bytes = listed.and_then(|model| model.bytes);
        let current = self.current.as_ref();
        let is_in_use = current.is_some_and(|model| model.is_listed_as(&server, &name));
        let question = questions::remove_model(&server, &name, bytes, is_in_use);
        let pending = PendingQuestion::RemoveModel { server, name };
        cx.ask(QuestionOwner::Program, question, pending);
    }

    /// Whether the model may be removed: not while it is answering (`turn_model`) or being
    /// pulled. The user is notified otherwise.
    fn check_removable(
        &mut self,
        server: &ModelServer,
        name: &str,
        turn_model: Option<&ModelConfig>,
        cx: &mut EngineCx,
    ) -> bool {
        let is_answering = turn_model.is_some_and(|model| model.is_listed_as(server, name));
        if is_answering {
            let notice = Notice::warning(format!("`{name}` is answering."));
            cx.notice(notice.with_advice(Advice::WaitOrStop));
        }
        let is_pulled = self.pull.as_ref().is_some_and(|active| {
            active.pull.server == *server && is_same_model(&active.pull.name, name)
        });
        if is_pulled {
            let notice = Notice::warning(format!("`{name}` is being pulled."));
            cx.notice(notice.with_advice(Advice::StopPull));
        }
        !is_answering && !is_pulled
    }

    pub fn handle_remove_answer(
        &mut self,
        server: ModelServer,
        name: String,
        choice: UserChoice,
        turn_model: Option<&ModelConfig>,
        cx: &mut EngineCx,
    ) {
        if choice != UserChoice::Remove || !self.check_removable(&server, &name, turn_model, cx) {
            return;
        }
        let Some(ollama) = self.ollama_config(Some(&server), "remove models", cx) else {
            return;
        };
        let provider = cx.provider.clone();
        self.spawn_task(async move {
            let result = provider.remove(&ollama, &name).await;
            Some(ModelTaskEvent::Removed(server, name, result))
        });
    }

    pub fn handle_model_removed(
        &mut self,
        server: &ModelServer,
        name: &str,
        result: Result<(), ProviderError>,
        cx: &mut EngineCx,
    ) {
        let notice = match result {
            Ok(()) => {
                let is_listed = cx
                    .settings
                    .models
                    .iter()
                    .any(|model| model.is_listed_as(server, name));
                let notice = Notice::info(format!("Removed {name}."));
                if is_listed {
                    notice.with_reason("config.json still lists it.")
                } else {
                    notice
                }
            }
            Err(error) => remove_failed(name, &error),
        };
        cx.notice(notice);
        self.list_catalog(cx);
    }
}

pub fn pull_failed(name: &str, error: &ProviderError) -> Notice {
    let notice = failure_caused_by(format!("`{name}` was not pulled."), error);
    let message = match &error.cause {
        FailureCause::ErrorInReply { message } => message.to_lowercase(),
        FailureCause::Status { message, .. } => message.clone().unwrap_or_default().to_lowercase(),
        _ => String::new(),
    };
    if message.contains("does not exist") || message.contains("not found") {
        return notice.with_advice("Check the name: ollama.com/library lists all models.");
    }
    if message.contains("no space") {
        return notice.with_advice("Free space on the server's disk, then pull again.");
    }
    match &error.cause {
        FailureCause::ConnectionRefused
        | FailureCause::HostNotFound
        | FailureCause::InvalidBaseUrl { .. } => notice,
        _ => notice.with_advice("Pulling again resumes the download."),
    }
}

pub fn remove_failed(name: &str, error: &ProviderError) -> Notice {
    let notice = failure_caused_by(format!("`{name}` was not removed."), error);
    match &error.cause {
        FailureCause::Status { status: 404, .. } => Notice {
            why: Some(format!("{} has no such model.", error.target.url)),
            advice: Vec::new(),
            ..notice
        },
        _ => notice,
    }
}

fn failure_caused_by(what: String, error: &ProviderError) -> Notice {
    let cause = without_retry(error.notice());
    let why = match &cause.why {
        Some(why) => format!("{} {why}", cause.what),
        None => cause.what,
    };
    Notice {
        advice: cause.advice,
        ..Notice::failure(what).with_reason(why)
    }
}
