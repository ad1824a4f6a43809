//! Arguments that do not fit the schema as the model wrote them, and names that several servers
//! share.

use crate::support::fixtures::{self, object, tool_with};
use humble::domain::model::Limits;
use humble::domain::{
    CallOrigin, Dialect, Prompt, Server, ToolCall, ToolMode, Toolset, TurnEnd, TurnEvent,
};
use humble::engine::approval::Approval;
use humble::engine::injection_guard::InjectionGuard;
use humble::engine::turn::{
    ProposedCall, ReplyEnd, Turn, TurnEffect, TurnIdGenerators, TurnInput, TurnSetup,
};
use humble::protocol::{Block, UserAnswer, UserChoice};
use serde_json::{Value, json};
use std::sync::Arc;

const TEXT: CallOrigin = CallOrigin::Text {
    form: "JSON",
    repaired: false,
    is_taught: true,
};
const REPAIRED_TEXT: CallOrigin = CallOrigin::Text {
    form: "JSON",
    repaired: true,
    is_taught: true,
};

/// A turn in which the model called `f` with these arguments.
fn turn_with_call(
    servers: &[Server],
    mode: ToolMode,
    origin: CallOrigin,
    arguments: Value,
) -> (Turn, Vec<TurnEffect>) {
    let toolset = Arc::new(Toolset::from_servers(servers));
    let setup = TurnSetup {
        prompt: Prompt::new("Go."),
        prompt_override: None,
        model: "m".to_owned(),
        may_think: true,
        dialect: Dialect::Prompt,
        system_prompt: "".into(),
        history: Arc::default(),
        toolset: Arc::clone(&toolset),
        offered: toolset,
        approval: Approval::new(mode),
        limits: Limits::default(),
        guard: InjectionGuard::default(),
        resumed_calls: Vec::new(),
    };
    let (mut turn, _) = Turn::begin(setup, TurnIdGenerators::default());
    turn.step(TurnInput::Call(ProposedCall {
        wire_id: None,
        server: None,
        name: "f".to_owned(),
        raw: format!("f({arguments})"),
        arguments: Ok(object(arguments)),
        origin,
        has_end: true,
        is_truncated: false,
    }));
    let effects = turn.step(TurnInput::ReplyEnded(Ok(ReplyEnd::default())));
    (turn, effects)
}

/// Runs the checks that the turn requests.
fn check(turn: &mut Turn, effects: Vec<TurnEffect>) -> Vec<TurnEffect> {
    match effects.last() {
        Some(TurnEffect::CheckArguments(checks)) => {
            let results = checks.iter().cloned().map(|check| check.run()).collect();
            turn.step(TurnInput::ArgumentsChecked(results))
        }
        _ => effects,
    }
}

fn proposed_call(effects: &[TurnEffect]) -> Option<&ToolCall> {
    effects.iter().find_map(|effect| match effect {
        TurnEffect::Emit(TurnEvent::Tool(call)) => Some(call),
        _ => None,
    })
}

fn server(id: &str, properties: Value) -> Server {
    fixtures::server(
        id,
        vec![tool_with("f", json!({ "properties": properties }))],
    )
}

#[test]
fn repaired_arguments_are_marked_in_native_and_text_calls() {
    let tags = json!({ "anyOf": [{ "type": "array" }, { "type": "null" }] });
    let properties = json!({
        "tags": tags, "limit": { "type": "integer" }, "day": { "enum": ["today"] }, "text": { "type": "string" },
    });
    let written = json!({ "tags": "[\"a\"]", "limit": null, "day": "", "text": "5" });
    for (origin, marked) in [
        (CallOrigin::Native, CallOrigin::Native),
        (TEXT, REPAIRED_TEXT),
    ] {
        let servers = [server("s", properties.clone())];
        let (mut turn, effects) =
            turn_with_call(&servers, ToolMode::Manual, origin, written.clone());
        let effects = check(&mut turn, effects);
        let call = proposed_call(&effects).expect("a proposed call");
        assert_eq!(
            Value::from(call.arguments.clone()),
            json!({ "tags": ["a"], "text": "5" })
        );
        assert_eq!(call.origin, marked);
        assert!(call.has_repaired_arguments());
        let changes: Vec<String> = call.json_changes.iter().map(ToString::to_string).collect();
        assert_eq!(
            changes,
            [
                "The model wrote \"\" for \"day\", which does not accept it; \"day\" is left out.",
                "The model wrote null for \"limit\", which does not accept it; \"limit\" is left out.",
                "The model wrote \"tags\" as a string; the JSON in it is used.",
            ]
        );
    }
}

