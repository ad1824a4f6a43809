//! Pulling models to an Ollama and removing them. One pull at a time; it goes on
//! whatever is on the screen, and ends with the program.

use super::actor::Actor;
use super::questions::PendingQuestion;
use super::stock::{News, pull_of, without_retry};
use crate::config;
use crate::domain::facts::is_same_model;
use crate::domain::stock::{no_name, size_words};
use crate::domain::{Advice, ModelConfig, ModelServer, Notice, ProviderKind, Pull};
use crate::protocol::{Ask, Choice, Owner};
use crate::provider::{Cause, Fault, PullProgress};
use futures::StreamExt;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

/// Progress is told no more often: nobody reads faster.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// A pull under way; dropping it stops it.
pub(super) struct Pulling {
    pub(super) pull: Pull,
    _task: AbortOnDropHandle<()>,
}

impl Actor {
    pub(super) fn pull_model(&mut self, server: Option<ModelServer>, name: &str) {
        let name = name.trim();
        if let Some(pulling) = &self.shelves.pull {
            let other = pulling.pull.name.clone();
            let notice = Notice::warning(format!("`{other}` is being pulled already."));
            return self.cx.notice(notice.advise(Advice::StopPull));
        }
        if let Some(notice) = no_name(name) {
            return self.cx.notice(notice);
        }
        let Some(ollama) = self.ollama(server.as_ref(), "pull models") else {
            return;
        };
        let server = config::server_of(&ollama);
        let mut stream = self.cx.provider.pull(&ollama, name);
        let sender = self.shelves.sender.clone();
        let task = tokio::spawn(async move {
            let mut told: Option<(Instant, String)> = None;
            let result = loop {
                match stream.next().await {
                    None => break Ok(()),
                    Some(Err(fault)) => break Err(fault),
                    Some(Ok(progress)) => {
                        let is_new = told.as_ref().is_none_or(|(at, status)| {
                            at.elapsed() >= PROGRESS_EVERY || *status != progress.status
                        });
                        if is_new {
                            told = Some((Instant::now(), progress.status.clone()));
                            let _ = sender.send(News::Pulling(progress)).await;
                        }
                    }
                }
            };
            let _ = sender.send(News::Pulled(result)).await;
        });
        self.shelves.pull = Some(Pulling {
            pull: pull_of(server, name.to_owned()),
            _task: AbortOnDropHandle::new(task),
        });
        self.push_pull();
    }

    /// The Ollama that is meant, or words why there is none.
    fn ollama(&mut self, server: Option<&ModelServer>, what: &str) -> Option<ModelConfig> {
        let config = match server {
            None => Some(self.usual_ollama()),
            Some(server) => self.config_of(server),
        };
        let ollama = config.filter(|config| config.provider == ProviderKind::Ollama);
        if ollama.is_none() {
            let notice = Notice::warning(format!("Only an Ollama can {what}."));
            self.cx.notice(notice);
        }
        ollama
    }

    pub(super) fn pull_goes_on(&mut self, progress: PullProgress) {
        let Some(pulling) = &mut self.shelves.pull else {
            return;
        };
        pulling.pull.status = progress.status;
        pulling.pull.done = progress.done;
        pulling.pull.total = progress.total;
        self.push_pull();
    }

    pub(super) fn pull_ended(&mut self, result: Result<(), Fault>) {
        // The last words of a pull that was stopped.
        let Some(pulling) = self.shelves.pull.take() else {
            return;
        };
        self.push_pull();
        let Pull { name, total, .. } = pulling.pull;
        match result {
            Ok(()) => {
                let size = match total {
                    0 => String::new(),
                    total => format!(" ({})", size_words(total)),
                };
                let notice = Notice::info(format!("Pulled {name}{size}."));
                self.cx.notice(notice.advise(Advice::UsePulledModel));
                self.list_stocks();
            }
            Err(fault) => self.cx.notice(pull_failed(&name, &fault)),
        }
    }

    pub(super) fn stop_pull(&mut self) {
        let Some(pulling) = self.shelves.pull.take() else {
            return self.cx.notice(Notice::info("No model is being pulled."));
        };
        self.push_pull();
        let name = pulling.pull.name;
        let notice = Notice::info(format!("Stopped pulling {name}."));
        self.cx.notice(notice.advise(Advice::ResumePull(name)));
    }

