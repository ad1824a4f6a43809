//! Random commands to the whole engine with real files: turns while the settings change, servers
//! come and go, sessions are opened and deleted, and saving fails.

use super::run_count;
use super::test_rng::TestRng;
use super::user::answer;
use crate::support::engine_harness::{
    EngineHarness, FAILING_GET_TIME_CALL, GET_TIME_CALL, OLLAMA_CONFIG, session_files, write_config,
};
use humble::domain::{AskId, Prompt, PromptKind, QueryId, SessionId, ToolMode, TurnEvent, TurnId};
use humble::protocol::{Command, Event, ModelJob, Question, QuestionOwner};
use humble::provider::scripted::{Script, ScriptStep};
use humble::provider::{EndReason, FailureCause, StreamPart};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// Runs of the whole engine are far slower than those of a turn: one per this many turn runs.
const TURN_RUNS_PER_ENGINE_RUN: u64 = 100;
const COMMAND_COUNT: usize = 40;
/// Contents of config.json after an edit: the original, a harmless change, one that needs consent,
/// and an unreadable file.
const EDITS: [&str; 4] = [
    OLLAMA_CONFIG,
    r#"{ "models": [ { "name": "m", "provider": "ollama", "active": true, "contextLength": 9000 } ] }"#,
    r#"{ "models": [ { "name": "m", "provider": "ollama", "active": true,
        "baseUrl": "http://localhost:9" } ], "toolCallMode": "auto" }"#,
    "{ \"models\": [",
];

fn script(rng: &mut TestRng) -> Script {
    let pause = ScriptStep::Wait(Duration::from_secs(1));
    let cut_off = ScriptStep::Part(StreamPart::End(EndReason::Length));
    (0..30).fold(Script::default(), |script, _| match rng.below(11) {
        0..=2 => script.answer("글"),
        3 | 4 => script.answer(GET_TIME_CALL),
        5 => script.answer(FAILING_GET_TIME_CALL),
        6 => script.round([ScriptStep::Fail(FailureCause::ConnectionRefused)]),
        7 => script.round([ScriptStep::text("글"), ScriptStep::Hang]),
        8 => script.round([ScriptStep::text("글"), pause.clone(), cut_off.clone()]),
        9 => script.round([pause.clone(), ScriptStep::text(GET_TIME_CALL)]),
        _ => script.answer("{\"name\": \"missing\", \"arguments\": {}}"),
    })
}

/// What the events so far have promised.
#[derive(Default)]
struct Promises {
    read: usize,
    turns: u64,
    unanswered: BTreeSet<TurnId>,
    asks: BTreeMap<u64, (QuestionOwner, Question)>,
}

impl Promises {
    fn read(&mut self, events: &[Event]) {
        for event in &events[self.read..] {
            match event {
                Event::Turn(id, TurnEvent::Ended { .. }) => {
                    assert!(self.unanswered.remove(id), "{id:?} ended twice");
                }
                Event::Asked {
                    ask,
                    owner,
                    question,
                } => {
                    let asked = (owner.clone(), question.clone());
                    assert!(self.asks.insert(ask.0, asked).is_none(), "asked twice");
                }
                Event::AskClosed(ask) => {
                    assert!(self.asks.remove(&ask.0).is_some(), "closed twice: {ask:?}");
                }
                _ => {}
            }
        }
        self.read = events.len();
    }

    fn random_answer(&self, rng: &mut TestRng) -> Option<Command> {
        let index = rng.below(self.asks.len().max(1));
        let (ask, (_, question)) = self.asks.iter().nth(index)?;
        let (ask, answer) = (AskId(*ask), answer(rng, question));
        Some(Command::Answer { ask, answer })
    }
}

/// Makes saving fail, as on a full disk, or succeed again.
fn set_saving(home: &Path, works: bool) {
    let (sessions, away) = (home.join("sessions"), home.join("away"));
    match works {
        false if sessions.is_dir() && fs::rename(&sessions, &away).is_ok() => {
            fs::write(&sessions, "").expect("written");
        }
        true if away.is_dir() => {
            fs::remove_file(&sessions).expect("removed");
            fs::rename(&away, &sessions).expect("renamed");
        }
        _ => {}
    }
}

