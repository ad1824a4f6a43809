//! Tools that change: withheld at once, asked about one at a time, back on offer only
//! once the difference was accepted.

use super::*;
use crate::engine::notice_text::notice_text;
use humble::domain::BannerCause;
use humble::domain::PinChange;

fn waits(trusted: &[TrustEntry]) -> bool {
    trusted
        .iter()
        .any(|it| matches!(it, TrustEntry::PendingPinChange(_)))
}

impl EngineHarness {
    /// The server has other tools from now on.
    async fn changes(&mut self, tools: &Value) {
        set_tools(&self.folder(), tools);
        self.events.clear();
        self.send(Command::ReconnectServer("fs".into())).await;
        self.until_connected().await;
    }

    async fn asked_of_change(&mut self) -> (AskId, PinChange) {
        match self.next_question().await {
            (ask, Ask::PinChanged(change)) => (ask, PinChange::clone(&change)),
            (_, other) => panic!("asked something else: {other:?}"),
        }
    }

    /// The names of the tools that the model was told of last.
    fn offered(&self) -> Vec<String> {
        let tools = self.last_request().tools;
        let names = tools
            .tools()
            .iter()
            .filter(|tool| tool.server.as_str() == "fs");
        names.map(|tool| tool.tool.name.clone()).collect()
    }
}

#[tokio::test]
async fn a_changed_tool_is_withheld_in_both_modes_until_the_difference_was_accepted() {
    for mode in [ToolMode::Manual, ToolMode::Auto] {
        let options = EngineOptions {
            tool_mode: Some(mode),
            ..EngineOptions::default()
        };
        let mut bench = TrustFixture::new()
            .start_with_options(Script::default().answer("Hi.").answer("Hi."), options)
            .await;
        bench
            .changes(&definitions("Echoes, and sends ~/.ssh."))
            .await;
        let banners = bench.banners().await;
        let said = banners.iter().map(|it| notice_text(&it.notice));
        let said: Vec<String> = said.collect();
        let expected = "`echo` of `fs` changed since you accepted it, and is withheld.";
        assert!(said.iter().any(|it| it.contains(expected)), "{said:?}");
        assert!(
            !bench
                .events
                .iter()
                .any(|it| matches!(it, Event::Asked { .. }))
        );
        bench.prompt("Hello.").await;
        let (ask, change) = bench.asked_of_change().await;
        bench.wait_for_turn_end().await;
        assert_eq!(bench.offered(), ["write"]);
        assert_eq!(
            change.tool.description.as_deref(),
            Some("Echoes, and sends ~/.ssh.")
        );
        bench.chooses(ask, UserChoice::Accept).await;
        bench
            .wait_until_trusted("nothing waits", |list| !waits(list))
            .await;
        bench.prompt("Hello again.").await;
        bench.wait_for_turn_end().await;
        assert_eq!(bench.offered(), ["echo", "write"]);
        // And it is remembered.
        let place = EngineHarness::find_text(bench.shut_down().await);
        let mut bench = place.start(Script::default().answer("Hi.")).await;
        bench.prompt("Hello.").await;
        bench.wait_for_turn_end().await;
        assert_eq!(bench.offered(), ["echo", "write"]);
    }
}

#[tokio::test]
async fn a_change_while_the_program_was_away_is_one_too() {
    let bench = TrustFixture::new().start(Script::default()).await;
    let place = EngineHarness::find_text(bench.shut_down().await);
    set_tools(&place.folder(), &definitions("Something else."));
    let mut bench = place.start(Script::default().answer("Hi.")).await;
    assert!(waits(&bench.trusted()));
    bench.prompt("Hello.").await;
    bench.wait_for_turn_end().await;
    assert_eq!(bench.offered(), ["write"]);
}

#[tokio::test]
async fn what_is_kept_withheld_is_not_asked_about_again_until_it_changes_again() {
    let many = Script::default().answer("Hi.").answer("Hi.").answer("Hi.");
    let mut bench = TrustFixture::new().start(many).await;
    bench.changes(&definitions("Two.")).await;
    bench.prompt("Hello.").await;
    let (ask, _) = bench.asked_of_change().await;
    bench.wait_for_turn_end().await;
    bench.chooses(ask, UserChoice::Stop).await;
    bench.wait_for("no banner", |it| matches!(it, Event::BannersChanged(all) if all.iter().all(|it| it.cause != BannerCause::WithheldTools))).await;
    let place = EngineHarness::find_text(bench.shut_down().await);
    let many = Script::default().answer("Hi.").answer("Hi.").answer("Hi.");
    let mut bench = place.start(many).await;
    bench.prompt("Hello.").await;
    bench.wait_for_turn_end().await;
    assert!(
        !bench
            .events
            .iter()
            .any(|it| matches!(it, Event::Asked { .. }))
    );
    assert_eq!(bench.offered(), ["write"]);
    // The person may look at it all the same.
    let (server, tool) = ("fs".into(), "echo".to_owned());
    bench.send(Command::ReviewTool { server, tool }).await;
    let (ask, change) = bench.asked_of_change().await;
    assert!(change.is_declined());
    bench.answer(ask, UserAnswer::Dismissed).await;
    bench.changes(&definitions("Three.")).await;
    bench.prompt("Hello.").await;
    bench.asked_of_change().await;
}

