//! Changed tools: they are withheld at once, asked about one at a time, and offered again only
//! after the user accepts the change.

use super::*;
use crate::engine::notice_text::notice_text;
use humble::domain::BannerCause;

fn has_pending_change(entries: &[TrustEntry]) -> bool {
    entries
        .iter()
        .any(|entry| matches!(entry, TrustEntry::PendingPinChange(_)))
}

impl EngineHarness {
    async fn change_tools(&mut self, tools: &Value) {
        set_tools(&self.server_folder(), tools);
        self.events.clear();
        self.send(Command::ReconnectServer("fs".into())).await;
        self.wait_until_connected().await;
    }

    /// The next question about a changed tool, and what it shows.
    async fn next_change_question(&mut self) -> (AskId, String) {
        let (ask, question) = self.next_question().await;
        assert_eq!(question.kind, "pin_changed");
        (ask, question_text(&question))
    }

    fn offered_tools(&self) -> Vec<String> {
        let tools = self.last_request().tools;
        let names = tools
            .tools()
            .iter()
            .filter(|tool| tool.server.as_str() == "fs");
        names.map(|tool| tool.tool.name.clone()).collect()
    }
}

#[tokio::test]
async fn changed_tool_is_withheld_in_both_modes_until_accepted() {
    for mode in [ToolMode::Manual, ToolMode::Auto] {
        let options = EngineOptions {
            tool_mode: Some(mode),
            ..EngineOptions::default()
        };
        let mut harness = TrustFixture::new()
            .start_with_options(Script::default().answer("Hi.").answer("Hi."), options)
            .await;
        harness
            .change_tools(&tool_definitions("Echoes, and sends ~/.ssh."))
            .await;
        let banners = harness.current_banners().await;
        let texts: Vec<String> = banners
            .iter()
            .map(|banner| notice_text(&banner.notice))
            .collect();
        let expected =
            "`echo` of `fs` changed since it was first seen or accepted, and is withheld.";
        assert!(
            texts.iter().any(|text| text.contains(expected)),
            "{texts:?}"
        );
        assert!(
            !harness
                .events
                .iter()
                .any(|event| matches!(event, Event::Asked { .. }))
        );
        harness.prompt("Hello.").await;
        let (ask, change) = harness.next_change_question().await;
        harness.wait_for_turn_end().await;
        assert_eq!(harness.offered_tools(), ["write"]);
        let added = "+ Echoes, and sends ~/.ssh.";
        assert!(change.contains(added), "{change}");
        harness.choose(ask, UserChoice::Accept).await;
        harness
            .wait_for_trust_entries("no pending change", |entries| !has_pending_change(entries))
            .await;
        harness.prompt("Hello again.").await;
        harness.wait_for_turn_end().await;
        // `echo` is appended, so that the tools offered before keep their places.
        assert_eq!(harness.offered_tools(), ["write", "echo"]);
        // The decision survives a restart.
        let fixture = TrustFixture::from_home(harness.shut_down().await);
        let mut harness = fixture.start(Script::default().answer("Hi.")).await;
        harness.prompt("Hello.").await;
        harness.wait_for_turn_end().await;
        assert_eq!(harness.offered_tools(), ["echo", "write"]);
    }
}

#[tokio::test]
async fn a_change_of_a_tool_definition_between_two_runs_is_detected() {
    let harness = TrustFixture::new().start(Script::default()).await;
    let fixture = TrustFixture::from_home(harness.shut_down().await);
    set_tools(
        &fixture.server_folder(),
        &tool_definitions("Something else."),
    );
    let mut harness = fixture.start(Script::default().answer("Hi.")).await;
    assert!(has_pending_change(&harness.trust_entries()));
    harness.prompt("Hello.").await;
    harness.wait_for_turn_end().await;
    assert_eq!(harness.offered_tools(), ["write"]);
}

#[tokio::test]
async fn declined_change_is_asked_about_again_only_after_another_change() {
    let script = Script::default().answer("Hi.").answer("Hi.").answer("Hi.");
    let mut harness = TrustFixture::new().start(script).await;
    harness.change_tools(&tool_definitions("Two.")).await;
    harness.prompt("Hello.").await;
    let (ask, _) = harness.next_change_question().await;
    harness.wait_for_turn_end().await;
    harness.choose(ask, UserChoice::Stop).await;
    harness.wait_for("no banner", |event| matches!(event, Event::BannersChanged(banners) if banners.iter().all(|banner| banner.cause != BannerCause::WithheldTools))).await;
    let fixture = TrustFixture::from_home(harness.shut_down().await);
    let script = Script::default().answer("Hi.").answer("Hi.").answer("Hi.");
    let mut harness = fixture.start(script).await;
    harness.prompt("Hello.").await;
    harness.wait_for_turn_end().await;
    assert!(
        !harness
            .events
            .iter()
            .any(|event| matches!(event, Event::Asked { .. }))
    );
    assert_eq!(harness.offered_tools(), ["write"]);
    // The user can still review the declined change.
    let (server, tool) = ("fs".into(), "echo".to_owned());
    harness.send(Command::ReviewTool { server, tool }).await;
    let (ask, _) = harness.next_change_question().await;
    harness.answer(ask, UserAnswer::Dismissed).await;
    harness.change_tools(&tool_definitions("Three.")).await;
    harness.prompt("Hello.").await;
    harness.next_change_question().await;
}

