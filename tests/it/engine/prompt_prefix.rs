//! The server's prefix cache: each request begins with the bytes of the previous one, up to the
//! place where a finished turn drops its tool messages. Random conversations with tools, for all
//! providers and dialects.

use crate::providers::hosted_request_bodies::body;
use crate::support::fixtures;
use humble::domain::model::Limits;
use humble::domain::{
    Dialect, Message, Prompt, ProviderKind, SavedMessage, SchemaCheck, Server, ToolMode,
    ToolOutcome, Toolset,
};
use humble::engine::approval::Approval;
use humble::engine::injection_guard::InjectionGuard;
use humble::engine::result_images::ResultImages;
use humble::engine::tool_offer::{OfferRequest, ToolOffer};
use humble::engine::turn::{
    ProposedCall, ReplyEnd, Turn, TurnEffect, TurnIdGenerators, TurnInput, TurnSetup,
};
use humble::provider::ChatRequest;
use humble::provider::parameter_fallback::ParameterFallback;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

const PROVIDERS: [ProviderKind; 4] = [
    ProviderKind::Ollama,
    ProviderKind::OpenAi,
    ProviderKind::Mistral,
    ProviderKind::Anthropic,
];
const ALL_DIALECTS: [Dialect; 3] = [Dialect::Native, Dialect::Prompt, Dialect::Xml];

#[derive(Debug, Clone)]
struct ScriptedTurn {
    prompt: String,
    /// For each round, the results of its calls; `Err` is a failed call.
    rounds: Vec<Vec<Result<String, String>>>,
    answer: String,
    /// Whether another server, listed first in the settings, connects during the turn.
    connects_server: bool,
}

fn scripted_turn() -> impl Strategy<Value = ScriptedTurn> {
    let text = "[a-z가-힣\"\\\\\n ]{0,12}[a-z가-힣]";
    let result = prop_oneof![
        4 => text.prop_map(Ok::<String, String>),
        1 => text.prop_map(Err::<String, String>),
    ];
    let rounds = prop::collection::vec(prop::collection::vec(result, 1..4), 0..4);
    (text, rounds, text, any::<bool>()).prop_map(|(prompt, rounds, answer, connects_server)| {
        ScriptedTurn {
            prompt,
            rounds,
            answer,
            connects_server,
        }
    })
}

fn server(number: usize) -> Server {
    let tools = (0..3).map(|tool| fixtures::described_tool(&format!("tool_{tool}"), "말 \"x\""));
    fixtures::server(&format!("server{number}"), tools.collect())
}

/// The servers in the order of the settings: the newest first.
fn toolset(servers: usize) -> Toolset {
    let servers: Vec<Server> = (0..servers).rev().map(server).collect();
    Toolset::from_servers(&servers)
}

fn proposed_call(number: usize) -> TurnInput {
    let arguments = json!({ "n": number });
    TurnInput::Call(ProposedCall {
        wire_id: Some(format!("call_{number}")),
        server: Some("server0".to_owned()),
        name: "tool_1".to_owned(),
        arguments: Ok(arguments.as_object().cloned().unwrap_or_default().into()),
        origin: humble::domain::CallOrigin::Native,
        has_end: true,
        is_truncated: false,
        raw: String::new(),
    })
}

type SentRequest = (Vec<Message>, Arc<Toolset>);

fn sent_request(effects: &[TurnEffect]) -> Option<SentRequest> {
    effects.iter().find_map(|effect| match effect {
        TurnEffect::Request { messages, tools } => Some((messages.clone(), Arc::clone(tools))),
        _ => None,
    })
}

/// Runs a turn and returns its requests. The tools change to `later_toolset` in each round.
fn run_turn(
    script: &ScriptedTurn,
    setup: TurnSetup,
    later_toolset: &Arc<Toolset>,
) -> Vec<SentRequest> {
    let (mut turn, effects) = Turn::begin(setup, TurnIdGenerators::default());
    let mut requests: Vec<SentRequest> = sent_request(&effects).into_iter().collect();
    let mut number = 0;
    for results in &script.rounds {
        for _ in results {
            number += 1;
            turn.step(proposed_call(number));
        }
        let mut effects = turn.step(TurnInput::ReplyEnded(Ok(ReplyEnd::default())));
        if let Some(TurnEffect::CheckArguments(checks)) = effects.last() {
            let checked = vec![SchemaCheck::Valid; checks.len()];
            effects = turn.step(TurnInput::ArgumentsChecked(checked));
        }
        let started = effects.iter().filter_map(|effect| match effect {
            TurnEffect::Run(call) => Some(call.id()),
            _ => None,
        });
        let started: Vec<_> = started.collect();
        turn.step(TurnInput::ToolsetChanged(Arc::clone(later_toolset)));
        for (call, result) in started.into_iter().zip(results) {
            let elapsed = Duration::from_millis(1);
            let outcome = match result.clone() {
                Ok(text) => ToolOutcome::Succeeded { text, elapsed },
                Err(text) => ToolOutcome::Failed { text, elapsed },
            };
            let effects = turn.step(TurnInput::CallDone {
                call,
                outcome,
                images: ResultImages::default(),
            });
            requests.extend(sent_request(&effects));
        }
    }
    requests
}

