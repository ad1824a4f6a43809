//! Failures during the probe of one dialect, and their effect on the others.

use super::*;

fn busy(_: &ChatRequest) -> Vec<ScriptStep> {
    vec![ScriptStep::Fail(FailureCause::Status {
        status: 429,
        message: None,
        retry_after: Some(Duration::from_secs(100)),
        path: None,
    })]
}

#[tokio::test(start_paused = true)]
async fn probe_gives_up_on_a_busy_server_after_the_time_limit() {
    let (_, _, shown) = run_probe(Script::responding(busy)).await;
    assert!(shown.text.contains("It is not known"), "{}", shown.text);
    assert_eq!(shown.trials.len(), 3);
    for [dialect, .., seconds] in &shown.trials {
        assert_eq!(seconds, "180.0");
        let start = format!("{dialect}: no answer within 180 s. ");
        let mut lines = shown.text.lines();
        let problem = lines.find_map(|line| line.strip_prefix(start.as_str()));
        assert!(problem.is_some_and(|why| !why.is_empty()), "{}", shown.text);
    }
}

fn hangs_in_native_and_xml(request: &ChatRequest) -> Vec<ScriptStep> {
    match request.model.dialect {
        Native => vec![ScriptStep::Hang],
        Xml => vec![ScriptStep::text("Let me"), ScriptStep::Hang],
        InPrompt => follows_prompt(request),
    }
}

#[tokio::test(start_paused = true)]
async fn stalled_dialect_does_not_stop_the_others() {
    let (_, _, shown) = run_probe(Script::responding(hangs_in_native_and_xml)).await;
    let problems = "native: no answer within 180 s.\nxml: the reply stalled for 30 s.";
    assert!(shown.text.contains(problems), "{}", shown.text);
    assert!(shown.text.contains("best in `prompt`"), "{}", shown.text);
    assert_eq!(shown.trials[0][4], "180.0");
}

fn fails_in_native(request: &ChatRequest) -> Vec<ScriptStep> {
    match request.model.dialect {
        Native => vec![ScriptStep::Fail(FailureCause::ToolsUnsupported {
            status: 400,
            message: "m does not support tools".to_owned(),
        })],
        _ => follows_prompt(request),
    }
}

#[tokio::test(start_paused = true)]
async fn server_without_tool_support_fails_only_in_native() {
    let (_, _, shown) = run_probe(Script::responding(fails_in_native)).await;
    assert!(shown.text.contains("best in `prompt`"), "{}", shown.text);
    let mut lines = shown.text.lines();
    let problem = lines.find(|line| line.starts_with("native: "));
    assert!(
        problem.is_some_and(|line| line.contains("tools")),
        "{}",
        shown.text
    );
}

#[tokio::test(start_paused = true)]
async fn native_is_skipped_if_the_model_server_does_not_list_the_capability() {
    let model = ListedModel {
        name: "m".to_owned(),
        info: ModelInfo {
            capabilities: vec!["completion".to_owned()],
            ..ModelInfo::default()
        },
        ..ListedModel::default()
    };
    let script = Script::responding(follows_prompt).with_server("http://localhost:11434", [model]);
    let (_, _, shown) = run_probe(script).await;
    let why = "not tried, because the model server does not list `tools` among its capabilities (completion).";
    assert_eq!(shown.trials[0], ["native", "-", "-", "-", "-"]);
    assert!(shown.text.contains(why), "{}", shown.text);
    assert!(shown.text.contains("best in `prompt`"), "{}", shown.text);
}

#[tokio::test(start_paused = true)]
async fn unreachable_server_ends_the_probe_at_once() {
    let script = Script::default().round([ScriptStep::Fail(FailureCause::ConnectionRefused)]);
    let requests = script.requests();
    let (_, _, shown) = run_probe(script).await;
    assert_eq!(requests.count(), 1);
    assert!(shown.trials.is_empty() && !shown.offers_to_save);
    let error = "Nothing listens at http://localhost:11434.";
    assert!(shown.text.starts_with(error), "{}", shown.text);
    assert!(shown.text.contains("It is not known"), "{}", shown.text);
}

#[tokio::test(start_paused = true)]
async fn stopping_a_probe_shows_partial_results() {
    let steps = vec![ScriptStep::Hang];
    let script = Script::default().answer("Hello!").round(steps);
    let mut harness = EngineHarness::start(script).await;
    harness.send(Command::Probe).await;
    let has_second_dialect = |event: &Event| matches!(event, Event::ProbeChanged(Some(state)) if state.dialect == Some(InPrompt));
    harness
        .wait_for("the second dialect", has_second_dialect)
        .await;
    harness.send(Command::StopProbe).await;
    let (_, question) = harness.next_question().await;
    let shown = ShownResult::of(&question);
    assert_eq!(shown.outcomes(), ["native no - no"]);
    assert!(!shown.offers_to_save && shown.text.contains("any tested dialect"));
}

#[tokio::test(start_paused = true)]
async fn stopping_a_probe_before_any_result_asks_nothing() {
    let script = Script::default().round([ScriptStep::Hang]).answer("Hi.");
    let mut harness = EngineHarness::start(script).await;
    harness.send(Command::Probe).await;
    let has_begun = |event: &Event| matches!(event, Event::ProbeChanged(Some(state)) if state.dialect == Some(Native));
    harness.wait_for("the first dialect", has_begun).await;
    harness.send(Command::StopProbe).await;
    let what = "The probe was stopped before any dialect was fully tried.";
    let expected = Event::NoticePosted(Notice::info(what));
    harness
        .wait_for("the notice", |event| *event == expected)
        .await;
    harness.prompt("Hello").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Hi."));
}

fn needs_two_tries(request: &ChatRequest) -> Vec<ScriptStep> {
    if request.model.dialect != InPrompt {
        return follows_none(request);
    }
    match (secret_word(request), request.messages.len()) {
        (Some(word), _) => text_reply(&word),
        (None, ..=2) => text_reply(&CALL.replace("{}", "{\"mood\": \"good\"}")),
        (None, _) => text_reply(CALL),
    }
}

#[tokio::test(start_paused = true)]
async fn call_on_the_second_try_is_not_well_formed() {
    let (_, _, shown) = run_probe(Script::responding(needs_two_tries)).await;
    assert_eq!(shown.outcomes()[1], "prompt yes no: second try yes");
    let mut lines = shown.text.lines();
    let problem = lines.find(|line| line.starts_with("prompt: "));
    let says_why = problem.is_some_and(|line| line.contains("could not be used"));
    assert!(says_why, "{}", shown.text);
}

fn never_stops_calling(request: &ChatRequest) -> Vec<ScriptStep> {
    let count = request.messages.len();
    let call = CALL.replace("{}", &format!("{{\"name\": \"{count}\"}}"));
    match request.model.dialect {
        InPrompt => text_reply(&call),
        _ => follows_none(request),
    }
}

#[tokio::test(start_paused = true)]
async fn model_that_never_stops_calling_is_stopped() {
    let (_, _, shown) = run_probe(Script::responding(never_stops_calling)).await;
    assert_eq!(shown.outcomes()[1], "prompt yes yes no");
    let problem = "prompt: The model has called tools in 3 rounds of this turn.";
    assert!(shown.text.contains(problem), "{}", shown.text);
}
