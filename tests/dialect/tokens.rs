//! Special tokens that leak into the text, Python and Gemma's forms (DIALECTS 22,
//! 23, 26 to 30, 32, 34, 37), and what looks like them.

use crate::cuts::{offered, read, scan};
use humble::dialect::scan::{Piece, Scanner};
use humble::domain::Offered;
use std::sync::Arc;

const ADD: &str = r#"call log/add {"a":1,"b":2}"#;
const SEOUL: &str = r#"call humble/get_weather {"city":"서울"}"#;
const TOKYO: &str = r#"call humble/get_weather {"city":"東京"}"#;
const TIME: &str = "call humble/get_time {}";
const CUT: &str = "unusable it was cut off before its end";

fn unknown(name: &str) -> String {
    format!(
        "unusable there is no tool `{name}`; on offer: `get_time` (humble), `get_weather` (humble), `add` (log), `ping` (log), `ping` (docs)"
    )
}

/// How the dialog labels the only call of `text`, and whether it is whole.
fn label(text: &str) -> (&'static str, bool) {
    let pieces = scan(&offered(), [text]);
    let mut calls = pieces.iter().filter_map(|piece| match piece {
        Piece::Call(call) => Some((call.form, call.whole)),
        _ => None,
    });
    match (calls.next(), calls.next()) {
        (Some(call), None) => call,
        other => panic!("{other:?} in {text}"),
    }
}

#[test]
fn b22_python_in_function_calls_tags() {
    assert_eq!(
        read("<function_calls>get_weather(city=\"서울\")</function_calls>"),
        [SEOUL]
    );
    assert_eq!(
        read(
            "날씨를 볼게요.\n<function_calls>\nget_weather(city='東京')\nadd(a=1, b=2); get_time()\n</function_calls>\n네"
        ),
        ["text 날씨를 볼게요.\n", TOKYO, ADD, TIME, "text 네"]
    );
    assert_eq!(
        read("<function_calls>\nweather(city='서울')\nget_time()\n</function_calls>"),
        [unknown("weather"), TIME.to_owned()]
    );
    assert_eq!(read("<function_calls>get_weather(city='서"), [CUT]);
    assert_eq!(
        label("<function_calls>get_time()</function_calls>"),
        ("function_calls", true)
    );
}

