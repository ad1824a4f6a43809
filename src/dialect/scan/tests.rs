//! Measures the scanner's cost: steps per character, withheld bytes and time.

use super::*;
use crate::fixtures;
use std::time::{Duration, Instant};

fn offered() -> Arc<Toolset> {
    offering(&["add".to_owned()])
}

fn offering(names: &[String]) -> Arc<Toolset> {
    let tools = names.iter().map(|name| fixtures::tool(name));
    let server = fixtures::server("log", tools.collect());
    Arc::new(Toolset::from_servers([&server]))
}

/// Texts that are repeated as input. Most are beginnings of forms, which are expensive to scan.
const UNITS: &[&str] = &[
    "{",
    "<",
    "[",
    "`",
    "```",
    "```json\n",
    "[{",
    "{\"name\":",
    "<think",
    "</think",
    "{\"a\":",
    "{\"name\": \"add\", \"arguments\": {",
    "\"",
    "'",
    " ",
    "\n",
    "{\"name\": \"",
    "/*",
    "{}",
    "[{},",
    "`{",
    "{\"tool_calls\": [",
    "<think>",
    "한{",
    "<function=add>",
    "<function=add><parameter=a>",
    "<function=add>\n<parameter=a></parameter>",
    "<tool_call>add<arg_key>a</arg_key>",
    "<invoke name=\"",
    "<invoke name=\"add\"/>",
    "<mcp-request><tool name=\"add\"/><param name=\"a\">",
    "<mcp-request><tool name=\"add\"/><param name=\"a\"/>",
    "<![CDATA[",
    "</function> ",
    "[add(",
    "[add(a=",
    "[add(a='",
    "[add(a=[",
    "[add(a=1]",
    "[add(), ",
    "[add()](",
    "<|python_tag|>add(a=({[",
    "<|python_tag|>add()\n",
    "<|tool_call_start|>[1,",
    "<|tool_call_start|>[f(1)]",
    "[TOOL_CALLS]add[ARGS]{",
    "[TOOL_CALLS]add[CALL_ID]",
    "<|tool_call>call:add{a:",
    "<|tool_call>call:add{a:<|\"|>",
    "<|channel|>",
    "<|channel|>analysis<|message|>",
    "<|channel|>final<|message|>",
    "<|channel|>final to=add<|message|>",
    "<|start|>assistant",
    "```tool_code\nadd(",
    "```tool_code\nadd()\n```\n",
    "x]})",
];

#[test]
fn scanning_is_linear_and_withheld_text_is_bounded_for_any_input() {
    for unit in UNITS {
        let chunk = unit.repeat(1_000);
        let mut scanner = CallScanner::new(offered());
        let mut char_count = 0;
        while char_count < 200_000 {
            scanner.push(&chunk);
            char_count += chunk.chars().count() as u64;
            assert!(scanner.withheld.len() <= WITHHELD_BYTES_MAX, "{unit}");
        }
        assert!(scanner.steps <= 2 * char_count, "{unit}: {}", scanner.steps);
    }
}

#[test]
fn unterminated_call_is_released_as_text_and_scanning_continues() {
    let mut scanner = CallScanner::new(offered());
    let mut shown_bytes = 0;
    scanner.push("{\"name\": \"");
    for _ in 0..300 {
        for event in scanner.push(&"x".repeat(5_000)) {
            assert!(matches!(&event, ScanEvent::Text(text) if { shown_bytes += text.len(); true }));
        }
        assert!(scanner.withheld.len() <= WITHHELD_BYTES_MAX);
    }
    assert_eq!(shown_bytes, 10 + 300 * 5_000);
}

#[test]
fn scanning_is_fast_with_thousands_of_tools() {
    let names: Vec<String> = (0..5_000).map(|number| format!("tool_{number}")).collect();
    let offered = offering(&names);
    for unit in [
        "[a\n",
        "[tool_x\n",
        "[tool_77(",
        "{\"name\":\"x\"}\n",
        "{\"x\":1}\n",
        "<function=x></function>\n",
    ] {
        let text = unit.repeat(40_000 / unit.len());
        let mut scanner = CallScanner::new(offered.clone());
        let start = Instant::now();
        scanner.push(&text);
        let elapsed = start.elapsed();
        assert!(elapsed < Duration::from_secs(3), "{unit}: {elapsed:?}");
    }
}
