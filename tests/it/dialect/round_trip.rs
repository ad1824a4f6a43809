//! Calls with random arguments, written in every form with prose around them, must parse back to
//! the same arguments.

use crate::dialect::scan_every_way::{PAIRS_BYTES_MAX, scan_every_way};
use crate::dialect::scan_invariants::{scan_whole, test_toolset};
use humble::dialect::scan::{CallScanner, ScanEvent};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

type Arguments = Map<String, Value>;

/// A value as bare text, for forms that do not quote strings.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value as a Python literal.
fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => {
            let text = text.replace('\\', "\\\\").replace('\'', "\\'");
            format!("'{}'", text.replace('\n', "\\n"))
        }
        Value::Array(items) => format!("[{}]", comma_separated(items.iter().map(python))),
        Value::Object(map) => {
            let entry = |(key, value): (&String, &Value)| format!("'{key}': {}", python(value));
            format!("{{{}}}", comma_separated(map.iter().map(entry)))
        }
    }
}

/// A value in Gemma's syntax, with strings between `quote`s.
fn gemma(value: &Value, quote: &str) -> String {
    match value {
        Value::String(text) => format!("{quote}{text}{quote}"),
        Value::Array(items) => {
            format!(
                "[{}]",
                comma_separated(items.iter().map(|item| gemma(item, quote)))
            )
        }
        Value::Object(map) => gemma_entries(map, quote),
        other => other.to_string(),
    }
}

fn gemma_entries(map: &Arguments, quote: &str) -> String {
    let entry = |(key, value): (&String, &Value)| format!("{key}:{}", gemma(value, quote));
    format!(
        "{{{}}}",
        map.iter().map(entry).collect::<Vec<_>>().join(",")
    )
}

fn comma_separated(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

/// Arguments as Python keyword arguments.
fn keywords(map: &Arguments) -> String {
    comma_separated(
        map.iter()
            .map(|(key, value)| format!("{key}={}", python(value))),
    )
}

fn render_each(map: &Arguments, render: impl Fn(&str, &Value) -> String) -> String {
    map.iter().map(|(key, value)| render(key, value)).collect()
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

/// A call to `f` as plain JSON and as JSON in every wrapper.
fn as_json(map: &Arguments) -> Vec<String> {
    let args = json!(map);
    let call = json!({ "name": "f", "arguments": args });
    let (single, list) = (call.to_string(), json!([call]).to_string());
    let pretty = serde_json::to_string_pretty(&call).expect("JSON");
    vec![
        single.clone(),
        pretty.clone(),
        list.clone(),
        json!({ "server": "s", "name": "f", "arguments": args, "reason": "왜" }).to_string(),
        json!({ "tool": "f", "parameters": args }).to_string(),
        json!({ "tool_name": "f", "input": args }).to_string(),
        json!({ "function": "f", "args": args }).to_string(),
        json!({ "arguments": args, "name": "s__f" }).to_string(),
        json!({ "name": "functions.f:0", "arguments": args.to_string() }).to_string(),
        json!({ "function": call, "type": "function", "id": "1" }).to_string(),
        json!({ "tool_calls": [{ "function": call }] }).to_string(),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "f", "params": args }).to_string(),
        json!([{ "f": args }]).to_string(),
        format!("```json\n{pretty}\n```"),
        format!("```\n{single}\n```"),
        format!("<tool_call>\n{single}\n</tool_call>"),
        format!("<tools>{pretty}</tools>"),
        format!("<TOOLCALL>{list}</TOOLCALL>"),
        format!("<function_call>{single}</function_call>"),
        format!("<|tool_call|> {list}"),
        format!("[TOOL_CALLS] {list}"),
        format!("[TOOL_CALLS][{single}][/TOOL_CALLS]"),
        format!("<|python_tag|>{single}<|eom_id|>"),
        format!(
            "<|START_ACTION|>{}<|END_ACTION|>",
            json!([{ "tool_call_id": "0", "tool_name": "f", "parameters": args }])
        ),
    ]
}