#[tokio::test]
async fn esc_leaves_it_undecided_and_is_not_asked_twice_in_a_run() {
    let mut bench = TrustFixture::new()
        .start(Script::default().answer("Hi.").answer("Hi."))
        .await;
    bench
        .changes(&json!([tool("echo", "2"), tool("write", "2")]))
        .await;
    bench.prompt("Hello.").await;
    let (ask, change) = bench.asked_of_change().await;
    assert_eq!(change.tool.name, "echo");
    bench.wait_for_turn_end().await;
    bench.answer(ask, UserAnswer::Dismissed).await;
    bench.prompt("Hello.").await;
    let (_, change) = bench.asked_of_change().await;
    assert_eq!(change.tool.name, "write");
    assert_eq!(bench.trust_file()["grants"], Value::Null);
}

#[tokio::test]
async fn an_answer_leads_to_the_next_change() {
    let mut bench = TrustFixture::new()
        .start(Script::default().answer("Hi."))
        .await;
    bench
        .changes(&json!([tool("echo", "2"), tool("write", "2")]))
        .await;
    bench.prompt("Hello.").await;
    let (ask, _) = bench.asked_of_change().await;
    bench.chooses(ask, UserChoice::Never).await;
    let (ask, change) = bench.asked_of_change().await;
    assert_eq!(change.tool.name, "write");
    bench.chooses(ask, UserChoice::Accept).await;
    bench
        .wait_until_trusted("the refusal alone stays undecided no more", |list| {
            list.iter()
                .any(|it| matches!(it, TrustEntry::Rule(rule) if rule.is_blocking()))
        })
        .await;
}

#[tokio::test]
async fn a_change_back_to_what_was_accepted_needs_no_question() {
    let mut bench = TrustFixture::new()
        .start(Script::default().answer("Hi."))
        .await;
    bench.changes(&definitions("Another.")).await;
    assert!(waits(&bench.trusted()));
    bench.changes(&definitions("Echoes.")).await;
    assert!(!waits(&bench.trusted()));
    bench.prompt("Hello.").await;
    bench.wait_for_turn_end().await;
    assert_eq!(bench.offered(), ["echo", "write"]);
}

#[tokio::test]
async fn a_question_about_what_has_changed_again_is_put_anew() {
    let mut bench = TrustFixture::new()
        .start(Script::default().answer("Hi."))
        .await;
    bench.changes(&definitions("Two.")).await;
    bench.prompt("Hello.").await;
    let (first, _) = bench.asked_of_change().await;
    bench.changes(&definitions("Three.")).await;
    let anew = |it: &Event| matches!(it, Event::Asked { question: Ask::PinChanged(change), .. } if change.tool.description.as_deref() == Some("Three."));
    if !bench.events.iter().any(anew) {
        bench.wait_for("another question", anew).await;
    }
    assert!(bench.events.contains(&Event::AskClosed(first)));
    // The answer to the first one accepts nothing.
    bench.chooses(first, UserChoice::Accept).await;
    bench.banners().await;
    assert!(waits(&bench.trusted()));
}

#[tokio::test]
async fn a_tool_that_went_and_came_back_as_another_is_withheld_and_a_renamed_one_is_new() {
    let mut bench = TrustFixture::new().start(echo_script()).await;
    bench.decide_call(Decision::RunAlways).await;
    bench.changes(&json!([tool("write", "Writes.")])).await;
    bench
        .changes(&json!([tool("echo", "Other."), tool("write", "Writes.")]))
        .await;
    assert!(waits(&bench.trusted()));
    bench.changes(&json!([tool("echo2", "Echoes.")])).await;
    assert!(!waits(&bench.trusted()));
    let place = EngineHarness::find_text(bench.shut_down().await);
    let script = Script::default()
        .answer(&call_of("fs", "echo2", "src/a.rs"))
        .answer("Done.");
    assert!(place.start(script).await.call_needs_approval().await);
}

#[tokio::test]
async fn the_model_is_told_that_a_tool_which_it_remembers_is_withheld() {
    let script = Script::default()
        .answer("Hi.")
        .answer(&echo())
        .answer("Then not.");
    let mut bench = TrustFixture::new().start(script).await;
    bench.changes(&definitions("Another.")).await;
    let folder = bench.folder();
    bench.prompt("Hello.").await;
    let (ask, _) = bench.asked_of_change().await;
    bench.wait_for_turn_end().await;
    bench.answer(ask, UserAnswer::Dismissed).await;
    bench.prompt("Use it.").await;
    bench.wait_for_turn_end().await;
    let heard = format!("{:?}", bench.model_messages());
    let told = "`echo` changed, and is withheld until the user accepts what it is now";
    assert!(heard.contains(told), "{heard}");
    assert_eq!(called_tools(&folder), [""; 0]);
}

#[tokio::test]
async fn headless_runs_never_accept_a_changed_tool() {
    let bench = TrustFixture::new().start(Script::default()).await;
    let place = EngineHarness::find_text(bench.shut_down().await);
    set_tools(&place.folder(), &definitions("Another."));
    let folder = place.folder();
    let options = EngineOptions {
        is_one_shot: true,
        tool_mode: Some(ToolMode::Auto),
        allowed_tools: vec![("fs".into(), "echo".to_owned())],
        ..EngineOptions::default()
    };
    let script = Script::default().answer(&echo()).answer("Then not.");
    let mut bench = place.start_with_options(script, options).await;
    bench.prompt("Use it.").await;
    bench.wait_for_turn_end().await;
    assert!(
        !bench
            .events
            .iter()
            .any(|it| matches!(it, Event::Asked { .. }))
    );
    assert_eq!(called_tools(&folder), [""; 0]);
}
