//! Calls with unclosed JSON are reported, and the text after them is not lost.

use crate::dialect::scan_every_way::describe_scan;

const TIME: &str = "call humble/get_time {}";
const NEXT_CALL: &str = "<tool_call>\n{\"name\": \"get_time\", \"arguments\": {}}\n</tool_call>";

/// Describes the scan of `text`, with each call whose JSON is invalid shortened to `unreadable`.
fn shortened_events(text: &str) -> Vec<String> {
    let events = describe_scan(text);
    let short = |event: &String| {
        let is_invalid = event.starts_with("unusable its JSON cannot be read: ");
        if is_invalid {
            "unreadable".to_owned()
        } else {
            event.clone()
        }
    };
    events.iter().map(short).collect()
}

#[test]
fn a_missing_brace_in_tags_loses_nothing_that_follows() {
    for broken in [
        r#"{"name": "get_weather", "arguments": {"city": "Seoul"}"#,
        r#"{"name": "get_weather", "arguments": {"city": "Seoul""#,
        r#"{"name": "get_weather", "arguments": {"city": "서울}}"#,
        r#"{"name": "get_weather", "arguments": {"city": "5" tall"}}"#,
        "{\n  \"name\": \"get_weather\",\n  \"arguments\": {\n    \"city\": \"서울\"\n}",
        "[{\"name\": \"get_weather\", \"arguments\": {\"city\": \"서울\"}",
    ] {
        assert_eq!(
            shortened_events(&format!(
                "First\n<tool_call>\n{broken}\n</tool_call>\nI will look now.\n{NEXT_CALL}"
            )),
            [
                "text First\n",
                "unreadable",
                "text I will look now.\n",
                TIME
            ],
            "{broken}"
        );
        assert_eq!(
            shortened_events(&format!("<tool_call>\n{broken}\n</tool_call>")),
            ["unreadable"],
            "{broken}"
        );
    }
    assert_eq!(
        describe_scan("<tool_call>{\"name\": \"get_weather\", \"arguments\": {}</tool_call>끝"),
        [
            "unusable its JSON cannot be read: EOF while parsing an object at line 1 column 39",
            "text 끝"
        ]
    );
}

#[test]
fn an_unclosed_bare_object_ends_before_prose_a_fence_or_the_next_call() {
    let broken = r#"{"name": "get_weather", "arguments": {"city": "서울"}"#;
    assert_eq!(
        shortened_events(&format!("{broken}\n\n잠시만요.")),
        ["unreadable", "text 잠시만요."]
    );
    assert_eq!(
        shortened_events(&format!("{broken}\n\n\"Quoted\" prose")),
        ["unreadable", "text \"Quoted\" prose"]
    );
    assert_eq!(
        shortened_events(&format!(
            "{broken}\n{{\"name\": \"get_time\", \"arguments\": {{}}}}"
        )),
        ["unreadable", TIME]
    );
    assert_eq!(
        shortened_events(&format!("{broken}\n```sh\nls\n```")),
        ["unreadable", "text ```sh\nls\n```"]
    );
    for unclosed in [
        broken,
        r#"{"name": "get_weather", "arguments": {"city": "서울}}"#,
    ] {
        assert_eq!(
            shortened_events(&format!("```json\n{unclosed}\n```\n끝\n{NEXT_CALL}")),
            ["unreadable", "text 끝\n", TIME]
        );
    }
}

#[test]
fn the_end_of_invalid_json_is_still_found() {
    for body in [
        "{\n  \"name\": \"get_weather\",\n  \"arguments\": {\n    \"city\" \"서울\"\n\n  }\n}",
        "{\n  name: \"get_weather\",\n  arguments: {\n    city: \"<b>}\"\n  }\n}",
        "{\"name\": \"get_weather\"\n\"arguments\": {}\n}",
    ] {
        assert_eq!(
            shortened_events(&format!("<tool_call>\n{body}\n</tool_call>\n끝")),
            ["unreadable", "text 끝"],
            "{body}"
        );
    }
    assert_eq!(
        describe_scan(
            "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"{\n}\n</b>\n</tool_call> 서울\"}}"
        ),
        [r#"call humble/get_weather {"city":"{\n}\n</b>\n</tool_call> 서울"} repaired"#]
    );
    let add = r#"{"name": "add", "arguments": {"a": 1, "b": 2}}"#;
    assert_eq!(
        describe_scan(&format!("<tool_call>[{add} {add}</tool_call>")),
        [r#"call log/add {"a":1,"b":2}"#; 2]
    );
}

#[test]
fn a_missing_brace_after_special_tokens_loses_nothing_that_follows() {
    for json in [r#"{"city": "서울""#, r#"{"city": ["서울"}"#] {
        for (opening, closing) in [
            ("[TOOL_CALLS]get_weather[ARGS]", "\n\n"),
            ("[TOOL_CALLS]get_weather[ARGS]", "</s>"),
            (
                "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>",
                "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            ),
            (
                "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n",
                "\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            ),
            (
                "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>",
                "<|tool_call_end|><|tool_calls_section_end|>",
            ),
            (
                "<|channel|>commentary to=functions.get_weather<|message|>",
                "<|call|>",
            ),
        ] {
            let text = format!("{opening}{json}{closing}끝\n{NEXT_CALL}");
            assert_eq!(
                shortened_events(&text),
                ["unreadable", "text 끝\n", TIME],
                "{text}"
            );
        }
    }
}

#[test]
fn an_unclosed_string_with_closing_markers_stays_text() {
    assert_eq!(
        describe_scan("{\"이[/TOOL_CALLS][5]\n]끝"),
        ["text {\"이[/TOOL_CALLS][5]\n]끝"]
    );
}

#[test]
fn an_unclosed_string_before_a_list_item_scans_the_same_in_every_chunking() {
    // Found by fuzzing: the invalid string starts before the list item that it breaks.
    let text = ".#/```<tool_call>[`i<<|EN_AC  >-,,ty=\"},~\t,\t\n\n\n\t{\"name\": \"f\", \"arguments\": \
                \"\n\nx\"}}\t\n\n\n:\nx\",,,.,0,,,,,print(default_api.f(city=\"x\")),,,-,,,  >>t[\n---[";
    super::scan_invariants::check_cuts(text, &[9, 120]);
}