/// A call to `f` in every form with tags.
fn as_tags(map: &Arguments) -> Vec<String> {
    let args = json!(map).to_string();
    let parameters = render_each(map, |key, value| {
        format!("<parameter={key}>\n{}\n</parameter>\n", plain(value))
    });
    let pairs = render_each(map, |key, value| {
        let value = plain(value);
        format!("<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n")
    });
    let named_parameters = render_each(map, |key, value| {
        format!("<parameter name=\"{key}\">{}</parameter>\n", plain(value))
    });
    let dsml_parameters = render_each(map, |key, value| {
        let (string, value) = (value.is_string(), plain(value));
        format!(
            "<｜DSML｜parameter name=\"{key}\" string=\"{string}\">{value}</｜DSML｜parameter>\n"
        )
    });
    let params = render_each(map, |key, value| {
        format!(
            "  <param name=\"{key}\">{}</param>\n",
            escaped(&plain(value))
        )
    });
    let invoke = format!("<invoke name=\"f\">\n{named_parameters}</invoke>");
    vec![
        format!("<tool_call>\n<function=f>\n{parameters}</function>\n</tool_call>"),
        format!("<seed:tool_call>\n<function=f>\n{parameters}</function>\n</seed:tool_call>"),
        format!("<function=f>\n{parameters}</function>"),
        format!("<function=f>{args}</function>"),
        format!("<tool_call>f\n{pairs}</tool_call>"),
        format!("<function_calls>\n{invoke}\n</function_calls>"),
        format!("<minimax:tool_call>\n{invoke}\n</minimax:tool_call>"),
        format!(
            "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"f\">\n{dsml_parameters}</｜DSML｜invoke>\n</｜DSML｜function_calls>"
        ),
        format!("<mcp-request>\n  <tool name=\"f\" />\n{params}</mcp-request>"),
        format!("<mcp-request><tool name='f'></tool>{params}</mcp-request>"),
        format!(
            "<start_function_call>call:f{}<end_function_call>",
            gemma_entries(map, "<escape>")
        ),
        format!(
            "<|tool_call>call:f{}<tool_call|>",
            gemma_entries(map, "<|\"|>")
        ),
    ]
}

/// A call to `f` in every form with special tokens, and as Python.
fn as_tokens(map: &Arguments) -> Vec<String> {
    let (args, python) = (json!(map).to_string(), keywords(map));
    vec![
        format!("[TOOL_CALLS]f[ARGS]{args}"),
        format!("<|python_tag|>f.call({python})<|eom_id|>"),
        format!("[f({python})]"),
        format!("<|tool_call_start|>[f({python})]<|tool_call_end|>"),
        format!("<function_calls>f({python})</function_calls>"),
        format!(
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{args}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
        ),
        format!(
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{args}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
        ),
        format!(
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{args}<|tool_call_end|><|tool_calls_section_end|>"
        ),
        format!("<|channel|>commentary to=functions.f <|constrain|>json<|message|>{args}<|call|>"),
        format!("commentary to=functions.f json{args}"),
        format!("to=functions.f {args}"),
        format!("```tool_code\nf({python})\n```"),
        format!("```tool_code\nprint(default_api.f({python}))\n```"),
    ]
}

/// `call` after thinking, in every form of thinking.
fn after_thinking(call: &str) -> Vec<String> {
    vec![
        format!("<think>생각 {call}</think>\n{call}"),
        format!("<thinking>考える</thinking>{call}"),
        format!("생각 {call}\n</think>\n{call}"),
        format!("<|channel>thought\n생각<channel|>{call}"),
        format!("<|START_THINKING|>考える<|END_THINKING|>{call}"),
        format!("<|channel|>analysis<|message|>생각<|channel|>final<|message|>{call}"),
    ]
}

/// Scans each form, with Korean and with Japanese arguments, in every chunking.
fn assert_same_in_every_chunking(forms: impl Fn(&Arguments) -> Vec<String>) {
    for map in [
        json!({ "city": "서울 \"시\"" }),
        json!({ "city": "東京", "n": 3 }),
    ] {
        let map = map.as_object().expect("an object");
        for call in forms(map) {
            let events = scan_every_way(&test_toolset(), &call, PAIRS_BYTES_MAX);
            let mut calls = events.iter().filter_map(|event| match event {
                ScanEvent::Call(call) => Some(&*call.arguments),
                _ => None,
            });
            assert_eq!(calls.next_back(), Some(map), "{call}");
        }
    }
}

#[test]
fn json_forms_parse_the_same_in_every_chunking() {
    assert_same_in_every_chunking(as_json);
}

