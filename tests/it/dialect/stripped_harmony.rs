//! Calls of gpt-oss whose special tokens the server has removed.

use crate::dialect::scan_every_way::describe_scan;

const TIME: &str = "call humble/get_time {}";
const SUM: &str = r#"call log/add {"a":1,"b":2}"#;

#[test]
fn gpt_oss_calls_without_their_special_tokens_are_recognized() {
    for text in [
        r#"to=functions.add {"a": 1, "b": 2}"#,
        r#"to=functions.add{"a": 1, "b": 2}"#,
        r#"commentary to=functions.add json{"a": 1, "b": 2}"#,
        r#"commentary to=functions.add json {"a": 1, "b": 2}"#,
        r#"analysis to=functions.add code{"a": 1, "b": 2}"#,
        r#"assistantcommentary to=functions.add json{"a": 1, "b": 2}"#,
        r#"assistant to=functions.addcommentary json{"a": 1, "b": 2}"#,
        r#"commentary to=functions.add <|constrain|>json<|message|>{"a": 1, "b": 2}"#,
        r#"to=functions.log__add:0 {"a": 1, "b": 2}"#,
    ] {
        assert_eq!(describe_scan(text), [SUM], "{text}");
    }
    assert_eq!(
        describe_scan("Let me see.\nto=functions.add {\"a\": 1, \"b\": 2}\nDone."),
        ["text Let me see.\n", SUM, "text Done."]
    );
    assert_eq!(
        describe_scan(
            "analysisI add.assistantcommentary to=functions.add json{\"a\": 1, \"b\": 2}"
        ),
        ["text analysisI add.assistantcommentary ", SUM]
    );
    assert_eq!(
        describe_scan("to=functions.add {'a': 1, 'b': 2,}\ncommentary to=functions.get_time {}"),
        [format!("{SUM} repaired"), TIME.to_owned()]
    );
    assert_eq!(
        describe_scan("to=functions.add {\"a\": 1, \"b\""),
        ["unusable it was cut off before its end"]
    );
    assert_eq!(
        describe_scan("to=functions.add json{\"a\": 1}"),
        ["unusable required arguments of `add` are missing: `b`"]
    );
}

#[test]
fn prose_about_gpt_oss_recipients_stays_text() {
    for text in [
        "to=functions.add is the recipient of the call.",
        "commentary to=functions.add means a call.",
        "Write to=functions.add {\"a\": 1, \"b\": 2} to add.",
        "The header commentary to=functions.add json{\"a\": 1, \"b\": 2} is a call.",
        "`to=functions.add {\"a\": 1, \"b\": 2}`",
        "```\nto=functions.add {\"a\": 1, \"b\": 2}\n```",
        "to=functions.unknown {\"a\": 1}",
        "to=functions. {\"a\": 1}",
        "to=add {\"a\": 1, \"b\": 2}",
        "to=functions.add [1, 2]",
        "commentary is not analysis",
        "assistant",
        "to=functions.add json",
        "to=functions.add",
        "to=",
    ] {
        assert_eq!(describe_scan(text), [format!("text {text}")], "{text}");
    }
}
