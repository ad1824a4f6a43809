//! External changes of `trust.json`: malformed files, a second instance, edits by a tool.

use super::*;
use crate::engine::notice_text::notice_text;
use humble::domain::trust::RuleCaveat;

#[tokio::test]
async fn malformed_trust_file_grants_nothing_and_is_reported() {
    let mut harness = TrustFixture::new().start(echo_script()).await;
    harness.decide_call(Decision::RunAlways).await;
    let fixture = EngineHarness::find_text(harness.shut_down().await);
    let file = fixture.home.path().join("trust.json");
    let original = fs::read_to_string(&file).expect("written");
    let broken = original.replacen('{', "{,", 1);
    fs::write(&file, &broken).expect("written");
    let mut harness = fixture.start(echo_script()).await;
    assert!(harness.call_needs_approval().await);
    let banners = harness.banners().await;
    let is_reported = banners
        .iter()
        .any(|banner| notice_text(&banner.notice).contains("trust.json, line"));
    assert!(is_reported, "{banners:?}");
    harness.decide_call(Decision::RunAlways).await;
    assert!(
        !harness.call_needs_approval().await,
        "the grant lasts until the program ends"
    );
    let home = harness.shut_down().await;
    let after = fs::read_to_string(home.path().join("trust.json")).expect("still there");
    assert_eq!(after, broken);
}

#[tokio::test]
async fn second_instance_uses_the_grant_and_notices_its_revocation() {
    let mut first = TrustFixture::new().start(echo_script()).await;
    first.decide_call(Decision::RunAlways).await;
    first
        .wait_until_trust_file_contains("\"kind\": \"tool\"")
        .await;
    // The second instance uses the home of the first, which still runs.
    let folder = first.folder();
    let second = std::mem::replace(&mut first.home, TempDir::new().expect("a folder"));
    let mut second = EngineHarness::find_text(second).start(echo_script()).await;
    assert!(!second.call_needs_approval().await);
    let granted = second.trusted()[0].clone();
    second.send(Command::Revoke(Box::new(granted))).await;
    second
        .wait_until_trusted("nothing", <[TrustEntry]>::is_empty)
        .await;
    second
        .wait_until_trust_file_lacks("\"kind\": \"tool\"")
        .await;
    first.send(Command::Reload).await;
    first
        .noticed("tool `echo` of `fs` is no longer allowed")
        .await;
    assert!(first.call_needs_approval().await);
    assert_eq!(called_tools(&folder), ["echo", "echo"]);
}

#[tokio::test]
async fn external_grant_needs_consent() {
    let mut harness = TrustFixture::new().start(echo_script()).await;
    harness.decide_call(Decision::RunAlways).await;
    harness
        .wait_until_trust_file_contains("\"kind\": \"tool\"")
        .await;
    let granting = fs::read_to_string(harness.home.path().join("trust.json")).expect("written");
    let granted = harness.trusted()[0].clone();
    harness.send(Command::Revoke(Box::new(granted))).await;
    harness
        .wait_until_trust_file_lacks("\"kind\": \"tool\"")
        .await;
    harness.edits("trust.json", &granting).await;
    let (ask, changes) = harness.asked_of_edit().await;
    let what: Vec<&str> = changes.iter().map(|change| change.what.as_str()).collect();
    assert_eq!(what, ["tool `echo` of `fs` would run without asking"]);
    assert!(
        harness.call_needs_approval().await,
        "the grant needs consent"
    );
    harness.chooses(ask, UserChoice::ApplyChanges).await;
    assert!(
        !harness.call_needs_approval().await,
        "the grant was accepted"
    );
}

#[tokio::test]
async fn blocking_a_tool_closes_its_open_approval() {
    let mut harness = TrustFixture::new().start(echo_script()).await;
    harness.decide_call(Decision::Never).await;
    harness
        .wait_until_trust_file_contains("\"kind\": \"never\"")
        .await;
    let refusing = fs::read_to_string(harness.home.path().join("trust.json")).expect("written");
    let never = harness.trusted()[0].clone();
    harness.send(Command::Revoke(Box::new(never))).await;
    harness
        .wait_until_trust_file_lacks("\"kind\": \"never\"")
        .await;
    harness.prompt("Do it.").await;
    let (ask, calls) = harness.next_approval().await;
    harness.edits("trust.json", &refusing).await;
    harness
        .wait_for("no dialog", |event| *event == Event::AskClosed(ask))
        .await;
    let late = vec![(calls[0], Decision::Run)];
    harness.answer(ask, UserAnswer::Calls(late)).await;
    harness.wait_for_turn_end().await;
    assert_eq!(called_tools(&harness.folder()), [""; 0]);
}

#[tokio::test]
async fn unreadable_trust_file_overrides_mode_and_flag() {
    for mode in [ToolMode::Manual, ToolMode::Auto] {
        let fixture = TrustFixture::new();
        fs::write(fixture.home.path().join("trust.json"), "{}x").expect("written");
        let options = EngineOptions {
            tool_mode: Some(mode),
            allowed_tools: vec![("fs".into(), "echo".to_owned())],
            ..EngineOptions::default()
        };
        let mut harness = fixture.start_with_options(echo_script(), options).await;
        assert!(harness.call_needs_approval().await);
        harness.prompt("Do it.").await;
        let (ask, calls) = harness.next_approval().await;
        let never = UserAnswer::Calls(vec![(calls[0], Decision::Never)]);
        harness.answer(ask, never).await;
        harness
            .noticed("this decision is lost when humble exits")
            .await;
        let lapsed = |entry: &TrustEntry| {
            matches!(
                entry,
                TrustEntry::RuleWithCaveat(_, RuleCaveat::NotPersisted)
            )
        };
        harness
            .wait_until_trusted("not kept", |list| list.iter().any(lapsed))
            .await;
        assert_eq!(called_tools(&harness.folder()), [""; 0]);
    }
}

#[tokio::test]
async fn unreadable_deny_is_not_an_allow() {
    let fixture = TrustFixture::new();
    let grants = json!({ "grants": [{ "kind": "nver", "server": "fs", "tool": "echo" }] });
    fs::write(fixture.home.path().join("trust.json"), grants.to_string()).expect("written");
    let options = EngineOptions {
        tool_mode: Some(ToolMode::Auto),
        ..EngineOptions::default()
    };
    let mut harness = fixture.start_with_options(echo_script(), options).await;
    assert!(harness.call_needs_approval().await);
    assert_eq!(called_tools(&harness.folder()), [""; 0]);
}
