//! `/probe`: each dialect is tried in a turn of its own, and nothing of that reaches
//! the conversation.

use super::*;
use humble::domain::probe::{Report, Trial, Verdict, Wrote};
use humble::domain::{Dialect, ModelFacts, Notice, Prompt, ServerModel, TurnId};
use humble::provider::{Cause, Request};
use std::sync::Arc;

const CALL: &str = r#"{"server": "humble", "name": "say_hello", "arguments": {}}"#;
const XML_CALL: &str = "<mcp-request>\n  <tool name=\"say_hello\" />\n</mcp-request>";

/// The word that the tool told in this turn, if it was called.
fn secret(request: &Request) -> Option<String> {
    let Some(Message::Result(result)) = request.messages.last() else {
        return None;
    };
    let (_, rest) = result.content.split_once("\"secret_word\":\"")?;
    Some(rest.split('"').next()?.to_owned())
}

fn says(text: &str) -> Vec<Step> {
    vec![Step::text(text), Step::end()]
}

/// A call of `say_hello` as the dialect of the request teaches it.
fn calls(request: &Request) -> Vec<Step> {
    match request.model.dialect {
        Dialect::Native => vec![
            Step::call("humble__say_hello", Arguments::new()),
            Step::end(),
        ],
        Dialect::Prompt => says(CALL),
        Dialect::Xml => says(XML_CALL),
    }
}

