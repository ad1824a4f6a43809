//! `<function=f>` with values in tags or as JSON.

use super::{
    CUT, STRAY, TIME, UNCLOSED, describe, describe_with_more_splits, seoul, unknown, weather,
    write_call,
};
use serde_json::json;

#[test]
fn a_function_tag_with_parameter_tags_is_a_call() {
    assert_eq!(
        describe_with_more_splits(
            "<tool_call>\n<function=get_weather>\n<parameter=city>\n서울\n</parameter>\n</function>\n</tool_call>"
        ),
        [seoul()]
    );
    assert_eq!(
        describe_with_more_splits(
            "<seed:tool_call>\n<function=get_weather>\n<parameter=city>東京</parameter>\n<parameter=days>3</parameter>\n<parameter=metric>\nTrue\n</parameter>\n<parameter=tags>\n[\"a\", \"b\"]\n</parameter>\n</function>\n</seed:tool_call>"
        ),
        [format!(
            "{} repaired",
            weather(&json!({"city": "東京", "days": 3, "metric": true, "tags": ["a", "b"]}))
        )]
    );
    for text in [
        "<function=get_time></function>",
        "<function=get_time>\n</function>\n</tool_call>",
        "<tool_call>\n<function=get_time>\n</tool_call>",
        "<tool_call>\n<function=get_time>\n</function>",
        "<function=humble__get_time>\n</function><|im_end|>",
        "<function=\"get_time\">\n</function>",
        "<function=get_time/>",
    ] {
        assert_eq!(describe(text), [TIME], "{text}");
    }
}

#[test]
fn function_tags_amid_prose_need_no_wrapper() {
    let call = "<function=get_weather>\n<parameter=city>\n서울\n</parameter>\n</function>";
    assert_eq!(
        describe_with_more_splits(&format!("날씨를 볼게요.\n\n{call}\n</tool_call>\n끝")),
        [
            "text 날씨를 볼게요.\n\n".to_owned(),
            seoul(),
            "text 끝".to_owned()
        ]
    );
    assert_eq!(
        describe(&format!("{call}\n{call}{call}")),
        [seoul(), seoul(), seoul()]
    );
    assert_eq!(
        describe(&format!(
            "<tool_call>\n{call}\n{call}\n</tool_call>\n<tool_call>{call}</tool_call>"
        )),
        [seoul(), seoul(), seoul()]
    );
    assert_eq!(
        describe(&format!("네.\n```xml\n{call}\n```\n끝")),
        ["text 네.\n".to_owned(), seoul(), "text 끝".to_owned()]
    );
}

#[test]
fn one_newline_on_either_side_of_a_value_is_dropped() {
    let write = |content: &str| {
        describe(&format!(
            "<tool_call>\n<function=write>\n<parameter=path>\n가.md\n</parameter>\n<parameter=content>\n{content}\n</parameter>\n</function>\n</tool_call>"
        ))
    };
    for content in [
        "",
        "\n    if a < b:\n\n        print(\"<x>\")\n\n",
        "a </param> </function> b",
        "<function=get_time>\n</function>",
        "</function>\n\nno end",
        "<parameter=path>\n",
        "<parameter=other>\n",
        "x <parameter=content> y",
        "{\"name\": \"get_time\", \"arguments\": {}}",
        "`</tool_call>` 한글 ```\n",
        "&lt;",
        " ",
    ] {
        assert_eq!(write(content), [write_call(content)], "{content}");
    }
}

#[test]
fn a_missing_end_tag_is_inferred_only_before_another_parameter() {
    let repaired = |arguments| vec![format!("{} repaired", weather(&arguments))];
    for text in [
        "<tool_call>\n<function=get_weather>\n<parameter=city>\n서울\n</function>\n</tool_call>",
        "<tool_call><function=get_weather><parameter=city>서울</function></tool_call>",
        "<function=get_weather>\n<parameter=city>\n서울\n</function>\n<|im_end|>",
        "<tool_call>\n<function=get_weather>\n<parameter=city>\n서울\n</function>\n",
        "<function=get_weather>\n<parameter=city>\n서울\n</function>\n</tool_",
        "<tool_call>\n<function=get_weather>\n<parameter=city>\n서울\n</tool_call>",
    ] {
        assert_eq!(describe(text), [UNCLOSED], "{text}");
    }
    assert_eq!(
        describe(
            "<function=get_weather>\n<parameter=city>\n서울\n<parameter=days>\n3\n  <parameter=metric>\nfalse\n</parameter>\n</function>"
        ),
        repaired(json!({"city": "서울", "days": 3, "metric": false}))
    );
    // A tag for an argument that the tool lacks, or that occurs again later, is part of the value.
    assert_eq!(
        describe(
            "<function=get_weather>\n<parameter=city>\n서울\n<parameter=path>\n<parameter=days>\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>"
        ),
        [weather(
            &json!({"city": "서울\n<parameter=path>\n<parameter=days>", "days": 3})
        )]
    );
}

