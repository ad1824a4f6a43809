//! Unclosed values. The scanner can only guess where they end, so such a call is reported and not
//! run. The prose and the call that follow must not be lost.

use super::{TIME, UNCLOSED, describe, describe_with_more_splits, seoul, weather, write_call};
use serde_json::json;

#[test]
fn an_unclosed_value_swallows_neither_prose_nor_the_next_call() {
    let glm = "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>서울";
    let next_call = "<tool_call>get_time\n</tool_call>";
    let function = "<function=get_weather>\n<parameter=city>\n서울\n";
    let request = "<mcp-request>\n<tool name=\"get_weather\"/>\n<param name=\"city\">서울";
    let next_request = "<mcp-request>\n<tool name=\"get_time\"/>\n</mcp-request>";
    let invoke = "<invoke name=\"get_weather\"><parameter name=\"city\">서울";
    for text in [
        format!("{glm}\n</tool_call>\n끝\n{next_call}"),
        format!("{glm}</arg_key>\n</tool_call>\n끝\n{next_call}"),
        format!("{invoke}</invoke>\n끝\n<invoke name=\"get_time\"></invoke>"),
        format!("{invoke}</invoke>\n끝\n <invoke name=\"get_time\"></invoke>"),
        format!("{request}\n</mcp-request>\n끝\n{next_request}"),
        format!("{request}</city>\n</mcp-request>\n끝\n{next_request}"),
        format!(
            "<tool_call>\n{function}</param>\n</function>\n끝\n<function=get_time>\n</function>"
        ),
        format!("{function}</tool_call>\n끝\n<function=get_time>\n</function>"),
        format!(
            "{function}</tool_call>\n끝\n<tool_call>\n<function=get_time>\n</function>\n</tool_call>"
        ),
        format!(
            "<tool_call>\n{function}</tool_call>\n끝\n<tool_call>\n<function=get_time>\n</function>\n</tool_call>"
        ),
    ] {
        let events = describe(&text);
        let trimmed: Vec<_> = events.iter().map(|event| event.trim()).collect();
        assert_eq!(trimmed, [UNCLOSED, "text 끝", TIME], "{text}");
    }
    for text in [
        format!("{glm}\n</tool_call>{next_call}"),
        format!("{glm}\n</tool_call> {next_call}"),
        format!("{invoke}</invoke><invoke name=\"get_time\"/>"),
        format!("{request}</mcp-request> {next_request}"),
    ] {
        assert_eq!(describe_with_more_splits(&text), [UNCLOSED, TIME], "{text}");
    }
    for text in [
        format!("{glm}\n</tool_call>\n끝"),
        format!("{invoke}</invoke>\n끝"),
        format!("{function}</tool_call>\n끝"),
        format!("<tool_call>{function}</function>\n끝"),
        format!("{request}</city>\n</mcp-request>\n끝"),
    ] {
        assert_eq!(describe(&text), [UNCLOSED, "text 끝"], "{text}");
    }
}

#[test]
fn an_unclosed_value_is_not_closed_by_tags_of_the_next_call() {
    let glm = |end: &str| {
        format!(
            "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>서울{end}\n</tool_call>\n"
        )
    };
    assert_eq!(
        describe(&(glm("") + &glm("</arg_value>"))),
        [UNCLOSED.to_owned(), seoul()]
    );
    assert_eq!(
        describe(&(glm("") + &glm("") + &glm("</arg_value>"))),
        [UNCLOSED.to_owned(), UNCLOSED.to_owned(), seoul()]
    );
}

#[test]
fn call_tags_inside_a_closed_value_are_part_of_it() {
    let write = |content: &str| {
        describe(&format!(
            "<tool_call>\n<function=write>\n<parameter=path>\n가.md\n</parameter>\n<parameter=content>\n{content}\n</parameter>\n</function>\n</tool_call>"
        ))
    };
    for content in [
        "</tool_call>\n\nno call follows",
        "<tool_call>\n<function=get_time>\n</function>\n</tool_call>\n<tool_call>\n</tool_call>",
        "the tag </function> and\nthe tag <function=f>",
    ] {
        assert_eq!(write(content), [write_call(content)], "{content}");
    }
    let city = "<tool_call>x\n</tool_call>\n<tool_call>";
    assert_eq!(
        describe(&format!(
            "<tool_call>get_weather<arg_key>city</arg_key><arg_value>{city}</arg_value></tool_call>"
        )),
        [weather(&json!({"city": city}))]
    );
}
