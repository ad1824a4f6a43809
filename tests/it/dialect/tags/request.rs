//! `<mcp-request>`, the form of the `xml` dialect.

use super::{
    CUT, STRAY, TIME, UNCLOSED, describe, describe_with_more_splits, seoul, unknown, weather,
    write_call,
};
use serde_json::json;

#[test]
fn every_spelling_of_mcp_request_is_read() {
    for text in [
        "<mcp-request>\n  <tool name=\"get_weather\" />\n  <param name=\"city\">서울</param>\n</mcp-request>",
        "<mcp-request><tool name='get_weather'/><param name='city'>서울</param></mcp-request>",
        "<mcp-request><tool name=\"get_weather\"></tool>\n<param name=\"city\">서울</param>\n</mcp-request>\n",
        "<mcp-request><param name=\"city\">서울</param><tool name=\"get_weather\"/></mcp-request>",
        "<mcp-request>\n<tool name=\"humble__get_weather\">\n<param name = \"city\" >\n서울\n</param>\n</tool>\n</mcp-request>",
        "<mcp-request><tool>get_weather</tool><param name=\"city\" value=\"서울\"/></mcp-request>",
        "<mcp-request><tool name=\"get_weather\" server=\"humble\"/><param name=\"city\">&#49436;&#xC6B8;</param></mcp-request>",
        "```xml\n<mcp-request>\n<tool name=\"get_weather\"/>\n<param name=\"city\"><![CDATA[서울]]></param>\n</mcp-request>\n```",
    ] {
        assert_eq!(describe_with_more_splits(text), [seoul()], "{text}");
    }
    assert_eq!(
        describe("시간: <mcp-request><tool name=\"get_time\" /></mcp-request> 네"),
        ["text 시간: ", TIME, "text 네"]
    );
}

#[test]
fn values_are_unescaped_typed_and_collected_into_arrays() {
    assert_eq!(
        describe(
            "<mcp-request><tool name=\"get_weather\"/><param name=\"city\">a &lt; b &amp;&amp; c</param><param name=\"days\"> 3 </param><param name=\"tags\">1</param><param name=\"tags\">둘</param></mcp-request>"
        ),
        [weather(
            &json!({"city": "a < b && c", "days": 3, "tags": ["1", "둘"]})
        )]
    );
    assert_eq!(
        describe(
            "<mcp-request><tool name=\"get_weather\"/><param name=\"city\">서울</param><param name=\"tags\">[\"하나\"]</param></mcp-request>"
        ),
        [weather(&json!({"city": "서울", "tags": ["하나"]}))]
    );
    let write = |content: &str| {
        describe(&format!(
            "<mcp-request><tool name=\"write\"/><param name=\"path\">가.md</param><param name=\"content\">{content}</param></mcp-request>"
        ))
    };
    for (content, expected) in [
        (
            "if a < b && c > d { <p>한글</p> }",
            "if a < b && c > d { <p>한글</p> }",
        ),
        (
            "\n<![CDATA[<param name=\"x\">&lt;</param>\n</mcp-request>]]>\n",
            "<param name=\"x\">&lt;</param>\n</mcp-request>",
        ),
        ("<![CDATA[]]]]><![CDATA[></param>]]>", "]]></param>"),
        ("x = \"<![CDATA[\"", "x = \"<![CDATA[\""),
        ("<tool name=\"get_time\" />", "<tool name=\"get_time\" />"),
        ("", ""),
    ] {
        assert_eq!(write(content), [write_call(expected)], "{content}");
    }
}

#[test]
fn truncated_or_invalid_calls_in_mcp_request_tags_are_reported() {
    let tool = "<mcp-request>\n<tool name=\"get_weather\" />\n";
    for text in [
        format!("{tool}<param name=\"ci"),
        format!("{tool}<param name=\"city\">서"),
        format!("{tool}<param name=\"city\"><![CDATA[서</param>"),
        tool.to_owned(),
    ] {
        assert_eq!(describe(&text), [CUT], "{text}");
    }
    for rest in ["", "\n", "\n</mcp-req", "<"] {
        assert_eq!(
            describe(&format!("{tool}<param name=\"city\">서울</param>{rest}")),
            [format!("{} unterminated", seoul())],
            "{rest}"
        );
    }
    assert_eq!(
        describe(&format!("{tool}<param name=\"city\">서울\n</mcp-request>")),
        [UNCLOSED]
    );
    assert_eq!(
        describe("<mcp-request><param name=\"city\">서울</param></mcp-request>"),
        ["unusable it names no tool"]
    );
    assert_eq!(
        describe(
            "<mcp-request><tool name=\"get_time\"/><tool name=\"get_weather\"/></mcp-request>"
        ),
        ["unusable it names two tools"]
    );
    assert_eq!(
        describe("<mcp-request><tool name=\"날씨\"/></mcp-request>"),
        [unknown("날씨")]
    );
    assert_eq!(
        describe(&format!("{tool}<city>서울</city>\n</mcp-request>네")),
        [STRAY, "text 네"]
    );
    assert_eq!(
        describe(&format!(
            "{tool}<param name=\"city\">서울</param><param name=\"days\">1</param><param name=\"days\">2</param></mcp-request>"
        )),
        ["unusable it gives `days` more than once"]
    );
}
