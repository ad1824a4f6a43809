//! Arguments that do not fit the schema as the model wrote them.

use crate::support::fixtures::{self, object, tool_with};
use humble::domain::model::Limits;
use humble::domain::{CallOrigin, Dialect, Prompt, Server, ToolCall, ToolMode, Toolset, TurnEvent};
use humble::engine::approval::Approval;
use humble::engine::injection_guard::UntrustedTexts;
use humble::engine::turn::{
    ProposedCall, ReplyEnd, Turn, TurnEffect, TurnIdGenerators, TurnInput, TurnSetup,
};
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
        dialect: Dialect::Prompt,
        system_prompt: "".into(),
        history: Arc::default(),
        toolset: Arc::clone(&toolset),
        offered: toolset,
        approval: Approval::new(mode),
        limits: Limits::default(),
        untrusted_texts: UntrustedTexts::default(),
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
