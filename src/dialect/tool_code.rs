//! A `tool_code` fence: calls as Python statements, usually one per line. A fence that contains other
//! code, except imports and prints, is text.

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
    let can_open = opening.fence_info == Some(INFO)
        && opening.is_at_line_start
        && !opening.offered.is_empty()
        && (pythonic::starts_name(opening.first_char) || opening.first_char == '#');
    can_open.then(|| {
        let mut recognizer = ToolCodeRecognizer::default();
        recognizer.push(opening.first_char);
        Box::new(recognizer) as _
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
        // Python code contains no backticks, so this one closes the fence.
        if c == '`' && !self.brackets.is_in_string() && !self.brackets.is_in_comment() {
            return Advance::Reject;
        }
        self.push(c);
        Advance::Hold
    }

    fn finish(&mut self, body: &str, offered: &Toolset, end: FormEnd) -> Option<RecognizedForm> {
        let mut events = Vec::new();
        let mut has_other_code = false;
        let (statements, is_last_incomplete) = statements(body)?;
        for (index, statement) in statements.iter().enumerate() {
            let is_incomplete = is_last_incomplete && index + 1 == statements.len();
            if is_incomplete && end == FormEnd::Stream {
                events.extend(cut_off_call(statement, offered));
                continue;
            }
            match parse_statement(statement, is_incomplete, offered) {
                Some(event) => events.push(event),
                None => has_other_code |= !is_harmless(statement, offered),
            }
        }
        (!has_other_code && !events.is_empty()).then_some(RecognizedForm::Calls(events))
    }
}

/// The statements of `code` without comments, and whether the last one is incomplete. `None` if
/// there are too many.
fn statements(code: &str) -> Option<(Vec<&str>, bool)> {
    let mut statements = Vec::new();
    let mut brackets = BracketScanner::default();
    let mut start = 0;
    for (index, c) in code.char_indices() {
        if c == '\n' {
            brackets.end_short_string();
        }
        if brackets.depth() == 0 && !brackets.is_in_string() {
            let is_in_comment = brackets.is_in_comment();
            match c {
                '\n' if is_in_comment => start = index + 1,
                '\n' | ';' | '#' if !is_in_comment => {
                    statements.push(code[start..index].trim());
                    start = index + 1;
                }
                _ => {}
            }
        }
        brackets.push(c);
    }
    if !brackets.is_in_comment() || brackets.depth() > 0 {
        statements.push(code[start..].trim());
    }
    statements.retain(|statement| !statement.is_empty());
    let is_incomplete = brackets.depth() > 0 || brackets.is_in_string();
    (statements.len() <= STATEMENTS_MAX).then_some((statements, is_incomplete))
}

/// Parses a call, which may be printed or assigned to a variable. `is_incomplete` means that its
/// parenthesis is not closed.
fn parse_statement(statement: &str, is_incomplete: bool, offered: &Toolset) -> Option<ScanEvent> {
    let split = if is_incomplete {
        split_at_parenthesis
    } else {
        split_call
    };
    let (name, arguments) = split(statement)?;
    let call = PythonCall {
        raw: statement,
        name,
        arguments,
        form: INFO,
        is_certain: false,
    };
    call.parse(offered)
}

/// Splits `name(…)` into the name and the arguments with their parentheses. `None` if anything
/// follows the closing parenthesis.
pub(super) fn split_call(statement: &str) -> Option<(&str, &str)> {
    let (name, arguments) = split_at_parenthesis(statement)?;
    let mut brackets = BracketScanner::default();
    let end = arguments.char_indices().find(|&(_, c)| brackets.push(c));
    end.is_some_and(|(index, _)| index + 1 == arguments.len())
        .then_some((name, arguments))
}

/// Removes an assignment and `print(…)`, then splits the call before its parenthesis.
fn split_at_parenthesis(statement: &str) -> Option<(&str, &str)> {
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
    let parenthesis = code.find('(')?;
    let (name, arguments) = code.split_at(parenthesis);
    let is_name = name.starts_with(pythonic::starts_name) && name.chars().all(python::is_name_char);
    is_name.then_some((name, arguments))
}

/// The event for a statement that the end of the stream truncated: an unusable call if it names a
/// tool.
fn cut_off_call(statement: &str, offered: &Toolset) -> Option<ScanEvent> {
    calls_tool(statement, offered).then(|| json_call::unusable_call(statement, json_call::CUT_OFF))
}

/// Whether the statement only imports or prints, and calls no tool.
fn is_harmless(statement: &str, offered: &Toolset) -> bool {
    let harmless_starts = ["import ", "from ", "print("];
    let is_harmless = harmless_starts
        .iter()
        .any(|start| statement.starts_with(start));
    is_harmless && !calls_tool(statement, offered)
}

/// Whether a tool name precedes a parenthesis.
fn calls_tool(statement: &str, offered: &Toolset) -> bool {
    let mut before_parentheses = statement.split('(');
    before_parentheses.next_back();
    before_parentheses.any(|text| {
        let name = text
            .rsplit(|c| !python::is_name_char(c))
            .next()
            .unwrap_or(text);
        let name = pythonic::tool_name(name, offered);
        offered.resolve(None, name) != ToolLookup::Unknown
    })
}