/// Tools, system prompt and messages of a body, in the order in which the server renders them. The
/// lists have no closing bracket, so that an extended list begins with the original one.
fn prefix_parts(body: &Value) -> [String; 3] {
    let open_list = |value: &Value| {
        let text = value.to_string();
        text.strip_suffix(']').unwrap_or(&text).to_owned()
    };
    let tools = body.get("tools").map_or_else(String::new, open_list);
    let system = body
        .get("system")
        .map_or_else(String::new, Value::to_string);
    [tools, system, open_list(&body["messages"])]
}

fn sent_body(provider: ProviderKind, dialect: Dialect, request: &SentRequest) -> Value {
    let mut model = fixtures::model_config(provider, "http://localhost/v1");
    model.dialect = dialect;
    let request = ChatRequest {
        model: Arc::new(model),
        messages: request.0.clone(),
        tools: Arc::clone(&request.1),
        num_ctx: 8_192,
        temperature: None,
    };
    body(&request, ParameterFallback::default())
}

/// Checks that `after` begins with `before`. If tools were added, text dialects change at the end
/// of the tool block, which is in the first message.
fn assert_extends(before: &Value, after: &Value, is_offer_changed: bool) {
    let (old, new) = (prefix_parts(before), prefix_parts(after));
    let [old_text, new_text] = [&old, &new].map(|parts| parts.concat());
    if !is_offer_changed {
        for (old, new) in old.iter().zip(&new) {
            assert!(new.starts_with(old.as_str()), "{old}\n\n{new}");
        }
        let rest = |body: &Value| {
            let mut rest = body.clone();
            rest["messages"].take();
            rest
        };
        assert_eq!(rest(before), rest(after));
        return;
    }
    let common = old_text.bytes().zip(new_text.bytes());
    let common = common.take_while(|(old, new)| old == new).count();
    let stable_end = match old_text.find("FUNCTION_CALL:") {
        Some(end_of_tools) => end_of_tools,
        None => old[0].len(),
    };
    assert!(common >= stable_end, "{old_text}\n\n{new_text}");
}

fn check_conversation(script: &[ScriptedTurn], dialect: Dialect, tokens_max: Option<u64>) {
    let mut offer = ToolOffer::default();
    let mut history: Vec<SavedMessage> = Vec::new();
    let mut servers = 1;
    let mut previous: Option<SentRequest> = None;
    for turn in script {
        let callable = Arc::new(toolset(servers));
        let request = OfferRequest {
            prompt: &turn.prompt,
            tokens_max,
            always_offered: &BTreeSet::new(),
        };
        let setup = TurnSetup {
            prompt: Prompt::new(turn.prompt.clone()),
            prompt_override: None,
            model: "m".to_owned(),
            may_think: true,
            dialect,
            system_prompt: "Be brief.".into(),
            history: Arc::new(history.clone()),
            offered: offer.for_turn(&callable, request),
            toolset: offer.callable(&callable),
            approval: Approval::new(ToolMode::Auto),
            limits: Limits {
                errors_per_turn: 100,
                ..Limits::default()
            },
            guard: InjectionGuard::default(),
            resumed_calls: Vec::new(),
        };
        servers += usize::from(turn.connects_server);
        let later_toolset = offer.callable(&Arc::new(toolset(servers)));
        let requests = run_turn(turn, setup, &later_toolset);
        assert_eq!(requests.len(), turn.rounds.len() + 1);
        for provider in PROVIDERS {
            let bodies = requests
                .iter()
                .map(|request| sent_body(provider, dialect, request));
            let bodies: Vec<Value> = bodies.collect();
            for pair in bodies.windows(2) {
                assert_extends(&pair[0], &pair[1], false);
            }
            if let Some(first_of_previous) = &previous {
                let before = sent_body(provider, dialect, first_of_previous);
                let is_offer_changed = first_of_previous.1 != requests[0].1;
                assert_extends(&before, &bodies[0], is_offer_changed);
            }
        }
        previous = requests.into_iter().next();
        history.push(SavedMessage::user(turn.prompt.as_str()));
        history.push(SavedMessage::assistant(turn.answer.as_str()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_request_begins_with_the_previous_one(
        script in prop::collection::vec(scripted_turn(), 1..5),
        dialect in prop::sample::select(ALL_DIALECTS.to_vec()),
        tokens_max in prop::sample::select(vec![None, Some(40), Some(120)]),
    ) {
        check_conversation(&script, dialect, tokens_max);
    }
}
