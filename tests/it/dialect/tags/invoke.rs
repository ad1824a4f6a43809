//! `<invoke name="f">` in all of its wrappers.

use super::{CUT, TIME, describe, describe_with_more_splits, seoul, unknown, weather, write_call};
use serde_json::json;

#[test]
fn invoke_tags_are_read_in_every_wrapper() {
    let call = |prefix: &str| {
        format!(
            "<{prefix}invoke name=\"get_weather\">\n<{prefix}parameter name=\"city\">서울</{prefix}parameter>\n</{prefix}invoke>"
        )
    };
    for (text, label) in [
        (call(""), "bare"),
        (
            format!("<function_calls>\n{}\n</function_calls>", call("")),
            "wrapped",
        ),
        (
            format!("<minimax:tool_call>\n{}\n</minimax:tool_call>", call("")),
            "MiniMax",
        ),
        (
            format!(
                "<｜DSML｜function_calls>\n{}\n</｜DSML｜function_calls>",
                call("｜DSML｜")
            ),
            "V3.2",
        ),
        (
            format!(
                "<｜DSML｜tool_calls>{}</｜DSML｜tool_calls>",
                call("｜DSML｜")
            ),
            "V4",
        ),
        (
            format!(
                "<|DSML|function_calls>\n{}\n</|DSML|function_calls>",
                call("|DSML|")
            ),
            "ASCII",
        ),
        (
            format!(
                "<｜｜DSML｜｜tool_calls>\n{}\n</｜｜DSML｜｜tool_calls>",
                call("｜｜DSML｜｜")
            ),
            "doubled",
        ),
        (call("｜DSML｜"), "bare DSML"),
        (call("antml:"), "namespace"),
        (call("steptml:"), "Step"),
    ] {
        assert_eq!(describe(&text), [seoul()], "{label}");
        assert_eq!(
            describe(&format!("네.\n{text}\n끝")),
            ["text 네.\n".to_owned(), seoul(), "text 끝".to_owned()],
            "{label}"
        );
    }
    assert_eq!(describe_with_more_splits(&call("")), [seoul()]);
    assert_eq!(describe_with_more_splits(&call("｜DSML｜")), [seoul()]);
    assert_eq!(
        describe(&format!(
            "<function_calls>\n{}\n<invoke name='get_time'>\n</invoke><invoke name=\"get_time\"/>\n</function_calls>",
            call("")
        )),
        [seoul(), TIME.to_owned(), TIME.to_owned()]
    );
}

#[test]
fn a_function_tag_with_a_name_attribute_is_read_like_invoke() {
    assert_eq!(
        describe(
            "<function name=\"get_weather\"><parameter name=\"city\">서울</parameter></function>"
        ),
        [seoul()]
    );
}

#[test]
fn dsml_values_marked_as_strings_stay_strings() {
    assert_eq!(
        describe(
            "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"get_weather\">\n<｜DSML｜parameter name=\"city\" string=\"true\">5</｜DSML｜parameter>\n<｜DSML｜parameter name=\"days\" string=\"true\">5</｜DSML｜parameter>\n<｜DSML｜parameter string=\"false\" name=\"more\">{\"가\": [1, 2]}</｜DSML｜parameter>\n<｜DSML｜parameter name=\"tags\" string=\"false\">not JSON</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>"
        ),
        [weather(
            &json!({"city": "5", "days": "5", "more": {"가": [1, 2]}, "tags": "not JSON"})
        )]
    );
}

#[test]
fn a_value_may_contain_other_tags_and_newlines() {
    let write = |content: &str| {
        describe(&format!(
            "<minimax:tool_call><invoke name=\"write\"><parameter name=\"path\">가.md</parameter><parameter name='content'>{content}</parameter></invoke></minimax:tool_call>"
        ))
    };
    for content in [
        "a\nb\n",
        "\n  a",
        "<b>a</b> </param> </｜DSML｜parameter>",
        "</invoke> </function_calls> <invoke name=\"get_time\"></invoke> 한글",
        "&amp;",
        "\"a\" > 'b'",
    ] {
        assert_eq!(write(content), [write_call(content)], "{content}");
    }
    assert_eq!(write("\na\n"), [write_call("a")]);
    assert_eq!(
        describe(
            "<invoke name=\"get_weather\">\n<parameter name=\"city\">서울\n<parameter name=\"days\">3</parameter>\n</invoke>"
        ),
        [format!(
            "{} repaired",
            weather(&json!({"city": "서울", "days": 3}))
        )]
    );
}

#[test]
fn truncated_or_unknown_calls_in_invoke_tags_are_reported() {
    for text in [
        "<function_calls>\n<invoke name=\"get_weather\">\n<para",
        "<minimax:tool_call>\n<invoke name=\"get_",
        "<invoke name=\"get_weather\">\n<parameter name=\"city\">서",
        "<invoke name=\"get_weather\">",
    ] {
        assert_eq!(describe(text), [CUT], "{text}");
    }
    assert_eq!(
        describe("<invoke name=\"get_weather\"><parameter name=\"city\">서울</parameter></inv"),
        [format!("{} unterminated", seoul())]
    );
    assert_eq!(
        describe("<invoke name=\"날씨\"></invoke>"),
        [unknown("날씨")]
    );
}