/// The servers that the turn asks about.
fn asked_servers(effects: &[TurnEffect]) -> Option<Vec<String>> {
    effects.iter().find_map(|effect| match effect {
        TurnEffect::OpenAsk { question, .. } => {
            question.blocks.iter().find_map(|block| match block {
                Block::Pairs(pairs) => {
                    Some(pairs.iter().map(|(_, name)| name.to_string()).collect())
                }
                _ => None,
            })
        }
        _ => None,
    })
}

fn answer(turn: &mut Turn, effects: &[TurnEffect], choice: UserChoice) -> Vec<TurnEffect> {
    let ask = effects.iter().find_map(|effect| match effect {
        TurnEffect::OpenAsk { ask, .. } => Some(*ask),
        _ => None,
    });
    let ask = ask.expect("a question");
    let effects = turn.step(TurnInput::Answered {
        ask,
        answer: UserAnswer::Choice(choice),
    });
    check(turn, effects)
}

#[test]
fn a_call_that_may_mean_two_servers_runs_on_the_one_that_the_user_chooses() {
    let number = json!({ "n": { "type": "integer" } });
    let servers = [
        server("humble", json!({})),
        server("a", json!({})),
        server("b", number),
    ];
    for origin in [CallOrigin::Native, TEXT] {
        let arguments = json!({ "n": "5" });
        let (mut turn, effects) =
            turn_with_call(&servers, ToolMode::Auto, origin.clone(), arguments.clone());
        assert_eq!(
            asked_servers(&effects),
            Some(vec!["a".to_owned(), "b".to_owned()])
        );
        let effects = answer(&mut turn, &effects, UserChoice::SecondServer);
        let run = effects.iter().find_map(|effect| match effect {
            TurnEffect::Run(call) => Some(call),
            _ => None,
        });
        let run = run.expect("the call runs");
        assert_eq!(run.server().as_str(), "b");
        assert_eq!(run.arguments()["n"], 5);

        // In manual mode, the choice does not approve the call.
        let (mut turn, effects) = turn_with_call(&servers, ToolMode::Manual, origin, arguments);
        let effects = answer(&mut turn, &effects, UserChoice::FirstServer);
        assert!(
            !effects
                .iter()
                .any(|effect| matches!(effect, TurnEffect::Run(_)))
        );
        assert!(effects.iter().any(|effect| matches!(
            effect,
            TurnEffect::OpenAsk { question, .. } if question.calls().len() == 1
        )));
    }
}

#[test]
fn without_a_choice_the_model_is_told_which_servers_have_the_tool() {
    let servers = [server("a", json!({})), server("b", json!({}))];
    let (mut turn, effects) =
        turn_with_call(&servers, ToolMode::Auto, CallOrigin::Native, json!({}));
    let effects = answer(&mut turn, &effects, UserChoice::TellModel);
    let sent = effects.iter().find_map(|effect| match effect {
        TurnEffect::Request { messages, .. } => Some(format!("{messages:?}")),
        _ => None,
    });
    let sent = sent.expect("a request");
    assert!(
        sent.contains("several servers have a tool `f`: name one of a, b"),
        "{sent}"
    );

    let (mut turn, effects) =
        turn_with_call(&servers, ToolMode::Auto, CallOrigin::Native, json!({}));
    let effects = answer(&mut turn, &effects, UserChoice::Stop);
    let is_stopped = |effect: &TurnEffect| {
        matches!(
            effect,
            TurnEffect::Emit(TurnEvent::Ended {
                end: TurnEnd::Stopped,
                ..
            })
        )
    };
    assert!(effects.iter().any(is_stopped));
}
