//! Calls in Python syntax, and code and Markdown that look similar.

use crate::dialect::scan_every_way::{describe_scan, test_toolset};
use crate::dialect::special_tokens::{ADD, CUT, SEOUL, TIME, TOKYO, form_of, unknown};
use humble::dialect::scan::{CallScanner, ScanEvent};

const BROKEN: &str = "unusable its arguments cannot be read: a string is not closed, or a quote in it is not escaped";

#[test]
fn python_calls_between_tags_are_read() {
    assert_eq!(
        describe_scan("<function_calls>get_weather(city=\"서울\")</function_calls>"),
        [SEOUL]
    );
    assert_eq!(
        describe_scan(
            "날씨를 볼게요.\n<function_calls>\nget_weather(city='東京')\nadd(a=1, b=2); get_time()\n</function_calls>\n네"
        ),
        ["text 날씨를 볼게요.\n", TOKYO, ADD, TIME, "text 네"]
    );
    assert_eq!(
        describe_scan("<function_calls>\nweather(city='서울')\nget_time()\n</function_calls>"),
        [unknown("weather"), TIME.to_owned()]
    );
    assert_eq!(describe_scan("<function_calls>get_weather(city='서"), [CUT]);
    assert_eq!(
        form_of("<function_calls>get_time()</function_calls>"),
        ("function_calls", true)
    );
    assert_eq!(
        describe_scan("<tool_code>\nprint(default_api.get_weather(city='서울'))\n</tool_code>"),
        [SEOUL]
    );
}

#[test]
fn llama_calls_after_the_python_tag_are_read() {
    assert_eq!(
        describe_scan("<|python_tag|>get_weather.call(city=\"서울\")<|eom_id|>"),
        [SEOUL]
    );
    assert_eq!(
        describe_scan("<|python_tag|>get_weather.call(city='東京'); add(a=1, b=2)"),
        [TOKYO, ADD]
    );
    assert_eq!(
        describe_scan("<|python_tag|>brave_search.call(query=\"날씨\")<|eom_id|>"),
        [unknown("brave_search")]
    );
    assert_eq!(
        describe_scan("<|python_tag|>print(get_weather(city='서울'))\nprint(get_time.call())"),
        [SEOUL, TIME]
    );
    assert_eq!(
        describe_scan("<|python_tag|>get_weather.call(city=\"서"),
        [CUT]
    );
    assert_eq!(form_of("<|python_tag|>get_time.call()"), ("Llama", true));
}

