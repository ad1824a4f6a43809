//! Tests of the engine, mostly with a scripted model and the built-in server, under a paused clock.

use crate::support::engine_harness;
use crate::support::fixtures::question_text;
use crate::support::model_server;
use crate::support::notice_text;
use crate::support::shell_server;
mod argument_repairs;
mod attachments;
mod branches;
mod call_forms;
mod compaction;
mod consulted_notes;
mod context;
mod continued_notes;
mod conversation;
mod crash_recovery;
mod created_notes;
mod disk_faults;
mod edited_arguments;
mod exact_numbers;
mod initial_session;
mod injection_guard;
mod journal;
mod left_tasks;
mod log_privacy;
mod native_calls;
mod new_servers;
mod note_agents;
mod notes_without_model;
mod personas;
mod probe;
mod prompt_prefix;
mod rejected_edits;
mod result_images;
mod retries;
mod settings_conflicts;
mod settings_reload;
mod slow_embeddings;
mod starting_servers;
mod tasks;
mod themes;
mod titles;
mod tool_diet;
mod tool_turns;
mod tools;
mod trust;
#[cfg(unix)]
mod unsaved_conversations;
mod unwritable_log;

use engine_harness::{
    EngineHarness, FAILING_GET_TIME_CALL, GET_TIME_CALL, OLLAMA_CONFIG, session_files,
};
use humble::domain::{
    Arguments, AskId, Decision, EntryBody, Message, ModelRef, PieceKind, ProviderKind, SessionId,
    ToolMode, ToolOutcome, ToolState, TurnEnd, TurnEvent, Usage,
};
use humble::protocol::{Block, Command, Event, UserAnswer, UserChoice};
use humble::provider::scripted::{Script, ScriptStep};
use humble::provider::{EndReason, NativeCall, StreamPart};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::time::Duration;
use tempfile::TempDir;

fn answered(text: &str) -> TurnEnd {
    TurnEnd::Answered {
        text: text.to_owned(),
        is_truncated: false,
    }
}

/// The file name of the first saved session.
fn session_id(home: &TempDir) -> SessionId {
    let name = session_files(home)[0].file_name().map(ToOwned::to_owned);
    SessionId::new(name.as_deref().and_then(OsStr::to_str).expect("UTF-8"))
}

async fn open_saved_session(home: TempDir, script: Script) -> EngineHarness {
    let id = session_id(&home);
    let mut harness = EngineHarness::start_in(home, script).await;
    harness.send(Command::OpenSession(id)).await;
    let is_opened = |event: &Event| matches!(event, Event::SessionOpened(_));
    harness.wait_for("the session", is_opened).await;
    harness
}

fn read_json(path: &std::path::Path) -> Value {
    let text = std::fs::read_to_string(path).expect("a readable file");
    serde_json::from_str(&text).expect("JSON")
}
