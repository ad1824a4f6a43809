//! With random keys, sizes and pauses, no call runs with arguments that were not drawn.

use crate::fixtures::{tool_call, tool_from};
use crate::questions;
use crate::tui::update::tests::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Without F5, because JSON may break a word between two rows.
const KEYS: [&str; 25] = [
    "y", "y", "s", "6", "7", "0", "0", "e", "1", "2", "<Enter>", "<Enter>", "<Esc>", "<PgDn>",
    "<PgDn>", "<End>", "<Home>", "<Left>", "<Right>", "<Down>", "<Up>", "o", "a", "<F1>",
    "<Ctrl+k>",
];
const SIZES: [(u16, u16); 7] = [
    (80, 24),
    (60, 20),
    (20, 6),
    (40, 12),
    (120, 40),
    (19, 5),
    (80, 3),
];

#[derive(Debug, Clone)]
enum Step {
    Keys(&'static str),
    Wait(u64),
    Resize((u16, u16)),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => prop::sample::select(KEYS.as_slice()).prop_map(Step::Keys),
        5 => prop::sample::select(vec![30, 600, 1_000]).prop_map(Step::Wait),
        1 => prop::sample::select(SIZES.as_slice()).prop_map(Step::Resize),
    ]
}

fn words(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::String(text) => text.split_whitespace().map(str::to_owned).collect(),
        serde_json::Value::Array(items) => items.iter().flat_map(words).collect(),
        serde_json::Value::Object(members) => members.values().flat_map(words).collect(),
        _ => Vec::new(),
    }
}

/// A chat that asks for approval of several calls. Each of `lines` is the number of lines in the
/// arguments of one call. The lines are alternately a list and a text.
fn chat_with_approval(lines: &[usize]) -> ChatHarness {
    let mut chat = chat();
    chat.keys("go<Enter>");
    let tool = Arc::new(tool_from(&json!({
        "name": "write", "inputSchema": { "type": "object" },
    })));
    let mut calls = Vec::new();
    for (index, count) in lines.iter().enumerate() {
        let call = CallId(index as u64 + 1);
        let lines: Vec<String> = (0..*count).map(|n| format!("w{index}n{n}z")).collect();
        let arguments = match index % 2 {
            0 => json!({ "lines": lines }),
            _ => json!({ "path": "a.txt", "text": lines.join("\n") }),
        };
        chat.turn_event(TurnEvent::Tool(ToolCall {
            id: call,
            ..tool_call("files", "write", arguments)
        }));
        let tool = tool.clone();
        calls.push(CallToApprove { call, tool });
    }
    chat.ask_question(questions::approve(calls)).wait(600);
    chat.sent.clear();
    chat
}

/// The arguments with which each call would run.
fn granted(chat: &ChatHarness, calls: &[(CallId, Decision)]) -> Vec<serde_json::Value> {
    let arguments = |(id, decision): &(CallId, Decision)| match decision {
        Decision::Edit { arguments } => Some(arguments.clone()),
        Decision::Refuse | Decision::Deny { .. } | Decision::Never => None,
        _ => {
            let call = chat.model.chat.transcript.call(*id).expect("a call");
            Some(call.arguments.clone())
        }
    };
    let granted = calls.iter().filter_map(arguments);
    granted.map(serde_json::Value::from).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_call_runs_before_its_arguments_were_drawn(
        lines in prop::collection::vec(0usize..45, 1..4),
        steps in prop::collection::vec(any_step(), 1..60),
    ) {
        let mut chat = chat_with_approval(&lines);
        let mut drawn = BTreeSet::new();
        for step in steps {
            let is_word = |c: char| c.is_alphanumeric() || c == '.';
            let screen = chat.screen();
            drawn.extend(screen.split(|c| !is_word(c)).map(str::to_owned));
            match step {
                Step::Keys(keys) => chat.keys(keys),
                Step::Wait(millis) => chat.wait(millis),
                Step::Resize((width, height)) => chat.size(width, height),
            };
            for command in chat.commands() {
                match command {
                    Command::CheckArguments { query, .. } => {
                        let check = SchemaCheck::Valid;
                        chat.engine_event(Event::ArgumentsChecked { query, check });
                    }
                    Command::Answer { answer: UserAnswer::Calls(calls), .. } => {
                        let words = granted(&chat, &calls).iter().flat_map(words).collect::<Vec<_>>();
                        // An edit may join words into one that is wrapped.
                        for word in words.iter().filter(|word| word.len() < 12) {
                            prop_assert!(drawn.contains(word), "{word} was not drawn");
                        }
                        return Ok(());
                    }
                    _ => {}
                }
            }
        }
    }
}
