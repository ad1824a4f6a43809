//! Parses Rust source text: module paths, code without tests, and string literals.

/// The segments of a file's module path below the crate: `src/tui/view/mod.rs` and
/// `src/tui/view.rs` both give `["tui", "view"]`.
pub fn module(path: &str) -> Vec<String> {
    let path = path.strip_prefix("src/").expect("a source file");
    let path = path.strip_suffix(".rs").expect("a source file");
    let mut module: Vec<String> = path.split('/').map(str::to_owned).collect();
    if matches!(module.last().map(String::as_str), Some("mod" | "lib")) {
        module.pop();
    }
    module
}

pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the code without string literals and comments, and the string literals.
pub fn split_literals(code: &str) -> (String, Vec<&str>) {
    let mut code_only = String::new();
    let mut literals = Vec::new();
    let mut rest = code;
    while let Some(index) = rest.find(['"', '/', '\'']) {
        let (before, tail) = rest.split_at(index);
        code_only.push_str(before);
        let hashes = before.len() - before.trim_end_matches('#').len();
        let is_raw = before.trim_end_matches('#').ends_with('r');
        rest = if tail.starts_with("//") {
            tail.find('\n').map_or("", |end| &tail[end..])
        } else if let Some(string) = tail.strip_prefix('"') {
            let end = match is_raw {
                true => string.find(&format!("\"{}", "#".repeat(hashes))),
                false => end_of_string(string),
            };
            let end = end.unwrap_or(string.len());
            literals.push(&string[..end]);
            string.get(end + 1..).unwrap_or_default()
        } else if let Some(literal) = ["'\"'", "'\\\"'", "'\\''", "'\\\\'", "'/'"]
            .iter()
            .find(|literal| tail.starts_with(**literal))
        {
            &tail[literal.len()..]
        } else {
            code_only.push_str(&tail[..1]);
            &tail[1..]
        };
    }
    (code_only + rest, literals)
}

fn end_of_string(text: &str) -> Option<usize> {
    let mut index = 0;
    loop {
        index += text.get(index..)?.find(['"', '\\'])?;
        if text[index..].starts_with('"') {
            return Some(index);
        }
        index += 1 + text[index + 1..].chars().next().map_or(0, char::len_utf8);
    }
}

/// The code without lines that are comments and without test-only items.
pub fn code(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let text = lines.join("\n");
    let mut kept = String::new();
    let mut rest = text.as_str();
    while let Some((before, item)) = rest.split_once("#[cfg(test)]") {
        kept.push_str(before);
        rest = after_item(item);
    }
    kept + rest
}

/// The text after an item, which ends with `;` or its closing brace.
fn after_item(item: &str) -> &str {
    let mut depth = 0;
    for (index, c) in item.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 && matches!(c, '}' | ';') {
            return &item[index + 1..];
        }
    }
    ""
}

#[test]
fn strings_comments_and_tests_are_separated_from_code() {
    let text = "let a = \"b::c \\\" d\"; // e\nlet f = r#\"g \" h\"#; let i = '\"'; j(\"\")";
    let (code_only, literals) = split_literals(text);
    assert_eq!(
        code_only.split_whitespace().collect::<Vec<_>>().join(" "),
        "let a = ; let f = r##; let i = ; j()"
    );
    assert_eq!(literals, ["b::c \\\" d", "g \" h", ""]);
    let text =
        "a();\n#[cfg(test)]\nmod t {\n    fn u() {}\n}\n// v\nb();\n#[cfg(test)]\nmod w;\nc();";
    assert_eq!(
        code(text).split_whitespace().collect::<Vec<_>>(),
        ["a();", "b();", "c();"]
    );
}
