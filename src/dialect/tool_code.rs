//! A `tool_code` fence: calls as Python statements, one per line. A fence with any other code is
//! text.

use super::json_call;
use super::pythonic::{self, PythonCall};
use super::recognizer::{
    Advance, BoxedRecognizer, FormEnd, OpeningContext, RecognizedForm, Recognizer,
};
use super::scan_event::ScanEvent;
use crate::domain::{ToolLookup, Toolset};
use crate::text::python::{self, BracketScanner};

const INFO: &str = "tool_code";
const STATEMENTS_MAX: usize = 64;

pub(super) fn open(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    let may = opening.fence_info == Some(INFO)
        && opening.at_line_start
        && !opening.offered.is_empty()
        && (pythonic::starts_name(opening.marker) || opening.marker == '#');
    may.then(|| {
        let mut code = ToolCodeRecognizer::default();
        code.push(opening.marker);
        Box::new(code) as _
    })
}

#[derive(Debug, Default)]
struct ToolCodeRecognizer {
    brackets: BracketScanner,
}

impl ToolCodeRecognizer {
    fn push(&mut self, c: char) {
        if c == '\n' {
            self.brackets.end_short_string();
        }
        self.brackets.push(c);
    }
}

impl Recognizer for ToolCodeRecognizer {
    fn step(&mut self, c: char, _body: &str, _offered: &Toolset) -> Advance {
        // Python has no backtick, so this closes the fence.
        if c == '`' && !self.brackets.is_in_string() && !self.brackets.is_in_comment() {
            return Advance::Reject;
        }
        self.push(c);
        Advance::Hold
    }

    fn finish(&mut self, body: &str, offered: &Toolset, end: FormEnd) -> Option<RecognizedForm> {
        let mut pieces = Vec::new();
        let mut is_code = false;
        let (statements, is_open) = statements(body)?;
        for (number, statement) in statements.iter().enumerate() {
            let is_last = number + 1 == statements.len();
            if is_last && is_open && end == FormEnd::Stream {
                pieces.extend(cut_off_call(statement, offered));
                continue;
            }
            match read_call(statement, is_last && is_open, offered) {
                Some(piece) => pieces.push(piece),
                None => is_code |= !is_harmless(statement, offered),
            }
        }
        (!is_code && !pieces.is_empty()).then_some(RecognizedForm::Calls(pieces))
    }
}

/// The statements of `code` without comments, and whether the last one is incomplete. `None` if
/// there are too many.
fn statements(code: &str) -> Option<(Vec<&str>, bool)> {
    let mut found = Vec::new();
    let mut brackets = BracketScanner::default();
    let mut start = 0;
    for (at, c) in code.char_indices() {
        if c == '\n' {
            brackets.end_short_string();
        }
        if brackets.depth() == 0 && !brackets.is_in_string() {
            let in_comment = brackets.is_in_comment();
            match c {
                '\n' if in_comment => start = at + 1,
                '\n' | ';' | '#' if !in_comment => {
                    found.push(code[start..at].trim());
                    start = at + 1;
                }
                _ => {}
            }
        }
        brackets.push(c);
    }
    if !brackets.is_in_comment() || brackets.depth() > 0 {
        found.push(code[start..].trim());
    }
    found.retain(|statement| !statement.is_empty());
    let is_open = brackets.depth() > 0 || brackets.is_in_string();
    (found.len() <= STATEMENTS_MAX).then_some((found, is_open))
}

/// Parses a call: alone, printed or assigned. `is_open` if its parenthesis is not closed.
fn read_call(statement: &str, is_open: bool, offered: &Toolset) -> Option<ScanEvent> {
    let parts = if is_open { parts } else { split_call };
    let (name, arguments) = parts(statement)?;
    let call = PythonCall {
        raw: statement,
        name,
        arguments,
        form: INFO,
        is_certain: false,
    };
    call.parse(offered)
}

/// Splits `name(…)` if nothing follows it.
pub(super) fn split_call(statement: &str) -> Option<(&str, &str)> {
    let (name, arguments) = parts(statement)?;
    let mut brackets = BracketScanner::default();
    let end = arguments.char_indices().find(|&(_, c)| brackets.push(c));
    end.is_some_and(|(at, _)| at + 1 == arguments.len())
        .then_some((name, arguments))
}

/// `name`, and everything from its parenthesis on.
fn parts(statement: &str) -> Option<(&str, &str)> {
    let mut code = statement;
    if let Some((target, value)) = code.split_once('=')
        && !target.trim().is_empty()
        && target.trim().chars().all(python::is_name_char)
    {
        code = value.trim_start();
    }
    let inner = code.strip_prefix("print(");
    if let Some(inner) = inner.and_then(|rest| rest.trim_end().strip_suffix(')')) {
        code = inner.trim();
    }
    let open = code.find('(')?;
    let (name, arguments) = code.split_at(open);
    let is_name = name.starts_with(pythonic::starts_name) && name.chars().all(python::is_name_char);
    is_name.then_some((name, arguments))
}

/// A statement truncated by the end of the stream: a call if it names a tool.
fn cut_off_call(statement: &str, offered: &Toolset) -> Option<ScanEvent> {
    calls_tool(statement, offered).then(|| json_call::unusable_call(statement, json_call::CUT_OFF))
}

/// Whether the statement only imports or prints, and calls no tool itself.
fn is_harmless(statement: &str, offered: &Toolset) -> bool {
    let may = ["import ", "from ", "print("];
    may.iter().any(|start| statement.starts_with(start)) && !calls_tool(statement, offered)
}

/// Whether a tool name precedes a parenthesis.
fn calls_tool(statement: &str, offered: &Toolset) -> bool {
    let mut parts = statement.split('(');
    parts.next_back();
    parts.any(|part| {
        let name = part
            .rsplit(|c| !python::is_name_char(c))
            .next()
            .unwrap_or(part);
        let name = pythonic::tool_name(name, offered);
        offered.resolve(None, name) != ToolLookup::Unknown
    })
}
