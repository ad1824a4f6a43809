//! Puts this program's own system prompt in the place of an older one, when the user asked for
//! it and has seen what would go.

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
            Ok(None) => cx.notice(Notice::info(
                "system_prompt.txt teaches no older form of tool calls: it stays as it is.",
            )),
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
                // What the user just chose is no edit from outside.
                self.system_prompt = config::DEFAULT_SYSTEM_PROMPT.into();
                cx.clear_banner(&BannerCause::OutdatedSystemPrompt);
                let what = "system_prompt.txt holds this program's own prompt now.";
                let kept = format!("The older one is kept as {}.", copy.display());
                cx.notice(Notice::info(what).with_reason(kept));
                self.read_files(false, cx);
            }
        }
    }
}