#[test]
fn indented_tags_do_not_indent_the_values() {
    assert_eq!(
        describe(
            "<tool_call>\n  <function=write>\n    <parameter=path>\n      가.md\n    </parameter>\n    <parameter=content>\n      if x:\n        y\n    </parameter>\n  </function>\n</tool_call>"
        ),
        [write_call("if x:\n  y")]
    );
}

#[test]
fn truncated_or_invalid_calls_in_function_tags_are_reported() {
    for text in [
        "<tool_call>\n<function=get_wea",
        "<tool_call>\n<function=get_weather>",
        "<function=get_weather>\n<parameter=ci",
        "<function=get_weather>\n<parameter=city>\n서",
        "<function=get_weather>\n<parameter=city>\n서울\n</param",
        "<function=get_weather>\n<parameter=city>\n서울\n</parameter>\n<par",
        "<function=nothing>\n<parameter=city>\n서",
    ] {
        assert_eq!(describe(text), [CUT], "{text}");
    }
    for text in [
        "<tool_call>\n<function=get_weather>\n<parameter=city>\n서울\n</parameter>",
        "<function=get_weather>\n<parameter=city>서울</parameter>\n</func",
        "<tool_call><function=get_weather><parameter=city>서울</parameter>\n</",
    ] {
        assert_eq!(
            describe(text),
            [format!("{} unterminated", seoul())],
            "{text}"
        );
    }
    assert_eq!(
        describe("<tool_call>\n<function=get_time>\n"),
        [format!("{TIME} unterminated")]
    );
    assert_eq!(
        describe("<function=get_weather>\n<parameter=days>\n3\n</parameter>\n</function>"),
        ["unusable required arguments of `get_weather` are missing: `city`"]
    );
    assert_eq!(
        describe("<function=날씨>\n<parameter=city>\n서울\n</parameter>\n</function>\n네"),
        [unknown("날씨"), "text 네".to_owned()]
    );
    assert_eq!(
        describe("<tool_call><function=ping></function></tool_call>"),
        ["call ?/ping {}"]
    );
    assert_eq!(
        describe("<function=docs__ping></function>"),
        ["call docs/ping {}"]
    );
    assert_eq!(
        describe(
            "<function=get_weather><parameter=city>서울</parameter><parameter=city>부산</parameter></function>"
        ),
        ["unusable it gives `city` more than once"]
    );
}

#[test]
fn text_between_tags_makes_a_call_unusable() {
    let call = "<function=get_weather>\n<parameter=city>\n서울\n</parameter>\n";
    assert_eq!(
        describe(&format!(
            "{call}더 있음 </parameter>\n</function>\n</tool_call>네"
        )),
        [STRAY, "text 네"]
    );
    assert_eq!(
        describe(&format!("{call}더\n</tool_call>네")),
        [STRAY, "text 네"]
    );
    assert_eq!(describe(&format!("{call}더 </parameter>\n")), [STRAY]);
    // Prose follows a call without an end tag.
    assert_eq!(
        describe(&format!("{call}기다려 <주세요>.")),
        [
            format!("{} unterminated", seoul()),
            "text 기다려 <주세요>.".to_owned()
        ]
    );
}

#[test]
fn calls_of_llama_with_json_in_a_function_tag_are_read() {
    assert_eq!(
        describe_with_more_splits("<function=get_weather>{\"city\": \"서울\"}</function>"),
        [seoul()]
    );
    assert_eq!(
        describe_with_more_splits(
            "봅니다 <function=get_weather>\n{\"city\": \"東京 }</function>\", \"days\": 2}\n</function><|eom_id|>"
        ),
        [
            "text 봅니다 ".to_owned(),
            weather(&json!({"city": "東京 }</function>", "days": 2}))
        ]
    );
    assert_eq!(
        describe_with_more_splits("<function=get_time>{}</function><function=get_time>{}\n네"),
        [TIME, TIME, "text 네"]
    );
    assert_eq!(
        describe("<function=get_weather>{'city': '서울',}</function>"),
        [format!("{} repaired", seoul())]
    );
    assert_eq!(
        describe("<function=get_weather>{\"city\": 서울}</function>네"),
        [
            "unusable its JSON cannot be read: expected value at line 1 column 10",
            "text 네"
        ]
    );
    assert_eq!(describe("<function=get_weather>{\"city\": \"서"), [CUT]);
    assert_eq!(
        describe("<function=날씨>{\"city\": \"서울\"}</function>"),
        [unknown("날씨")]
    );
}
