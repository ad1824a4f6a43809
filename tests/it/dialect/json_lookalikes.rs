//! Text that only looks like a JSON call, a fence or thinking.

use crate::dialect::scan_every_way::describe_scan;

#[test]
fn text_that_is_not_a_call_is_passed_through_unchanged() {
    for text in [
        "let v: Vec<tool> = vec![1, 2]; if a < b { return; }",
        "<div class=\"think\"><p>안녕</p></div>",
        "<thinker> and </tool>",
        r#"{"name": "Kim", "age": 3, "arguments": {"a": 1}}"#,
        r#"{"name": "Kim"}"#,
        r#"{"name": "get_time"}"#,
        r#"{"name": {"first": "民"}, "type": "person"}"#,
        r#"{"name": "김", "id": 7, "arguments": 5}"#,
        r#"{"example": {"name": "add", "arguments": {"a": 1, "b": 2}}}"#,
        r#"[1, 2, ["a"]] and [link](http://x) and - [ ] todo"#,
        r#"[{"id": 1}, {"id": 2}]"#,
        "```json\n{\n  \"city\": \"서울\",\n  \"name\": \"add\"\n}\n```\n그리고",
        "```python\nadd(a=1, b=2)\ncall = {\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": 2}}\n```",
        "```rust\nfn main() { println!(\"{}\", 1); }\n```\nText.",
        "Use `<think>` and `</think>` as tags, or ``` alone.",
        "`POST {\"name\": \"get_time\", \"arguments\": {}}` 그리고 `a <tool_call>{\"name\": \"get_time\"}`",
        "```\n<think>\n```\n",
        "~~~python\nx = [get_time()]\ny = {\"name\": \"get_time\", \"arguments\": {}}\n~~~\n`끝` ~5 <b>",
        "> ```python\n> x = {\"name\": \"get_time\", \"arguments\": {}}\n> ```\n",
        "- ```python\n  x = {\"name\": \"get_time\", \"arguments\": {}}\n  ```\n",
        "```python\nEXAMPLE = \"\"\"\n<tool_call>\n{\"a\": 1}\n</tool_call>\n<function=get_time>\n\"\"\"\n```",
        "use `text.split(\"</think>\")[-1]`, 그리고 `re.sub(\"<think>.*?\")` 끝",
        "\"<think>\" is a tag, **<think>** too, List<think> as well",
        "[{\"server\": \"humble\", \"name\": \"get_time\"}, {\"server\": \"docs\", \"name\": \"ping\"}]",
        "{",
        "[",
        "<",
        "a {",
        "[{",
        "<th",
        "`",
        "```json\n",
        "{\"name",
        "{{x}}",
        "[[1]]",
        "한글 { 漢字",
        "I said {\"unbalanced and then\n nothing",
        "{\"a\": \"b\"} {\"name\": tru, \"arguments\": {}}",
    ] {
        assert_eq!(describe_scan(text), [format!("text {text}")]);
    }
}