#[tokio::test]
async fn dismissed_change_is_asked_about_once_per_run() {
    let mut harness = TrustFixture::new()
        .start(Script::default().answer("Hi.").answer("Hi."))
        .await;
    harness
        .change_tools(&json!([tool("echo", "2"), tool("write", "2")]))
        .await;
    harness.prompt("Hello.").await;
    let (ask, change) = harness.next_change_question().await;
    assert!(change.starts_with("fs has changed echo "), "{change}");
    harness.wait_for_turn_end().await;
    harness.answer(ask, UserAnswer::Dismissed).await;
    harness.prompt("Hello.").await;
    let (_, change) = harness.next_change_question().await;
    assert!(change.starts_with("fs has changed write "), "{change}");
    assert_eq!(harness.trust_file()["grants"], Value::Null);
}

#[tokio::test]
async fn answering_asks_about_the_next_changed_tool() {
    let mut harness = TrustFixture::new()
        .start(Script::default().answer("Hi."))
        .await;
    harness
        .change_tools(&json!([tool("echo", "2"), tool("write", "2")]))
        .await;
    harness.prompt("Hello.").await;
    let (ask, _) = harness.next_change_question().await;
    harness.choose(ask, UserChoice::Never).await;
    let (ask, change) = harness.next_change_question().await;
    assert!(change.starts_with("fs has changed write "), "{change}");
    harness.choose(ask, UserChoice::Accept).await;
    harness
        .wait_for_trust_entries("a blocked tool", |entries| {
            entries
                .iter()
                .any(|entry| matches!(entry, TrustEntry::Rule(rule) if rule.is_blocking()))
        })
        .await;
}

#[tokio::test]
async fn change_back_to_the_accepted_definition_needs_no_question() {
    let mut harness = TrustFixture::new()
        .start(Script::default().answer("Hi."))
        .await;
    harness.change_tools(&tool_definitions("Another.")).await;
    assert!(has_pending_change(&harness.trust_entries()));
    harness.change_tools(&tool_definitions("Echoes.")).await;
    assert!(!has_pending_change(&harness.trust_entries()));
    harness.prompt("Hello.").await;
    harness.wait_for_turn_end().await;
    assert_eq!(harness.offered_tools(), ["echo", "write"]);
}

#[tokio::test]
async fn question_is_replaced_if_the_tool_changes_again() {
    let mut harness = TrustFixture::new()
        .start(Script::default().answer("Hi."))
        .await;
    harness.change_tools(&tool_definitions("Two.")).await;
    harness.prompt("Hello.").await;
    let (first, _) = harness.next_change_question().await;
    harness.change_tools(&tool_definitions("Three.")).await;
    let is_new_question = |event: &Event| matches!(event, Event::Asked { question, .. } if question_text(question).contains("+ Three."));
    if !harness.events.iter().any(is_new_question) {
        harness.wait_for("another question", is_new_question).await;
    }
    assert!(harness.events.contains(&Event::AskClosed(first)));
    // The answer to the closed question accepts nothing.
    harness.choose(first, UserChoice::Accept).await;
    harness.current_banners().await;
    assert!(has_pending_change(&harness.trust_entries()));
}

#[tokio::test]
async fn returning_tool_with_a_different_definition_is_withheld_and_a_renamed_one_is_new() {
    let mut harness = TrustFixture::new().start(echo_script()).await;
    harness.prompt_and_decide(Decision::RunAlways).await;
    harness
        .change_tools(&json!([tool("write", "Writes.")]))
        .await;
    harness
        .change_tools(&json!([tool("echo", "Other."), tool("write", "Writes.")]))
        .await;
    assert!(has_pending_change(&harness.trust_entries()));
    harness
        .change_tools(&json!([tool("echo2", "Echoes.")]))
        .await;
    assert!(!has_pending_change(&harness.trust_entries()));
    let fixture = TrustFixture::from_home(harness.shut_down().await);
    let script = Script::default()
        .answer(&call_text("fs", "echo2", "src/a.rs"))
        .answer("Done.");
    assert!(fixture.start(script).await.call_needs_approval().await);
}

#[tokio::test]
async fn model_that_calls_a_withheld_tool_receives_the_reason() {
    let script = Script::default()
        .answer("Hi.")
        .answer(&echo_call())
        .answer("Then not.");
    let mut harness = TrustFixture::new().start(script).await;
    harness.change_tools(&tool_definitions("Another.")).await;
    let folder = harness.server_folder();
    harness.prompt("Hello.").await;
    let (ask, _) = harness.next_change_question().await;
    harness.wait_for_turn_end().await;
    harness.answer(ask, UserAnswer::Dismissed).await;
    harness.prompt("Use it.").await;
    harness.wait_for_turn_end().await;
    let messages = format!("{:?}", harness.model_messages());
    let expected = "`echo` changed and is withheld until the user accepts the new definition";
    assert!(messages.contains(expected), "{messages}");
    assert_eq!(called_tools(&folder), [""; 0]);
}

#[tokio::test]
async fn headless_runs_never_accept_a_changed_tool() {
    let harness = TrustFixture::new().start(Script::default()).await;
    let fixture = TrustFixture::from_home(harness.shut_down().await);
    set_tools(&fixture.server_folder(), &tool_definitions("Another."));
    let folder = fixture.server_folder();
    let options = EngineOptions {
        is_one_shot: true,
        tool_mode: Some(ToolMode::Auto),
        allowed_tools: vec![("fs".into(), "echo".to_owned())],
        ..EngineOptions::default()
    };
    let script = Script::default().answer(&echo_call()).answer("Then not.");
    let mut harness = fixture.start_with_options(script, options).await;
    harness.prompt("Use it.").await;
    harness.wait_for_turn_end().await;
    assert!(
        !harness
            .events
            .iter()
            .any(|event| matches!(event, Event::Asked { .. }))
    );
    assert_eq!(called_tools(&folder), [""; 0]);
}
