//! Puts this program's own system prompt in the place of an older one (S4.1), when
//! the person asked for it and has seen what would go.

use super::actor::Actor;
use super::jobs::{JobResult, SettingsResult};
use super::questions::PendingQuestion;
use crate::config::{self, ConfigError};
use crate::domain::{BannerCause, Notice};
use crate::protocol::{Ask, Choice, Owner};
use std::path::PathBuf;
use std::sync::Arc;

impl Actor {
    pub(super) fn read_older_prompt(&mut self) {
        let home = self.cx.home.clone();
        self.cx.jobs.spawn_blocking(move || {
            JobResult::Settings(SettingsResult::PromptRead(config::older_system_prompt(
                &home,
            )))
        });
    }

    pub(super) fn older_prompt_read(&mut self, read: Result<Option<Arc<str>>, ConfigError>) {
        match read {
            Err(fault) => self.cx.notice(fault.notice()),
            Ok(None) => self.cx.notice(Notice::info(
                "system_prompt.txt teaches no older form of tool calls: it stays as it is.",
            )),
            Ok(Some(text)) => {
                let path = self.cx.home.system_prompt().display().to_string();
                let question = Ask::ReplacePrompt {
                    path,
                    text: Arc::clone(&text),
                };
                self.cx.ask(
                    Owner::Program,
                    question,
                    PendingQuestion::ReplacePrompt(text),
                );
            }
        }
    }

    pub(super) fn prompt_decided(&mut self, text: Arc<str>, choice: Choice) {
        if choice != Choice::Replace {
            return;
        }
        let home = self.cx.home.clone();
        self.cx.jobs.spawn_blocking(move || {
            JobResult::Settings(SettingsResult::PromptReplaced(
                config::replace_system_prompt(&home, &text),
            ))
        });
    }

    pub(super) fn prompt_replaced(&mut self, replaced: Result<PathBuf, ConfigError>) {
        match replaced {
            Err(fault) => self.cx.notice(fault.notice()),
            Ok(copy) => {
                // What the person just chose is no edit from outside.
                self.system_prompt = config::DEFAULT_SYSTEM_PROMPT.into();
                self.cx.clear_banner(&BannerCause::OldSystemPrompt);
                let what = "system_prompt.txt holds this program's own prompt now.";
                let kept = format!("The older one is kept as {}.", copy.display());
                self.cx.notice(Notice::info(what).because(kept));
                self.look_outside(false);
            }
        }
    }
}