fn follows(request: &Request, dialect: Dialect) -> Vec<Step> {
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

fn follows_native(request: &Request) -> Vec<Step> {
    follows(request, Dialect::Native)
}

fn follows_prompt(request: &Request) -> Vec<Step> {
    follows(request, Dialect::Prompt)
}

fn follows_xml(request: &Request) -> Vec<Step> {
    follows(request, Dialect::Xml)
}

fn follows_none(_: &Request) -> Vec<Step> {
    says("안녕하세요! 무엇을 도와드릴까요?")
}

fn forgets(request: &Request) -> Vec<Step> {
    match secret(request) {
        Some(_) => says("Hello to you, too."),
        None => calls(request),
    }
}

fn found(question: Ask) -> (Arc<Report>, Option<Dialect>) {
    match question {
        Ask::StoreDialect { report, to } => (report, to),
        other => panic!("asked something else: {other:?}"),
    }
}

fn outcomes(report: &Report) -> Vec<(Dialect, Wrote, bool)> {
    let outcome = |trial: &Trial| (trial.dialect, trial.wrote.clone(), trial.answered);
    report.trials.iter().map(outcome).collect()
}

async fn probed(script: Script) -> (Bench, AskId, Arc<Report>, Option<Dialect>) {
    let mut bench = Bench::start(script).await;
    bench.send(Command::Probe).await;
    let (ask, question) = bench.asked().await;
    let (report, to) = found(question);
    (bench, ask, report, to)
}

use Dialect::{Native, Prompt as InPrompt, Xml};
use Wrote::{AsTaught, Nothing};

#[tokio::test(start_paused = true)]
async fn what_a_model_follows_is_found_stored_and_used_at_once() {
    let (mut bench, ask, report, to) = probed(Script::responding(follows_native)).await;
    let expected = [
        (Native, AsTaught, true),
        (InPrompt, Nothing, false),
        (Xml, Nothing, false),
    ];
    assert_eq!(outcomes(&report), expected);
    assert_eq!((report.best(), to), (Some(Native), Some(Native)));
    assert_eq!(report.words(), "m works with tools: best in `native`.");
    bench.answers(ask, Answer::Choice(Choice::Store)).await;
    let over = |event: &Event| *event == Event::ProbeChanged(None);
    bench.until("the end of the probe", over).await;
    let config = std::fs::read_to_string(bench.home.path().join("config.json")).expect("there");
    let stored = CONFIG.replace(
        "\"active\": true",
        "\"active\": true, \"toolCalls\": \"native\"",
    );
    assert_eq!(config, stored);
    bench.says("Hello").await;
    assert_eq!(bench.ended().await, answered("Hi."));
    assert_eq!(bench.last_request().model.dialect, Native);
    let by_us = |event: &Event| match event {
        Event::Asked { question, .. } => !matches!(question, Ask::StoreDialect { .. }),
        Event::Noticed(notice) => notice.what.contains("another toolCalls"),
        _ => false,
    };
    assert!(!bench.events.iter().any(by_us), "{:?}", bench.events);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_follows_tags_is_found_out() {
    let (bench, _, report, to) = probed(Script::responding(follows_xml)).await;
    let expected = [
        (Native, Nothing, false),
        (InPrompt, Nothing, false),
        (Xml, AsTaught, true),
    ];
    assert_eq!(outcomes(&report), expected);
    assert_eq!(to, Some(Xml));
    let log = bench.last_request();
    assert!(log.tools.tools().len() == 1, "say_hello alone is on offer");
}

fn is_busy(_: &Request) -> Vec<Step> {
    vec![Step::Fail(Cause::Status {
        status: 429,
        message: None,
        retry_after: Some(Duration::from_secs(100)),
        path: None,
    })]
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_to_wait_is_not_waited_for_for_ever() {
    let (_, _, report, _) = probed(Script::responding(is_busy)).await;
    assert_eq!(report.verdict(), Verdict::Unknown);
    assert_eq!(report.trials.len(), 3);
    for trial in &report.trials {
        assert_eq!(trial.elapsed, Duration::from_secs(180));
        let fault = trial.fault.as_deref().unwrap_or_default();
        let start = "no answer within 180 s. ";
        assert!(
            fault.starts_with(start) && fault.len() > start.len(),
            "{fault}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_usual_dialect_needs_no_storing() {
    let (bench, ask, report, to) = probed(Script::responding(follows_prompt)).await;
    let expected = [
        (Native, Nothing, false),
        (InPrompt, AsTaught, true),
        (Xml, Nothing, false),
    ];
    assert_eq!(outcomes(&report), expected);
    assert_eq!((report.best(), to), (Some(InPrompt), None));
    bench.answers(ask, Answer::Choice(Choice::Stop)).await;
    let home = bench.leaves().await;
    let config = std::fs::read_to_string(home.path().join("config.json")).expect("there");
    assert_eq!(config, CONFIG);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_calls_nothing_is_said_to() {
    let (_, _, report, to) = probed(Script::responding(follows_none)).await;
    assert_eq!(
        outcomes(&report),
        Dialect::ALL.map(|one| (one, Nothing, false))
    );
    let found = (report.verdict(), report.best(), to);
    assert_eq!(found, (Verdict::CallsNothing, None, None));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_forgets_the_word_only_calls() {
    let (_, _, report, _) = probed(Script::responding(forgets)).await;
    assert_eq!(report.verdict(), Verdict::CallsOnly);
    assert_eq!(
        outcomes(&report),
        Dialect::ALL.map(|one| (one, AsTaught, false))
    );
}

fn hangs_in_native(request: &Request) -> Vec<Step> {
    match request.model.dialect {
        Native => vec![Step::Hang],
        Xml => vec![Step::text("Let me"), Step::Hang],
        InPrompt => follows_prompt(request),
    }
}

#[tokio::test(start_paused = true)]
async fn a_dialect_that_stalls_keeps_no_other_from_being_tried() {
    let (_, _, report, _) = probed(Script::responding(hangs_in_native)).await;
    let faults: Vec<String> = report.faults().collect();
    let expected = [
        "native: no answer within 180 s.",
        "xml: nothing more came for 30 s.",
    ];
    assert_eq!(faults, expected);
    assert_eq!(report.best(), Some(InPrompt));
    assert_eq!(report.trials[0].elapsed, Duration::from_secs(180));
    let is_whole: Vec<bool> = report.trials.iter().map(|trial| trial.is_whole).collect();
    assert_eq!(is_whole, [false, true, false]);
}

fn errs_in_native(request: &Request) -> Vec<Step> {
    match request.model.dialect {
        Native => vec![Step::Fail(Cause::NoTools {
            status: 400,
            message: "m does not support tools".to_owned(),
        })],
        _ => follows_prompt(request),
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_takes_no_tools_fails_in_native_alone() {
    let (_, _, report, _) = probed(Script::responding(errs_in_native)).await;
    assert_eq!(report.best(), Some(InPrompt));
    let fault = report.trials[0].fault.as_deref().unwrap_or_default();
    assert!(fault.contains("tools"), "{fault}");
}

#[tokio::test(start_paused = true)]
async fn a_model_whose_server_lists_no_tools_is_not_asked_natively() {
    let model = ServerModel {
        name: "m".to_owned(),
        facts: ModelFacts {
            capabilities: vec!["completion".to_owned()],
            ..ModelFacts::default()
        },
        ..ServerModel::default()
    };
    let script = Script::responding(follows_prompt).stocks("http://localhost:11434", [model]);
    let (_, _, report, _) = probed(script).await;
    let why = "not tried, since its server lists no `tools` for it (completion).";
    assert_eq!(report.trials[0], Trial::skipped(Native, why));
    assert_eq!(report.best(), Some(InPrompt));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_not_there_ends_it_at_once() {
    let script = Script::default().round([Step::Fail(Cause::Refused)]);
    let requests = script.requests();
    let (_, _, report, to) = probed(script).await;
    assert_eq!(requests.count(), 1);
    assert_eq!((report.trials.len(), report.is_cut, to), (0, true, None));
    let fault = report.fault.as_ref().expect("the usual sentence");
    assert_eq!(fault.what, "Nothing listens at http://localhost:11434.");
    assert_eq!(report.verdict(), Verdict::Unknown);
}

#[tokio::test(start_paused = true)]
async fn stopping_shows_what_there_is() {
    let hangs = vec![Step::Hang];
    let script = Script::default().answer("Hello!").round(hangs);
    let mut bench = Bench::start(script).await;
    bench.send(Command::Probe).await;
    let in_prompt = |event: &Event| matches!(event, Event::ProbeChanged(Some(state)) if state.dialect == Some(InPrompt));
    bench.until("the second dialect", in_prompt).await;
    bench.send(Command::StopProbe).await;
    let (_, question) = bench.asked().await;
    let (report, to) = found(question);
    assert_eq!(outcomes(&report), [(Native, Nothing, false)]);
    assert_eq!((report.is_cut, to), (true, None));
}

#[tokio::test(start_paused = true)]
async fn stopping_before_anything_was_tried_asks_nothing() {
    let script = Script::default().round([Step::Hang]).answer("Hi.");
    let mut bench = Bench::start(script).await;
    bench.send(Command::Probe).await;
    let begun = |event: &Event| matches!(event, Event::ProbeChanged(Some(state)) if state.dialect == Some(Native));
    bench.until("the first dialect", begun).await;
    bench.send(Command::StopProbe).await;
    let what = "The probe was stopped before a dialect was tried to its end.";
    let said = Event::Noticed(Notice::info(what));
    bench.until("the notice", |event| *event == said).await;
    bench.says("Hello").await;
    assert_eq!(bench.ended().await, answered("Hi."));
}

#[tokio::test(start_paused = true)]
async fn nothing_of_a_probe_reaches_the_conversation() {
    let (mut bench, ask, ..) = probed(Script::responding(follows_prompt)).await;
    bench.answers(ask, Answer::Dismissed).await;
    let over = |event: &Event| *event == Event::ProbeChanged(None);
    bench.until("the end of the probe", over).await;
    let of_the_turn = |event: &Event| {
        matches!(
            event,
            Event::Turn(..) | Event::ContextMeasured(_) | Event::SessionSaved(_)
        )
    };
    assert!(!bench.events.iter().any(of_the_turn), "{:?}", bench.events);
    let home = bench.leaves().await;
    assert_eq!(sessions(&home), Vec::<std::path::PathBuf>::new());
    let journals = std::fs::read_dir(home.path().join("journal"));
    assert_eq!(journals.map_or(0, Iterator::count), 0);
    assert!(!home.path().join("history").exists());
}

#[tokio::test(start_paused = true)]
async fn a_probe_asks_for_the_context_of_the_conversation() {
    let config = CONFIG.replace(
        "\"active\"",
        "\"options\": { \"num_ctx\": 8192 }, \"active\"",
    );
    let script = Script::default()
        .answer("Hi.")
        .answer("1")
        .answer("2")
        .answer("3");
    let requests = script.requests();
    let mut bench = Bench::with(script, &config).await;
    bench.says("Hello").await;
    bench.ended().await;
    bench.send(Command::Probe).await;
    bench.asked().await;
    let requests = requests.all();
    let contexts: Vec<u32> = requests.iter().map(|request| request.num_ctx).collect();
    assert_eq!(contexts, [8_192; 4]);
    let prompt = |request: &Request| match request.messages.last() {
        Some(Message::User(prompt)) => prompt.clone(),
        other => panic!("no prompt: {other:?}"),
    };
    let asked: Vec<String> = requests[1..].iter().map(prompt).collect();
    assert!(asked[0] != asked[1] && asked[1] != asked[2], "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_turn_and_a_probe_exclude_each_other() {
    let script = Script::default()
        .round([Step::text("Let me"), Step::Hang])
        .round([Step::Hang]);
    let mut bench = Bench::start(script).await;
    bench.says("Hello").await;
    let speaks = |event: &Event| matches!(event, Event::Turn(_, TurnEvent::Delta { .. }));
    bench.until("words", speaks).await;
    bench.send(Command::Probe).await;
    let refused = |event: &Event| {
        matches!(event, Event::Noticed(notice)
            if notice.what == "The present turn is still under way.")
    };
    bench.until("the refusal", refused).await;
    bench.send(Command::Interrupt).await;
    bench.ended().await;
    bench.send(Command::Probe).await;
    let (turn, prompt) = (TurnId(9), Prompt::new("Now?"));
    bench.send(Command::Submit { turn, prompt }).await;
    let busy = Notice::failure("The model is being probed.")
        .advise("Wait for it, or stop it with Ctrl+C.");
    assert_eq!(bench.ended().await, TurnEnd::Failed { notice: busy });
}

#[tokio::test(start_paused = true)]
async fn a_file_that_broke_meanwhile_is_left_alone() {
    let (mut bench, ask, ..) = probed(Script::responding(follows_native)).await;
    let file = bench.home.path().join("config.json");
    std::fs::write(&file, "{ broken").expect("written");
    bench.answers(ask, Answer::Choice(Choice::Store)).await;
    let refused = |event: &Event| matches!(event, Event::Noticed(notice) if notice.what.contains("line 1, column 3"));
    bench.until("the refusal", refused).await;
    let over = |event: &Event| *event == Event::ProbeChanged(None);
    bench.until("the end of the probe", over).await;
    assert_eq!(std::fs::read_to_string(&file).expect("there"), "{ broken");
}

fn needs_two_tries(request: &Request) -> Vec<Step> {
    if request.model.dialect != InPrompt {
        return follows_none(request);
    }
    match (secret(request), request.messages.len()) {
        (Some(word), _) => says(&word),
        (None, ..=2) => says(&CALL.replace("{}", "{\"mood\": \"good\"}")),
        (None, _) => says(CALL),
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_had_to_be_mended_is_not_well_formed() {
    let (_, _, report, _) = probed(Script::responding(needs_two_tries)).await;
    let second = Wrote::Otherwise("second try".to_owned());
    assert_eq!(outcomes(&report)[1], (InPrompt, second, true));
    let fault = report.trials[1].fault.as_deref().unwrap_or_default();
    assert!(fault.contains("could not be used"), "{fault}");
}

fn never_stops_calling(request: &Request) -> Vec<Step> {
    let count = request.messages.len();
    let call = CALL.replace("{}", &format!("{{\"name\": \"{count}\"}}"));
    match request.model.dialect {
        InPrompt => says(&call),
        _ => follows_none(request),
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_never_stops_calling_is_stopped() {
    let (_, _, report, _) = probed(Script::responding(never_stops_calling)).await;
    assert_eq!(outcomes(&report)[1], (InPrompt, AsTaught, false));
    let fault = "it called say_hello in 3 rounds without an answer.";
    assert_eq!(report.trials[1].fault.as_deref(), Some(fault));
}
