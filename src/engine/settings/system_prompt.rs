//! Replaces an outdated `system_prompt.txt` with the built-in prompt at the user's request,
//! after showing the text that will be replaced.

use super::LiveSettings;
use crate::config::{self, ConfigError};
use crate::domain::{BannerCause, Notice};
use crate::engine::cx::EngineCx;
use crate::engine::jobs::{JobResult, SettingsResult};
use crate::engine::questions::PendingQuestion;
use crate::protocol::{QuestionOwner, UserChoice};
use crate::questions;
use std::path::PathBuf;
use std::sync::Arc;

impl LiveSettings {
    /// Reads the prompt file and asks whether to replace it if it is outdated.
    pub fn read_outdated_prompt(&self, cx: &mut EngineCx) {
        let home = cx.home.clone();
        cx.jobs.spawn_blocking(move || {
            JobResult::Settings(SettingsResult::PromptRead(config::outdated_system_prompt(
                &home,
            )))
        });
    }

    pub fn handle_outdated_prompt(
        &self,
        result: Result<Option<Arc<str>>, ConfigError>,
        cx: &mut EngineCx,
    ) {
        match result {
            Err(error) => cx.notice(error.notice()),
            Ok(None) => cx.notice(Notice::info("system_prompt.txt is up to date.")),
            Ok(Some(text)) => {
                let path = cx.home.system_prompt().display().to_string();
                let question = questions::replace_prompt(&path, &text);
                cx.ask(
                    QuestionOwner::Program,
                    question,
                    PendingQuestion::ReplaceSystemPrompt(text),
                );
            }
        }
    }

    pub fn handle_replace_prompt_answer(
        &self,
        text: Arc<str>,
        choice: UserChoice,
        cx: &mut EngineCx,
    ) {
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

    pub fn handle_prompt_replaced(
        &mut self,
        result: Result<PathBuf, ConfigError>,
        cx: &mut EngineCx,
    ) {
        match result {
            Err(error) => cx.notice(error.notice()),
            Ok(backup) => {
                // Applied directly, so that the change does not count as an external edit.
                self.file_prompt = config::DEFAULT_SYSTEM_PROMPT.into();
                cx.clear_banner(&BannerCause::OutdatedSystemPrompt);
                let message = "system_prompt.txt was replaced with the built-in prompt.";
                let reason = format!("The old one was saved as {}.", backup.display());
                cx.notice(Notice::info(message).with_reason(reason));
                self.read_files(false, cx);
            }
        }
    }
}
