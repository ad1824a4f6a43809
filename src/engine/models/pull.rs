//! Pulls models to an Ollama and removes them. One pull runs at a time, in the background,
//! until the program ends.

use super::{ActivePull, ModelRegistry, ModelTaskEvent, without_retry};
use crate::config;
use crate::domain::model_catalog::{format_size, invalid_name_notice};
use crate::domain::model_info::is_same_model;
use crate::domain::{Advice, ModelConfig, ModelServer, Notice, Pull};
use crate::engine::cx::EngineCx;
use crate::engine::questions::PendingQuestion;
use crate::protocol::{Ask, Event, QuestionOwner, UserChoice};
use crate::provider::{FailureCause, ProviderError, PullProgress};
use futures::StreamExt;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

/// Minimum time between two progress reports; nobody reads faster.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

impl ModelRegistry {
    pub fn pull_model(&mut self, server: Option<ModelServer>, name: &str, cx: &mut EngineCx) {
        let name = name.trim();
        if let Some(pulling) = &self.pull {
            let other = pulling.pull.name.clone();
            let notice = Notice::warning(format!("`{other}` is already being pulled."));
            return cx.notice(notice.with_advice(Advice::StopPull));
        }
        if let Some(notice) = invalid_name_notice(name) {
            return cx.notice(notice);
        }
        let Some(ollama) = self.ollama(server.as_ref(), "pull models", cx) else {
            return;
        };
        let server = ollama.server();
        let mut stream = cx.provider.pull(&ollama, name);
        let sender = self.sender.clone();
        let task = tokio::spawn(async move {
            let mut reported: Option<(Instant, String)> = None;
            let result = loop {
                match stream.next().await {
                    None => break Ok(()),
                    Some(Err(fault)) => break Err(fault),
                    Some(Ok(progress)) => {
                        let is_due = reported.as_ref().is_none_or(|(at, status)| {
                            at.elapsed() >= PROGRESS_EVERY || *status != progress.status
                        });
                        if is_due {
                            reported = Some((Instant::now(), progress.status.clone()));
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

    /// The Ollama to ask; without one, the user gets a notice.
    fn ollama(
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
                Some(config::model_manager(&cx.home, candidates))
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

    pub fn pull_progressed(&mut self, progress: PullProgress, cx: &mut EngineCx) {
        let Some(pulling) = &mut self.pull else {
            return;
        };
        pulling.pull.status = progress.status;
        pulling.pull.done = progress.done;
        pulling.pull.total = progress.total;
        self.push_pull(cx);
    }

    pub fn pull_ended(&mut self, result: Result<(), ProviderError>, cx: &mut EngineCx) {
        // The pull was stopped meanwhile.
        let Some(pulling) = self.pull.take() else {
            return;
        };
        self.push_pull(cx);
        let Pull { name, total, .. } = pulling.pull;
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
            Err(fault) => cx.notice(pull_failed(&name, &fault)),
        }
    }

    pub fn stop_pull(&mut self, cx: &mut EngineCx) {
        let Some(pulling) = self.pull.take() else {
            return cx.notice(Notice::info("No model is being pulled."));
        };
        self.push_pull(cx);
        let name = pulling.pull.name;
        let notice = Notice::info(format!("Stopped pulling {name}."));
        cx.notice(notice.with_advice(Advice::ResumePull(name)));
    }

    pub fn remove_model(
        &mut self,
        server: Option<ModelServer>,
        name: String,
        answering: Option<&ModelConfig>,
        cx: &mut EngineCx,
    ) {
        let Some(ollama) = self.ollama(server.as_ref(), "remove models", cx) else {
            return;
        };
        let server = ollama.server();
        if !self.may_remove(&server, &name, answering, cx) {
            return;
        }
        let listed = self.listed_model(&server, &name);
        if listed.is_none() && self.lists_all(&server) {
            let notice = Notice::warning(format!("{} has no model `{name}`.", server.url));
            return cx.notice(notice.with_advice(Advice::ListModels));
        }
        let question = Ask::RemoveModel {
            bytes: listed.and_then(|model| model.bytes),
            is_in_use: self
                .current
                .as_ref()
                .is_some_and(|model| model.is_listed_as(&server, &name)),
            server: server.clone(),
            name: name.clone(),
        };
        let pending = PendingQuestion::RemoveModel { server, name };
        cx.ask(QuestionOwner::Program, question, pending);
    }

    /// Whether a model may be removed. If it is answering or being pulled, the user gets a
    /// notice.
    fn may_remove(
        &mut self,
        server: &ModelServer,
        name: &str,
        answering: Option<&ModelConfig>,
        cx: &mut EngineCx,
    ) -> bool {
        let answers = answering.is_some_and(|model| model.is_listed_as(server, name));
        if answers {
            let notice = Notice::warning(format!("`{name}` is answering."));
            cx.notice(notice.with_advice(Advice::WaitOrStop));
        }
        let is_pulled = self.pull.as_ref().is_some_and(|pulling| {
            pulling.pull.server == *server && is_same_model(&pulling.pull.name, name)
        });
        if is_pulled {
            let notice = Notice::warning(format!("`{name}` is being pulled."));
            cx.notice(notice.with_advice(Advice::StopPull));
        }
        !answers && !is_pulled
    }

    pub fn remove_answered(
        &mut self,
        server: ModelServer,
        name: String,
        choice: UserChoice,
        answering: Option<&ModelConfig>,
        cx: &mut EngineCx,
    ) {
        if choice != UserChoice::Remove || !self.may_remove(&server, &name, answering, cx) {
            return;
        }
        let Some(ollama) = self.ollama(Some(&server), "remove models", cx) else {
            return;
        };
        let provider = cx.provider.clone();
        self.spawn(async move {
            let result = provider.remove(&ollama, &name).await;
            Some(ModelTaskEvent::Removed(server, name, result))
        });
    }

    pub fn removed(
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
            Err(fault) => remove_failed(name, &fault),
        };
        cx.notice(notice);
        self.list_catalog(cx);
    }
}

/// The cause of a failed pull, with advice.
pub fn pull_failed(name: &str, fault: &ProviderError) -> Notice {
    let notice = caused_by(format!("`{name}` was not pulled."), fault);
    let message = match &fault.cause {
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
    match &fault.cause {
        FailureCause::ConnectionRefused
        | FailureCause::HostNotFound
        | FailureCause::InvalidBaseUrl { .. } => notice,
        _ => notice.with_advice("Pulling again resumes the download."),
    }
}

/// The cause of a failed removal.
pub fn remove_failed(name: &str, fault: &ProviderError) -> Notice {
    let notice = caused_by(format!("`{name}` was not removed."), fault);
    match &fault.cause {
        FailureCause::Status { status: 404, .. } => Notice {
            why: Some(format!("{} has no such model.", fault.target.url)),
            advice: Vec::new(),
            ..notice
        },
        _ => notice,
    }
}

/// A failure notice with the cause and advice of a provider error.
fn caused_by(what: String, fault: &ProviderError) -> Notice {
    let fault = without_retry(fault.notice());
    let why = match &fault.why {
        Some(why) => format!("{} {why}", fault.what),
        None => fault.what,
    };
    Notice {
        advice: fault.advice,
        ..Notice::failure(what).with_reason(why)
    }
}