#[test]
fn a_python_list_of_calls_is_read() {
    assert_eq!(describe_scan("[get_weather(city='서울')]"), [SEOUL]);
    assert_eq!(
        describe_scan(
            "[get_weather(city='東京', n=3, ok=True, x=None, xs=[1, 'a'], d={'k': 1.5,}), get_time()]"
        ),
        [
            r#"call humble/get_weather {"city":"東京","n":3,"ok":true,"x":null,"xs":[1,"a"],"d":{"k":1.5}}"#,
            TIME
        ]
    );
    assert_eq!(
        describe_scan(
            "볼게요: [ add( a = 1, b = 2 ) ,\n  get_weather(\n    city=\"\"\"서울\"\"\",\n  ),\n]\n\n잠시만요."
        ),
        ["text 볼게요: ", ADD, SEOUL, "text 잠시만요."]
    );
    assert_eq!(
        describe_scan(
            "[log.add(a=1, b=2)] [functions.get_time()]\n[default_api.get_weather(city='서울')]"
        ),
        [ADD, TIME, SEOUL]
    );
    assert_eq!(
        describe_scan("```\n[get_time()]\n```\n네"),
        [TIME, "text 네"]
    );
    assert_eq!(
        describe_scan("[get_time()], [get_time()];\n네"),
        [TIME, TIME, "text 네"]
    );
    assert_eq!(
        describe_scan("[get_weather(city='it\\'s )] \"서울\"')]"),
        [r#"call humble/get_weather {"city":"it's )] \"서울\""}"#]
    );
    assert_eq!(form_of("[get_time()]"), ("Python", true));
    assert_eq!(form_of("[get_time()"), ("Python", true));
}

#[test]
fn a_list_of_calls_in_the_tokens_of_lfm2_is_read() {
    assert_eq!(
        describe_scan("<|tool_call_start|>[get_weather(city=\"서울\")]<|tool_call_end|>네, 서울."),
        [SEOUL, "text 네, 서울."]
    );
    assert_eq!(
        describe_scan(
            "<|tool_call_start|>[add(a=1, b=2), get_weather(city='東京')]<|tool_call_end|>"
        ),
        [ADD, TOKYO]
    );
    assert_eq!(
        describe_scan("<|tool_call_start|>[날씨(city=1), 5, add(1, 2), add(a=x, b=2), get_time()]<|tool_call_end|>"),
        [
            unknown("날씨"),
            "unusable it is not a call".to_owned(),
            "unusable its arguments cannot be read: `1, 2)` has no name: pass arguments by name, as in `city=\"Paris\"`".to_owned(),
            "unusable its arguments cannot be read: `x, b=2)` is not a plain value".to_owned(),
            TIME.to_owned(),
        ]
    );
    assert_eq!(
        describe_scan("<|tool_call_start|>[get_time(), add(a=1"),
        [TIME, CUT]
    );
    assert_eq!(form_of("<|tool_call_start|>[get_time()]"), ("LFM2", true));
}

#[test]
fn an_unusable_call_in_a_list_is_reported() {
    assert_eq!(describe_scan("[ping()]"), ["call ?/ping {}"]);
    assert_eq!(
        describe_scan("[add(a=1)]"),
        ["unusable required arguments of `add` are missing: `b`"]
    );
    assert_eq!(
        describe_scan("[add(a=오늘(), b=2)]"),
        ["unusable its arguments cannot be read: `오늘(), b=2)` is not a plain value"]
    );
    assert_eq!(
        describe_scan("[add(a=1, b=2]\n네"),
        [
            "unusable its arguments cannot be read: the end of the text follows a value; expected a comma or the closing bracket",
            "text 네"
        ]
    );
    assert_eq!(
        describe_scan("[get_weather(city='it's 서울')]\n\n볼게요.\n"),
        [BROKEN, "text 볼게요.\n"]
    );
    assert_eq!(describe_scan("[get_weather(city='서"), [CUT]);
    assert_eq!(describe_scan("[get_weather("), [CUT]);
    assert_eq!(describe_scan("[get_time(), get_we"), [TIME, CUT]);
}

#[test]
fn code_and_markdown_similar_to_python_calls_stay_text() {
    for text in [
        "[x]",
        "[ ] 할 일",
        "[add](u)",
        "[add(1)](url)",
        "[get_time()](http://x)",
        "[get_time()][1]",
        "![get_time()](u)",
        "xs[get_time()]",
        "f()[get_time()]",
        "[get_time(), 1]",
        "[add(1, 2)]",
        "[add(a==1)]",
        "[unknown(a=1)]",
        "[get_time() for x in xs]",
        "[get_time().x]",
        "[날씨(city='서울')]",
        "```python\n[get_time()]\n```",
        "```python\nxs = [get_time()]\n```",
        "`[get_time()]` 는 예",
        "`x = [get_time()]`",
        "get_time()",
        "get_weather(city='서울')",
        "call:get_time{}",
        "f[ARGS]{}",
        "[get_time",
        "[",
        "[a(",
        "[add(a, b)]",
        "[get_time()\n[",
        "[see add(a=1, b=2)]",
    ] {
        assert_eq!(describe_scan(text), [format!("text {text}")]);
    }
}

#[test]
fn a_string_with_an_unescaped_quote_ends_at_its_line() {
    for text in [
        "[get_weather(city='Xi'an')]\n\n{\"name\": \"get_time\", \"arguments\": {}}\n\n네",
        "[get_weather(city='it's'), get_time()]\n[get_time()]\n네",
        "[get_weather(city=\"5\" tall\")] 그리고\n[get_time()]\n네",
        "[get_weather(city=''Xi'an'')]\n[get_time()]\n네",
        "[get_weather(city='서울)]\n\n[get_time()]\n네",
        "[get_weather(city='서울)]\n[get_time()]\n\n네",
        "<|tool_call_start|>[get_weather(city='Xi'an')]<|tool_call_end|>\n[get_time()]\n네",
        "<function_calls>\nget_weather(city='Xi'an')\nget_time()\n</function_calls>\n네",
    ] {
        assert_eq!(describe_scan(text), [BROKEN, TIME, "text 네"], "{text}");
    }
    assert_eq!(
        describe_scan("[get_time(), get_weather(city='Xi'an')]\n네"),
        [TIME, BROKEN, "text 네"]
    );
    assert_eq!(describe_scan("[get_weather(city='Xi'an')]"), [BROKEN]);
    assert_eq!(
        describe_scan("[get_weather(city='서울\n시' r'' # it's\n, d={'k': ['a', 'b' ]})]\n네"),
        [
            "call humble/get_weather {\"city\":\"서울\\n시\",\"d\":{\"k\":[\"a\",\"b\"]}} repaired",
            "text 네"
        ]
    );
}

/// Text that may belong to the unclosed string is not run.
#[test]
fn text_after_a_malformed_multi_line_call_stays_text() {
    assert_eq!(
        describe_scan(
            "<function_calls>\nget_weather(city='it's\nget_time()\n')\n</function_calls>"
        ),
        [BROKEN, "text get_time()\n')\n</function_calls>"]
    );
}

#[test]
fn a_list_that_is_not_alone_on_its_lines_is_text() {
    for text in [
        "You can get it with [get_time()] at any time.",
        "x = [get_time()]",
        "return [get_time()]",
        "$[get_time()]$",
        ">>> [get_time()]",
        "[get_time()].map(x)",
        "[get_time()]: https://x",
        "<code>[get_time()]</code>",
        "[get_time()]</code>",
        "[get_time()] <b",
        "[get_time()] 을 부르면",
        "[get_time()] [x]",
        "[get_time()][get_time()]",
        "a:[get_time()]",
        "네: 그 [get_time()]",
    ] {
        assert_eq!(describe_scan(text), [format!("text {text}")]);
    }
    for text in [
        "[get_time()] \t\n",
        "[get_time()];\n",
        "  [get_time()]\r\n",
        "[get_time()]<|eom_id|>",
        "[get_time()] </s>",
    ] {
        assert_eq!(describe_scan(text), [TIME], "{text}");
    }
    assert_eq!(describe_scan("네: [get_time()]\n"), ["text 네: ", TIME]);
    assert_eq!(
        describe_scan("[get_time()] <tool_call>{\"name\": \"get_time\"}</tool_call>"),
        ["text [get_time()] ", TIME]
    );
}

#[test]
fn tool_code_fences_contain_calls() {
    for text in [
        "```tool_code\nget_weather(city='서울')\n```",
        "```tool_code\n# 날씨\nget_weather(city='서울')\n```",
        "```tool_code\nimport default_api\nget_weather(city='서울')\n```",
        "```tool_code\nx = get_weather(city='서울')  # (\n```",
        "```tool_code\nx = get_weather(city='서울')\nprint(x)\n```",
        "```tool_code\nprint(default_api.get_weather(city=\"서울\"))\n```\n",
        "```tool_code\n# 날씨 `확인`\nimport default_api\nweather = get_weather(city='서울')  # (\nprint(weather)\n```",
        "```tool_code\n\nprint(get_weather(\n  city='서울',\n))",
        "```tool_code\n[get_weather(city='서울')]\n```",
    ] {
        assert_eq!(describe_scan(text), [SEOUL], "{text}");
    }
    assert_eq!(
        describe_scan(
            "볼게요.\n```tool_code\nget_weather(city='東京')\nadd(a=1, b=2); get_time()\n```\n잠시만요."
        ),
        ["text 볼게요.\n", TOKYO, ADD, TIME, "text 잠시만요."]
    );
    assert_eq!(
        describe_scan("```tool_code\ndefault_api.날씨(city='서울')\nget_weather(city=x)\n```"),
        [
            unknown("날씨"),
            "unusable its arguments cannot be read: `x)` is not a plain value".to_owned()
        ]
    );
    assert_eq!(
        describe_scan("```tool_code\nprint(get_weather(city='it's'))\n```\n네"),
        [
            "unusable its arguments cannot be read: `s')` follows a value; expected a comma or the closing bracket",
            "text 네"
        ]
    );
    assert_eq!(
        describe_scan("```tool_code\nget_time()\nget_weather(city='서"),
        [TIME, CUT]
    );
    for text in [
        "```tool_code\nx = 1 + 1\nprint(x)\n```\n네",
        "```tool_code\nfor x in xs:\n    get_time()\n```",
        "```tool_code\nprint('안녕')\n```",
        "```tool_code\nget_time() + 1\n```",
        "```tool_codes\nget_time()\n```",
        "```python\nprint(default_api.get_time())\n```",
        "```tool_code",
        "```tool_code\n```",
    ] {
        assert_eq!(describe_scan(text), [format!("text {text}")]);
    }
    assert_eq!(
        form_of("```tool_code\nget_time()\n```"),
        ("tool_code", true)
    );
}

#[test]
fn text_is_withheld_only_while_it_may_be_a_call() {
    let mut scanner = CallScanner::new(test_toolset());
    let text = |text: &str| vec![ScanEvent::Text(text.to_owned())];
    assert_eq!(scanner.push("네\n[add"), text("네\n"));
    assert_eq!(scanner.push("(1"), text("[add(1"));
    assert_eq!(scanner.push(", [x"), text(", [x"));
    assert_eq!(scanner.push(", [get_time()"), text(", [get_time()"));
    assert_eq!(scanner.push("\n[get_time()]"), text("\n"));
    assert_eq!(scanner.push(" a"), text("[get_time()] a"));
    assert_eq!(scanner.push("<|channel|>a b"), text("<|channel|>a b"));
    assert_eq!(scanner.push("to=functions."), text("to=functions."));
}
