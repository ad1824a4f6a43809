//! Calls and thinking between a model's special tokens, which some servers leave in the text.

use crate::dialect::scan_every_way::{describe_scan, scan, test_toolset};
use humble::dialect::scan::{CallScanner, ScanEvent};
use humble::domain::Toolset;
use std::sync::Arc;

pub const ADD: &str = r#"call log/add {"a":1,"b":2}"#;
pub const SEOUL: &str = r#"call humble/get_weather {"city":"서울"}"#;
pub const TOKYO: &str = r#"call humble/get_weather {"city":"東京"}"#;
pub const TIME: &str = "call humble/get_time {}";
pub const CUT: &str = "unusable it was cut off before its end";

/// The description of a call to an unknown tool.
pub fn unknown(name: &str) -> String {
    format!(
        "unusable there is no tool `{name}`; available: `get_time` (humble), `get_weather` (humble), `add` (log), `ping` (log), `ping` (docs)"
    )
}

/// The form of the only call in `text`, and whether the call is terminated.
pub fn form_of(text: &str) -> (&'static str, bool) {
    let events = scan(&test_toolset(), [text]);
    let mut calls = events.iter().filter_map(|event| match event {
        ScanEvent::Call(call) => Some((call.form, call.has_end)),
        _ => None,
    });
    match (calls.next(), calls.next()) {
        (Some(call), None) => call,
        other => panic!("{other:?} in {text}"),
    }
}

