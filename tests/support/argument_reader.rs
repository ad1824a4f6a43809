//! Rebuilds the arguments of a call from the cells that an approval dialog drew, using only the
//! dialog's markers. This proves that the dialog omits nothing and is unambiguous.
#![allow(dead_code, reason = "each test crate uses only some of these items")]

use serde_json::{Map, Value};
use std::collections::VecDeque;

/// Margin markers of rows that continue the row above, which ended after a space, in the last
/// column, or one column short of it.
const AFTER_SPACE: char = '┆';
const AFTER_FULL_ROW: char = '\\';
const AFTER_SHORT_ROW: char = '/';
const MARGIN: usize = 2;

/// Reads the rows of the readable view. Each row has one string per cell; the second cell of a
/// wide character is empty.
///
/// # Panics
/// The rows cannot be read, or are ambiguous.
pub fn read_arguments(rows: &[Vec<String>]) -> Map<String, Value> {
    let mut rows: VecDeque<&Vec<String>> = rows.iter().collect();
    let mut root = Value::Object(Map::new());
    while let Some(line) = next_line(&mut rows, 0) {
        if line == "no arguments" {
            continue;
        }
        if let Some(keys) = line.strip_prefix("- ") {
            let (old, new) = read_diff(&mut rows);
            let (old_key, new_key) = keys.split_once(" + ").expect("two keys");
            *value_at(&mut root, &[Step::Key(old_key.to_owned())]) = old.into();
            *value_at(&mut root, &[Step::Key(new_key.to_owned())]) = new.into();
            continue;
        }
        let (path, rest) = read_path(&line);
        match rest.strip_prefix(": ") {
            Some(note) => read_block(&mut rows, &mut root, path, note),
            None => read_pairs(&line, &mut root),
        }
    }
    match root {
        Value::Object(members) => members,
        _ => unreachable!("the root is an object"),
    }
}

/// Reads the rows of the JSON view.
///
/// # Panics
/// The rows are not the JSON of an object.
pub fn read_json(rows: &[Vec<String>]) -> Map<String, Value> {
    let mut rows: VecDeque<&Vec<String>> = rows.iter().collect();
    let mut json = String::new();
    while let Some(line) = next_line(&mut rows, 0) {
        json += &line;
        json += "\n";
    }
    match unescape_value(serde_json::from_str(&json).expect("JSON")) {
        Value::Object(members) => members,
        other => panic!("not an object: {other}"),
    }
}

/// The next line of text, from its first row and all rows that continue it. Skips the first
/// `indent` columns of each row.
fn next_line(rows: &mut VecDeque<&Vec<String>>, indent: usize) -> Option<String> {
    let first = rows.pop_front()?;
    assert_eq!(first[0], " ", "a row continues nothing: {first:?}");
    let mut text = first[MARGIN + indent..].concat();
    while let Some(row) = rows.front() {
        let margin_marker = row[0].chars().next().expect("a margin marker");
        match margin_marker {
            ' ' => break,
            AFTER_SPACE => text = text.trim_end_matches(' ').to_owned() + " ",
            AFTER_FULL_ROW => {}
            AFTER_SHORT_ROW => {
                assert_eq!(text.pop(), Some(' '), "the last column is not empty");
            }
            other => panic!("not a margin marker: {other:?}"),
        }
        text += &row[MARGIN + indent..].concat();
        rows.pop_front();
    }
    Some(text.trim_end_matches(' ').to_owned())
}

/// Whether the next row is indented, which means that it belongs to the heading above.
fn is_indented(rows: &VecDeque<&Vec<String>>) -> bool {
    rows.front().is_some_and(|row| row[MARGIN] == " ")
}

/// The number that starts an indented row, and the column after its last digit.
fn line_number(rows: &VecDeque<&Vec<String>>) -> (usize, usize) {
    let row = &rows.front().expect("a row")[MARGIN..];
    let start = row.iter().position(|cell| cell != " ").expect("a number");
    let is_digit = |cell: &&String| cell.chars().all(|c| c.is_ascii_digit()) && !cell.is_empty();
    let digits = row[start..].iter().take_while(is_digit).count();
    let number = row[start..start + digits].concat();
    (number.parse().expect("a number"), start + digits)
}

/// Reads the indented rows below a path and stores their value. `note` describes their format.
fn read_block(rows: &mut VecDeque<&Vec<String>>, root: &mut Value, path: Vec<Step>, note: &str) {
    if let Some(keys) = note.strip_prefix("- ") {
        let (old_key, new_key) = keys.split_once(" + ").expect("two keys");
        let (old, new) = read_diff(rows);
        let member = |key: &str| [path.as_slice(), &[Step::Key(key.to_owned())]].concat();
        *value_at(root, &member(old_key)) = old.into();
        *value_at(root, &member(new_key)) = new.into();
        return;
    }
    let value = match note {
        "JSON" => {
            let mut json = String::new();
            while is_indented(rows) {
                json += &next_line(rows, 2).expect("a line");
                json += "\n";
            }
            unescape_value(serde_json::from_str(&json).expect("JSON"))
        }
        "text" => Value::from(unescape_line(&next_line(rows, 2).expect("a line"))),
        note => {
            let (note, end) = match note.strip_suffix(", ends with a line break") {
                Some(note) => (note, "\n"),
                None => (note, ""),
            };
            let count: usize = note
                .strip_suffix(" lines")
                .or(note.strip_suffix(" line"))
                .and_then(|count| count.parse().ok())
                .unwrap_or_else(|| panic!("not a note: {note:?}"));
            let mut lines = Vec::new();
            for expected in 1..=count {
                let (number, end) = line_number(rows);
                assert_eq!(number, expected);
                lines.push(unescape_line(&next_line(rows, end + 2).expect("a line")));
            }
            Value::from(lines.join("\n") + end)
        }
    };
    *value_at(root, &path) = value;
}

