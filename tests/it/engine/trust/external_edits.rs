//! External changes to `trust.json`: malformed files, a second instance, edits by a tool.

use super::*;
use crate::engine::notice_text::notice_text;
use humble::domain::trust::RuleCaveat;

#[tokio::test]
async fn malformed_trust_file_grants_nothing_and_is_reported() {
    let mut harness = TrustFixture::new().start(echo_script()).await;
    harness.prompt_and_decide(Decision::RunAlways).await;
    let fixture = TrustFixture::from_home(harness.shut_down().await);
    let file = fixture.home.path().join("trust.json");
    let original = fs::read_to_string(&file).expect("written");
    let broken = original.replacen('{', "{,", 1);
    fs::write(&file, &broken).expect("written");
    let mut harness = fixture.start(echo_script()).await;
    assert!(harness.call_needs_approval().await);
    let banners = harness.current_banners().await;
    let is_reported = banners
        .iter()
        .any(|banner| notice_text(&banner.notice).contains("trust.json, line"));
    assert!(is_reported, "{banners:?}");
    harness.prompt_and_decide(Decision::RunAlways).await;
    assert!(
        !harness.call_needs_approval().await,
        "the grant lasts until the program ends"
    );
    let home = harness.shut_down().await;
    let after = fs::read_to_string(home.path().join("trust.json")).expect("still there");
    assert_eq!(after, broken);
}

#[tokio::test]
async fn second_instance_uses_the_grant_and_the_first_notices_its_revocation() {
    let mut first = TrustFixture::new().start(echo_script()).await;
    first.prompt_and_decide(Decision::RunAlways).await;
    first
        .wait_until_trust_file_contains("\"kind\": \"tool\"")
        .await;
    // The second instance uses the home of the first, which still runs.
    let folder = first.server_folder();
    let home = std::mem::replace(&mut first.home, TempDir::new().expect("a folder"));
    let mut second = TrustFixture::from_home(home).start(echo_script()).await;
    assert!(!second.call_needs_approval().await);
    let grant = second.trust_entries()[0].clone();
    second.send(Command::Revoke(Box::new(grant))).await;
    second
        .wait_for_trust_entries("an empty list", <[TrustEntry]>::is_empty)
        .await;
    second
        .wait_until_trust_file_lacks("\"kind\": \"tool\"")
        .await;
    first.send(Command::Reload).await;
    first
        .wait_for_notice("tool `echo` of `fs` is no longer allowed")
        .await;
    assert!(first.call_needs_approval().await);
    assert_eq!(called_tools(&folder), ["echo", "echo"]);
}

#[tokio::test]
async fn external_grant_needs_consent() {
    let mut harness = TrustFixture::new().start(echo_script()).await;
    harness.prompt_and_decide(Decision::RunAlways).await;
    harness
        .wait_until_trust_file_contains("\"kind\": \"tool\"")
        .await;
    let granting_text =
        fs::read_to_string(harness.home.path().join("trust.json")).expect("written");
    let grant = harness.trust_entries()[0].clone();
    harness.send(Command::Revoke(Box::new(grant))).await;
    harness
        .wait_until_trust_file_lacks("\"kind\": \"tool\"")
        .await;
    harness.edit_file("trust.json", &granting_text).await;
    let (ask, changes) = harness.next_edit_question().await;
    let descriptions: Vec<&str> = changes.iter().map(|change| change.what.as_str()).collect();
    assert_eq!(
        descriptions,
        ["trust.json: tool `echo` of `fs` would run without asking"]
    );
    assert!(
        harness.call_needs_approval().await,
        "the grant needs consent"
    );
    harness.choose(ask, UserChoice::ApplyChanges).await;
    assert!(
        !harness.call_needs_approval().await,
        "the grant was accepted"
    );
}

#[tokio::test]
async fn rejecting_an_edit_of_trust_json_brings_the_decisions_back() {
    let mut harness = TrustFixture::new().start(echo_script()).await;
    harness.prompt_and_decide(Decision::Never).await;
    harness
        .wait_until_trust_file_contains("\"kind\": \"never\"")
        .await;
    let mut file = harness.trust_file();
    let mut grant = file["grants"][0].clone();
    grant["kind"] = json!("tool");
    file["grants"] = json!([grant]);
    let pins = file["pins"].take();
    harness.edit_file("trust.json", &file.to_string()).await;
    let (ask, changes) = harness.next_edit_question().await;
    assert_eq!(changes.len(), 3, "{changes:?}");
    harness.choose(ask, UserChoice::Stop).await;
    harness
        .wait_until_trust_file_contains("\"kind\": \"never\"")
        .await;
    let file = harness.trust_file();
    assert_eq!(file["grants"].as_array().map(Vec::len), Some(1));
    let pinned = |pins: &Value| pins["fs"].as_object().map(serde_json::Map::len);
    assert_eq!(pinned(&file["pins"]), pinned(&pins));
    // The files match again.
    harness.send(Command::Reload).await;
    harness.wait_for_notice("nothing changes").await;
    assert_eq!(harness.pending_settings_banners().await, [""; 0]);
}

#[tokio::test]
async fn blocking_a_tool_closes_its_open_approval() {
    let mut harness = TrustFixture::new().start(echo_script()).await;
    harness.prompt_and_decide(Decision::Never).await;
    harness
        .wait_until_trust_file_contains("\"kind\": \"never\"")
        .await;
    let blocking_text =
        fs::read_to_string(harness.home.path().join("trust.json")).expect("written");
    let rule = harness.trust_entries()[0].clone();
    harness.send(Command::Revoke(Box::new(rule))).await;
    harness
        .wait_until_trust_file_lacks("\"kind\": \"never\"")
        .await;
    harness.prompt("Do it.").await;
    let (ask, calls) = harness.next_approval().await;
    harness.edit_file("trust.json", &blocking_text).await;
    harness
        .wait_for("the end of the approval", |event| {
            *event == Event::AskClosed(ask)
        })
        .await;
    let late = vec![(calls[0], Decision::Run)];
    harness.answer(ask, UserAnswer::Calls(late)).await;
    harness.wait_for_turn_end().await;
    assert_eq!(called_tools(&harness.server_folder()), [""; 0]);
}

#[tokio::test]
async fn unreadable_trust_file_makes_calls_ask_despite_auto_mode_and_allowed_tools() {
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
            .wait_for_notice("this decision is lost when humble exits")
            .await;
        let is_not_persisted = |entry: &TrustEntry| {
            matches!(
                entry,
                TrustEntry::RuleWithCaveat(_, RuleCaveat::NotPersisted)
            )
        };
        harness
            .wait_for_trust_entries("an unsaved rule", |entries| {
                entries.iter().any(is_not_persisted)
            })
            .await;
        assert_eq!(called_tools(&harness.server_folder()), [""; 0]);
    }
}

#[tokio::test]
async fn rule_with_a_misspelled_kind_makes_the_call_ask_even_in_auto_mode() {
    let fixture = TrustFixture::new();
    let grants = json!({ "grants": [{ "kind": "nver", "server": "fs", "tool": "echo" }] });
    fs::write(fixture.home.path().join("trust.json"), grants.to_string()).expect("written");
    let options = EngineOptions {
        tool_mode: Some(ToolMode::Auto),
        ..EngineOptions::default()
    };
    let mut harness = fixture.start_with_options(echo_script(), options).await;
    assert!(harness.call_needs_approval().await);
    assert_eq!(called_tools(&harness.server_folder()), [""; 0]);
}