    pub(super) fn remove_model(&mut self, server: Option<ModelServer>, name: String) {
        let Some(ollama) = self.ollama(server.as_ref(), "remove models") else {
            return;
        };
        let server = config::server_of(&ollama);
        if !self.may_remove(&server, &name) {
            return;
        }
        let stocked = self.stocked(&server, &name);
        if stocked.is_none() && self.lists_all(&server) {
            let notice = Notice::warning(format!("{} has no model `{name}`.", server.url));
            return self.cx.notice(notice.advise(Advice::ListModels));
        }
        let question = Ask::RemoveModel {
            bytes: stocked.and_then(|model| model.bytes),
            is_in_use: self.model.as_ref().is_some_and(|model| {
                config::server_of(model) == server && is_same_model(&model.model, &name)
            }),
            server: server.clone(),
            name: name.clone(),
        };
        let pending = PendingQuestion::RemoveModel { server, name };
        self.cx.ask(Owner::Program, question, pending);
    }

    /// A model that answers, or is on its way, stays.
    fn may_remove(&mut self, server: &ModelServer, name: &str) -> bool {
        let answers = self.turn.as_ref().is_some_and(|turn| {
            config::server_of(&turn.model) == *server && is_same_model(&turn.model.model, name)
        });
        if answers {
            let notice = Notice::warning(format!("`{name}` is answering now."));
            self.cx.notice(notice.advise(Advice::WaitOrStop));
        }
        let comes = self.shelves.pull.as_ref().is_some_and(|pulling| {
            pulling.pull.server == *server && is_same_model(&pulling.pull.name, name)
        });
        if comes {
            let notice = Notice::warning(format!("`{name}` is being pulled."));
            self.cx.notice(notice.advise(Advice::StopPull));
        }
        !answers && !comes
    }

    pub(super) fn remove_answered(&mut self, server: ModelServer, name: String, choice: Choice) {
        if choice != Choice::Remove || !self.may_remove(&server, &name) {
            return;
        }
        let Some(ollama) = self.ollama(Some(&server), "remove models") else {
            return;
        };
        let (provider, sender) = (self.cx.provider.clone(), self.shelves.sender.clone());
        self.shelves.tasks.spawn(async move {
            let result = provider.remove(&ollama, &name).await;
            let _ = sender.send(News::Removed(server, name, result)).await;
        });
    }

    pub(super) fn removed(&mut self, server: &ModelServer, name: &str, result: Result<(), Fault>) {
        let notice = match result {
            Ok(()) => {
                let is_listed = self.settings.models.iter().any(|model| {
                    config::server_of(model) == *server && is_same_model(&model.model, name)
                });
                let notice = Notice::info(format!("Removed {name}."));
                if is_listed {
                    notice.because("config.json still lists it.")
                } else {
                    notice
                }
            }
            Err(fault) => remove_failed(name, &fault),
        };
        self.cx.notice(notice);
        self.list_stocks();
    }
}

/// Why a pull ended early, and how to go on.
pub fn pull_failed(name: &str, fault: &Fault) -> Notice {
    let notice = told(format!("`{name}` was not pulled."), fault);
    let said = match &fault.cause {
        Cause::InStream { message } => message.to_lowercase(),
        Cause::Status { message, .. } => message.clone().unwrap_or_default().to_lowercase(),
        _ => String::new(),
    };
    if said.contains("does not exist") || said.contains("not found") {
        return notice.advise("Check the name; ollama.com/library lists what there is.");
    }
    if said.contains("no space") {
        return notice.advise("Make room on the server's disk, then pull again.");
    }
    match &fault.cause {
        Cause::Refused | Cause::Unresolved | Cause::BadUrl { .. } => notice,
        _ => notice.advise("Pulling again goes on where it stopped."),
    }
}

/// Why a model is still there.
pub fn remove_failed(name: &str, fault: &Fault) -> Notice {
    let notice = told(format!("`{name}` was not removed."), fault);
    match &fault.cause {
        Cause::Status { status: 404, .. } => Notice {
            why: Some(format!("{} has no such model.", fault.place.url)),
            advice: Vec::new(),
            ..notice
        },
        _ => notice,
    }
}

/// A fault as the reason of something else that did not happen.
fn told(what: String, fault: &Fault) -> Notice {
    let fault = without_retry(fault.notice());
    let why = match &fault.why {
        Some(why) => format!("{} {why}", fault.what),
        None => fault.what,
    };
    Notice {
        advice: fault.advice,
        ..Notice::failure(what).because(why)
    }
}