#[test]
fn tag_forms_parse_the_same_in_every_chunking() {
    assert_same_in_every_chunking(as_tags);
}

#[test]
fn token_forms_parse_the_same_in_every_chunking() {
    assert_same_in_every_chunking(as_tokens);
}

#[test]
fn thinking_parses_the_same_in_every_chunking() {
    assert_same_in_every_chunking(|map| {
        after_thinking(&json!({ "name": "f", "arguments": map }).to_string())
    });
}

/// A string with characters that are special in some form.
fn text_value() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "서울",
        "東京",
        "a b",
        "\"",
        "'",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "\\",
        "\n",
        "</tool_call>",
        "<b>",
        "&amp;",
        "`",
        "```",
        ":",
        ",",
        "7",
        "true",
        "null",
        " ",
        "#",
        "//",
        "=",
    ]);
    // Forms without quotes cannot distinguish a value's outer whitespace from their own.
    prop::collection::vec(part, 0..6).prop_map(|parts| format!("x{}x", parts.concat()))
}

fn arguments() -> impl Strategy<Value = Arguments> {
    let optional = |strategy: BoxedStrategy<Value>| prop::option::of(strategy);
    (
        text_value(),
        optional((-99..99_i32).prop_map(|n| json!(n)).boxed()),
        optional(any::<bool>().prop_map(|ok| json!(ok)).boxed()),
        optional(
            prop::collection::vec(text_value(), 0..3)
                .prop_map(|xs| json!(xs))
                .boxed(),
        ),
        optional(
            text_value()
                .prop_map(|a| json!({ "a": a, "b": [1, null] }))
                .boxed(),
        ),
    )
        .prop_map(|(city, n, ok, xs, o)| {
            let named = [("n", n), ("ok", ok), ("xs", xs), ("o", o)];
            let city = std::iter::once(("city".to_owned(), json!(city)));
            let named = named
                .into_iter()
                .filter_map(|(key, value)| Some((key.to_owned(), value?)));
            city.chain(named).collect()
        })
}

/// The prose around the only call in `text`, and the call's arguments.
fn read_back(text: &str) -> Result<(String, Arguments), String> {
    let (mut prose, mut calls) = (String::new(), Vec::new());
    for event in scan_whole(text) {
        match event {
            ScanEvent::Text(text) => prose.push_str(&text),
            ScanEvent::Call(call) if call.tool == "f" && call.has_end && !call.was_repaired => {
                calls.push(call.arguments.into());
            }
            ScanEvent::Marker(_) => {}
            other => return Err(format!("{other:?} in {text}")),
        }
    }
    match (calls.pop(), calls.is_empty()) {
        (Some(arguments), true) => Ok((prose, arguments)),
        _ => Err(format!("not one call in {text}")),
    }
}

fn assert_all_parse(calls: Vec<String>, map: &Arguments) -> Result<(), TestCaseError> {
    for call in calls {
        let text = format!("앞의 말.\n{call}\nafter it.");
        let expected = Ok(("앞의 말.\nafter it.".to_owned(), map.clone()));
        prop_assert_eq!(read_back(&text), expected, "{}", text);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn calls_written_as_json_parse_back(map in arguments()) {
        assert_all_parse(as_json(&map), &map)?;
    }

    #[test]
    fn calls_written_in_tags_parse_back(map in arguments()) {
        assert_all_parse(as_tags(&map), &map)?;
    }

    #[test]
    fn calls_written_after_tokens_parse_back(map in arguments()) {
        assert_all_parse(as_tokens(&map), &map)?;
    }

    /// A truncated call never runs with only a part of its arguments, whatever its form.
    #[test]
    fn truncated_calls_are_never_complete(map in arguments(), index in any::<prop::sample::Index>()) {
        let calls = [as_json(&map), as_tags(&map), as_tokens(&map)].concat();
        for call in calls {
            let boundaries: Vec<usize> = call.char_indices().map(|(boundary, _)| boundary).collect();
            let cut = &call[..*index.get(&boundaries)];
            let mut scanner = CallScanner::new(test_toolset());
            let mut events = scanner.push(cut);
            events.extend(scanner.finish());
            for event in events {
                if let ScanEvent::Call(call) = event {
                    prop_assert!(call.arguments == map || !call.has_end, "{call:?} of {cut}");
                }
            }
        }
    }
}
