//! `/probe`: each dialect is tried in its own turn, without any effect on the conversation.

mod failures;

use super::*;
use humble::domain::Advice;
use humble::domain::{Dialect, ListedModel, ModelInfo, Notice, Prompt, TurnId};
use humble::protocol::{Block, Question};
use humble::provider::{ChatRequest, FailureCause};
use humble::text::Clean;

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

/// The result as it is shown to the user.
struct ShownResult {
    text: String,
    /// Dialect, called, well-formed, answered, seconds.
    trials: Vec<[String; 5]>,
    offers_to_save: bool,
}

impl ShownResult {
    fn of(question: &Question) -> Self {
        assert_eq!(question.kind, "save_dialect");
        let rows = question.blocks.iter().find_map(|block| match block {
            Block::Table { rows, .. } => Some(rows.as_slice()),
            _ => None,
        });
        let cells = |row: &Clean| {
            let cells = row.as_str().split("  ").map(|cell| cell.trim().to_owned());
            let cells: Vec<String> = cells.filter(|cell| !cell.is_empty()).collect();
            cells.try_into().expect("five cells")
        };
        let mut choices = question.choices.iter();
        Self {
            text: question_text(question),
            trials: rows.into_iter().flatten().skip(1).map(cells).collect(),
            offers_to_save: choices.any(|row| row.choice == UserChoice::Save),
        }
    }

    /// Dialect, called, well-formed and answered of each trial.
    fn outcomes(&self) -> Vec<String> {
        let joined = |trial: &[String; 5]| trial[..4].join(" ");
        self.trials.iter().map(joined).collect()
    }
}

async fn run_probe(script: Script) -> (EngineHarness, AskId, ShownResult) {
    let mut harness = EngineHarness::start(script).await;
    harness.send(Command::Probe).await;
    let (ask, question) = harness.next_question().await;
    (harness, ask, ShownResult::of(&question))
}

use Dialect::{Native, Prompt as InPrompt, Xml};

#[tokio::test(start_paused = true)]
async fn working_dialect_is_stored_and_used_at_once() {
    let (mut harness, ask, shown) = run_probe(Script::responding(follows_native)).await;
    let expected = ["native yes yes yes", "prompt no - no", "xml no - no"];
    assert_eq!(shown.outcomes(), expected);
    assert!(shown.offers_to_save);
    let verdict = "m works with tools: best in `native`.";
    assert!(shown.text.contains(verdict), "{}", shown.text);
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
        Event::Asked { question, .. } => question.kind != "save_dialect",
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
    let (harness, _, shown) = run_probe(Script::responding(follows_xml)).await;
    let expected = ["native no - no", "prompt no - no", "xml yes yes yes"];
    assert_eq!(shown.outcomes(), expected);
    assert!(shown.offers_to_save && shown.text.contains("`xml` does better"));
    let request = harness.last_request();
    assert!(
        request.tools.tools().len() == 1,
        "only say_hello is offered"
    );
}

#[tokio::test(start_paused = true)]
async fn default_dialect_is_not_stored() {
    let (harness, ask, shown) = run_probe(Script::responding(follows_prompt)).await;
    let expected = ["native no - no", "prompt yes yes yes", "xml no - no"];
    assert_eq!(shown.outcomes(), expected);
    assert!(!shown.offers_to_save);
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::Stop))
        .await;
    let home = harness.shut_down().await;
    let config = std::fs::read_to_string(home.path().join("config.json")).expect("a file");
    assert_eq!(config, OLLAMA_CONFIG);
}

#[tokio::test(start_paused = true)]
async fn model_that_never_calls_is_reported() {
    let (_, _, shown) = run_probe(Script::responding(follows_none)).await;
    let expected = ["native no - no", "prompt no - no", "xml no - no"];
    assert_eq!(shown.outcomes(), expected);
    assert!(!shown.offers_to_save);
    let verdict = "m did not call a tool in any dialect.";
    assert!(shown.text.contains(verdict), "{}", shown.text);
}

#[tokio::test(start_paused = true)]
async fn model_that_omits_the_secret_word_is_reported_as_only_calling() {
    let (_, _, shown) = run_probe(Script::responding(omits_secret_word)).await;
    let verdict = "m calls tools but does not use their results";
    assert!(shown.text.contains(verdict), "{}", shown.text);
    let expected = ["native yes yes no", "prompt yes yes no", "xml yes yes no"];
    assert_eq!(shown.outcomes(), expected);
}

#[tokio::test(start_paused = true)]
async fn probe_does_not_affect_the_conversation() {
    let (mut harness, ask, _) = run_probe(Script::responding(follows_prompt)).await;
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
    let (mut harness, ask, _) = run_probe(Script::responding(follows_native)).await;
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
