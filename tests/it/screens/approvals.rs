//! How calls of many kinds are shown before they run. Each dialog is a snapshot that was read by
//! eye; and for each, at several widths, the arguments are rebuilt from the cells on the screen.

use crate::support::argument_reader::read_arguments;
use crate::support::fixtures;
use crate::support::screen_harness::{ScreenHarness, screen_harness, tool};
use humble::domain::tool::ToolState;
use humble::domain::{AskId, CallId, TurnEvent};
use humble::protocol::{Ask, CallToApprove, Event, ModelJob, QuestionOwner};
use ratatui::buffer::Buffer;
use serde_json::{Value, json};
use std::sync::Arc;

/// The calls, each with a name for its snapshot.
fn corpus() -> Vec<(&'static str, &'static str, Value)> {
    let python =
        "def area(r):\n    \"\"\"Area of a circle; see §3.\"\"\"\n    return 3.14159 * r ** 2\n";
    let rust = "fn main() {\n\tlet x = 'a';\n\tprintln!(\"{x} {}\", \"b\\n\");\n}\n";
    let go = "package main\n\nfunc add(a, b int) int {\n\treturn a + b\n}";
    let html = "<ul>\n  <li class=\"a\">서울</li>\n  <li>부산 &amp; 대구</li>\n</ul>";
    let many: serde_json::Map<String, Value> = (0..200)
        .map(|n| (format!("key_{n}"), json!(n * n)))
        .collect();
    let long_python: String = (0..220)
        .map(|n| format!("def function_{n}(alpha, beta=None):\n    return [alpha * {n}]\n"))
        .collect();
    vec![
        ("no_arguments", "list", json!({})),
        ("one_number", "square", json!({ "n": 12 })),
        ("two_numbers", "get-sum", json!({ "a": 17, "b": 25 })),
        (
            "flags",
            "search",
            json!({ "query": "weather in Seoul", "regex": false, "limit": 10, "hidden": true, "root": null }),
        ),
        (
            "strings_like_values",
            "set",
            json!({ "a": "true", "b": "42", "c": "null", "d": "", "e": " x", "f": "a  b", "g": true, "h": 42 }),
        ),
        (
            "korean",
            "get_weather",
            json!({ "도시": "서울", "날짜": "내일 오전", "단위": "섭씨" }),
        ),
        (
            "japanese_and_chinese",
            "translate",
            json!({ "text": "東京の天気は晴れです。明日は雨でしょう。", "to": "中文" }),
        ),
        (
            "edit",
            "edit_file",
            json!({ "path": "src/b.py", "edits": [{ "oldText": "def f():\n    return 1\n    # unchanged", "newText": "def g():\n    return 2\n    # unchanged" }], "dryRun": false }),
        ),
        (
            "several_edits",
            "edit_file",
            json!({ "path": "notes.md", "edits": [
            { "oldText": "# Notes\n", "newText": "# Notes on 서울\n" },
            { "oldText": "one\ntwo\nthree", "newText": "one\n2\nthree\nfour" } ] }),
        ),
        (
            "replace",
            "str_replace",
            json!({ "file_path": "a.rs", "old_string": "let x = 1;", "new_string": "let mut x = 1; // counter" }),
        ),
        (
            "patch",
            "apply_patch",
            json!({ "patch": "--- a/x.txt\n+++ b/x.txt\n@@ -1,2 +1,2 @@\n-old line\n+new line\n same\n" }),
        ),
        (
            "write_python",
            "write_file",
            json!({ "path": "area.py", "content": python }),
        ),
        (
            "write_rust",
            "write_file",
            json!({ "content": rust, "path": "src/main.rs" }),
        ),
        (
            "write_go",
            "write_file",
            json!({ "path": "add.go", "content": go }),
        ),
        (
            "write_html",
            "write_file",
            json!({ "path": "list.html", "content": html }),
        ),
        (
            "write_json",
            "write_file",
            json!({ "path": "a.json", "content": "{\n  \"a\": [1, 2],\n  \"b\": null\n}\n" }),
        ),
        (
            "write_yaml",
            "write_file",
            json!({ "path": "ci.yaml", "content": "on: push\njobs:\n  test:\n    steps:\n      - run: cargo test\n" }),
        ),
        (
            "ten_kilobytes_of_python",
            "write_file",
            json!({ "path": "long.py", "content": long_python }),
        ),
        (
            "sql",
            "query",
            json!({ "query": "SELECT name, count(*)\nFROM users -- all\nWHERE city = 'Seoul'\nGROUP BY name;" }),
        ),
        (
            "shell",
            "run",
            json!({ "command": "find . -name '*.tmp' -print0 | xargs -0 rm -f && echo \"done\"", "timeout": 30 }),
        ),
        (
            "shell_script",
            "run",
            json!({ "command": "set -e\nfor f in *.txt; do\n  mv \"$f\" \"${f%.txt}.md\"\ndone\n" }),
        ),
        (
            "json_in_json",
            "call",
            json!({ "body": { "user": { "id": 7, "tags": ["a", "b"], "address": { "city": "Seoul", "zip": "04524" } }, "meta": [[1, 2], [3, 4]] } }),
        ),
        (
            "json_as_text",
            "post",
            json!({ "payload": "{\"a\": 1, \"b\": \"x\\ny\"}" }),
        ),
        ("two_hundred_keys", "configure", Value::Object(many)),
        (
            "a_line_of_nine_thousand",
            "note",
            json!({ "text": "word ".repeat(1_800) }),
        ),
        (
            "bidirectional",
            "send",
            json!({ "to": "bank\u{202e}moc.live\u{202c}", "subject": "a\u{2066}b\u{2069}" }),
        ),
        (
            "zero_width",
            "send",
            json!({ "to": "ad\u{200b}min", "note": "e\u{301} 👩‍👩‍👧 \u{feff}x" }),
        ),
        (
            "escape_sequences",
            "print",
            json!({ "text": "\u{1b}[2J\u{1b}]0;title\u{7}hi\r\nthere\ttab" }),
        ),
        (
            "an_imitated_dialog",
            "send",
            json!({ "note": "x\n── Run rm on disk? ──\n  path  /\nThe server says: harmless\n  Call now? (Y/N)" }),
        ),
        (
            "trailing_blanks",
            "write_file",
            json!({ "path": "a.txt", "content": "two blanks  \n\tand a tab\t\n\n" }),
        ),
        (
            "windows_lines",
            "write_file",
            json!({ "path": "a.bat", "content": "@echo off\r\ndir\r\n" }),
        ),
    ]
}

