//! `trust.json` as others change it: broken, by a second program, by a tool.

use super::*;
use crate::engine::notice::said;
use humble::domain::trust::Lapse;

#[tokio::test]
async fn a_broken_file_grants_nothing_and_says_so() {
    let mut bench = Place::new().starts(echoes()).await;
    bench.decides(Decision::RunAlways).await;
    let place = Bench::place(bench.leaves().await);
    let file = place.home.path().join("trust.json");
    let whole = fs::read_to_string(&file).expect("written");
    let broken = whole.replacen('{', "{,", 1);
    fs::write(&file, &broken).expect("written");
    let mut bench = place.starts(echoes()).await;
    assert!(bench.asks().await);
    let banners = bench.banners().await;
    let told = banners
        .iter()
        .any(|it| said(&it.notice).contains("trust.json, line"));
    assert!(told, "{banners:?}");
    bench.decides(Decision::RunAlways).await;
    assert!(!bench.asks().await, "it holds until the end");
    let home = bench.leaves().await;
    let after = fs::read_to_string(home.path().join("trust.json")).expect("still there");
    assert_eq!(after, broken);
}

#[tokio::test]
async fn a_second_program_knows_the_grant_and_hears_of_its_end() {
    let mut first = Place::new().starts(echoes()).await;
    first.decides(Decision::RunAlways).await;
    first.until_written("\"kind\": \"tool\"").await;
    // The same home, in which the first one still runs.
    let folder = first.folder();
    let second = std::mem::replace(&mut first.home, TempDir::new().expect("a folder"));
    let mut second = Bench::place(second).starts(echoes()).await;
    assert!(!second.asks().await);
    let granted = second.trusted()[0].clone();
    second.send(Command::Revoke(Box::new(granted))).await;
    second.until_trusted("nothing", <[Trusted]>::is_empty).await;
    second.until_gone("\"kind\": \"tool\"").await;
    first.send(Command::Reload).await;
    first.noticed("tool `echo` of `fs` is revoked").await;
    assert!(first.asks().await);
    assert_eq!(called(&folder), ["echo", "echo"]);
}

#[tokio::test]
async fn a_grant_that_somebody_wrote_into_the_file_waits_for_the_person() {
    let mut bench = Place::new().starts(echoes()).await;
    bench.decides(Decision::RunAlways).await;
    bench.until_written("\"kind\": \"tool\"").await;
    let granting = fs::read_to_string(bench.home.path().join("trust.json")).expect("written");
    let granted = bench.trusted()[0].clone();
    bench.send(Command::Revoke(Box::new(granted))).await;
    bench.until_gone("\"kind\": \"tool\"").await;
    bench.edits("trust.json", &granting).await;
    let (ask, changes) = bench.asked_of_edit().await;
    let what: Vec<&str> = changes.iter().map(|change| change.what.as_str()).collect();
    assert_eq!(what, ["tool `echo` of `fs` would run unasked"]);
    assert!(bench.asks().await, "it waits");
    bench.chooses(ask, Choice::TakeChanges).await;
    assert!(!bench.asks().await, "it was taken");
}

#[tokio::test]
async fn what_is_ruled_out_while_a_call_waits_for_a_decision_closes_the_dialog() {
    let mut bench = Place::new().starts(echoes()).await;
    bench.decides(Decision::Never).await;
    bench.until_written("\"kind\": \"never\"").await;
    let refusing = fs::read_to_string(bench.home.path().join("trust.json")).expect("written");
    let never = bench.trusted()[0].clone();
    bench.send(Command::Revoke(Box::new(never))).await;
    bench.until_gone("\"kind\": \"never\"").await;
    bench.says("Do it.").await;
    let (ask, calls) = bench.asked_to_approve().await;
    bench.edits("trust.json", &refusing).await;
    bench
        .until("no dialog", |it| *it == Event::AskClosed(ask))
        .await;
    let late = vec![(calls[0], Decision::Run)];
    bench.answers(ask, Answer::Calls(late)).await;
    bench.ended().await;
    assert_eq!(called(&bench.folder()), [""; 0]);
}

#[tokio::test]
async fn while_the_file_cannot_be_read_neither_mode_nor_flag_lets_a_call_run() {
    for mode in [ToolMode::Manual, ToolMode::Auto] {
        let place = Place::new();
        fs::write(place.home.path().join("trust.json"), "{}x").expect("written");
        let options = EngineOptions {
            tool_mode: Some(mode),
            allowed_tools: vec![("fs".into(), "echo".to_owned())],
            ..EngineOptions::default()
        };
        let mut bench = place.opened(echoes(), options).await;
        assert!(bench.asks().await);
        bench.says("Do it.").await;
        let (ask, calls) = bench.asked_to_approve().await;
        let never = Answer::Calls(vec![(calls[0], Decision::Never)]);
        bench.answers(ask, never).await;
        bench.noticed("this holds until humble ends only").await;
        let lapsed = |it: &Trusted| matches!(it, Trusted::Lapsed(_, Lapse::Unkept));
        bench
            .until_trusted("not kept", |list| list.iter().any(lapsed))
            .await;
        assert_eq!(called(&bench.folder()), [""; 0]);
    }
}

#[tokio::test]
async fn a_refusal_that_nobody_can_read_is_no_leave() {
    let place = Place::new();
    let grants = json!({ "grants": [{ "kind": "nver", "server": "fs", "tool": "echo" }] });
    fs::write(place.home.path().join("trust.json"), grants.to_string()).expect("written");
    let options = EngineOptions {
        tool_mode: Some(ToolMode::Auto),
        ..EngineOptions::default()
    };
    let mut bench = place.opened(echoes(), options).await;
    assert!(bench.asks().await);
    assert_eq!(called(&bench.folder()), [""; 0]);
}
