//! GLM: `<tool_call>f<arg_key>`.

use super::{CUT, TIME, UNCLOSED, describe, describe_with_more_splits, seoul, unknown, weather};
use serde_json::json;

#[test]
fn calls_of_glm_with_a_bare_name_and_tagged_keys_and_values_are_read() {
    for text in [
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>서울</arg_value>\n</tool_call>",
        "<tool_call>get_weather<arg_key>city</arg_key><arg_value>서울</arg_value></tool_call>",
        "<tool_call>\nget_weather\n\n<arg_key>city</arg_key>\n<arg_value>\n서울\n</arg_value>\n</tool_call>\n",
        "<tool_call>functions.get_weather\n{\"city\": \"서울\"}\n</tool_call>",
    ] {
        assert_eq!(describe_with_more_splits(text), [seoul()], "{text}");
    }
    assert_eq!(
        describe(
            "네.\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>東京 <都></arg_value>\n<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n</tool_call>\n<tool_call>get_time\n</tool_call><tool_call>get_time</tool_call>끝"
        ),
        [
            "text 네.\n".to_owned(),
            weather(&json!({"city": "東京 <都>", "days": 2})),
            TIME.to_owned(),
            TIME.to_owned(),
            "text 끝".to_owned(),
        ]
    );
}

#[test]
fn missing_or_doubled_glm_tags_are_tolerated() {
    for text in [
        "<tool_call>get_weather<arg_key>city</arg_key>서울</arg_value></tool_call>",
        "<tool_call>get_weather<arg_key>city</arg_key></arg_key>\n<arg_value>서울</arg_value></tool_call>",
    ] {
        assert_eq!(
            describe_with_more_splits(text),
            [format!("{} repaired", seoul())],
            "{text}"
        );
    }
    for text in [
        "<tool_call>get_weather<arg_key>city</arg_key><arg_value>서울</tool_call>",
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>서울\n</tool_call>\n",
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>서울</arg_key>\n</tool_call>",
    ] {
        assert_eq!(describe(text), [UNCLOSED], "{text}");
    }
    assert_eq!(
        describe("<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>서울</arg_value>\n"),
        [format!("{} unterminated", seoul())]
    );
}

#[test]
fn truncated_or_unknown_calls_in_the_tags_of_glm_are_reported() {
    for text in [
        "<tool_call>get_weather",
        "<tool_call>get_weather\n<arg_",
        "<tool_call>get_weather\n<arg_key>ci",
        "<tool_call>get_weather\n<arg_key>city</arg_key>",
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>서",
        "<tool_call>get_weather\n{\"city\":",
    ] {
        assert_eq!(describe(text), [CUT], "{text}");
    }
    assert_eq!(
        describe("<tool_call>get_time"),
        [format!("{TIME} unterminated")]
    );
    assert_eq!(
        describe("<tool_call>list_files\n{\"path\": \".\"}</tool_call>"),
        [unknown("list_files")]
    );
    assert_eq!(
        describe("<tool_call>날씨<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>"),
        [unknown("날씨")]
    );
    assert_eq!(
        describe("<tool_call>get_weather</tool_call>"),
        ["unusable required arguments of `get_weather` are missing: `city`"]
    );
    assert_eq!(
        describe("<tool_call>get_weather\n{\"city\" \"서울\"}\n</tool_call>네"),
        [
            "unusable its JSON cannot be read: expected `:` at line 1 column 9",
            "text 네"
        ]
    );
}
