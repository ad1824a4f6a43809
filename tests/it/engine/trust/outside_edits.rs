//! External changes of `trust.json`: malformed files, a second instance, edits by a tool.

use super::*;
use crate::engine::notice_text::notice_text;
use humble::domain::trust::RuleCaveat;

#[tokio::test]
async fn malformed_trust_file_grants_nothing_and_is_reported() {
    let mut bench = TrustFixture::new().start(echo_script()).await;
    bench.decide_call(Decision::RunAlways).await;
    let fixture = EngineHarness::find_text(bench.shut_down().await);
    let file = fixture.home.path().join("trust.json");
    let original = fs::read_to_string(&file).expect("written");
    let broken = original.replacen('{', "{,", 1);
    fs::write(&file, &broken).expect("written");
    let mut bench = fixture.start(echo_script()).await;
    assert!(bench.call_needs_approval().await);
    let banners = bench.banners().await;
    let is_reported = banners
        .iter()
        .any(|banner| notice_text(&banner.notice).contains("trust.json, line"));
    assert!(is_reported, "{banners:?}");
    bench.decide_call(Decision::RunAlways).await;
    assert!(
        !bench.call_needs_approval().await,
        "the grant lasts until the program ends"
    );
    let home = bench.shut_down().await;
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
    let mut bench = TrustFixture::new().start(echo_script()).await;
    bench.decide_call(Decision::RunAlways).await;
    bench
        .wait_until_trust_file_contains("\"kind\": \"tool\"")
        .await;
    let granting = fs::read_to_string(bench.home.path().join("trust.json")).expect("written");
    let granted = bench.trusted()[0].clone();
    bench.send(Command::Revoke(Box::new(granted))).await;
    bench
        .wait_until_trust_file_lacks("\"kind\": \"tool\"")
        .await;
    bench.edits("trust.json", &granting).await;
    let (ask, changes) = bench.asked_of_edit().await;
    let what: Vec<&str> = changes.iter().map(|change| change.what.as_str()).collect();
    assert_eq!(what, ["tool `echo` of `fs` would run without asking"]);
    assert!(bench.call_needs_approval().await, "the grant needs consent");
    bench.chooses(ask, UserChoice::ApplyChanges).await;
    assert!(!bench.call_needs_approval().await, "the grant was accepted");
}

#[tokio::test]
async fn blocking_a_tool_closes_its_open_approval() {
    let mut bench = TrustFixture::new().start(echo_script()).await;
    bench.decide_call(Decision::Never).await;
    bench
        .wait_until_trust_file_contains("\"kind\": \"never\"")
        .await;
    let refusing = fs::read_to_string(bench.home.path().join("trust.json")).expect("written");
    let never = bench.trusted()[0].clone();
    bench.send(Command::Revoke(Box::new(never))).await;
    bench
        .wait_until_trust_file_lacks("\"kind\": \"never\"")
        .await;
    bench.prompt("Do it.").await;
    let (ask, calls) = bench.next_approval().await;
    bench.edits("trust.json", &refusing).await;
    bench
        .wait_for("no dialog", |event| *event == Event::AskClosed(ask))
        .await;
    let late = vec![(calls[0], Decision::Run)];
    bench.answer(ask, UserAnswer::Calls(late)).await;
    bench.wait_for_turn_end().await;
    assert_eq!(called_tools(&bench.folder()), [""; 0]);
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
        let mut bench = fixture.start_with_options(echo_script(), options).await;
        assert!(bench.call_needs_approval().await);
        bench.prompt("Do it.").await;
        let (ask, calls) = bench.next_approval().await;
        let never = UserAnswer::Calls(vec![(calls[0], Decision::Never)]);
        bench.answer(ask, never).await;
        bench
            .noticed("this decision is lost when humble exits")
            .await;
        let lapsed = |entry: &TrustEntry| {
            matches!(
                entry,
                TrustEntry::RuleWithCaveat(_, RuleCaveat::NotPersisted)
            )
        };
        bench
            .wait_until_trusted("not kept", |list| list.iter().any(lapsed))
            .await;
        assert_eq!(called_tools(&bench.folder()), [""; 0]);
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
    let mut bench = fixture.start_with_options(echo_script(), options).await;
    assert!(bench.call_needs_approval().await);
    assert_eq!(called_tools(&bench.folder()), [""; 0]);
}
