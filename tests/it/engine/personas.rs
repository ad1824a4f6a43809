//! Personas: their effect on requests, and how they are selected, edited and removed.

use super::*;
use crate::engine::notice_text::notice_text;
use humble::domain::BannerCause;
use humble::domain::QueryId;
use humble::engine::{EngineOptions, InitialSession};
use humble::questions;
use std::fs;

const PIRATE: &str = "---\ntools: humble/get_time\n---\nYou are a pirate.\n";
const MUTE: &str = "---\ntools: fs/none\n---\nYou say little.\n";

async fn start_with_personas(script: Script, options: EngineOptions) -> EngineHarness {
    let home = tempfile::TempDir::new().expect("a temporary folder");
    fs::write(home.path().join("config.json"), OLLAMA_CONFIG).expect("written");
    fs::create_dir(home.path().join("personas")).expect("created");
    for (name, text) in [("pirate", PIRATE), ("mute", MUTE)] {
        let path = home.path().join(format!("personas/{name}.md"));
        fs::write(path, text).expect("written");
    }
    EngineHarness::start_with_options(home, script, options).await
}

fn select_persona(name: &str) -> Command {
    Command::SelectPersona(Some(name.to_owned()))
}

#[tokio::test(start_paused = true)]
async fn persona_replaces_the_system_prompt_and_limits_the_tools() {
    let script = Script::default()
        .answer("a")
        .answer("b")
        .answer("c")
        .answer("d");
    let mut harness = start_with_personas(script, EngineOptions::default()).await;
    assert!(
        harness
            .system_message_for("1")
            .await
            .starts_with("You are a **tool-first")
    );
    harness.send(select_persona("pirate")).await;
    let text = harness.system_message_for("2").await;
    assert!(text.starts_with("You are a pirate.\n\n"), "{text}");
    assert!(
        text.contains("get_time") && text.contains("FUNCTION_CALL:"),
        "{text}"
    );
    harness.send(select_persona("mute")).await;
    let text = harness.system_message_for("3").await;
    assert!(text.starts_with("You say little.\n\n"), "{text}");
    assert!(text.ends_with("**NO TOOL CONNECTED**\n"), "{text}");
    harness.send(Command::SelectPersona(None)).await;
    assert!(
        harness
            .system_message_for("4")
            .await
            .starts_with("You are a **tool-first")
    );
    let home = harness.shut_down().await;
    let config = fs::read_to_string(home.path().join("config.json")).expect("a file");
    assert_eq!(config, OLLAMA_CONFIG, "the choice is not saved");
}

