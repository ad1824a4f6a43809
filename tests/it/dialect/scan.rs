//! JSON calls in all accepted spellings, and text that must not be parsed as a call.

use crate::dialect::scan_every_way::{describe_scan, scan, test_toolset};
use humble::dialect::scan::{CallScanner, ScanEvent};
use humble::domain::Toolset;
use std::sync::Arc;

const ADD: &str = r#"{"server": "log", "name": "add", "arguments": {"a": 1, "b": 2}}"#;
const ADD_CALL: &str = r#"call log/add {"a":1,"b":2}"#;

#[test]
fn a_call_in_the_form_of_the_system_message_is_recognized() {
    assert_eq!(describe_scan(ADD), [ADD_CALL]);
    assert_eq!(
        describe_scan(
            "{\n\t\"name\": \"get_weather\",\n\t\"arguments\": {\"city\": \"서울 {특별시}\"},\n\t\"server\": \"humble\",\n\t\"reason\": \"날씨\"\n}\n"
        ),
        [r#"call humble/get_weather {"city":"서울 {특별시}"}"#]
    );
}

#[test]
fn aliases_for_name_and_arguments_are_accepted() {
    assert_eq!(
        describe_scan(r#"{"tool": "add", "args": {"a": 1, "b": 2}}"#),
        [ADD_CALL]
    );
    assert_eq!(
        describe_scan(r#"{"tool_name": "add", "input": {"a": 1, "b": 2}}"#),
        [ADD_CALL]
    );
    assert_eq!(
        describe_scan(r#"{"function": "get_weather", "parameters": {"city": "東京"}}"#),
        [r#"call humble/get_weather {"city":"東京"}"#]
    );
}

#[test]
fn prose_around_a_call_is_kept_without_the_call() {
    assert_eq!(
        describe_scan(&format!("Let me add.\n\n{ADD}")),
        ["text Let me add.\n\n", ADD_CALL]
    );
    assert_eq!(
        describe_scan(&format!("더해 볼게요: {ADD}\n\n잠시만요.")),
        ["text 더해 볼게요: ", ADD_CALL, "text 잠시만요."]
    );
}

#[test]
fn several_calls_may_use_any_common_separator() {
    for separator in ["; ", ";", "\n", "", ",\n"] {
        assert_eq!(
            describe_scan(&[ADD, separator, ADD].concat()),
            [ADD_CALL, ADD_CALL]
        );
    }
    assert_eq!(
        describe_scan(
            "{\"name\":\"get_time\",\"arguments\":{}};{\"name\":\"get_weather\",\"arguments\":{\"city\":\"부산\"}} 끝; 끝"
        ),
        [
            "call humble/get_time {}",
            r#"call humble/get_weather {"city":"부산"}"#,
            "text 끝; 끝"
        ]
    );
}

#[test]
fn an_invalid_call_in_an_array_does_not_drop_the_others() {
    assert_eq!(
        describe_scan(&format!("[{ADD},\n {ADD}]")),
        [ADD_CALL, ADD_CALL]
    );
    assert_eq!(
        describe_scan(
            r#"[{"name": "add", "arguments": {"a": 1 "b"}}, {"name": "get_weather", "arguments": {"city": "大阪"}}]"#
        ),
        [
            "unusable its JSON cannot be read: expected `,` or `}` at line 1 column 38",
            r#"call humble/get_weather {"city":"大阪"}"#
        ]
    );
    assert_eq!(describe_scan(&format!("[{ADD}")), [ADD_CALL]);
    assert_eq!(describe_scan(&format!("[{ADD}, 5, \"둘\"]")), [ADD_CALL]);
    assert_eq!(
        describe_scan(&format!("[{ADD} and so on")),
        [ADD_CALL, "text and so on"]
    );
}

#[test]
fn the_fence_around_a_call_is_removed_with_the_call() {
    assert_eq!(describe_scan(&format!("```json\n{ADD}\n```")), [ADD_CALL]);
    assert_eq!(describe_scan(&format!("```\n{ADD}\n```\n")), [ADD_CALL]);
    assert_eq!(describe_scan(&format!("`{ADD}`")), [ADD_CALL]);
    assert_eq!(
        describe_scan(
            "알겠습니다.\n```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"서울\"}}\n```\n확인할게요."
        ),
        [
            "text 알겠습니다.\n",
            r#"call humble/get_weather {"city":"서울"}"#,
            "text 확인할게요."
        ]
    );
    assert_eq!(
        describe_scan(&format!("```json\n{ADD}\n{ADD}\n```\n```json\n{ADD}\n```")),
        [ADD_CALL; 3]
    );
    assert_eq!(describe_scan(&format!("```json\n{ADD}")), [ADD_CALL]);
}

#[test]
fn calls_wrapped_in_other_json_objects_are_read() {
    for text in [
        r#"{"function": {"name": "add", "arguments": {"a": 1, "b": 2}}, "type": "function", "id": "1"}"#,
        r#"{"functionCall": {"name": "add", "arguments": {"a": 1, "b": 2}}}"#,
        r#"{"chooseFunction": {"server": "log", "name": "add", "arguments": {"a": 1, "b": 2}}}"#,
        r#"{"jsonrpc": "2.0", "id": 1, "method": "add", "params": {"a": 1, "b": 2}}"#,
        r#"{"tool_calls": [{"function": {"name": "add", "arguments": {"a": 1, "b": 2}}}]}"#,
    ] {
        assert_eq!(describe_scan(text), [ADD_CALL], "{text}");
    }
}

#[test]
fn arguments_may_precede_the_name() {
    assert_eq!(
        describe_scan(r#"{"arguments": {"a": 1, "b": 2}, "name": "add"}"#),
        [ADD_CALL]
    );
}

#[test]
fn the_name_may_be_the_key_of_an_array_item() {
    assert_eq!(describe_scan(r#"[{"add": {"a": 1, "b": 2}}]"#), [ADD_CALL]);
}

#[test]
fn arguments_may_be_a_json_string() {
    assert_eq!(
        describe_scan(r#"{"name": "add", "arguments": "{\"a\": 1, \"b\": 2}"}"#),
        [ADD_CALL]
    );
    assert_eq!(
        describe_scan(r#"{"name": "get_time", "arguments": ""}"#),
        ["call humble/get_time {}"]
    );
}

#[test]
fn minor_errors_in_the_json_of_a_call_are_repaired_and_reported() {
    assert_eq!(
        describe_scan("{'name': 'add', 'arguments': {'a': True, 'b': None,},} # done"),
        [
            r#"call log/add {"a":true,"b":null} repaired"#,
            "text # done"
        ]
    );
    assert_eq!(
        describe_scan("{\"name\": \"get_weather\", \"arguments\": {\"city\": \"C:\\서울\n시\"}}"),
        [r#"call humble/get_weather {"city":"C:\\서울\n시"} repaired"#]
    );
}

#[test]
fn a_call_without_required_arguments_is_unusable() {
    let missing = "unusable required arguments of `add` are missing: `b`";
    assert_eq!(
        describe_scan(r#"{"name": "add", "arguments": {"a": 1}}"#),
        [missing]
    );
    let missing_both = "unusable required arguments of `add` are missing: `a`, `b`";
    assert_eq!(
        describe_scan(r#"{"server": "log", "name": "add"}"#),
        [missing_both]
    );
    assert_eq!(
        describe_scan(r#"{"name": "add", "arguments": [1, 2]}"#),
        ["unusable the arguments of `add` must be an object"]
    );
}

#[test]
fn an_unknown_tool_is_reported_and_never_mapped_to_another_server() {
    let offered_tools =
        "`get_time` (humble), `get_weather` (humble), `add` (log), `ping` (log), `ping` (docs)";
    assert_eq!(
        describe_scan(r#"{"name": "날씨", "arguments": {"city": "서울"}}"#),
        [format!(
            "unusable there is no tool `날씨`; available: {offered_tools}"
        )]
    );
    assert_eq!(
        describe_scan(r#"{"server": "math", "name": "add", "arguments": {"a": 1, "b": 2}}"#),
        [format!(
            "unusable there is no tool `add` on server `math`; available: {offered_tools}"
        )]
    );
    assert_eq!(
        describe_scan(r#"{"name": "ping", "arguments": {}}"#),
        ["call ?/ping {}"]
    );
}

#[test]
fn a_recognized_but_truncated_call_is_not_shown_as_text() {
    let cut = "unusable it was cut off before its end";
    assert_eq!(
        describe_scan(r#"{"name": "add", "arguments": {"a": 1, "b"#),
        [cut]
    );
    assert_eq!(
        describe_scan(r#"{"name": "add""#),
        [r#"text {"name": "add""#]
    );
    assert_eq!(
        describe_scan(&format!("[{ADD}, {{\"name\": \"a")),
        [ADD_CALL, cut]
    );
}

#[test]
fn braces_after_a_call_are_text() {
    assert_eq!(
        describe_scan(&format!("{ADD} {{x}} and {{\"k\": 1}}")),
        [ADD_CALL, r#"text {x} and {"k": 1}"#]
    );
    assert_eq!(
        describe_scan(&format!("{ADD}}}\n[끝]")),
        [ADD_CALL, "text }\n[끝]"]
    );
}

#[test]
fn names_of_called_tools_may_have_a_namespace() {
    for name in [
        "functions.add",
        "log__add",
        "log.add",
        "add:0",
        "functions.add:12",
    ] {
        let text = format!(r#"{{"name": "{name}", "arguments": {{"a": 1, "b": 2}}}}"#);
        assert_eq!(describe_scan(&text), [ADD_CALL], "{name}");
    }
}

#[test]
fn thinking_is_separated_from_text_and_calls() {
    assert_eq!(
        describe_scan("<think>더하면</think>\n\n3입니다."),
        ["thinking 더하면", "text 3입니다."]
    );
    assert_eq!(
        describe_scan("<think>\n\n</think>\n\nThree."),
        ["text Three."]
    );
    assert_eq!(
        describe_scan("\n<thinking>\na < b\n</thinking>x"),
        ["thinking a < b\n", "text x"]
    );
    assert_eq!(
        describe_scan("Hm. <think>考え中</think> So 3."),
        ["text Hm. ", "thinking 考え中", "text So 3."]
    );
    assert_eq!(
        describe_scan("<think>never closed </thin"),
        ["thinking never closed </thin"]
    );
    assert_eq!(
        describe_scan(&format!("<think>a</think>\n{ADD}")),
        ["thinking a", ADD_CALL]
    );
}

#[test]
fn a_lone_closing_tag_turns_the_preceding_text_into_thinking() {
    assert_eq!(
        describe_scan("생각\n</think>\n\n답"),
        ["text 생각\n", "text was thinking", "text 답"]
    );
    assert_eq!(describe_scan("</think>답"), ["text 답"]);
    assert_eq!(
        describe_scan(&format!("더하면 {ADD} 될까\n</think>\n아니요")),
        [
            "text 더하면 ",
            ADD_CALL,
            "text 될까\n",
            "text was thinking",
            "text 아니요"
        ]
    );
    assert_eq!(
        describe_scan("<think>a</think>b</think>"),
        ["thinking a", "text b</think>"]
    );
}

#[test]
fn an_array_is_emitted_as_text_once_its_first_item_is_not_a_call() {
    let mut scanner = CallScanner::new(test_toolset());
    let emitted: String = scanner
        .push("[{\"id\": 1, \"name\": \"Kim\"}, {\"id\"")
        .iter()
        .map(ScanEvent::raw)
        .collect();
    assert_eq!(emitted, "[{\"id\": 1, \"name\": \"Kim\"}, {\"id\"");
}

#[test]
fn a_call_quoted_in_thinking_is_not_a_call() {
    assert_eq!(
        describe_scan(&format!("<think>I could {ADD}</think>아니요")),
        [format!("thinking I could {ADD}"), "text 아니요".to_owned()]
    );
}

#[test]
fn a_fence_with_other_content_does_not_hide_a_later_call() {
    assert_eq!(
        describe_scan(&format!("```\nls\n```\n\n{ADD}")),
        ["text ```\nls\n```\n\n", ADD_CALL]
    );
    assert_eq!(
        describe_scan(&format!("```\nls\n```\n\n```json\n{ADD}\n```")),
        ["text ```\nls\n```\n\n", ADD_CALL]
    );
    assert_eq!(
        describe_scan(&format!("Say {{\"what\n\n{ADD}")),
        ["text Say {\"what\n\n", ADD_CALL]
    );
}

#[test]
fn text_passes_through_and_is_withheld_no_longer_than_needed() {
    let mut scanner = CallScanner::new(test_toolset());
    let text = |text: &str| vec![ScanEvent::Text(text.to_owned())];
    assert_eq!(scanner.push("Hello, 세계. "), text("Hello, 세계. "));
    assert_eq!(scanner.push("a <"), text("a "));
    assert_eq!(scanner.push("th"), []);
    assert_eq!(scanner.push("e"), text("<the"));
    assert_eq!(scanner.push(" {\"ci"), text(" "));
    assert_eq!(scanner.push("ty\""), text("{\"city\""));
    assert_eq!(scanner.push(": {\"name\": "), text(": {\"name\": "));
    assert_eq!(scanner.push("1}} `"), text("1}} "));
    assert_eq!(scanner.push("x`"), text("`x"));
    assert_eq!(scanner.finish(), text("`"));
}

#[test]
fn without_tools_json_is_text_and_thinking_is_still_recognized() {
    let mut scanner = CallScanner::new(Arc::new(Toolset::default()));
    assert_eq!(
        scanner.push("<think>a</think>```json\n{\"name\": "),
        [
            ScanEvent::Marker("<think>".to_owned()),
            ScanEvent::Thinking("a".to_owned()),
            ScanEvent::Marker("</think>".to_owned()),
            ScanEvent::Text("```json\n{\"name\": ".to_owned())
        ]
    );
}

#[test]
fn a_call_keeps_the_raw_text_of_the_model() {
    let events = scan(
        &test_toolset(),
        [format!("[{ADD}, {{\"name\":\"x\",\"args\":{{}}}}]").as_str()],
    );
    let raw: Vec<_> = events.iter().map(ScanEvent::raw).collect();
    let expected = ["[", ADD, ", ", r#"{"name":"x","args":{}}"#, "]"];
    assert_eq!(raw, expected);
}
