//! A grant written to `trust.json` by another program never lets a call run without asking, in
//! any order of the edit, the call, the watcher's event and humble's own writes.

use super::*;
use humble::domain::trust::{RuleScope, TrustRule};
use humble::domain::{LaunchId, Pin, Prompt, TurnId};

/// The model calls the clock on every prompt.
fn clocks() -> Script {
    Script::responding(|request| {
        let text = match request.messages.last() {
            Some(Message::User(_)) => GET_TIME_CALL,
            _ => "Done.",
        };
        vec![ScriptStep::text(text), ScriptStep::end()]
    })
}

fn home() -> TempDir {
    let home = TempDir::new().expect("a temporary folder");
    fs::write(home.path().join("config.json"), OLLAMA_CONFIG).expect("written");
    home
}

/// The grant for the clock, as humble writes it.
async fn a_grant() -> Value {
    let mut harness = EngineHarness::start_in(home(), clocks()).await;
    harness.decide_call(Decision::RunAlways).await;
    harness.wait_until_trust_file_contains("get_time").await;
    let granted = harness.trust_file()["grants"][0].clone();
    assert_eq!(granted["tool"], "get_time");
    granted
}

/// A grant for an unused tool.
fn other() -> TrustRule {
    TrustRule {
        server: "humble".into(),
        launch: LaunchId::from_hash("l"),
        decided_at: jiff::Timestamp::UNIX_EPOCH,
        scope: RuleScope::Tool {
            tool: "another".to_owned(),
            pin: Pin::from_hash("p"),
        },
    }
}

fn other_entry() -> Value {
    json!({
        "kind": "tool", "server": "humble", "launch": "l", "tool": "another", "pin": "p",
        "since": "1970-01-01T00:00:00Z",
    })
}

/// Adds a grant to the file, as another program would.
fn add(home: &std::path::Path, granted: &Value) {
    let path = home.join("trust.json");
    let mut file = match fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).expect("JSON"),
        Err(_) => json!({ "grants": [] }),
    };
    let grants = file["grants"].as_array_mut().expect("a list");
    if !grants.contains(granted) {
        grants.push(granted.clone());
    }
    fs::write(path, file.to_string()).expect("the home is ours");
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum TrustEvent {
    /// An external edit of the file.
    Edit,
    /// A call is proposed.
    Call,
    /// The watcher reports, or the user reloads.
    WatcherEvent,
    /// Humble writes the file.
    Write,
}
use TrustEvent::{Call, Edit, WatcherEvent, Write};

fn interleavings(rest: &[TrustEvent]) -> Vec<Vec<TrustEvent>> {
    if rest.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (at, first) in rest.iter().enumerate() {
        let mut others = rest.to_vec();
        others.remove(at);
        for order in interleavings(&others) {
            all.push([&[*first], &order[..]].concat());
        }
    }
    all
}

/// Plays these events in order, followed by another call. With `waits`, each write of humble
/// ends before the next event.
async fn play(granted: &Value, events: &[TrustEvent], waits_for_writes: bool) -> EngineHarness {
    let home = home();
    add(home.path(), &other_entry());
    let mut harness = EngineHarness::start_in(home, clocks()).await;
    for one in events.iter().chain(&[Call]) {
        match one {
            Edit => add(harness.home.path(), granted),
            Call => assert!(
                harness.call_needs_approval().await,
                "{events:?}, waits_for_writes: {waits_for_writes}"
            ),
            WatcherEvent => harness.send(Command::Reload).await,
            Write => {
                let revoked = Box::new(TrustEntry::Rule(other()));
                harness.send(Command::Revoke(revoked)).await;
                if waits_for_writes {
                    harness.wait_until_trust_file_lacks("another").await;
                }
            }
        }
    }
    harness
}

