//! A grant written to `trust.json` by another program never lets a call run without asking, in
//! any order of the edit, the call, the watcher's event and humble's own writes.

use super::*;
use crate::engine::journal::configured_home;
use crate::engine::settings_reload::config_with;
use humble::domain::trust::{RuleScope, TrustRule};
use humble::domain::{LaunchId, Pin, Prompt, TurnId};

fn clock_script() -> Script {
    Script::responding(|request| {
        let text = match request.messages.last() {
            Some(Message::User(_)) => GET_TIME_CALL,
            _ => "Done.",
        };
        vec![ScriptStep::text(text), ScriptStep::end()]
    })
}

/// The grant for the clock, as humble writes it.
async fn clock_grant() -> Value {
    let mut harness = EngineHarness::start_in(configured_home(), clock_script()).await;
    harness.prompt_and_decide(Decision::RunAlways).await;
    harness.wait_until_trust_file_contains("get_time").await;
    let grant = harness.trust_file()["grants"][0].clone();
    assert_eq!(grant["tool"], "get_time");
    grant
}

fn unused_rule() -> TrustRule {
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

/// The entry of [`unused_rule`] in `trust.json`.
fn unused_rule_entry() -> Value {
    json!({
        "kind": "tool", "server": "humble", "launch": "l", "tool": "another", "pin": "p",
        "since": "1970-01-01T00:00:00Z",
    })
}

/// Adds a grant to the file, as another program would.
fn add_grant(home: &std::path::Path, grant: &Value) {
    let path = home.join("trust.json");
    let mut file = match fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).expect("JSON"),
        Err(_) => json!({ "grants": [] }),
    };
    let grants = file["grants"].as_array_mut().expect("a list");
    if !grants.contains(grant) {
        grants.push(grant.clone());
    }
    fs::write(path, file.to_string()).expect("the home is ours");
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum TrustEvent {
    /// An external edit to the file.
    Edit,
    /// A call is proposed.
    Call,
    /// The watcher reports, or the user reloads.
    WatcherEvent,
    /// Humble writes the file.
    Write,
}
use TrustEvent::{Call, Edit, WatcherEvent, Write};

/// All orders of these events.
fn interleavings(events: &[TrustEvent]) -> Vec<Vec<TrustEvent>> {
    if events.is_empty() {
        return vec![Vec::new()];
    }
    let mut orders = Vec::new();
    for (index, first) in events.iter().enumerate() {
        let mut others = events.to_vec();
        others.remove(index);
        for order in interleavings(&others) {
            orders.push([&[*first], &order[..]].concat());
        }
    }
    orders
}

/// Plays these events in order, followed by another call. With `waits_for_writes`, each write of
/// humble ends before the next event.
async fn play(grant: &Value, events: &[TrustEvent], waits_for_writes: bool) -> EngineHarness {
    let home = configured_home();
    add_grant(home.path(), &unused_rule_entry());
    let mut harness = EngineHarness::start_in(home, clock_script()).await;
    for event in events.iter().chain(&[Call]) {
        match event {
            Edit => add_grant(harness.home.path(), grant),
            Call => assert!(
                harness.call_needs_approval().await,
                "{events:?}, waits_for_writes: {waits_for_writes}"
            ),
            WatcherEvent => harness.send(Command::Reload).await,
            Write => {
                let entry = Box::new(TrustEntry::Rule(unused_rule()));
                harness.send(Command::Revoke(entry)).await;
                if waits_for_writes {
                    harness.wait_until_trust_file_lacks("another").await;
                }
            }
        }
    }
    harness
}

