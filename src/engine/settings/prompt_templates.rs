//! Prompt templates. They are read when the engine starts and whenever the front end asks, such
//! as when the user begins a command, so an edited file needs no restart.

use crate::config;
use crate::engine::cx::EngineCx;
use crate::engine::jobs::JobResult;
use crate::protocol::Event;
use std::sync::Arc;

/// Reads the templates in the background and sends them to the front end.
pub(in crate::engine) fn list(cx: &mut EngineCx) {
    let home = cx.home.clone();
    cx.jobs.spawn_blocking(move || {
        let templates = Arc::new(config::read_prompt_templates(&home));
        JobResult::Events(vec![Event::PromptTemplatesListed(templates)])
    });
}
