//! User journeys through the whole program: real screen, real engine, and a scripted model.

use crate::support::chat;
use crate::support::engine_harness;
use crate::support::in_memory_server;
mod approvals;
mod branches;
mod content_updates;
mod conversation;
mod demo_tour;
mod failures;
mod model_management;
mod models;
mod notes;
mod probe;
mod replaced_turns;
mod reply_trace;
mod result_files;
mod running_calls;
mod server_content;
mod servers;
mod sessions;
mod stopped_answers;
mod trust;

use chat::{Chat, chat, chat_in, chat_with, demo_in, demo_with, first_run, first_run_in};
use crossterm::event::{KeyCode, KeyModifiers};
use engine_harness::{FAILING_GET_TIME_CALL, GET_TIME_CALL, session_files};
use humble::provider::scripted::{Script, ScriptStep};
use std::time::Duration;

fn script() -> Script {
    Script::default()
}