#[tokio::test(start_paused = true)]
async fn external_grant_lets_no_call_run_whatever_the_order_of_events() {
    let grant = clock_grant().await;
    for events in interleavings(&[Edit, Call, WatcherEvent, Write, WatcherEvent]) {
        let home = play(&grant, &events, true).await.shut_down().await;
        // Our own write keeps the external grant in the file without applying it.
        let file = read_json(&home.path().join("trust.json"));
        assert_eq!(file["grants"], json!([grant]), "{events:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn write_in_progress_adopts_no_external_grant() {
    let grant = clock_grant().await;
    // Either write may come last; the calls ask in both cases.
    for events in interleavings(&[Edit, Call, WatcherEvent, Write]) {
        play(&grant, &events, false).await.shut_down().await;
    }
}

#[tokio::test(start_paused = true)]
async fn grant_arriving_during_an_approval_leaves_the_question_open() {
    let grant = clock_grant().await;
    let mut harness = EngineHarness::start_in(configured_home(), clock_script()).await;
    harness.prompt("Time?").await;
    let (ask, calls) = harness.next_approval().await;
    add_grant(harness.home.path(), &grant);
    harness.send(Command::Reload).await;
    let (edit, _) = harness.next_edit_question().await;
    harness.choose(edit, UserChoice::ApplyChanges).await;
    harness.wait_for_notice("applied.").await;
    assert!(!harness.events.contains(&Event::AskClosed(ask)));
    let deny = vec![(calls[0], Decision::Deny { message: None })];
    harness.answer(ask, UserAnswer::Calls(deny)).await;
    harness.wait_for_turn_end().await;
    assert!(
        !harness.call_needs_approval().await,
        "the next call runs under the accepted grant"
    );
}

#[tokio::test(start_paused = true)]
async fn edit_right_after_the_start_is_external() {
    let grant = clock_grant().await;
    let home = configured_home();
    let path = home.path().to_owned();
    let mut harness =
        EngineHarness::start_and_edit_home(home, clock_script(), || add_grant(&path, &grant)).await;
    assert!(
        harness.call_needs_approval().await,
        "the edit came after the start"
    );
    harness.send(Command::Reload).await;
    let (_, changes) = harness.next_edit_question().await;
    assert_eq!(
        changes[0].what,
        "trust.json: tool `get_time` of `humble` would run without asking"
    );
}

#[tokio::test(start_paused = true)]
async fn prompt_sent_right_after_an_edit_does_not_bypass_the_question() {
    let grant = clock_grant().await;
    let mut harness = EngineHarness::start_in(configured_home(), clock_script()).await;
    // The edit, its report and the prompt arrive before the engine handles any of them.
    add_grant(harness.home.path(), &grant);
    let commands = harness.handle.commands.clone();
    commands.try_send(Command::Reload).expect("a free slot");
    let (turn, prompt) = (TurnId(77), Prompt::new("Time?"));
    commands
        .try_send(Command::Submit { turn, prompt })
        .expect("a free slot");
    let (mut edits, mut approvals) = (0, 0);
    while edits + approvals < 2 {
        match harness.next_question().await.1.kind {
            "outside_edit" => edits += 1,
            "approve" => approvals += 1,
            other => panic!("{other}"),
        }
    }
    assert_eq!((edits, approvals), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn accepting_an_older_edit_does_not_restore_revoked_grants() {
    let grant = clock_grant().await;
    let home = configured_home();
    add_grant(home.path(), &grant);
    let mut harness = EngineHarness::start_in(home, clock_script()).await;
    assert!(
        !harness.call_needs_approval().await,
        "the grant was in the file at startup"
    );
    harness
        .edit_file(
            "config.json",
            &config_with(&json!({ "toolCallMode": "auto" })),
        )
        .await;
    let (edit, _) = harness.next_edit_question().await;
    // All commands, including the prompt, arrive before the file is read again.
    let commands = harness.handle.commands.clone();
    let entry = harness.trust_entries()[0].clone();
    let (turn, prompt) = (TurnId(77), Prompt::new("Time?"));
    let manual = Command::SetToolMode(ToolMode::Manual);
    let accept = Command::Answer {
        ask: edit,
        answer: UserAnswer::Choice(UserChoice::ApplyChanges),
    };
    for command in [Command::Revoke(Box::new(entry)), accept, manual] {
        commands.try_send(command).expect("a free slot");
    }
    commands
        .try_send(Command::Submit { turn, prompt })
        .expect("a free slot");
    let is_question_or_end = |event: &Event| {
        let is_asked = matches!(event, Event::Asked { question, .. } if question.kind == "approve");
        is_asked || matches!(event, Event::Turn(_, TurnEvent::Ended { .. }))
    };
    let event = harness
        .wait_for("a question or the end", is_question_or_end)
        .await;
    assert!(
        matches!(event, Event::Asked { .. }),
        "the revoked grant let the call run"
    );
}

#[tokio::test(start_paused = true)]
async fn grant_replacing_the_shown_one_is_asked_about_again() {
    let grant = clock_grant().await;
    let mut other_pin = grant.clone();
    other_pin["pin"] = json!("not the pin of this tool");
    let mut harness = EngineHarness::start_in(configured_home(), clock_script()).await;
    add_grant(harness.home.path(), &other_pin);
    harness.send(Command::Reload).await;
    let (first_ask, changes) = harness.next_edit_question().await;
    // The new grant looks the same in the question, but it covers the calls.
    fs::remove_file(harness.home.path().join("trust.json")).expect("removed");
    add_grant(harness.home.path(), &grant);
    harness.send(Command::Reload).await;
    harness
        .wait_for("the end of the question", |event| {
            *event == Event::AskClosed(first_ask)
        })
        .await;
    let (_, new_changes) = harness.next_edit_question().await;
    assert_eq!(new_changes, changes);
    harness.choose(first_ask, UserChoice::ApplyChanges).await;
    assert!(
        harness.call_needs_approval().await,
        "a late answer accepts nothing"
    );
}

#[tokio::test(start_paused = true)]
async fn grant_of_a_second_instance_needs_consent_in_the_first() {
    let mut first = EngineHarness::start_in(configured_home(), clock_script()).await;
    let unused_home = TempDir::new().expect("a folder");
    let shared_home = std::mem::replace(&mut first.home, unused_home);
    let mut second = EngineHarness::start_in(shared_home, clock_script()).await;
    second.prompt_and_decide(Decision::RunAlways).await;
    second.wait_until_trust_file_contains("get_time").await;
    assert!(!second.call_needs_approval().await);
    assert!(
        first.call_needs_approval().await,
        "the first instance has not read the file again"
    );
    first.send(Command::Reload).await;
    let (edit, _) = first.next_edit_question().await;
    assert!(first.call_needs_approval().await, "the grant needs consent");
    first.choose(edit, UserChoice::Stop).await;
    // The rejection is the newer decision, so it removes the grant.
    second
        .wait_until_trust_file_lacks("\"kind\": \"tool\"")
        .await;
    assert!(first.call_needs_approval().await);
    second.send(Command::Reload).await;
    second.wait_for_notice("no longer allowed").await;
    assert!(second.call_needs_approval().await);
}
