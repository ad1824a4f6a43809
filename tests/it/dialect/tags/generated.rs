//! Texts assembled from tag fragments: every chunking gives the same events, no character is lost,
//! and only a possible call is withheld.

use crate::dialect::scan_invariants::check_cuts;
use proptest::prelude::*;

fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop::sample::select(vec![
        "<tool_call>",
        "</tool_call>",
        "<function=f>",
        "<function=",
        "<function=g>\n</function>",
        "<parameter=city>",
        "\n<parameter=n>\n",
        "</parameter>",
        "</function>",
        "f\n<arg_key>city</arg_key>",
        "g",
        "<arg_key>",
        "</arg_key>",
        "<arg_value>",
        "</arg_value>",
        "<invoke name=\"f\">",
        "<invoke name='g'/>",
        "<invoke",
        "<parameter name=\"city\">",
        "<parameter name=\"n\" string=\"false\">",
        "</invoke>",
        "<｜DSML｜invoke name=\"f\">",
        "<｜DSML｜parameter name=\"city\">",
        "</｜DSML｜parameter>",
        "</｜DSML｜invoke>",
        "<function_calls>",
        "</function_calls>",
        "<mcp-request>",
        "<tool name=\"f\" />",
        "<tool>",
        "</tool>",
        "<param name=\"city\">",
        "<param name=\"n\" value=\"1\"/>",
        "</param>",
        "</mcp-request>",
        "<![CDATA[",
        "]]>",
        "{\"city\": \"x\"}",
        "{",
        "<",
        ">",
        "/",
        "\"",
        "`",
        "```\n",
        "\n",
        " ",
        "한글",
        "&lt;",
        "<|im_end|>",
        "<think>",
        "</think>",
    ]);
    prop::collection::vec(fragment, 0..16).prop_map(|parts| parts.concat())
}

fn calls() -> Vec<Vec<&'static str>> {
    vec![
        vec![
            "<tool_call>",
            "\n",
            "<function=f>",
            "\n",
            "<parameter=city>",
            "\n",
            "서울",
            "\n",
            "</parameter>",
            "\n",
            "<parameter=n>",
            "1",
            "</parameter>",
            "</function>",
            "\n",
            "</tool_call>",
        ],
        vec![
            "<tool_call>",
            "f",
            "\n",
            "<arg_key>",
            "city",
            "</arg_key>",
            "<arg_value>",
            "東京",
            "</arg_value>",
            "\n",
            "</tool_call>",
        ],
        vec![
            "<function_calls>",
            "<invoke name=\"f\">",
            "<parameter name=\"city\">",
            "서울",
            "</parameter>",
            "\n",
            "</invoke>",
            "</function_calls>",
        ],
        vec![
            "<mcp-request>",
            "\n",
            "<tool name=\"f\" />",
            "<param name=\"city\">",
            "서울",
            "</param>",
            "</mcp-request>",
        ],
    ]
}

/// A call with parts removed, duplicated or swapped. Such texts resemble models' mistakes more than
/// random fragments do.
fn mistakes() -> impl Strategy<Value = String> {
    let call = prop::sample::select(calls());
    let mistake = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        0..3,
    );
    (call, prop::collection::vec(mistake, 1..4)).prop_map(|(mut parts, mistakes)| {
        for (from, to, kind) in mistakes {
            let part = parts[from.index(parts.len())];
            match kind {
                0 if parts.len() > 1 => {
                    parts.remove(from.index(parts.len()));
                }
                1 => parts.insert(to.index(parts.len() + 1), part),
                _ => {
                    let (from, to) = (from.index(parts.len()), to.index(parts.len()));
                    parts.swap(from, to);
                }
            }
        }
        parts.concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_chunking_of_random_tags_gives_the_same_events(text in fragments(), cuts in prop::collection::vec(any::<usize>(), 0..6)) {
        check_cuts(&text, &cuts);
    }

    #[test]
    fn a_mistake_in_a_call_loses_no_text_and_parses_the_same_in_every_chunking(text in mistakes(), cuts in prop::collection::vec(any::<usize>(), 0..6)) {
        check_cuts(&text, &cuts);
    }
}