fn random_session(rng: &mut TestRng, home: &TempDir) -> Option<SessionId> {
    if !home.path().join("sessions").is_dir() {
        return None;
    }
    let files = session_files(home);
    let file = files.get(rng.below(files.len().max(1)))?;
    let name = file.file_name().and_then(OsStr::to_str)?;
    Some(SessionId::new(name))
}

fn command(rng: &mut TestRng, harness: &EngineHarness, promises: &mut Promises) -> Option<Command> {
    let home = &harness.home;
    promises.turns += 1;
    let turn = TurnId(promises.turns);
    let (server, tool) = ("humble".into(), "get_time".into());
    Some(match rng.below(22) {
        0..=4 => {
            promises.unanswered.insert(turn);
            let kind = *rng.pick(&[PromptKind::Ask, PromptKind::Replace, PromptKind::Retry]);
            let prompt = match rng.one_in(6) {
                true => Prompt::continuation(),
                false => Prompt::new("안녕").with_kind(kind),
            };
            Command::Submit { turn, prompt }
        }
        5 => {
            promises.unanswered.insert(turn);
            Command::Compact { turn }
        }
        6..=9 => return promises.random_answer(rng),
        10 => Command::Interrupt,
        11 => Command::NewSession,
        12 => Command::ToggleTool { server, tool },
        13 => Command::ToggleServer(server),
        14 => Command::SetToolMode(*rng.pick(&[ToolMode::Auto, ToolMode::Manual])),
        15 => {
            fs::write(home.path().join("config.json"), rng.pick(&EDITS)).expect("written");
            Command::Reload
        }
        16 => Command::Rewind,
        17 => Command::OpenSession(random_session(rng, home)?),
        18 => Command::DeleteSession(random_session(rng, home)?),
        19 => Command::ListSessions(QueryId(7)),
        20 => Command::SendNow,
        _ => {
            set_saving(home.path(), rng.one_in(2));
            return None;
        }
    })
}

async fn run(seed: u64) {
    let rng = &mut TestRng::new(seed);
    let home = TempDir::new().expect("a temporary folder");
    write_config(&home, OLLAMA_CONFIG);
    let mut harness = EngineHarness::start_in(home, script(rng)).await;
    let mut promises = Promises::default();
    for _ in 0..COMMAND_COUNT {
        promises.read(&harness.events);
        if let Some(command) = command(rng, &harness, &mut promises) {
            harness.send(command).await;
        }
        let pause = Duration::from_millis(*rng.pick(&[0, 0, 1, 20, 2_000, 130_000]));
        let _ = tokio::time::timeout(pause, harness.wait_for("nothing", |_| false)).await;
    }
    set_saving(harness.home.path(), true);
    promises.read(&harness.events);
    harness.send(Command::Interrupt).await;
    while !promises.unanswered.is_empty() {
        let is_end = |event: &Event| matches!(event, Event::Turn(_, TurnEvent::Ended { .. }));
        harness.wait_for("the turn's end", is_end).await;
        promises.read(&harness.events);
    }
    // The turn's question may be closed only right after its end.
    let _ = tokio::time::timeout(
        Duration::from_secs(1),
        harness.wait_for("nothing", |_| false),
    )
    .await;
    promises.read(&harness.events);
    let of_turn = promises
        .asks
        .values()
        .find(|(owner, _)| matches!(owner, QuestionOwner::Job(ModelJob::Turn(_))));
    assert!(of_turn.is_none(), "open after the end: {of_turn:?}");
    let home = harness.shut_down().await;
    for file in session_files(&home) {
        let text = fs::read_to_string(&file).expect("a file");
        let session: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let messages = session["messages"].as_array().expect("messages");
        let roles = messages.iter().map(|message| message["role"].as_str());
        let alternates = roles
            .enumerate()
            .all(|(index, role)| role == Some(["user", "assistant"][index % 2]));
        assert!(alternates && messages.len().is_multiple_of(2), "{text}");
    }
}

#[test]
fn random_commands_keep_every_promise() {
    for seed in 0..(run_count() / TURN_RUNS_PER_ENGINE_RUN).max(1) {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder
            .enable_all()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let outcome = std::panic::catch_unwind(|| runtime.block_on(run(seed)));
        assert!(outcome.is_ok(), "seed {seed}");
    }
}
