//! A fence of `tool_code` (DIALECTS 34): calls as Python statements, one a line. A
//! fence that holds any other code is text.

use super::family::{End, Form, Found, Opening, Recogniser, Step};
use super::piece::Piece;
use super::pythonic::{self, Call};
use crate::domain::Offered;
use crate::text::python::{self, PythonOutline};

const INFO: &str = "tool_code";
const STATEMENTS_MAX: usize = 64;

pub(super) fn open(opening: &Opening<'_>) -> Option<Form> {
    let may = opening.fence == Some(INFO)
        && opening.at_line_start
        && !opening.offered.is_empty()
        && (pythonic::starts_name(opening.marker) || opening.marker == '#');
    may.then(|| {
        let mut code = ToolCode::default();
        code.follow(opening.marker);
        Box::new(code) as _
    })
}

#[derive(Debug, Default)]
struct ToolCode {
    outline: PythonOutline,
}

impl ToolCode {
    fn follow(&mut self, c: char) {
        if c == '\n' {
            self.outline.end_short_string();
        }
        self.outline.push(c);
    }
}

impl Recogniser for ToolCode {
    fn step(&mut self, c: char, _body: &str, _offered: &Offered) -> Step {
        // Python has no backtick: the fence closes.
        if c == '`' && !self.outline.in_string() && !self.outline.in_comment() {
            return Step::Reject;
        }
        self.follow(c);
        Step::Hold
    }

    fn finish(&mut self, body: &str, offered: &Offered, end: End) -> Option<Found> {
        let mut pieces = Vec::new();
        let mut is_code = false;
        let (statements, is_open) = statements(body)?;
        for (number, statement) in statements.iter().enumerate() {
            let is_last = number + 1 == statements.len();
            if is_last && is_open && end == End::Stream {
                pieces.extend(cut_off(statement, offered));
                continue;
            }
            match read(statement, offered) {
                Some(piece) => pieces.push(piece),
                None => is_code |= !is_harmless(statement),
            }
        }
        (!is_code && !pieces.is_empty()).then_some(Found::Calls(pieces))
    }
}

/// The statements of `code` without what is around them, and whether the last is
/// open. None where they are too many.
fn statements(code: &str) -> Option<(Vec<&str>, bool)> {
    let mut found = Vec::new();
    let mut outline = PythonOutline::default();
    let mut start = 0;
    for (at, c) in code.char_indices() {
        if c == '\n' {
            outline.end_short_string();
        }
        let between = outline.depth() == 0 && !outline.in_string();
        if between && (c == '\n' || c == ';' && !outline.in_comment()) {
            found.push(&code[start..at]);
            start = at + 1;
        }
        outline.push(c);
    }
    found.push(&code[start..]);
    let is_open = outline.depth() > 0 || outline.in_string();
    let found: Vec<_> = found
        .into_iter()
        .map(str::trim)
        .filter(|statement| !statement.is_empty())
        .collect();
    (found.len() <= STATEMENTS_MAX).then_some((found, is_open))
}

/// A call, alone, printed or assigned.
fn read(statement: &str, offered: &Offered) -> Option<Piece> {
    let (name, arguments) = call(statement)?;
    let call = Call {
        raw: statement,
        name,
        arguments,
        form: INFO,
        whole: true,
        is_certain: false,
    };
    call.read(offered)
}

/// `name` and `(…)`.
fn call(statement: &str) -> Option<(&str, &str)> {
    let mut code = statement;
    if let Some((target, value)) = code.split_once('=')
        && !target.trim().is_empty()
        && target.trim().chars().all(python::is_name)
    {
        code = value.trim_start();
    }
    let inner = code.strip_prefix("print(");
    if let Some(inner) = inner.and_then(|rest| rest.trim_end().strip_suffix(')')) {
        code = inner.trim();
    }
    let open = code.find('(')?;
    let (name, arguments) = code.split_at(open);
    let is_name = name.starts_with(pythonic::starts_name) && name.chars().all(python::is_name);
    is_name.then_some((name, arguments))
}

/// A statement that the end of the stream cut: told where it begins as a call.
fn cut_off(statement: &str, offered: &Offered) -> Option<Piece> {
    use crate::domain::Resolved;
    let start = statement.split_once('=').map_or(statement, |(target, value)| {
        if target.contains('(') { statement } else { value.trim_start() }
    });
    let start = start.strip_prefix("print(").unwrap_or(start).trim_start();
    let (name, _) = start.split_once('(')?;
    let known = offered.resolve(None, pythonic::tool_name(name, offered)) != Resolved::Unknown;
    known.then(|| super::read::unusable(statement, "it was cut off before its end"))
}

/// Says nothing that a call's result would not say.
fn is_harmless(statement: &str) -> bool {
    ["#", "import ", "from ", "print("]
        .iter()
        .any(|start| statement.starts_with(start))
}
