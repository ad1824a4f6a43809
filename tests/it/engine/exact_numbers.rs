//! Numbers that a double cannot hold keep the digits that the model wrote, from its reply to the
//! tool.

use crate::support::fixtures::{self, object, tool_with};
use humble::dialect::scan::{CallScanner, ScanEvent};
use humble::domain::model::Limits;
use humble::domain::{
    ArgumentPattern, Arguments, CallOrigin, Decision, Dialect, Prompt, ToolCall, ToolMode, Toolset,
    TurnEvent,
};
use humble::engine::approval::Approval;
use humble::engine::injection_guard::InjectionGuard;
use humble::engine::turn::{
    ProposedCall, ReplyEnd, Turn, TurnEffect, TurnIdGenerators, TurnInput, TurnSetup,
};
use humble::protocol::{UserAnswer, parse_arguments};
use serde_json::{Value, json};
use std::sync::Arc;

const LONG: &str = "123456789012345678901234567890";

fn toolset() -> Arc<Toolset> {
    let schema = json!({ "properties": { "n": { "type": "number" }, "s": { "type": "string" } } });
    let server = fixtures::server("s", vec![tool_with("f", schema)]);
    Arc::new(Toolset::from_servers([&server]))
}

fn text_call(text: &str) -> ProposedCall {
    let mut scanner = CallScanner::new(toolset());
    let mut events = scanner.push(text);
    events.extend(scanner.finish());
    let call = events.into_iter().find_map(|event| match event {
        ScanEvent::Call(call) => Some(call),
        _ => None,
    });
    let call = call.unwrap_or_else(|| panic!("no call in {text}"));
    ProposedCall {
        wire_id: None,
        server: call.server.map(|server| server.to_string()),
        name: call.tool,
        arguments: Ok(call.arguments),
        origin: CallOrigin::Text {
            form: call.form,
            repaired: call.was_repaired,
            is_taught: false,
        },
        has_end: call.has_end,
        is_truncated: false,
        raw: call.raw,
    }
}

fn native_call(json: &str) -> ProposedCall {
    let rounded: Value = serde_json::from_str(json).expect("JSON");
    ProposedCall {
        arguments: Ok(object(rounded)),
        origin: CallOrigin::Native,
        raw: format!("f({json})"),
        ..text_call(r#"{"name": "f", "arguments": {}}"#)
    }
}

/// The effects of a reply with this call.
fn turn_with(call: ProposedCall, mode: ToolMode) -> (Turn, Vec<TurnEffect>) {
    let setup = TurnSetup {
        prompt: Prompt::new("Go."),
        prompt_override: None,
        model: "m".to_owned(),
        may_think: true,
        dialect: Dialect::Prompt,
        system_prompt: "".into(),
        history: Arc::default(),
        toolset: toolset(),
        offered: toolset(),
        approval: Approval::new(mode),
        limits: Limits::default(),
        guard: InjectionGuard::default(),
        resumed_calls: Vec::new(),
    };
    let (mut turn, _) = Turn::begin(setup, TurnIdGenerators::default());
    turn.step(TurnInput::Call(call));
    let effects = turn.step(TurnInput::ReplyEnded(Ok(ReplyEnd::default())));
    let effects = check(&mut turn, effects);
    (turn, effects)
}

fn check(turn: &mut Turn, effects: Vec<TurnEffect>) -> Vec<TurnEffect> {
    match effects.last() {
        Some(TurnEffect::CheckArguments(checks)) => {
            let results = checks.iter().cloned().map(|check| check.run()).collect();
            turn.step(TurnInput::ArgumentsChecked(results))
        }
        _ => effects,
    }
}

fn shown_call(effects: &[TurnEffect]) -> &ToolCall {
    let call = effects.iter().find_map(|effect| match effect {
        TurnEffect::Emit(TurnEvent::Tool(call)) => Some(call),
        _ => None,
    });
    call.expect("a call")
}

fn run_json(effects: &[TurnEffect]) -> String {
    let call = effects.iter().find_map(|effect| match effect {
        TurnEffect::Run(call) => Some(call.arguments().to_json()),
        _ => None,
    });
    call.expect("the call runs")
}

#[test]
fn digits_of_a_call_in_any_form_reach_the_tool() {
    for number in [
        LONG,
        "18446744073709551616",
        "0.1234567890123456789012345",
        "1e-400",
    ] {
        let expected = format!(r#"{{"n":{number}}}"#);
        let json = format!(r#"{{"name": "f", "arguments": {{"n": {number}}}}}"#);
        for call in [
            native_call(&expected),
            native_call(&format!(r#"{{"n":"{number}"}}"#)),
            text_call(&json),
            text_call(&format!("<tool_call>{json}</tool_call>")),
            text_call(&format!(
                r#"{{'name': 'f', 'arguments': {{'n': {number},}}}}"#
            )),
            text_call(&format!(
                r#"{{"name": "f", "arguments": "{{\"n\": {number}}}"}}"#
            )),
            text_call(&format!("[f(n={number})]")),
            text_call(&format!(
                "<function=f><parameter=n>{number}</parameter></function>"
            )),
            text_call(&format!(
                "<start_function_call>call:f{{n:{number}}}<end_function_call>"
            )),
            text_call(&format!("[TOOL_CALLS]f[ARGS]{{\"n\": {number}}}")),
        ] {
            let raw = call.raw.clone();
            let (_, effects) = turn_with(call, ToolMode::Auto);
            assert_eq!(run_json(&effects), expected, "{raw}");
            let shown = shown_call(&effects);
            assert_eq!(shown.arguments.to_json(), expected, "{raw}");
            let changes = shown.json_changes.iter().map(ToString::to_string);
            let is_rounded = |change: &String| change.contains("the number becomes");
            assert_eq!(changes.filter(is_rounded).count(), 0, "{raw}");
        }
    }
}

#[test]
fn digits_that_the_user_edits_reach_the_tool() {
    let call = native_call(&format!(r#"{{"n":{LONG},"s":"a"}}"#));
    let (mut turn, effects) = turn_with(call, ToolMode::Manual);
    let id = shown_call(&effects).id;
    let ask = effects.iter().find_map(|effect| match effect {
        TurnEffect::OpenAsk { ask, .. } => Some(*ask),
        _ => None,
    });
    let edited = format!(r#"{{"n":{},"s":"b"}}"#, LONG.replace("890", "891"));
    let arguments = parse_arguments(&edited).expect("JSON");
    let effects = turn.step(TurnInput::Answered {
        ask: ask.expect("a question"),
        answer: UserAnswer::Calls(vec![(id, Decision::Edit { arguments })]),
    });
    let effects = check(&mut turn, effects);
    assert_eq!(run_json(&effects), edited);
}

#[test]
fn a_rule_for_a_number_does_not_allow_another_one_that_rounds_to_it() {
    let written = Arguments::from_json(&format!(r#"{{"n":{LONG}}}"#)).expect("JSON");
    let pattern = ArgumentPattern::from_arguments(&written);
    assert!(!pattern.matches(&written));
    let rounded = Arguments::from_json(r#"{"n":1.2345678901234568e29}"#).expect("JSON");
    assert!(pattern.matches(&rounded));
}