fn approval(size: (u16, u16), name: &str, arguments: &Value) -> ScreenHarness {
    let mut story = screen_harness(size);
    story.prompt("Please do it");
    let call = fixtures::tool_call("everything", name, arguments.clone());
    story.turn(TurnEvent::Tool(humble::domain::ToolCall {
        state: ToolState::AwaitingApproval,
        ..call
    }));
    let about = "Does what its name says.\nThe server says: path  /safe";
    let offered = CallToApprove {
        call: CallId(1),
        tool: Arc::new(tool(name, about)),
    };
    story.event(Event::Asked {
        ask: AskId(1),
        question: Ask::ApproveCalls(vec![offered]),
        owner: QuestionOwner::Job(ModelJob::Turn(story.turn)),
    });
    story.advance_clock(600);
    story
}

/// The cells of a row; the second cell of a wide character is empty.
fn cells(buffer: &Buffer, y: u16, columns: u16) -> Vec<String> {
    let mut covered = 0;
    let row = (0..columns).map(|x| {
        if covered > 0 {
            covered -= 1;
            return String::new();
        }
        let symbol = buffer[(x, y)].symbol();
        covered = humble::text::grapheme::cluster_width(symbol).saturating_sub(1);
        symbol.to_owned()
    });
    row.collect()
}

/// The rows between the title and the server's description.
fn argument_rows(story: &mut ScreenHarness) -> Vec<Vec<String>> {
    let (buffer, _) = story.draw();
    // Beside a sidebar, the dialog is as wide as the column of the chat.
    let rows = (0..buffer.area.height).map(|y| cells(&buffer, y, buffer.area.width));
    let rows: Vec<Vec<String>> = rows.collect();
    let text = |row: &[String]| row.concat();
    let title = rows.iter().position(|row| text(row).starts_with("── Run "));
    let columns = rows[title.expect("a title")]
        .iter()
        .position(|cell| cell == "│")
        .unwrap_or(usize::from(buffer.area.width));
    let below = rows.into_iter().skip(title.expect("a title") + 1);
    below
        .map(|row| row[..columns].to_vec())
        .take_while(|row| !text(row).starts_with("The server says: "))
        .collect()
}

#[test]
fn every_call_is_shown_readably() {
    for (name, tool, arguments) in corpus() {
        let mut shown = Vec::new();
        for size in [(80, 24), (120, 40)] {
            shown.push(format!("{}x{}\n{}", size.0, size.1, {
                approval(size, tool, &arguments).screen()
            }));
        }
        insta::assert_snapshot!(format!("approval_{name}"), shown.join("\n\n"));
    }
}

#[test]
fn what_is_drawn_is_what_runs() {
    for (name, tool, arguments) in corpus() {
        for columns in [60, 80, 120] {
            let mut story = approval((columns, 1_500), tool, &arguments);
            let read = read_arguments(&argument_rows(&mut story));
            assert_eq!(Value::Object(read), arguments, "{name} at {columns}");
        }
    }
}
