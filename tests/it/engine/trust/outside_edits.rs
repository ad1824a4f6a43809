//! `trust.json` as others change it: broken, by a second program, by a tool.

use super::*;
use crate::engine::notice_text::notice_text;
use humble::domain::trust::InactiveReason;

#[tokio::test]
async fn a_malformed_trust_file_grants_nothing_and_is_reported() {
    let mut bench = TrustFixture::new().start(echo_script()).await;
    bench.decide_call(Decision::RunAlways).await;
    let place = EngineHarness::find_text(bench.shut_down().await);
    let file = place.home.path().join("trust.json");
    let whole = fs::read_to_string(&file).expect("written");
    let broken = whole.replacen('{', "{,", 1);
    fs::write(&file, &broken).expect("written");
    let mut bench = place.start(echo_script()).await;
    assert!(bench.call_needs_approval().await);
    let banners = bench.banners().await;
    let told = banners
        .iter()
        .any(|it| notice_text(&it.notice).contains("trust.json, line"));
    assert!(told, "{banners:?}");
    bench.decide_call(Decision::RunAlways).await;
    assert!(!bench.call_needs_approval().await, "it holds until the end");
    let home = bench.shut_down().await;
    let after = fs::read_to_string(home.path().join("trust.json")).expect("still there");
    assert_eq!(after, broken);
}

#[tokio::test]
async fn a_second_program_knows_the_grant_and_hears_of_its_end() {
    let mut first = TrustFixture::new().start(echo_script()).await;
    first.decide_call(Decision::RunAlways).await;
    first
        .wait_until_trust_file_contains("\"kind\": \"tool\"")
        .await;
    // The same home, in which the first one still runs.
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
    first.noticed("tool `echo` of `fs` is revoked").await;
    assert!(first.call_needs_approval().await);
    assert_eq!(called_tools(&folder), ["echo", "echo"]);
}

#[tokio::test]
async fn a_grant_that_somebody_wrote_into_the_file_waits_for_the_person() {
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
    assert_eq!(what, ["tool `echo` of `fs` would run unasked"]);
    assert!(bench.call_needs_approval().await, "it waits");
    bench.chooses(ask, UserChoice::ApplyChanges).await;
    assert!(!bench.call_needs_approval().await, "it was taken");
}

#[tokio::test]
async fn what_is_ruled_out_while_a_call_waits_for_a_decision_closes_the_dialog() {
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
        .wait_for("no dialog", |it| *it == Event::AskClosed(ask))
        .await;
    let late = vec![(calls[0], Decision::Run)];
    bench.answer(ask, UserAnswer::Calls(late)).await;
    bench.wait_for_turn_end().await;
    assert_eq!(called_tools(&bench.folder()), [""; 0]);
}

#[tokio::test]
async fn while_the_file_cannot_be_read_neither_mode_nor_flag_lets_a_call_run() {
    for mode in [ToolMode::Manual, ToolMode::Auto] {
        let place = TrustFixture::new();
        fs::write(place.home.path().join("trust.json"), "{}x").expect("written");
        let options = EngineOptions {
            tool_mode: Some(mode),
            allowed_tools: vec![("fs".into(), "echo".to_owned())],
            ..EngineOptions::default()
        };
        let mut bench = place.start_with_options(echo_script(), options).await;
        assert!(bench.call_needs_approval().await);
        bench.prompt("Do it.").await;
        let (ask, calls) = bench.next_approval().await;
        let never = UserAnswer::Calls(vec![(calls[0], Decision::Never)]);
        bench.answer(ask, never).await;
        bench.noticed("this holds until humble ends only").await;
        let lapsed = |it: &TrustEntry| {
            matches!(
                it,
                TrustEntry::InactiveRule(_, InactiveReason::NotPersisted)
            )
        };
        bench
            .wait_until_trusted("not kept", |list| list.iter().any(lapsed))
            .await;
        assert_eq!(called_tools(&bench.folder()), [""; 0]);
    }
}

#[tokio::test]
async fn an_unreadable_deny_is_not_an_allow() {
    let place = TrustFixture::new();
    let grants = json!({ "grants": [{ "kind": "nver", "server": "fs", "tool": "echo" }] });
    fs::write(place.home.path().join("trust.json"), grants.to_string()).expect("written");
    let options = EngineOptions {
        tool_mode: Some(ToolMode::Auto),
        ..EngineOptions::default()
    };
    let mut bench = place.start_with_options(echo_script(), options).await;
    assert!(bench.call_needs_approval().await);
    assert_eq!(called_tools(&bench.folder()), [""; 0]);
}
