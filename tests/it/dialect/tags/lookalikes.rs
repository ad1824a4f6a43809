//! Text that only looks like a call in tags, how long such text is withheld, the names of the forms,
//! and unclosed calls.

use super::{TIME, describe, seoul, tag_toolset};
use crate::dialect::scan_every_way::scan;
use humble::dialect::scan::ScanEvent;

#[test]
fn tags_that_only_resemble_calls_stay_text() {
    for text in [
        "<tool>망치</tool> <tools> <toolbar name=\"x\">",
        "<param name=\"x\">서울</param>",
        "<parameter=city>서울</parameter>",
        "<function> <functional=x> </function> <parameters>",
        "<function=f is code",
        "<function=f> 는 태그입니다",
        "<function name=\"날씨\"> 는 태그",
        "<invoker name=\"get_time\"></invoker>",
        "<invoke> <invoke type=\"x\" src=\"y\"> <invoke/>",
        "<invoke name=\"get_time\"> 안에",
        "<mcp-requests> <mcp-request> 태그로 부릅니다",
        "<mcp-request></mcp-request> <mcp-request>\n</mcp-request>",
        "<mcp-request><param>x</param></mcp-request>",
        "<MCP-REQUEST><TOOL NAME=\"get_time\"/></MCP-REQUEST>",
        "`<function=get_time></function>` 그리고 `<invoke name=\"get_time\">`",
        "`부르기: <function=get_time></function>` 또는 ``a <invoke name=\"get_time\"/>``",
        "`<mcp-request><tool name=\"get_time\"/></mcp-request>`",
        "Vec<tool> <｜ <|DSML <｜DSML｜ invoke",
        "<tool_call>...</tool_call>",
        "<tool_call>the name</tool_call>",
        "<tool_call>list_files</tool_call>",
        "The tags are <tool_call> and </tool_call>. That is all; in <tool_call>\nx\n</tool_call> 네",
        "<arg_key>city</arg_key>",
        "<function=get_weather>x",
        "std::function<void(int)> f; a <b> c",
    ] {
        assert_eq!(describe(text), [format!("text {text}")]);
    }
}

#[test]
fn text_is_withheld_only_while_it_may_begin_a_tag() {
    use humble::dialect::scan::CallScanner;
    for (start, next) in [
        ("<invoke", "r"),
        ("<invoke", ">"),
        ("<function", ">"),
        ("<functio", "s"),
        ("<param", "e"),
        ("<mcp-request", "s"),
        ("<function=f>", "x"),
        ("<function=f", "\n"),
        ("<mcp-request>\n<", "b"),
        ("<invoke name=\"get_time\">", "안"),
    ] {
        let mut scanner = CallScanner::new(tag_toolset());
        let events = scanner.push(&format!("a{start}"));
        // `<param` does not start a form, so it may be emitted at once.
        if !start.starts_with("<param") {
            assert_eq!(events, [ScanEvent::Text("a".to_owned())], "{start}");
        }
        let emitted: String = events
            .iter()
            .chain(&scanner.push(next))
            .map(ScanEvent::raw)
            .collect();
        assert_eq!(emitted, format!("a{start}{next}"));
    }
}

#[test]
fn each_call_is_labeled_with_its_form() {
    for (text, form) in [
        ("<function=get_time></function>", "function tag"),
        ("<tool_call>get_time</tool_call>", "GLM"),
        ("<invoke name=\"get_time\"/>", "invoke tag"),
        (
            "<｜DSML｜invoke name=\"get_time\"></｜DSML｜invoke>",
            "DeepSeek",
        ),
        (
            "<mcp-request><tool name=\"get_time\"/></mcp-request>",
            "mcp-request",
        ),
    ] {
        let events = scan(&tag_toolset(), [text]);
        let forms: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                ScanEvent::Call(call) => Some(call.form),
                _ => None,
            })
            .collect();
        assert_eq!(forms, [form], "{text}");
    }
}

#[test]
fn an_unclosed_call_does_not_swallow_the_next() {
    for text in [
        "<function=get_weather>\n<parameter=city>\n서울\n</parameter>\n<function=get_time>\n</function>",
        "<tool_call>get_weather<arg_key>city</arg_key><arg_value>서울</arg_value>\n<tool_call>get_time</tool_call>",
        "<invoke name=\"get_weather\"><parameter name=\"city\">서울</parameter>\n<invoke name=\"get_time\"/>",
        "<mcp-request><tool name=\"get_weather\"/><param name=\"city\">서울</param>\n<mcp-request><tool name=\"get_time\"/></mcp-request>",
    ] {
        assert_eq!(describe(text), [seoul(), TIME.to_owned()], "{text}");
    }
    for head in [
        "<function=get_time>\n",
        "<invoke name=\"get_time\">",
        "<mcp-request> ",
        "<tool_call>get_time\n",
    ] {
        let text = format!("{head}<invoke name=\"get_time\"></invoke>");
        assert_eq!(describe(&text), [format!("text {head}"), TIME.to_owned()]);
        let text = format!("{head}<think>생각</think>");
        assert_eq!(
            describe(&text),
            [format!("text {head}"), "thinking 생각".to_owned()]
        );
    }
}
