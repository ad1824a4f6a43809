//! The arguments of a call as lines to read: short values as `key  value`, texts as numbered
//! lines of code, edits as diffs, the rest as JSON. Independent of any width. Nothing is left
//! out: the arguments can be rebuilt from the lines (`tests/support/argument_reader.rs` does).

use super::json_lines::{ONE_LINE_COLUMNS_MAX, indented_json, indented_object};
use super::language::{language_of, language_of_siblings};
use super::values::{is_unmistakable, key_text, line_text, needs_own_line, shown_json, value_text};
use super::{Arguments, Highlighter};
use crate::front_end::call_summary::named_edit_keys;
use crate::text::ScriptContext;
use crate::text::grapheme::width;
use crate::text::highlight::Token;
use crate::text::line_diff::{LineChange, diff_lines};
use serde_json::{Map, Value};

type Members = Map<String, Value>;

/// A text under one of the [`WEAK_EDIT_KEYS`] counts as long from this width on.
const DIFF_COLUMNS_MIN: usize = 24;
/// Keys that indicate an edit only if their texts are long, multi-line or shown in quotes.
const WEAK_EDIT_KEYS: [(&str, &str); 4] = [
    ("old", "new"),
    ("before", "after"),
    ("search", "replace"),
    ("original", "replacement"),
];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArgumentDocument {
    pub(super) lines: Vec<DocumentLine>,
    /// Columns of the widest line number.
    pub(super) number_columns: usize,
    /// Length in bytes. Each line counts one byte more than its text.
    len: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DocumentLine {
    pub kind: LineKind,
    /// Clean text without a line break.
    pub text: String,
    /// Ends of the highlighted spans in `text`; plain if empty.
    pub tokens: Vec<(u32, Token)>,
    /// The position of the first byte in the document.
    pub start: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// `key  value`. The key ends at this byte.
    Pair { key_end: usize },
    /// A heading for the lines below: a path that ends at this byte, then a note.
    Heading { path_end: usize },
    /// A line of a multi-line text.
    Numbered(usize),
    /// A single-line text, or a line of JSON, below a heading.
    Indented,
    /// A line of a diff, with its number in the old or the new text.
    Change(LineChange, usize),
    /// A line of the exact JSON.
    Json,
}

impl ArgumentDocument {
    /// The arguments in readable form. O(n), with a bounded search for common lines of edits.
    pub fn readable(arguments: &Arguments) -> Self {
        let arguments = &arguments.marked();
        let mut document = Self::default();
        if arguments.is_empty() {
            let text = "no arguments";
            document.push(
                LineKind::Heading { path_end: 0 },
                text.to_owned(),
                Vec::new(),
            );
        }
        document.push_members("", arguments, None);
        document
    }

    /// The arguments as the exact JSON, indented.
    pub fn json(arguments: &Arguments) -> Self {
        let json = indented_object(&arguments.marked());
        let mut document = Self::default();
        document.push_json(LineKind::Json, &json);
        document
    }

    pub fn len(&self) -> usize {
        self.len
    }

    fn push(&mut self, kind: LineKind, text: String, tokens: Vec<(u32, Token)>) {
        let start = self.len;
        self.len += text.len() + 1;
        if let LineKind::Numbered(number) | LineKind::Change(_, number) = kind {
            let digits = number.to_string().len();
            self.number_columns = self.number_columns.max(digits);
        }
        self.lines.push(DocumentLine {
            kind,
            text,
            tokens,
            start,
        });
    }

    fn push_highlighted(&mut self, kind: LineKind, text: String, lexer: &mut Option<Highlighter>) {
        let mut tokens = Vec::new();
        if let Some(lexer) = lexer {
            lexer.highlight_line(&text, &mut tokens);
        }
        self.push(kind, text, tokens);
    }

    fn push_heading(&mut self, path: &str, note: &str) {
        let path_end = path.len();
        self.push(
            LineKind::Heading { path_end },
            format!("{path}: {note}"),
            Vec::new(),
        );
    }

    fn push_json(&mut self, kind: LineKind, json: &str) {
        let mut lexer = Highlighter::new("json");
        for line in json.split('\n') {
            self.push_highlighted(kind, shown_json(line), &mut lexer);
        }
    }

    /// The members of an object, short values first, because they often explain the long ones.
    fn push_members(&mut self, path: &str, members: &Members, around: Option<Highlighter>) {
        let siblings = language_of_siblings(members).or(around);
        let edit = edit_keys(members);
        let is_edit = |key: &str| edit.is_some_and(|(old, new)| key == old || key == new);
        let rest = || members.iter().filter(|(key, _)| !is_edit(key));
        for (key, value) in rest().filter(|(_, value)| is_inline(value)) {
            self.push_pair(&member_path(path, key), key, value);
        }
        if let Some((old, new)) = edit {
            self.push_edit(path, members, (old, new));
        }
        for (key, value) in rest().filter(|(_, value)| !is_inline(value)) {
            self.push_block(&member_path(path, key), key, value, siblings);
        }
    }

    fn push_pair(&mut self, path: &str, key: &str, value: &Value) {
        let key_end = path.len();
        let text = format!("{path}  {}", value_text(value));
        let mut tokens = Vec::new();
        let shown = &text[key_end..];
        let lexer = match value {
            // A short text is code only if its key names a language.
            Value::String(raw) if *shown.trim_start() == **raw => language_of(key, raw, None),
            Value::String(_) => None,
            _ => Highlighter::new("json"),
        };
        if let Some(mut lexer) = lexer {
            lexer.highlight_line(shown, &mut tokens);
            tokens
                .iter_mut()
                .for_each(|(end, _)| *end += key_end as u32);
            tokens.insert(0, (key_end as u32, Token::Plain));
        }
        self.push(LineKind::Pair { key_end }, text, tokens);
    }

    fn push_block(&mut self, path: &str, key: &str, value: &Value, siblings: Option<Highlighter>) {
        match value {
            Value::String(text) => self.push_text(path, key, text, siblings),
            Value::Object(members) if needs_block(value) => {
                self.push_members(path, members, siblings);
            }
            Value::Array(items) if needs_block(value) => {
                for (index, item) in items.iter().enumerate() {
                    let path = format!("{path}[{index}]");
                    match item {
                        Value::Object(members) if !members.is_empty() => {
                            self.push_members(&path, members, siblings);
                        }
                        item if is_inline(item) => self.push_pair(&path, key, item),
                        item => self.push_block(&path, key, item, siblings),
                    }
                }
            }
            _ => {
                self.push_heading(path, "JSON");
                let json = indented_json(value);
                self.push_json(LineKind::Indented, &json);
            }
        }
    }

    fn push_text(&mut self, path: &str, key: &str, text: &str, siblings: Option<Highlighter>) {
        let mut lexer = language_of(key, text, siblings);
        let context = ScriptContext::of(text);
        if !text.contains('\n') {
            self.push_heading(path, "text");
            let line = line_text(text, &context);
            self.push_highlighted(LineKind::Indented, line, &mut lexer);
            return;
        }
        let (lines, ends_with_break) = counted_lines(text);
        let note = match ends_with_break {
            true => format!("{}, ends with a line break", line_count(text)),
            false => line_count(text),
        };
        self.push_heading(path, &note);
        for (index, line) in lines.into_iter().enumerate() {
            let line = line_text(line, &context);
            self.push_highlighted(LineKind::Numbered(index + 1), line, &mut lexer);
        }
    }

    /// An old and a new text as a diff.
    fn push_edit(&mut self, path: &str, members: &Members, (old_key, new_key): (&str, &str)) {
        let text = |key| members.get(key).and_then(Value::as_str).unwrap_or_default();
        let note = format!("- {old_key} + {new_key}");
        match path {
            "" => self.push(LineKind::Heading { path_end: 0 }, note, Vec::new()),
            path => self.push_heading(path, &note),
        }
        let old: Vec<&str> = text(old_key).split('\n').collect();
        let new: Vec<&str> = text(new_key).split('\n').collect();
        let [old_context, new_context] = [old_key, new_key].map(|key| ScriptContext::of(text(key)));
        let (mut in_old, mut in_new) = (0, 0);
        for (change, line) in diff_lines(&old, &new) {
            in_old += usize::from(change != LineChange::Added);
            in_new += usize::from(change != LineChange::Removed);
            let (number, context) = match change {
                LineChange::Removed => (in_old, &old_context),
                LineChange::Same | LineChange::Added => (in_new, &new_context),
            };
            let kind = LineKind::Change(change, number);
            self.push(kind, line_text(line, context), Vec::new());
        }
    }
}

pub(super) fn member_path(path: &str, key: &str) -> String {
    let key = key_text(key);
    match path {
        "" => key,
        path => format!("{path}.{key}"),
    }
}

/// The keys of an old and a new text that are worth a diff.
fn edit_keys(members: &Members) -> Option<(&'static str, &'static str)> {
    let text = |key: &str| members.get(key).and_then(Value::as_str);
    let texts = |(old, new): (&str, &str)| text(old).zip(text(new));
    let is_worth_diff = |text: &str| !is_unmistakable(text) || width(text) >= DIFF_COLUMNS_MIN;
    named_edit_keys(members).or_else(|| {
        let mut weak = WEAK_EDIT_KEYS.into_iter();
        weak.find(|keys| {
            let texts = texts(*keys);
            texts.is_some_and(|(old, new)| is_worth_diff(old) || is_worth_diff(new))
        })
    })
}

/// The lines of a text, and whether it ends with a line break, which starts no further line.
pub(super) fn counted_lines(text: &str) -> (Vec<&str>, bool) {
    let body = text.strip_suffix('\n');
    (body.unwrap_or(text).split('\n').collect(), body.is_some())
}

pub(super) fn line_count(text: &str) -> String {
    match counted_lines(text).0.len() {
        1 => "1 line".to_owned(),
        count => format!("{count} lines"),
    }
}

/// Whether a value stays on the line of its key.
pub(super) fn is_inline(value: &Value) -> bool {
    match value {
        Value::String(text) => !needs_own_line(text),
        Value::Array(_) | Value::Object(_) => {
            !needs_block(value) && width(&value.to_string()) <= ONE_LINE_COLUMNS_MAX
        }
        _ => true,
    }
}

/// Whether `value` contains a text of several lines or an edit, which is hard to read as JSON.
pub(super) fn needs_block(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\n'),
        Value::Array(items) => items.iter().any(needs_block),
        Value::Object(members) => edit_keys(members).is_some() || members.values().any(needs_block),
        _ => false,
    }
}
