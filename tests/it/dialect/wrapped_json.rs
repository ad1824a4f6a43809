//! JSON between tags and after special tokens, and text that looks similar.

use crate::dialect::scan_every_way::{describe_scan, scan, test_toolset};
use humble::dialect::scan::ScanEvent;

const ADD: &str = r#"{"name": "add", "arguments": {"a": 1, "b": 2}}"#;
const ADD_CALL: &str = r#"call log/add {"a":1,"b":2}"#;
const SEOUL: &str =
    r#"{"name": "get_weather", "arguments": {"city": "서울 </tool_call> <특별시>"}}"#;
const SEOUL_CALL: &str = r#"call humble/get_weather {"city":"서울 </tool_call> <특별시>"}"#;

#[test]
fn json_in_tool_call_tags_is_a_call() {
    assert_eq!(
        describe_scan(&format!("<tool_call>\n{ADD}\n</tool_call>")),
        [ADD_CALL]
    );
    assert_eq!(
        describe_scan(&format!("확인할게요.\n<tool_call>{SEOUL}</tool_call>\n끝")),
        ["text 확인할게요.\n", SEOUL_CALL, "text 끝"]
    );
    assert_eq!(
        describe_scan(&format!(
            "<tool_call>[{ADD}, {SEOUL}]</tool_call>\n<tool_call>\n{ADD}\n</tool_call>"
        )),
        [ADD_CALL, SEOUL_CALL, ADD_CALL]
    );
    assert_eq!(describe_scan(&format!("<tool_call>\n{ADD}")), [ADD_CALL]);
    assert_eq!(
        describe_scan(&format!("```xml\n<tool_call>\n{ADD}\n</tool_call>\n```")),
        [ADD_CALL]
    );
    assert_eq!(describe_scan(&format!("{ADD}\n</tool_call>")), [ADD_CALL]);
    assert_eq!(
        describe_scan(&format!("<tool_call>\n```json\n{ADD}\n```\n</tool_call>끝")),
        [ADD_CALL, "text 끝"]
    );
    assert_eq!(
        describe_scan("<tool_call>\n```\n표\n```"),
        ["text <tool_call>\n```\n표\n```"]
    );
}

