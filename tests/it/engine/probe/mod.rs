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

/// The secret word from the tool's result, if that is the last message.
fn secret_word(request: &ChatRequest) -> Option<String> {
    let Some(Message::ToolResult(result)) = request.messages.last() else {
        return None;
    };
    let (_, rest) = result.content.split_once("\"secret_word\":\"")?;
    Some(rest.split('"').next()?.to_owned())
}

fn text_reply(text: &str) -> Vec<ScriptStep> {
    vec![ScriptStep::text(text), ScriptStep::end()]
}

/// A call to `say_hello` in the dialect of the request.
fn call_reply(request: &ChatRequest) -> Vec<ScriptStep> {
    match request.model.dialect {
        Dialect::Native => vec![
            ScriptStep::call("humble__say_hello", Arguments::new()),
            ScriptStep::end(),
        ],
        Dialect::Prompt => text_reply(CALL),
        Dialect::Xml => text_reply(XML_CALL),
    }
}

/// Calls `say_hello` and repeats its secret word if the request uses `dialect`; otherwise only
/// greets.
fn follow_dialect(request: &ChatRequest, dialect: Dialect) -> Vec<ScriptStep> {
    let mut tools = request.tools.tools().iter();
    if !tools.any(|tool| tool.tool.name == "say_hello") {
        return text_reply("Hi.");
    }
    match secret_word(request) {
        _ if request.model.dialect != dialect => text_reply("Hello! How can I help you?"),
        Some(word) => text_reply(&format!("The word is **{word}**.")),
        None => call_reply(request),
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
    text_reply("안녕하세요! 무엇을 도와드릴까요?")
}

/// Calls `say_hello` in every dialect but does not repeat its secret word.
fn omits_secret_word(request: &ChatRequest) -> Vec<ScriptStep> {
    match secret_word(request) {
        Some(_) => text_reply("Hello to you, too."),
        None => call_reply(request),
    }
}

/// The report in the question, and the dialect that it offers to store.
fn save_dialect_question(question: Ask) -> (Arc<ProbeReport>, Option<Dialect>) {
    match question {
        Ask::SaveDialect { report, to } => (report, to),
        other => panic!("unexpected question: {other:?}"),
    }
}

fn outcomes(report: &ProbeReport) -> Vec<(Dialect, CallOutcome, bool)> {
    let outcome = |trial: &DialectTrial| (trial.dialect, trial.call.clone(), trial.used_result);
    report.trials.iter().map(outcome).collect()
}

async fn run_probe(script: Script) -> (EngineHarness, AskId, Arc<ProbeReport>, Option<Dialect>) {
    let mut harness = EngineHarness::start(script).await;
    harness.send(Command::Probe).await;
    let (ask, question) = harness.next_question().await;
    let (report, dialect_to_save) = save_dialect_question(question);
    (harness, ask, report, dialect_to_save)
}

use CallOutcome::{NoCall, WellFormed};
use Dialect::{Native, Prompt as InPrompt, Xml};

#[tokio::test(start_paused = true)]
async fn working_dialect_is_stored_and_used_at_once() {
    let (mut harness, ask, report, dialect_to_save) =
        run_probe(Script::responding(follows_native)).await;
    let expected = [
        (Native, WellFormed, true),
        (InPrompt, NoCall, false),
        (Xml, NoCall, false),
    ];
    assert_eq!(outcomes(&report), expected);
    assert_eq!(
        (report.best_dialect(), dialect_to_save),
        (Some(Native), Some(Native))
    );
    assert_eq!(
        report.verdict_text(),
        "m works with tools: best in `native`."
    );
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::Save))
        .await;
    let is_over = |event: &Event| *event == Event::ProbeChanged(None);
    harness.wait_for("the end of the probe", is_over).await;
    // From here on, queued prompts may be sent, and they use the stored dialect.
    let is_stored_notice = |event: &Event| {
        matches!(event, Event::NoticePosted(notice)
            if notice.what == "m now uses the dialect `native`.")
    };
    assert!(
        harness.events.iter().any(is_stored_notice),
        "{:?}",
        harness.events
    );
    let config = std::fs::read_to_string(harness.home.path().join("config.json")).expect("a file");
    let expected = OLLAMA_CONFIG.replace(
        "\"active\": true",
        "\"active\": true, \"toolCalls\": \"native\"",
    );
    assert_eq!(config, expected);
    harness.prompt("Hello").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Hi."));
    assert_eq!(harness.last_request().model.dialect, Native);
    let is_reported_as_edit = |event: &Event| match event {
        Event::Asked { question, .. } => !matches!(question, Ask::SaveDialect { .. }),
        Event::NoticePosted(notice) => notice.what.contains("a different toolCalls"),
        _ => false,
    };
    assert!(
        !harness.events.iter().any(is_reported_as_edit),
        "{:?}",
        harness.events
    );
}