#[test]
fn calls_in_the_syntax_and_quotes_of_gemma_are_read() {
    assert_eq!(
        describe_scan(
            "<start_function_call>call:get_weather{city:<escape>서울<escape>}<end_function_call>"
        ),
        [SEOUL]
    );
    assert_eq!(
        describe_scan(
            "<|tool_call>call:get_weather{city:<|\"|>東京<|\"|>}<tool_call|><|tool_call>call:add{a:1,b:2}<tool_call|>네"
        ),
        [TOKYO, ADD, "text 네"]
    );
    assert_eq!(
        describe_scan("<|tool_call>call:add{a:{x:[<|\"|>} , {<|\"|>,true]},b:null}<tool_call|>"),
        [r#"call log/add {"a":{"x":["} , {",true]},"b":null}"#]
    );
    assert_eq!(
        describe_scan("<start_function_call>\ncall:humble.get_time{}\n<end_function_call>\n"),
        [TIME]
    );
    assert_eq!(
        describe_scan("<|tool_call>call:get_weather{\"city\": 서울}<tool_call|>"),
        [format!("{SEOUL} repaired")]
    );
    assert_eq!(
        describe_scan("<|tool_call>call:날씨{city:1}<tool_call|>"),
        [unknown("날씨")]
    );
    assert_eq!(
        describe_scan("<|tool_call>call:add{a:1,b}<tool_call|>끝"),
        [
            "unusable its arguments cannot be read: a key has no value",
            "text 끝"
        ]
    );
    assert_eq!(
        describe_scan("<start_function_call>call:get_weather{city:<escape>서"),
        [CUT]
    );
    assert_eq!(form_of("<|tool_call>call:get_time{}"), ("Gemma", true));
}

#[test]
fn calls_of_mistral_with_a_token_between_name_and_arguments_are_read() {
    assert_eq!(
        describe_scan("[TOOL_CALLS]get_weather[ARGS]{\"city\": \"서울\"}"),
        [SEOUL]
    );
    assert_eq!(
        describe_scan(
            "[TOOL_CALLS]add[CALL_ID]a1B2c3[ARGS]{\"a\": 1, \"b\": 2}[TOOL_CALLS]get_weather[ARGS]{\"city\": \"東京\"}</s>"
        ),
        [ADD, TOKYO]
    );
    assert_eq!(
        describe_scan("잠시만요. [TOOL_CALLS]get_time{}[TOOL_CALLS]add {\"a\": 1, \"b\": 2}네"),
        ["text 잠시만요. ", TIME, ADD, "text 네"]
    );
    assert_eq!(
        describe_scan("[TOOL_CALLS]add[ARGS]{\"a\" 1}[TOOL_CALLS]날씨[ARGS]{}"),
        [
            "unusable its JSON cannot be read: expected `:` at line 1 column 6".to_owned(),
            unknown("날씨")
        ]
    );
    for cut in [
        "[TOOL_CALLS]add[ARGS]{\"a\": 1",
        "[TOOL_CALLS]add[ARGS]",
        "[TOOL_CALLS]add[CALL_ID]x1",
        "[TOOL_CALLS]add[AR",
        "[TOOL_CALLS]ad",
    ] {
        assert_eq!(describe_scan(cut), [CUT], "{cut}");
    }
    assert_eq!(form_of("[TOOL_CALLS]get_time[ARGS]{}"), ("Mistral", true));
}

#[test]
fn calls_of_deepseek_with_a_token_between_name_and_arguments_are_read() {
    let call =
        "<｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{\"city\": \"서울\"}<｜tool▁call▁end｜>";
    assert_eq!(
        describe_scan(&format!("<｜tool▁calls▁begin｜>{call}<｜tool▁calls▁end｜>")),
        [SEOUL]
    );
    assert_eq!(
        describe_scan(&format!(
            "<｜tool▁calls▁begin｜>{call}\n<｜tool▁call▁begin｜>add<｜tool▁sep｜>{{\"a\": 1, \"b\": 2}}<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>"
        )),
        [SEOUL, ADD]
    );
    for section_start in [
        "<｜tool▁calls｜>",
        "<｜tool_calls_begin｜>",
        "<｜tool calls begin｜>",
        "<｜tool\\_calls\\_begin｜>",
    ] {
        let call = "function<｜tool▁sep｜>get_time\n```json\n{}\n```<｜tool▁call▁end｜>";
        assert_eq!(describe_scan(&format!("{section_start}{call}")), [TIME]);
    }
}

#[test]
fn deepseek_calls_may_use_ascii_bars_and_fenced_json() {
    for (section_start, call_start, separator, call_end, section_end) in [
        (
            "<｜tool▁calls▁begin｜>",
            "<｜tool▁call▁begin｜>",
            "<｜tool▁sep｜>",
            "<｜tool▁call▁end｜>",
            "<｜tool▁calls▁end｜>",
        ),
        (
            "<|tool▁calls▁begin|>",
            "<|tool▁call▁begin|>",
            "<|tool▁sep|>",
            "<|tool▁call▁end|>",
            "<|tool▁calls▁end|>",
        ),
        (
            "<|tool_calls_begin|>",
            "<|tool_call_begin|>",
            "<|tool_sep|>",
            "<|tool_call_end|>",
            "<|tool_calls_end|>",
        ),
    ] {
        let fenced = format!(
            "{call_start}function{separator}get_weather\n```json\n{{\"city\": \"東京\"}}\n```{call_end}"
        );
        assert_eq!(
            describe_scan(&format!("네.\n{section_start}{fenced}{section_end}")),
            ["text 네.\n", TOKYO]
        );
        assert_eq!(
            describe_scan(&format!(
                "{call_start}get_time{separator}{call_end}{section_end}"
            )),
            [TIME]
        );
        assert_eq!(
            describe_scan(&format!(
                "{call_start}function{separator}add\n{{\"a\": 1, \"b\": 2}}{call_end}끝"
            )),
            [ADD, "text 끝"]
        );
        assert_eq!(
            describe_scan(&format!("{call_start}get_weather{separator}{{\"city\"")),
            [CUT]
        );
        assert_eq!(
            describe_scan(&format!("{call_start}function{separator}get_we")),
            [CUT]
        );
        assert_eq!(
            form_of(&format!(
                "{section_start}{call_start}function{separator}get_time\n```json\n{{}}\n"
            )),
            ("DeepSeek", true)
        );
    }
}

#[test]
fn numbered_calls_of_kimi_are_read() {
    assert_eq!(
        describe_scan(
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{\"city\": \"서울\"}<|tool_call_end|><|tool_calls_section_end|>"
        ),
        [SEOUL]
    );
    assert_eq!(
        describe_scan(
            "알겠습니다.<|tool_calls_section_begin|>\n<|tool_call_begin|> functions.add:0 <|tool_call_argument_begin|> {\"a\": 1, \"b\": 2} <|tool_call_end|>\n<|tool_call_begin|>functions.get_weather:1<|tool_call_argument_begin|>{\"city\": \"東京\"}<|tool_call_end|><|tool_calls_section_end|>"
        ),
        ["text 알겠습니다.", ADD, TOKYO]
    );
    assert_eq!(
        describe_scan("<|tool_call_begin|>functions.rm:0<|tool_call_argument_begin|>{}"),
        [unknown("functions.rm:0")]
    );
    assert_eq!(
        form_of("<|tool_call_begin|>get_time<|tool_call_argument_begin|>{}"),
        ("Kimi", true)
    );
}

#[test]
fn gpt_oss_addresses_a_tool_in_the_message_header() {
    for text in [
        "<|channel|>analysis to=functions.get_weather<|message|>{\"city\": \"서울\"}",
        "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{\"city\": \"서울\"}<|call|>",
        "<|start|>assistant<|channel|>commentary to=functions.get_weather json<|message|>{\"city\": \"서울\"}<|call|>",
        "<|start|>assistant to=functions.get_weather<|channel|>commentary<|message|>{\"city\": \"서울\"}<|end|>",
        " to=functions.get_weather<|channel|>commentary json<|message|>\n{\"city\": \"서울\"}",
        "<|channel|>commentary to=get_weather<|message|>{\"city\":\"서울\"}<|return|>",
    ] {
        assert_eq!(describe_scan(text), [SEOUL], "{text}");
    }
    assert_eq!(
        describe_scan(
            "<|channel|>analysis<|message|>날씨를 물어본다. to=x<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{\"city\":\"東京\"}<|call|><|start|>assistant<|channel|>commentary to=functions.get_time<|message|><|call|>"
        ),
        ["thinking 날씨를 물어본다. to=x", TOKYO, TIME]
    );
    assert_eq!(
        describe_scan("<|channel|>commentary to=python<|message|>print('안녕')<|call|>네"),
        [unknown("python"), "text 네".to_owned()]
    );
    assert_eq!(
        describe_scan("<|channel|>commentary to=functions.add<|message|>1 + 2"),
        ["unusable its JSON cannot be read: trailing characters at line 1 column 3"]
    );
    assert_eq!(
        describe_scan("<|channel|>commentary to=functions.add<|message|>{\"a\""),
        [CUT]
    );
    assert_eq!(
        describe_scan("<|channel|>commentary to=functions.add <|con"),
        [CUT]
    );
    assert_eq!(
        form_of("<|channel|>analysis to=functions.get_time<|message|>{}"),
        ("Harmony", true)
    );
}

#[test]
fn channels_of_gpt_oss_separate_thinking_from_text() {
    assert_eq!(
        describe_scan(
            "<|channel|>analysis<|message|>더하면 3<|end|><|start|>assistant<|channel|>final<|message|>3입니다.<|return|>"
        ),
        ["thinking 더하면 3", "text 3입니다."]
    );
    assert_eq!(
        describe_scan(
            "<|channel|>analysis<|message|>a < b<|channel|>final<|message|>答えは3。<|end|>\n"
        ),
        ["thinking a < b", "text 答えは3。"]
    );
    assert_eq!(
        describe_scan("<|start|>assistant<|channel|>analysis<|message|>never ends <|"),
        ["thinking never ends <|"]
    );
    assert_eq!(
        describe_scan(
            "<|channel|>commentary<|message|>먼저 볼게요.<|end|><|start|>assistant네<|return|>"
        ),
        ["text 먼저 볼게요.", "text 네"]
    );
    for text in [
        "<|channel|> is a token",
        "<|channel|>analysis",
        "<|start|>assistant",
        "<|end|> and <|return|>",
        "`<|channel|>final<|message|>`",
        "```\n<|channel|>final<|message|>\n```",
        "<|channel|>thoughts<|message|>",
        "<|message|>안녕",
        "to=functions.add",
        "to be",
        "예: `a <|channel|>final<|message|>`",
    ] {
        assert_eq!(describe_scan(text), [format!("text {text}")]);
    }
}

#[test]
fn gemma_and_command_r_use_their_own_thinking_tokens() {
    assert_eq!(
        describe_scan("<|channel>thought\n더하면 3<channel|>3입니다."),
        ["thinking 더하면 3", "text 3입니다."]
    );
    assert_eq!(
        describe_scan("<|channel>thought\n<channel|>네"),
        ["text 네"]
    );
    assert_eq!(
        describe_scan(
            "<|START_THINKING|>考え中<|END_THINKING|><|START_RESPONSE|>答え<|END_RESPONSE|>"
        ),
        ["thinking 考え中", "text 答え"]
    );
    assert_eq!(
        describe_scan(
            "<|START_THINKING|>더할까<|END_THINKING|><|START_ACTION|>[{\"tool_name\": \"get_time\", \"parameters\": {}}]<|END_ACTION|>"
        ),
        ["thinking 더할까", TIME]
    );
    assert_eq!(
        describe_scan("생각<channel|>답"),
        ["text 생각", "text was thinking", "text 답"]
    );
    for text in ["`<|START_THINKING|>` 토큰", "<|channel>", "<|START_"] {
        assert_eq!(describe_scan(text), [format!("text {text}")]);
    }
}

#[test]
fn calls_inside_thinking_are_ignored() {
    for call in [
        "[get_time()]",
        "[TOOL_CALLS]get_time[ARGS]{}",
        "<|tool_call>call:get_time{}<tool_call|>",
    ] {
        assert_eq!(
            describe_scan(&format!("<think>{call}</think>네")),
            [format!("thinking {call}"), "text 네".to_owned()]
        );
    }
}

#[test]
fn without_tools_calls_stay_text_and_thinking_is_read() {
    let mut scanner = CallScanner::new(Arc::new(Toolset::default()));
    let text = "[get_time()]<|channel|>commentary to=functions.f<|message|>{}";
    assert_eq!(scanner.push(text), [ScanEvent::Text(text.to_owned())]);
    let events = scanner.push("<|channel|>analysis<|message|>음<|end|>");
    assert_eq!(events[1], ScanEvent::Thinking("음".to_owned()));
}
