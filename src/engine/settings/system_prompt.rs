//! Replaces an outdated `system_prompt.txt` with the built-in prompt, on the user's request
//! and after showing the text that would be replaced.

use super::LiveSettings;
use crate::config::{self, ConfigError};
use crate::domain::{BannerCause, Notice};
use crate::engine::cx::EngineCx;
use crate::engine::jobs::{JobResult, SettingsResult};
use crate::engine::questions::PendingQuestion;
use crate::protocol::{Ask, QuestionOwner, UserChoice};
use std::path::PathBuf;
use std::sync::Arc;

impl LiveSettings {
    pub fn read_older_prompt(&self, cx: &mut EngineCx) {
        let home = cx.home.clone();
        cx.jobs.spawn_blocking(move || {
            JobResult::Settings(SettingsResult::PromptRead(config::outdated_system_prompt(
                &home,
            )))
        });
    }

    pub fn older_prompt_read(
        &self,
        read: Result<Option<Arc<str>>, ConfigError>,
        cx: &mut EngineCx,
    ) {
        match read {
            Err(fault) => cx.notice(fault.notice()),
            Ok(None) => cx.notice(Notice::info("system_prompt.txt is up to date.")),
            Ok(Some(text)) => {
                let path = cx.home.system_prompt().display().to_string();
                let question = Ask::ReplacePrompt {
                    path,
                    text: Arc::clone(&text),
                };
                cx.ask(
                    QuestionOwner::Program,
                    question,
                    PendingQuestion::ReplaceSystemPrompt(text),
                );
            }
        }
    }

    pub fn prompt_decided(&self, text: Arc<str>, choice: UserChoice, cx: &mut EngineCx) {
        if choice != UserChoice::Replace {
            return;
        }
        let home = cx.home.clone();
        cx.jobs.spawn_blocking(move || {
            JobResult::Settings(SettingsResult::PromptReplaced(
                config::replace_system_prompt(&home, &text),
            ))
        });
    }

    pub fn prompt_replaced(&mut self, replaced: Result<PathBuf, ConfigError>, cx: &mut EngineCx) {
        match replaced {
            Err(fault) => cx.notice(fault.notice()),
            Ok(copy) => {
                // The user just chose this text, so it is no external edit.
                self.system_prompt = config::DEFAULT_SYSTEM_PROMPT.into();
                cx.clear_banner(&BannerCause::OutdatedSystemPrompt);
                let message = "system_prompt.txt was replaced with the built-in prompt.";
                let backup = format!("The old one was saved as {}.", copy.display());
                cx.notice(Notice::info(message).with_reason(backup));
                self.read_files(false, cx);
            }
        }
    }
}