#[test]
fn b23_gemma_writes_call_and_its_own_quotes() {
    assert_eq!(
        read("<start_function_call>call:get_weather{city:<escape>서울<escape>}<end_function_call>"),
        [SEOUL]
    );
    assert_eq!(
        read(
            "<|tool_call>call:get_weather{city:<|\"|>東京<|\"|>}<tool_call|><|tool_call>call:add{a:1,b:2}<tool_call|>네"
        ),
        [TOKYO, ADD, "text 네"]
    );
    assert_eq!(
        read("<|tool_call>call:add{a:{x:[<|\"|>} , {<|\"|>,true]},b:null}<tool_call|>"),
        [r#"call log/add {"a":{"x":["} , {",true]},"b":null}"#]
    );
    assert_eq!(
        read("<start_function_call>\ncall:humble.get_time{}\n<end_function_call>\n"),
        [TIME]
    );
    assert_eq!(
        read("<|tool_call>call:get_weather{\"city\": 서울}<tool_call|>"),
        [format!("{SEOUL} repaired")]
    );
    assert_eq!(
        read("<|tool_call>call:날씨{city:1}<tool_call|>"),
        [unknown("날씨")]
    );
    assert_eq!(
        read("<|tool_call>call:add{a:1,b}<tool_call|>끝"),
        [
            "unusable its arguments cannot be read: a key has no value",
            "text 끝"
        ]
    );
    assert_eq!(
        read("<start_function_call>call:get_weather{city:<escape>서"),
        [CUT]
    );
    assert_eq!(label("<|tool_call>call:get_time{}"), ("Gemma", true));
}

#[test]
fn c26_mistral_puts_a_token_between_name_and_arguments() {
    assert_eq!(
        read("[TOOL_CALLS]get_weather[ARGS]{\"city\": \"서울\"}"),
        [SEOUL]
    );
    assert_eq!(
        read(
            "[TOOL_CALLS]add[CALL_ID]a1B2c3[ARGS]{\"a\": 1, \"b\": 2}[TOOL_CALLS]get_weather[ARGS]{\"city\": \"東京\"}</s>"
        ),
        [ADD, TOKYO]
    );
    assert_eq!(
        read("잠시만요. [TOOL_CALLS]get_time{}[TOOL_CALLS]add {\"a\": 1, \"b\": 2}네"),
        ["text 잠시만요. ", TIME, ADD, "text 네"]
    );
    assert_eq!(
        read("[TOOL_CALLS]add[ARGS]{\"a\" 1}[TOOL_CALLS]날씨[ARGS]{}"),
        [
            "unusable its JSON cannot be read: expected `:` at line 1 column 6".to_owned(),
            unknown("날씨")
        ]
    );
    for cut in [
        "[TOOL_CALLS]add[ARGS]{\"a\": 1",
        "[TOOL_CALLS]add[ARGS]",
        "[TOOL_CALLS]add[CALL_ID]x1",
        "[TOOL_CALLS]add[AR",
        "[TOOL_CALLS]ad",
    ] {
        assert_eq!(read(cut), [CUT], "{cut}");
    }
    assert_eq!(label("[TOOL_CALLS]get_time[ARGS]{}"), ("Mistral", true));
}

#[test]
fn c27_llama_calls_behind_its_python_tag() {
    assert_eq!(
        read("<|python_tag|>get_weather.call(city=\"서울\")<|eom_id|>"),
        [SEOUL]
    );
    assert_eq!(
        read("<|python_tag|>get_weather.call(city='東京'); add(a=1, b=2)"),
        [TOKYO, ADD]
    );
    assert_eq!(
        read("<|python_tag|>brave_search.call(query=\"날씨\")<|eom_id|>"),
        [unknown("brave_search")]
    );
    assert_eq!(read("<|python_tag|>get_weather.call(city=\"서"), [CUT]);
    assert_eq!(label("<|python_tag|>get_time.call()"), ("Llama", true));
}

#[test]
fn c28_a_python_list_of_calls() {
    assert_eq!(read("[get_weather(city='서울')]"), [SEOUL]);
    assert_eq!(
        read(
            "[get_weather(city='東京', n=3, ok=True, x=None, xs=[1, 'a'], d={'k': 1.5,}), get_time()]"
        ),
        [
            r#"call humble/get_weather {"city":"東京","n":3,"ok":true,"x":null,"xs":[1,"a"],"d":{"k":1.5}}"#,
            TIME
        ]
    );
    assert_eq!(
        read(
            "볼게요: [ add( a = 1, b = 2 ) ,\n  get_weather(\n    city=\"\"\"서울\"\"\",\n  ),\n]\n\n잠시만요."
        ),
        ["text 볼게요: ", ADD, SEOUL, "text 잠시만요."]
    );
    assert_eq!(
        read("[log.add(a=1, b=2)] [functions.get_time()]\n[default_api.get_weather(city='서울')]"),
        [ADD, TIME, SEOUL]
    );
    assert_eq!(read("```\n[get_time()]\n```\n네"), [TIME, "text 네"]);
    assert_eq!(read("[get_time()], [get_time()]."), [TIME, TIME, "text ."]);
    assert_eq!(
        read("[get_weather(city='it\\'s )] \"서울\"')]"),
        [r#"call humble/get_weather {"city":"it's )] \"서울\""}"#]
    );
    assert_eq!(label("[get_time()]"), ("Python", true));
    assert_eq!(label("[get_time()"), ("Python", true));
}

#[test]
fn c28_the_list_of_lfm2_stands_between_tokens() {
    assert_eq!(
        read("<|tool_call_start|>[get_weather(city=\"서울\")]<|tool_call_end|>네, 서울."),
        [SEOUL, "text 네, 서울."]
    );
    assert_eq!(
        read("<|tool_call_start|>[add(a=1, b=2), get_weather(city='東京')]<|tool_call_end|>"),
        [ADD, TOKYO]
    );
    assert_eq!(
        read("<|tool_call_start|>[날씨(city=1), 5, add(1, 2), add(a=x, b=2), get_time()]<|tool_call_end|>"),
        [
            unknown("날씨"),
            "unusable it is not a call".to_owned(),
            "unusable its arguments cannot be read: `1, 2)` has no name: write its arguments by name, as in `city=\"Paris\"`".to_owned(),
            "unusable its arguments cannot be read: `x, b=2)` is not a plain value".to_owned(),
            TIME.to_owned(),
        ]
    );
    assert_eq!(read("<|tool_call_start|>[get_time(), add(a=1"), [TIME, CUT]);
    assert_eq!(label("<|tool_call_start|>[get_time()]"), ("LFM2", true));
}

#[test]
fn c28_a_call_that_cannot_be_read_is_told_where_no_doubt_is_left() {
    let ambiguous = "unusable several servers have a tool `ping`: name one with \"server\"";
    assert_eq!(read("[ping()]"), [ambiguous]);
    assert_eq!(
        read("[add(a=1)]"),
        ["unusable `add` needs `b`, which is missing"]
    );
    assert_eq!(
        read("[add(a=오늘(), b=2)]"),
        ["unusable its arguments cannot be read: `오늘(), b=2)` is not a plain value"]
    );
    assert_eq!(
        read("[add(a=1, b=2], 네"),
        [
            "unusable its arguments cannot be read: `` follows a value where a comma or the end must",
            "text , 네"
        ]
    );
    assert_eq!(read("[get_weather(city='서"), [CUT]);
    assert_eq!(read("[get_weather("), [CUT]);
    assert_eq!(read("[get_time(), get_we"), [TIME, CUT]);
}

#[test]
fn c28_code_and_markdown_that_look_like_it_stay_text() {
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
        assert_eq!(read(text), [format!("text {text}")]);
    }
}

#[test]
fn c29_deepseek_separates_name_and_arguments_by_a_token() {
    let call =
        "<｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{\"city\": \"서울\"}<｜tool▁call▁end｜>";
    assert_eq!(
        read(&format!("<｜tool▁calls▁begin｜>{call}<｜tool▁calls▁end｜>")),
        [SEOUL]
    );
    assert_eq!(
        read(&format!(
            "<｜tool▁calls▁begin｜>{call}\n<｜tool▁call▁begin｜>add<｜tool▁sep｜>{{\"a\": 1, \"b\": 2}}<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>"
        )),
        [SEOUL, ADD]
    );
    for (opens, begins, separator, ends, closes) in [
        (
            "<｜tool▁calls▁begin｜>",
            "<｜tool▁call▁begin｜>",
            "<｜tool▁sep｜>",
            "<｜tool▁call▁end｜>",
            "<｜tool▁calls▁end｜>",
        ),
        (
            "<|tool▁calls▁begin|>",
            "<|tool▁call▁begin|>",
            "<|tool▁sep|>",
            "<|tool▁call▁end|>",
            "<|tool▁calls▁end|>",
        ),
        (
            "<|tool_calls_begin|>",
            "<|tool_call_begin|>",
            "<|tool_sep|>",
            "<|tool_call_end|>",
            "<|tool_calls_end|>",
        ),
    ] {
        let fenced = format!(
            "{begins}function{separator}get_weather\n```json\n{{\"city\": \"東京\"}}\n```{ends}"
        );
        assert_eq!(
            read(&format!("네.\n{opens}{fenced}{closes}")),
            ["text 네.\n", TOKYO]
        );
        assert_eq!(
            read(&format!("{begins}get_time{separator}{ends}{closes}")),
            [TIME]
        );
        assert_eq!(
            read(&format!(
                "{begins}function{separator}add\n{{\"a\": 1, \"b\": 2}}{ends}끝"
            )),
            [ADD, "text 끝"]
        );
        assert_eq!(
            read(&format!("{begins}get_weather{separator}{{\"city\"")),
            [CUT]
        );
        assert_eq!(read(&format!("{begins}function{separator}get_we")), [CUT]);
        assert_eq!(
            label(&format!(
                "{opens}{begins}function{separator}get_time\n```json\n{{}}\n"
            )),
            ("DeepSeek", true)
        );
    }
}

#[test]
fn c30_kimi_numbers_its_calls() {
    assert_eq!(
        read(
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{\"city\": \"서울\"}<|tool_call_end|><|tool_calls_section_end|>"
        ),
        [SEOUL]
    );
    assert_eq!(
        read(
            "알겠습니다.<|tool_calls_section_begin|>\n<|tool_call_begin|> functions.add:0 <|tool_call_argument_begin|> {\"a\": 1, \"b\": 2} <|tool_call_end|>\n<|tool_call_begin|>functions.get_weather:1<|tool_call_argument_begin|>{\"city\": \"東京\"}<|tool_call_end|><|tool_calls_section_end|>"
        ),
        ["text 알겠습니다.", ADD, TOKYO]
    );
    assert_eq!(
        read("<|tool_call_begin|>functions.rm:0<|tool_call_argument_begin|>{}"),
        [unknown("functions.rm:0")]
    );
    assert_eq!(
        label("<|tool_call_begin|>get_time<|tool_call_argument_begin|>{}"),
        ("Kimi", true)
    );
}

#[test]
fn c32_gpt_oss_addresses_a_tool_in_the_header_of_a_message() {
    for text in [
        "<|channel|>analysis to=functions.get_weather<|message|>{\"city\": \"서울\"}",
        "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{\"city\": \"서울\"}<|call|>",
        "<|start|>assistant<|channel|>commentary to=functions.get_weather json<|message|>{\"city\": \"서울\"}<|call|>",
        "<|start|>assistant to=functions.get_weather<|channel|>commentary<|message|>{\"city\": \"서울\"}<|end|>",
        " to=functions.get_weather<|channel|>commentary json<|message|>\n{\"city\": \"서울\"}",
        "<|channel|>commentary to=get_weather<|message|>{\"city\":\"서울\"}<|return|>",
    ] {
        assert_eq!(read(text), [SEOUL], "{text}");
    }
    assert_eq!(
        read(
            "<|channel|>analysis<|message|>날씨를 물어본다. to=x<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{\"city\":\"東京\"}<|call|><|start|>assistant<|channel|>commentary to=functions.get_time<|message|><|call|>"
        ),
        ["thinking 날씨를 물어본다. to=x", TOKYO, TIME]
    );
    assert_eq!(
        read("<|channel|>commentary to=python<|message|>print('안녕')<|call|>네"),
        [unknown("python"), "text 네".to_owned()]
    );
    assert_eq!(
        read("<|channel|>commentary to=functions.add<|message|>1 + 2"),
        ["unusable its JSON cannot be read: trailing characters at line 1 column 3"]
    );
    assert_eq!(
        read("<|channel|>commentary to=functions.add<|message|>{\"a\""),
        [CUT]
    );
    assert_eq!(read("<|channel|>commentary to=functions.add <|con"), [CUT]);
    assert_eq!(
        label("<|channel|>analysis to=functions.get_time<|message|>{}"),
        ("Harmony", true)
    );
}

#[test]
fn c34_a_fence_of_tool_code_holds_calls() {
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
        assert_eq!(read(text), [SEOUL], "{text}");
    }
    assert_eq!(
        read(
            "볼게요.\n```tool_code\nget_weather(city='東京')\nadd(a=1, b=2); get_time()\n```\n잠시만요."
        ),
        ["text 볼게요.\n", TOKYO, ADD, TIME, "text 잠시만요."]
    );
    assert_eq!(
        read("```tool_code\ndefault_api.날씨(city='서울')\nget_weather(city=x)\n```"),
        [
            unknown("날씨"),
            "unusable its arguments cannot be read: `x)` is not a plain value".to_owned()
        ]
    );
    assert_eq!(
        read("```tool_code\nget_time()\nget_weather(city='서"),
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
        assert_eq!(read(text), [format!("text {text}")]);
    }
    assert_eq!(label("```tool_code\nget_time()\n```"), ("tool_code", true));
}

#[test]
fn d37_gpt_oss_thinks_in_one_channel_and_answers_in_another() {
    assert_eq!(
        read(
            "<|channel|>analysis<|message|>더하면 3<|end|><|start|>assistant<|channel|>final<|message|>3입니다.<|return|>"
        ),
        ["thinking 더하면 3", "text 3입니다."]
    );
    assert_eq!(
        read("<|channel|>analysis<|message|>a < b<|channel|>final<|message|>答えは3。<|end|>\n"),
        ["thinking a < b", "text 答えは3。"]
    );
    assert_eq!(
        read("<|start|>assistant<|channel|>analysis<|message|>never ends <|"),
        ["thinking never ends <|"]
    );
    assert_eq!(
        read("<|channel|>commentary<|message|>먼저 볼게요.<|end|><|start|>assistant네<|return|>"),
        ["text 먼저 볼게요.", "text 네"]
    );
    for text in [
        "<|channel|> is a token",
        "<|channel|>analysis",
        "<|start|>assistant",
        "<|end|> and <|return|>",
        "`<|channel|>final<|message|>`",
        "```\n<|channel|>final<|message|>\n```",
        "<|channel|>thoughts<|message|>",
        "<|message|>안녕",
        "to=functions.add",
        "to be",
        "예: `a <|channel|>final<|message|>`",
    ] {
        assert_eq!(read(text), [format!("text {text}")]);
    }
}

#[test]
fn d37_gemma_and_command_think_between_tokens_of_their_own() {
    assert_eq!(
        read("<|channel>thought\n더하면 3<channel|>3입니다."),
        ["thinking 더하면 3", "text 3입니다."]
    );
    assert_eq!(read("<|channel>thought\n<channel|>네"), ["text 네"]);
    assert_eq!(
        read("<|START_THINKING|>考え中<|END_THINKING|><|START_RESPONSE|>答え<|END_RESPONSE|>"),
        ["thinking 考え中", "text 答え"]
    );
    assert_eq!(
        read(
            "<|START_THINKING|>더할까<|END_THINKING|><|START_ACTION|>[{\"tool_name\": \"get_time\", \"parameters\": {}}]<|END_ACTION|>"
        ),
        ["thinking 더할까", TIME]
    );
    assert_eq!(
        read("생각<channel|>답"),
        ["text 생각", "text was thinking", "text 답"]
    );
    for text in ["`<|START_THINKING|>` 토큰", "<|channel>", "<|START_"] {
        assert_eq!(read(text), [format!("text {text}")]);
    }
}

#[test]
fn d38_a_call_in_thinking_is_none_whatever_its_form() {
    for call in [
        "[get_time()]",
        "[TOOL_CALLS]get_time[ARGS]{}",
        "<|tool_call>call:get_time{}<tool_call|>",
    ] {
        assert_eq!(
            read(&format!("<think>{call}</think>네")),
            [format!("thinking {call}"), "text 네".to_owned()]
        );
    }
}

#[test]
fn text_waits_only_as_long_as_it_may_be_a_call() {
    let mut scanner = Scanner::new(offered());
    let text = |text: &str| vec![Piece::Text(text.to_owned())];
    assert_eq!(scanner.push("네 [add"), text("네 "));
    assert_eq!(scanner.push("(1"), text("[add(1"));
    assert_eq!(scanner.push(", [x"), text(", [x"));
    assert_eq!(scanner.push("<|channel|>a b"), text("<|channel|>a b"));
    assert_eq!(scanner.push("to=functions."), text("to=functions."));
}

#[test]
fn without_tools_only_thinking_and_frames_are_read() {
    let mut scanner = Scanner::new(Arc::new(Offered::default()));
    let text = "[get_time()]<|channel|>commentary to=functions.f<|message|>{}";
    assert_eq!(scanner.push(text), [Piece::Text(text.to_owned())]);
    let pieces = scanner.push("<|channel|>analysis<|message|>음<|end|>");
    assert_eq!(pieces[1], Piece::Thinking("음".to_owned()));
}