#[tokio::test(start_paused = true)]
async fn external_grant_never_lets_a_call_run_in_any_order() {
    let granted = a_grant().await;
    for events in interleavings(&[Edit, Call, WatcherEvent, Write, WatcherEvent]) {
        let home = play(&granted, &events, true).await.shut_down().await;
        // Our own write keeps the external grant in the file without applying it.
        let file = read(&home.path().join("trust.json"));
        assert_eq!(file["grants"], json!([granted]), "{events:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn write_in_progress_adopts_no_external_grant() {
    let granted = a_grant().await;
    // Either write may come last; the calls ask in both cases.
    for events in interleavings(&[Edit, Call, WatcherEvent, Write]) {
        play(&granted, &events, false).await.shut_down().await;
    }
}

#[tokio::test(start_paused = true)]
async fn grant_arriving_during_an_approval_leaves_the_question_open() {
    let granted = a_grant().await;
    let mut harness = EngineHarness::start_in(home(), clocks()).await;
    harness.prompt("Time?").await;
    let (ask, calls) = harness.next_approval().await;
    add(harness.home.path(), &granted);
    harness.send(Command::Reload).await;
    let (edit, _) = harness.asked_of_edit().await;
    harness.chooses(edit, UserChoice::ApplyChanges).await;
    harness.noticed("applied.").await;
    assert!(!harness.events.contains(&Event::AskClosed(ask)));
    let deny = vec![(calls[0], Decision::Deny { message: None })];
    harness.answer(ask, UserAnswer::Calls(deny)).await;
    harness.wait_for_turn_end().await;
    assert!(
        !harness.call_needs_approval().await,
        "the next call runs by the accepted grant"
    );
}

#[tokio::test(start_paused = true)]
async fn edit_right_after_the_start_is_external() {
    let granted = a_grant().await;
    let home = home();
    let path = home.path().to_owned();
    let mut harness =
        EngineHarness::start_and_edit_home(home, clocks(), || add(&path, &granted)).await;
    assert!(
        harness.call_needs_approval().await,
        "the edit came after the start"
    );
    harness.send(Command::Reload).await;
    let (_, changes) = harness.asked_of_edit().await;
    assert_eq!(
        changes[0].what,
        "tool `get_time` of `humble` would run without asking"
    );
}

#[tokio::test(start_paused = true)]
async fn prompt_sent_at_once_does_not_bypass_the_question() {
    let granted = a_grant().await;
    let mut harness = EngineHarness::start_in(home(), clocks()).await;
    // The edit, its report and the prompt arrive before the engine handles any of them.
    add(harness.home.path(), &granted);
    let commands = harness.handle.commands.clone();
    commands.try_send(Command::Reload).expect("a free slot");
    let (turn, prompt) = (TurnId(77), Prompt::new("Time?"));
    commands
        .try_send(Command::Submit { turn, prompt })
        .expect("a free slot");
    let (mut edits, mut approvals) = (0, 0);
    while edits + approvals < 2 {
        match harness.next_question().await.1 {
            Ask::ExternalEdit(_) => edits += 1,
            Ask::ApproveCalls(_) => approvals += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((edits, approvals), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn accepting_an_older_edit_does_not_restore_revoked_grants() {
    let granted = a_grant().await;
    let home = home();
    add(home.path(), &granted);
    let mut harness = EngineHarness::start_in(home, clocks()).await;
    assert!(
        !harness.call_needs_approval().await,
        "the grant was in the file at the start"
    );
    harness
        .edits(
            "config.json",
            &crate::engine::settings_reload::with(&json!({ "toolCallMode": "auto" })),
        )
        .await;
    let (edit, _) = harness.asked_of_edit().await;
    // Both answers and the prompt arrive before the file is read again.
    let commands = harness.handle.commands.clone();
    let rule = harness.trusted()[0].clone();
    let (turn, prompt) = (TurnId(77), Prompt::new("Time?"));
    let manual = Command::SetToolMode(ToolMode::Manual);
    let taken = UserAnswer::Choice(UserChoice::ApplyChanges);
    let taken = Command::Answer {
        ask: edit,
        answer: taken,
    };
    for command in [Command::Revoke(Box::new(rule)), taken, manual] {
        commands.try_send(command).expect("a free slot");
    }
    commands
        .try_send(Command::Submit { turn, prompt })
        .expect("a free slot");
    let over = |event: &Event| {
        let is_asked = matches!(
            event,
            Event::Asked {
                question: Ask::ApproveCalls(_),
                ..
            }
        );
        is_asked || matches!(event, Event::Turn(_, TurnEvent::Ended { .. }))
    };
    let event = harness.wait_for("a question or the end", over).await;
    assert!(
        matches!(event, Event::Asked { .. }),
        "the revoked grant let the call run"
    );
}

#[tokio::test(start_paused = true)]
async fn grant_replacing_the_shown_one_is_asked_about_again() {
    let granted = a_grant().await;
    let mut harmless = granted.clone();
    harmless["pin"] = json!("not the pin of this tool");
    let mut harness = EngineHarness::start_in(home(), clocks()).await;
    add(harness.home.path(), &harmless);
    harness.send(Command::Reload).await;
    let (shown, changes) = harness.asked_of_edit().await;
    // It reads the same, but it allows the calls.
    fs::remove_file(harness.home.path().join("trust.json")).expect("removed");
    add(harness.home.path(), &granted);
    harness.send(Command::Reload).await;
    harness
        .wait_for("its end", |event| *event == Event::AskClosed(shown))
        .await;
    let (_, again) = harness.asked_of_edit().await;
    assert_eq!(again, changes);
    harness.chooses(shown, UserChoice::ApplyChanges).await;
    assert!(
        harness.call_needs_approval().await,
        "a late answer accepts nothing"
    );
}

#[tokio::test(start_paused = true)]
async fn grant_of_a_second_instance_needs_consent_in_the_first() {
    let mut first = EngineHarness::start_in(home(), clocks()).await;
    let folder = TempDir::new().expect("a folder");
    let shared = std::mem::replace(&mut first.home, folder);
    let mut second = EngineHarness::start_in(shared, clocks()).await;
    second.decide_call(Decision::RunAlways).await;
    second.wait_until_trust_file_contains("get_time").await;
    assert!(!second.call_needs_approval().await);
    assert!(
        first.call_needs_approval().await,
        "the first instance has not noticed yet"
    );
    first.send(Command::Reload).await;
    let (edit, _) = first.asked_of_edit().await;
    assert!(first.call_needs_approval().await, "the grant needs consent");
    first.chooses(edit, UserChoice::Stop).await;
    // Its own writes keep the other program's grant in the file without applying it.
    first
        .send(Command::Revoke(Box::new(TrustEntry::Rule(other()))))
        .await;
    first.send(Command::Reload).await;
    first.asked_of_edit().await;
    assert!(first.call_needs_approval().await);
    second.wait_until_trust_file_contains("get_time").await;
}
