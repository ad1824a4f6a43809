//! `/probe`: each dialect is tried in its own turn, without any effect on the conversation.

mod failures;

use super::*;
use humble::domain::Advice;
use humble::domain::probe::{CallOutcome, DialectTrial, ProbeReport, ProbeVerdict};
use humble::domain::{Dialect, ListedModel, ModelInfo, Notice, Prompt, TurnId};
use humble::provider::{ChatRequest, FailureCause};
use std::sync::Arc;

const CALL: &str = r#"{"server": "humble", "name": "say_hello", "arguments": {}}"#;
const XML_CALL: &str = "<mcp-request>\n  <tool name=\"say_hello\" />\n</mcp-request>";

/// The secret word from the tool's result, if it was called in this turn.
fn secret(request: &ChatRequest) -> Option<String> {
    let Some(Message::ToolResult(result)) = request.messages.last() else {
        return None;
    };
    let (_, rest) = result.content.split_once("\"secret_word\":\"")?;
    Some(rest.split('"').next()?.to_owned())
}

fn says(text: &str) -> Vec<ScriptStep> {
    vec![ScriptStep::text(text), ScriptStep::end()]
}

/// A call of `say_hello` as the dialect of the request teaches it.
fn calls(request: &ChatRequest) -> Vec<ScriptStep> {
    match request.model.dialect {
        Dialect::Native => vec![
            ScriptStep::call("humble__say_hello", Arguments::new()),
            ScriptStep::end(),
        ],
        Dialect::Prompt => says(CALL),
        Dialect::Xml => says(XML_CALL),
    }
}

fn follow_dialect(request: &ChatRequest, dialect: Dialect) -> Vec<ScriptStep> {
    let mut offered = request.tools.tools().iter();
    if !offered.any(|tool| tool.tool.name == "say_hello") {
        return says("Hi.");
    }
    match secret(request) {
        _ if request.model.dialect != dialect => says("Hello! How can I help you?"),
        Some(word) => says(&format!("The word is **{word}**.")),
        None => calls(request),
    }
}

fn follows_native(request: &ChatRequest) -> Vec<ScriptStep> {
    follow_dialect(request, Dialect::Native)
}

fn follows_prompt(request: &ChatRequest) -> Vec<ScriptStep> {
    follow_dialect(request, Dialect::Prompt)
}

fn follows_xml(request: &ChatRequest) -> Vec<ScriptStep> {
    follow_dialect(request, Dialect::Xml)
}

fn follows_none(_: &ChatRequest) -> Vec<ScriptStep> {
    says("안녕하세요! 무엇을 도와드릴까요?")
}

fn forgets(request: &ChatRequest) -> Vec<ScriptStep> {
    match secret(request) {
        Some(_) => says("Hello to you, too."),
        None => calls(request),
    }
}

fn found(question: Ask) -> (Arc<ProbeReport>, Option<Dialect>) {
    match question {
        Ask::StoreDialect { report, to } => (report, to),
        other => panic!("unexpected question: {other:?}"),
    }
}

fn outcomes(report: &ProbeReport) -> Vec<(Dialect, CallOutcome, bool)> {
    let outcome = |trial: &DialectTrial| (trial.dialect, trial.call.clone(), trial.used_result);
    report.trials.iter().map(outcome).collect()
}

async fn probed(script: Script) -> (EngineHarness, AskId, Arc<ProbeReport>, Option<Dialect>) {
    let mut harness = EngineHarness::start(script).await;
    harness.send(Command::Probe).await;
    let (ask, question) = harness.next_question().await;
    let (report, to) = found(question);
    (harness, ask, report, to)
}

use CallOutcome::{NoCall, WellFormed};
use Dialect::{Native, Prompt as InPrompt, Xml};

#[tokio::test(start_paused = true)]
async fn working_dialect_is_stored_and_used_at_once() {
    let (mut harness, ask, report, to) = probed(Script::responding(follows_native)).await;
    let expected = [
        (Native, WellFormed, true),
        (InPrompt, NoCall, false),
        (Xml, NoCall, false),
    ];
    assert_eq!(outcomes(&report), expected);
    assert_eq!((report.best_dialect(), to), (Some(Native), Some(Native)));
    assert_eq!(
        report.verdict_text(),
        "m works with tools: best in `native`."
    );
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::Store))
        .await;
    let over = |event: &Event| *event == Event::ProbeChanged(None);
    harness.wait_for("the end of the probe", over).await;
    // Queued prompts may be sent from here on, with the stored dialect.
    let in_force = |event: &Event| {
        matches!(event, Event::NoticePosted(notice)
            if notice.what == "m now uses the dialect `native`.")
    };
    assert!(harness.events.iter().any(in_force), "{:?}", harness.events);
    let config = std::fs::read_to_string(harness.home.path().join("config.json")).expect("a file");
    let stored = OLLAMA_CONFIG.replace(
        "\"active\": true",
        "\"active\": true, \"toolCalls\": \"native\"",
    );
    assert_eq!(config, stored);
    harness.prompt("Hello").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Hi."));
    assert_eq!(harness.last_request().model.dialect, Native);
    let by_us = |event: &Event| match event {
        Event::Asked { question, .. } => !matches!(question, Ask::StoreDialect { .. }),
        Event::NoticePosted(notice) => notice.what.contains("a different toolCalls"),
        _ => false,
    };
    assert!(!harness.events.iter().any(by_us), "{:?}", harness.events);
}