#[test]
fn incomplete_or_invalid_content_of_tool_call_tags_is_never_text() {
    assert_eq!(
        describe_scan(r#"<tool_call>{"name": "get_time"}</tool_call>"#),
        ["call humble/get_time {}"]
    );
    assert_eq!(
        describe_scan(
            r#"<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}, "thought": "합"}</tool_call>"#
        ),
        [ADD_CALL]
    );
    assert_eq!(
        describe_scan(r#"<tool_call>{"name": "add", "arguments" {"a": 1}}</tool_call>끝"#),
        [
            "unusable its JSON cannot be read: expected `:` at line 1 column 29",
            "text 끝"
        ]
    );
    let cut = "unusable it was cut off before its end";
    assert_eq!(describe_scan("<tool_call>"), [cut]);
    assert_eq!(describe_scan("<tool_call>\n{\"na"), [cut]);
    assert_eq!(describe_scan("넵 <tool_call>{"), ["text 넵 ", cut]);
}

#[test]
fn an_extra_bracket_or_wrong_closing_tag_belongs_to_the_call() {
    assert_eq!(
        describe_scan(&format!("<tool_call>{ADD}}}</tool_call>끝")),
        [ADD_CALL, "text 끝"]
    );
    assert_eq!(
        describe_scan(&format!("<tool_call>\n{ADD}\n<tool_call>")),
        [ADD_CALL]
    );
}

#[test]
fn json_in_other_tags_is_a_call() {
    for (opening, closing) in [
        ("<tools>", "</tools>"),
        ("<function_call>", "</function_call>"),
        ("<TOOLCALL>", "</TOOLCALL>"),
    ] {
        assert_eq!(
            describe_scan(&format!("{opening}{ADD}{closing}")),
            [ADD_CALL]
        );
        assert_eq!(
            describe_scan(&format!("{opening}\n[{ADD}, {SEOUL}]\n{closing}네")),
            [ADD_CALL, SEOUL_CALL, "text 네"]
        );
    }
}

#[test]
fn calls_of_granite_without_closing_tokens_are_read() {
    assert_eq!(
        describe_scan(&format!("<|tool_call|> [{ADD}, {SEOUL}]")),
        [ADD_CALL, SEOUL_CALL]
    );
    assert_eq!(describe_scan(&format!("<|tool_call|>[{ADD}")), [ADD_CALL]);
    assert_eq!(
        describe_scan(&format!("<tool_call> [{SEOUL}")),
        [SEOUL_CALL]
    );
}

#[test]
fn a_list_of_calls_after_the_token_of_mistral_is_read() {
    assert_eq!(
        describe_scan(
            r#"[TOOL_CALLS] [{"name": "add", "arguments": {"a": 1, "b": 2}, "id": "VvvODy9mT"}]"#
        ),
        [ADD_CALL]
    );
    assert_eq!(
        describe_scan(&format!("[TOOL_CALLS][{SEOUL}][/TOOL_CALLS]네")),
        [SEOUL_CALL, "text 네"]
    );
    assert_eq!(describe_scan("[TOOL_C] 목록"), ["text [TOOL_C] 목록"]);
}

#[test]
fn calls_of_llama_separated_by_semicolons_are_read() {
    assert_eq!(
        describe_scan(
            r#"<|python_tag|>{"name": "add", "parameters": {"a": 1, "b": 2}};{"type": "function", "name": "get_weather", "parameters": {"city": "東京"}}<|eom_id|>"#
        ),
        [ADD_CALL, r#"call humble/get_weather {"city":"東京"}"#]
    );
    assert_eq!(
        describe_scan(r#"<|python_tag|>{"name": "add", "parameters": {"a": "1", "b": "둘"}}"#),
        [r#"call log/add {"a":"1","b":"둘"}"#]
    );
}

#[test]
fn numbered_calls_of_command_r_are_recognized() {
    let first = r#"{"tool_call_id": "0", "tool_name": "add", "parameters": {"a": 1, "b": 2}}"#;
    let second =
        r#"{"tool_call_id": "1", "tool_name": "get_weather", "parameters": {"city": "서울"}}"#;
    assert_eq!(
        describe_scan(&format!(
            "<|START_ACTION|>[{first},\n{second}]<|END_ACTION|>"
        )),
        [ADD_CALL, r#"call humble/get_weather {"city":"서울"}"#]
    );
    assert_eq!(
        describe_scan(&format!("<|START_ACTION|>\n[{first}")),
        [ADD_CALL]
    );
}

#[test]
fn a_list_of_calls_after_the_word_functools_is_read() {
    assert_eq!(describe_scan(&format!("functools[{ADD}]")), [ADD_CALL]);
    assert_eq!(
        describe_scan(&format!("네.\nfunctools[{SEOUL}, {ADD}]")),
        ["text 네.\n", SEOUL_CALL, ADD_CALL]
    );
    for text in [
        "functools is a module",
        "from functools import cache",
        "import functools\nfunctools.cache(f)",
        "functools[1]",
        "functools",
        "for x in xs: pass",
    ] {
        assert_eq!(describe_scan(text), [format!("text {text}")]);
    }
}

#[test]
fn tags_mentioned_in_prose_stay_text() {
    for text in [
        "Use `<tool_call>` and `</tool_call>`, 또는 `[TOOL_CALLS]`.",
        "<tool_call> is a tag",
        "<tools>\n<li>망치</li></tools>",
        "<toolbox> <tool_cal",
        "</tool_call> alone",
        "<tool_call></tool_call>",
        "```\nx = \"<tool_call>\"\n```",
        "<tool_call> \n\n<b>",
        r#"<tools>[{"type": "function", "function": {"name": "add", "description": "더하기"}}]</tools>"#,
        r#"{"name": "get_time", "parameters": {"type": "object", "properties": {}}}"#,
    ] {
        assert_eq!(describe_scan(text), [format!("text {text}")]);
    }
}

#[test]
fn an_unknown_tool_in_tags_is_reported() {
    let unknown_tool = |name| {
        format!(
            "unusable there is no tool `{name}`; available: `get_time` (humble), `get_weather` (humble), `add` (log), `ping` (log), `ping` (docs)"
        )
    };
    assert_eq!(
        describe_scan(r#"<tool_call>{"name": "날씨"}</tool_call>"#),
        [unknown_tool("날씨")]
    );
    assert_eq!(
        describe_scan(r#"[TOOL_CALLS] [{"name": "rm"}]"#),
        [unknown_tool("rm")]
    );
}

#[test]
fn a_call_is_labeled_with_its_form_and_markers_contain_the_hidden_text() {
    let text = format!("넵 <tool_call>\n{ADD}\n</tool_call>\n<|eom_id|>");
    let events = scan(&test_toolset(), [text.as_str()]);
    let raw: Vec<_> = events.iter().map(ScanEvent::raw).collect();
    let closing = "\n</tool_call>\n<|eom_id|>";
    assert_eq!(raw, ["넵 ", "<tool_call>\n", ADD, closing]);
    assert!(matches!(&events[2], ScanEvent::Call(call) if call.form == "Hermes" && call.has_end));
}

#[test]
fn thinking_of_magistral_in_brackets_is_recognized() {
    assert_eq!(
        describe_scan(&format!("[THINK]{ADD} 할까[/THINK]\n네")),
        [format!("thinking {ADD} 할까"), "text 네".to_owned()]
    );
}