#[tokio::test(start_paused = true)]
async fn model_that_follows_xml_is_detected() {
    let (harness, _, report, dialect_to_save) = run_probe(Script::responding(follows_xml)).await;
    let expected = [
        (Native, NoCall, false),
        (InPrompt, NoCall, false),
        (Xml, WellFormed, true),
    ];
    assert_eq!(outcomes(&report), expected);
    assert_eq!(dialect_to_save, Some(Xml));
    let request = harness.last_request();
    assert!(
        request.tools.tools().len() == 1,
        "only say_hello is offered"
    );
}

#[tokio::test(start_paused = true)]
async fn default_dialect_is_not_stored() {
    let (harness, ask, report, dialect_to_save) =
        run_probe(Script::responding(follows_prompt)).await;
    let expected = [
        (Native, NoCall, false),
        (InPrompt, WellFormed, true),
        (Xml, NoCall, false),
    ];
    assert_eq!(outcomes(&report), expected);
    assert_eq!(
        (report.best_dialect(), dialect_to_save),
        (Some(InPrompt), None)
    );
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::Stop))
        .await;
    let home = harness.shut_down().await;
    let config = std::fs::read_to_string(home.path().join("config.json")).expect("a file");
    assert_eq!(config, OLLAMA_CONFIG);
}

#[tokio::test(start_paused = true)]
async fn model_that_never_calls_is_reported() {
    let (_, _, report, dialect_to_save) = run_probe(Script::responding(follows_none)).await;
    assert_eq!(
        outcomes(&report),
        Dialect::ALL.map(|dialect| (dialect, NoCall, false))
    );
    let result = (report.verdict(), report.best_dialect(), dialect_to_save);
    assert_eq!(result, (ProbeVerdict::CallsNothing, None, None));
}

#[tokio::test(start_paused = true)]
async fn model_that_omits_the_secret_word_is_reported_as_only_calling() {
    let (_, _, report, _) = run_probe(Script::responding(omits_secret_word)).await;
    assert_eq!(report.verdict(), ProbeVerdict::CallsOnly);
    assert_eq!(
        outcomes(&report),
        Dialect::ALL.map(|dialect| (dialect, WellFormed, false))
    );
}

#[tokio::test(start_paused = true)]
async fn probe_does_not_affect_the_conversation() {
    let (mut harness, ask, ..) = run_probe(Script::responding(follows_prompt)).await;
    harness.answer(ask, UserAnswer::Dismissed).await;
    let is_over = |event: &Event| *event == Event::ProbeChanged(None);
    harness.wait_for("the end of the probe", is_over).await;
    let belongs_to_a_turn = |event: &Event| {
        matches!(
            event,
            Event::Turn(..) | Event::ContextMeasured(_) | Event::SessionSaved(_)
        )
    };
    assert!(
        !harness.events.iter().any(belongs_to_a_turn),
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
    let is_delta = |event: &Event| matches!(event, Event::Turn(_, TurnEvent::Delta { .. }));
    harness.wait_for("text", is_delta).await;
    harness.send(Command::Probe).await;
    let is_refusal = |event: &Event| {
        matches!(event, Event::NoticePosted(notice)
            if notice.what == "A turn is still running.")
    };
    harness.wait_for("the refusal", is_refusal).await;
    harness.send(Command::Interrupt).await;
    harness.wait_for_turn_end().await;
    harness.send(Command::Probe).await;
    let (turn, prompt) = (TurnId(9), Prompt::new("Now?"));
    harness.send(Command::Submit { turn, prompt }).await;
    let notice = Notice::failure("A probe is still running.").with_advice(Advice::WaitOrStop);
    assert_eq!(
        harness.wait_for_turn_end().await,
        TurnEnd::Failed { notice }
    );
}

#[tokio::test(start_paused = true)]
async fn malformed_config_is_not_modified() {
    let (mut harness, ask, ..) = run_probe(Script::responding(follows_native)).await;
    let file = harness.home.path().join("config.json");
    std::fs::write(&file, "{ broken").expect("written");
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::Save))
        .await;
    let is_refusal = |event: &Event| matches!(event, Event::NoticePosted(notice) if notice.what.contains("line 1, column 3"));
    harness.wait_for("the refusal", is_refusal).await;
    let is_over = |event: &Event| *event == Event::ProbeChanged(None);
    harness.wait_for("the end of the probe", is_over).await;
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "{ broken");
}