fn read_diff(rows: &mut VecDeque<&Vec<String>>) -> (String, String) {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    while is_indented(rows) {
        let (_, end) = line_number(rows);
        let sign = rows.front().expect("a row")[MARGIN + end + 1].clone();
        let line = unescape_line(&next_line(rows, end + 3).expect("a line"));
        if sign != "+" {
            old.push(line.clone());
        }
        if sign != "-" {
            new.push(line);
        }
    }
    (old.join("\n"), new.join("\n"))
}

/// Reads one or more `key  value` pairs, at least two spaces apart.
fn read_pairs(line: &str, root: &mut Value) {
    let mut rest = line.to_owned();
    while !rest.is_empty() {
        let (path, after) = read_path(&rest);
        let after = after.trim_start_matches(' ');
        let (value, end) = match after.starts_with(['"', '{', '[']) {
            true => {
                let mut values = serde_json::Deserializer::from_str(after).into_iter::<Value>();
                let value = values.next().expect("a value").expect("JSON");
                (unescape_value(value), values.byte_offset())
            }
            false => {
                let end = after.find("  ").unwrap_or(after.len());
                let text = unescape(&after[..end]);
                let value = serde_json::from_str(&text).unwrap_or_else(|_| text.into());
                (value, end)
            }
        };
        *value_at(root, &path) = value;
        let following = &after[end..];
        assert!(
            following.is_empty() || following.starts_with("  "),
            "{line:?}"
        );
        rest = following.trim_start_matches(' ').to_owned();
    }
}

#[derive(Debug, Clone)]
enum Step {
    Key(String),
    Index(usize),
}

/// Reads a path such as `edits[0].oldText`. Returns it and the text that follows.
fn read_path(text: &str) -> (Vec<Step>, &str) {
    let mut steps = Vec::new();
    let mut rest = text;
    loop {
        if let Some(after) = rest.strip_prefix('[') {
            let (index, after) = after.split_once(']').expect("an index");
            steps.push(Step::Index(index.parse().expect("an index")));
            rest = after;
        } else {
            rest = rest.strip_prefix('.').unwrap_or(rest);
            let (key, after) = read_key(rest);
            steps.push(Step::Key(key));
            rest = after;
        }
        if !rest.starts_with(['.', '[']) {
            return (steps, rest);
        }
    }
}

fn read_key(text: &str) -> (String, &str) {
    if text.starts_with('"') {
        let mut keys = serde_json::Deserializer::from_str(text).into_iter::<String>();
        let key = keys.next().expect("a key").expect("JSON");
        return (unescape(&key), &text[keys.byte_offset()..]);
    }
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '@');
    let end = text.find(|c| !is_key(c)).unwrap_or(text.len());
    assert!(end > 0, "no key in {text:?}");
    (text[..end].to_owned(), &text[end..])
}

/// The value at a path. Missing objects and lists on the way are created.
fn value_at<'a>(root: &'a mut Value, path: &[Step]) -> &'a mut Value {
    path.iter().fold(root, |value, step| match step {
        Step::Key(key) => {
            if value.is_null() {
                *value = Value::Object(Map::new());
            }
            let members = value.as_object_mut().expect("an object");
            members.entry(key.clone()).or_insert(Value::Null)
        }
        Step::Index(index) => {
            if value.is_null() {
                *value = Value::Array(Vec::new());
            }
            let items = value.as_array_mut().expect("a list");
            if items.len() == *index {
                items.push(Value::Null);
            }
            &mut items[*index]
        }
    })
}

fn unescape_line(text: &str) -> String {
    let mut parts = text.split('⇥');
    let mut line = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let blanks = part.len() - part.trim_start_matches(' ').len();
        line.push('\t');
        line.push_str(&part[blanks.min(3)..]);
    }
    unescape(&line)
}

/// Unescapes all strings of a value. The dialog escapes JSON after writing it, so this happens
/// after parsing.
pub fn unescape_value(value: Value) -> Value {
    match value {
        Value::String(text) => unescape(&text).into(),
        Value::Array(items) => items.into_iter().map(unescape_value).collect(),
        Value::Object(members) => {
            let members = members.into_iter();
            let unescaped = members.map(|(key, value)| (unescape(&key), unescape_value(value)));
            unescaped.collect::<Map<_, _>>().into()
        }
        other => other,
    }
}

/// Replaces escapes such as `⟨ESC⟩` and `⟨U+202E⟩` with their characters.
fn unescape(text: &str) -> String {
    const CONTROLS: [&str; 32] = [
        "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "TAB", "LF", "VT", "FF",
        "CR", "SO", "SI", "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM",
        "SUB", "ESC", "FS", "GS", "RS", "US",
    ];
    let mut unescaped = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('⟨') {
        unescaped += before;
        let (name, after) = after.split_once('⟩').expect("an escape");
        let control = CONTROLS.iter().position(|control| *control == name);
        let code = match (name, control) {
            ("SP", _) => 0x20,
            ("DEL", _) => 0x7F,
            (_, Some(code)) => code as u32,
            (name, None) => {
                let digits = name.strip_prefix("U+").expect("a code point");
                u32::from_str_radix(digits, 16).expect("a code point")
            }
        };
        unescaped.push(char::from_u32(code).expect("a character"));
        rest = after;
    }
    unescaped + rest
}