#[tokio::test(start_paused = true)]
async fn model_that_follows_tags_is_detected() {
    let (harness, _, report, to) = probed(Script::responding(follows_xml)).await;
    let expected = [
        (Native, NoCall, false),
        (InPrompt, NoCall, false),
        (Xml, WellFormed, true),
    ];
    assert_eq!(outcomes(&report), expected);
    assert_eq!(to, Some(Xml));
    let log = harness.last_request();
    assert!(log.tools.tools().len() == 1, "only say_hello is offered");
}

#[tokio::test(start_paused = true)]
async fn default_dialect_is_not_stored() {
    let (harness, ask, report, to) = probed(Script::responding(follows_prompt)).await;
    let expected = [
        (Native, NoCall, false),
        (InPrompt, WellFormed, true),
        (Xml, NoCall, false),
    ];
    assert_eq!(outcomes(&report), expected);
    assert_eq!((report.best_dialect(), to), (Some(InPrompt), None));
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::Stop))
        .await;
    let home = harness.shut_down().await;
    let config = std::fs::read_to_string(home.path().join("config.json")).expect("a file");
    assert_eq!(config, OLLAMA_CONFIG);
}

#[tokio::test(start_paused = true)]
async fn model_that_never_calls_is_reported() {
    let (_, _, report, to) = probed(Script::responding(follows_none)).await;
    assert_eq!(
        outcomes(&report),
        Dialect::ALL.map(|dialect| (dialect, NoCall, false))
    );
    let found = (report.verdict(), report.best_dialect(), to);
    assert_eq!(found, (ProbeVerdict::CallsNothing, None, None));
}

#[tokio::test(start_paused = true)]
async fn model_that_omits_the_word_only_calls() {
    let (_, _, report, _) = probed(Script::responding(forgets)).await;
    assert_eq!(report.verdict(), ProbeVerdict::CallsOnly);
    assert_eq!(
        outcomes(&report),
        Dialect::ALL.map(|dialect| (dialect, WellFormed, false))
    );
}

#[tokio::test(start_paused = true)]
async fn probe_does_not_affect_the_conversation() {
    let (mut harness, ask, ..) = probed(Script::responding(follows_prompt)).await;
    harness.answer(ask, UserAnswer::Dismissed).await;
    let over = |event: &Event| *event == Event::ProbeChanged(None);
    harness.wait_for("the end of the probe", over).await;
    let of_the_turn = |event: &Event| {
        matches!(
            event,
            Event::Turn(..) | Event::ContextMeasured(_) | Event::SessionSaved(_)
        )
    };
    assert!(
        !harness.events.iter().any(of_the_turn),
        "{:?}",
        harness.events
    );
    let home = harness.shut_down().await;
    assert_eq!(session_files(&home), Vec::<std::path::PathBuf>::new());
    let journals = std::fs::read_dir(home.path().join("journal"));
    assert_eq!(journals.map_or(0, Iterator::count), 0);
    assert!(!home.path().join("history").exists());
}

#[tokio::test(start_paused = true)]
async fn probe_requests_the_context_size_of_the_conversation() {
    let config = OLLAMA_CONFIG.replace(
        "\"active\"",
        "\"options\": { \"num_ctx\": 8192 }, \"active\"",
    );
    let script = Script::default()
        .answer("Hi.")
        .answer("1")
        .answer("2")
        .answer("3");
    let requests = script.requests();
    let mut harness = EngineHarness::start_with_config(script, &config).await;
    harness.prompt("Hello").await;
    harness.wait_for_turn_end().await;
    harness.send(Command::Probe).await;
    harness.next_question().await;
    let requests = requests.all();
    let contexts: Vec<u32> = requests.iter().map(|request| request.num_ctx).collect();
    assert_eq!(contexts, [8_192; 4]);
    let prompt = |request: &ChatRequest| match request.messages.last() {
        Some(Message::User(prompt)) => prompt.clone(),
        other => panic!("no prompt: {other:?}"),
    };
    let prompts: Vec<String> = requests[1..].iter().map(prompt).collect();
    assert!(
        prompts[0] != prompts[1] && prompts[1] != prompts[2],
        "{prompts:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn turn_and_probe_exclude_each_other() {
    let script = Script::default()
        .round([ScriptStep::text("Let me"), ScriptStep::Hang])
        .round([ScriptStep::Hang]);
    let mut harness = EngineHarness::start(script).await;
    harness.prompt("Hello").await;
    let speaks = |event: &Event| matches!(event, Event::Turn(_, TurnEvent::Delta { .. }));
    harness.wait_for("words", speaks).await;
    harness.send(Command::Probe).await;
    let refused = |event: &Event| {
        matches!(event, Event::NoticePosted(notice)
            if notice.what == "A turn is still running.")
    };
    harness.wait_for("the refusal", refused).await;
    harness.send(Command::Interrupt).await;
    harness.wait_for_turn_end().await;
    harness.send(Command::Probe).await;
    let (turn, prompt) = (TurnId(9), Prompt::new("Now?"));
    harness.send(Command::Submit { turn, prompt }).await;
    let busy = Notice::failure("The model is being probed.").with_advice(Advice::WaitOrStop);
    assert_eq!(
        harness.wait_for_turn_end().await,
        TurnEnd::Failed { notice: busy }
    );
}

#[tokio::test(start_paused = true)]
async fn malformed_config_is_not_modified() {
    let (mut harness, ask, ..) = probed(Script::responding(follows_native)).await;
    let file = harness.home.path().join("config.json");
    std::fs::write(&file, "{ broken").expect("written");
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::Store))
        .await;
    let refused = |event: &Event| matches!(event, Event::NoticePosted(notice) if notice.what.contains("line 1, column 3"));
    harness.wait_for("the refusal", refused).await;
    let over = |event: &Event| *event == Event::ProbeChanged(None);
    harness.wait_for("the end of the probe", over).await;
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "{ broken");
}