#[tokio::test(start_paused = true)]
async fn turn_keeps_the_persona_it_started_with() {
    let script = Script::default()
        .round([ScriptStep::text(GET_TIME_CALL), ScriptStep::end()])
        .answer("Arr.");
    let mut harness = start_with_personas(script, EngineOptions::default()).await;
    harness.send(select_persona("pirate")).await;
    harness.prompt("Time?").await;
    let (ask, calls) = harness.next_approval().await;
    harness.send(select_persona("mute")).await;
    let run = vec![(calls[0], Decision::Run)];
    harness.answer(ask, UserAnswer::Calls(run)).await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Arr."));
    let Message::System(text) = &harness.last_request().messages[0] else {
        panic!("no system message");
    };
    assert!(text.starts_with("You are a pirate.\n\n"), "{text}");
    assert!(text.contains("get_time"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn command_line_selects_a_persona_and_an_unknown_one_shows_a_banner() {
    let options = |name: &str| EngineOptions {
        persona: Some(name.to_owned()),
        ..EngineOptions::default()
    };
    let script = Script::default().answer("Arr.");
    let mut harness = start_with_personas(script, options("pirate")).await;
    assert!(
        harness
            .system_message_for("Hi")
            .await
            .starts_with("You are a pirate.")
    );

    let mut harness = start_with_personas(Script::default(), options("mute")).await;
    let is_notice = |event: &Event| matches!(event, Event::NoticePosted(notice) if notice_text(notice).contains("Persona: mute."));
    if !harness.events.iter().any(is_notice) {
        harness
            .wait_for("the notice about its tools", is_notice)
            .await;
    }
    let notice = harness.events.iter().find_map(|event| match event {
        Event::NoticePosted(notice) => Some(notice_text(notice)),
        _ => None,
    });
    let expected = "Persona: mute. It has no tools, because no server offers any of the tools it \
                    names: `fs/none`.";
    assert_eq!(notice.as_deref(), Some(expected));

    let mut harness = start_with_personas(Script::default(), options("pirat")).await;
    harness.send(Command::ListSessions(QueryId(1))).await;
    let is_listed = |event: &Event| matches!(event, Event::SessionsListed { .. });
    harness.wait_for("the sessions", is_listed).await;
    let banner = harness.events.iter().find_map(|event| match event {
        Event::BannersChanged(banners) => banners
            .iter()
            .find(|banner| banner.cause == BannerCause::UnknownPersona),
        _ => None,
    });
    let text = notice_text(&banner.expect("a banner").notice);
    assert_eq!(text, "There is no persona `pirat`. Did you mean `pirate`?");
}

/// Waits until the session given on the command line is open.
async fn wait_for_session(harness: &mut EngineHarness) {
    let is_opened = |event: &Event| matches!(event, Event::SessionOpened(_));
    if !harness.events.iter().any(is_opened) {
        harness.wait_for("the session", is_opened).await;
    }
}

#[tokio::test(start_paused = true)]
async fn opened_session_selects_its_persona_again() {
    let with_pirate =
        start_with_personas(Script::default().answer("Arr."), EngineOptions::default());
    let mut harness = with_pirate.await;
    harness.send(select_persona("pirate")).await;
    harness.prompt("Hi").await;
    harness.wait_for_turn_end().await;
    let home = harness.shut_down().await;

    let options = || EngineOptions {
        initial_session: Some(InitialSession::Latest),
        ..EngineOptions::default()
    };
    let script = Script::default().answer("Arr.").answer("No.");
    let mut harness = EngineHarness::start_with_options(home, script, options()).await;
    wait_for_session(&mut harness).await;
    let system_message = harness.system_message_for("2").await;
    assert!(
        system_message.starts_with("You are a pirate."),
        "{system_message}"
    );
    // The session no longer has a persona once an answer has been given without one.
    harness.send(Command::SelectPersona(None)).await;
    harness.system_message_for("3").await;
    let home = harness.shut_down().await;
    let file = fs::read_to_string(&session_files(&home)[0]).expect("a session");
    assert!(!file.contains("pirate"), "{file}");
}

#[tokio::test(start_paused = true)]
async fn opened_session_without_its_persona_uses_the_system_prompt() {
    let script = Script::default().answer("Arr.");
    let mut harness = start_with_personas(script, EngineOptions::default()).await;
    harness.send(select_persona("pirate")).await;
    harness.prompt("Hi").await;
    harness.wait_for_turn_end().await;
    let home = harness.shut_down().await;
    fs::remove_file(home.path().join("personas/pirate.md")).expect("removed");
    let options = EngineOptions {
        initial_session: Some(InitialSession::Latest),
        ..EngineOptions::default()
    };
    let script = Script::default().answer("Yes.");
    let mut harness = EngineHarness::start_with_options(home, script, options).await;
    wait_for_session(&mut harness).await;
    let system_message = harness.system_message_for("2").await;
    assert!(
        system_message.starts_with("You are a **tool-first"),
        "{system_message}"
    );
    let notices = harness.events.iter().filter_map(|event| match event {
        Event::NoticePosted(notice) => Some(notice_text(notice)),
        _ => None,
    });
    let expected = "There is no persona `pirate`. The system prompt is used instead.";
    assert_eq!(Vec::from_iter(notices), [expected]);
}

#[tokio::test(start_paused = true)]
async fn edited_persona_needs_consent_and_a_removed_one_is_deselected() {
    let script = Script::default().answer("a").answer("b");
    let mut harness = start_with_personas(script, EngineOptions::default()).await;
    harness.send(select_persona("pirate")).await;
    let path = harness.home.path().join("personas/pirate.md");
    fs::write(&path, PIRATE.replace("pirate", "thief")).expect("written");
    harness.send(Command::Reload).await;
    let (ask, _) = harness.next_question().await;
    assert!(
        harness
            .system_message_for("1")
            .await
            .starts_with("You are a pirate.")
    );
    fs::remove_file(&path).expect("removed");
    harness.send(Command::Reload).await;
    harness
        .wait_for("the end of the question", |event| {
            *event == Event::AskClosed(ask)
        })
        .await;
    let (ask, _) = harness.next_question().await;
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::ApplyChanges))
        .await;
    let is_notice = |event: &Event| matches!(event, Event::NoticePosted(notice) if notice_text(notice).contains("no persona `pirate`"));
    harness
        .wait_for("the notice about the persona", is_notice)
        .await;
    assert!(
        harness
            .system_message_for("2")
            .await
            .starts_with("You are a **tool-first")
    );
}

#[tokio::test(start_paused = true)]
async fn outdated_prompt_is_replaced_only_after_it_was_shown() {
    let script = Script::default().answer("a").answer("b");
    let home = tempfile::TempDir::new().expect("a temporary folder");
    fs::write(home.path().join("config.json"), OLLAMA_CONFIG).expect("written");
    let path = home.path().join("system_prompt.txt");
    fs::write(&path, "Use chooseFunction.").expect("written");
    let mut harness =
        EngineHarness::start_with_options(home, script, EngineOptions::default()).await;
    for choice in [UserChoice::Stop, UserChoice::Replace] {
        assert!(
            harness
                .system_message_for("?")
                .await
                .starts_with("Use chooseFunction.")
        );
        harness.send(Command::ReplaceSystemPrompt).await;
        let (ask, question) = harness.next_question().await;
        let expected =
            questions::replace_prompt(&path.display().to_string(), "Use chooseFunction.");
        assert_eq!(question, expected);
        harness.answer(ask, UserAnswer::Choice(choice)).await;
    }
    let is_replaced = |event: &Event| matches!(event, Event::NoticePosted(notice) if notice_text(notice).ends_with("system_prompt.txt.bak."));
    harness
        .wait_for("the notice with the backup", is_replaced)
        .await;
    harness.send(Command::Reload).await;
    let is_unchanged_notice = |event: &Event| matches!(event, Event::NoticePosted(notice) if notice.what.contains("nothing changes"));
    harness.wait_for("no change", is_unchanged_notice).await;
    harness.send(Command::ReplaceSystemPrompt).await;
    let is_up_to_date_notice = |event: &Event| matches!(event, Event::NoticePosted(notice) if notice.what.contains("is up to date"));
    harness
        .wait_for("nothing to replace", is_up_to_date_notice)
        .await;
    let banners = harness.events.iter().rev().find_map(|event| match event {
        Event::BannersChanged(banners) => Some(banners.len()),
        _ => None,
    });
    assert_eq!(banners, Some(0));
    let new_text = fs::read_to_string(&path).expect("a file");
    assert!(new_text.starts_with("You are a **tool-first"));
}
