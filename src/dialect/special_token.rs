//! A name, a special token and JSON after an opening marker: Mistral's `f[ARGS]{…}`, DeepSeek's
//! `f<｜tool▁sep｜>{…}` and Kimi's `functions.f:0<|tool_call_argument_begin|>{…}`.

use super::json_arguments::JsonArguments;
use super::json_call::{self, ParsedCall};
use super::recognizer::{
    Advance, BoxedRecognizer, FormEnd, OpeningContext, RecognizedForm, Recognizer,
};
use super::unterminated_json::JsonProgress;
use crate::domain::Toolset;
use crate::text::python;
use serde_json::Value;
use std::ops::Range;

use SpecialTokenState as State;

const NAME_CHARS_MAX: usize = 256;
/// Maximum whitespace and fence line before the arguments.
const BLANK_CHARS_MAX: usize = 256;
const MISTRAL: &str = "Mistral";

/// What may follow the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterName {
    Arguments,
    /// An identifier, then `[ARGS]`.
    Identifier,
    /// Arguments or, if the name was just `function`, the real name.
    Name,
}

const SEPARATORS: [(&str, AfterName, &str); 6] = [
    ("[ARGS]", AfterName::Arguments, MISTRAL),
    ("[CALL_ID]", AfterName::Identifier, MISTRAL),
    ("<|tool_call_argument_begin|>", AfterName::Arguments, "Kimi"),
    ("<｜tool▁sep｜>", AfterName::Name, "DeepSeek"),
    ("<|tool▁sep|>", AfterName::Name, "DeepSeek"),
    ("<|tool_sep|>", AfterName::Name, "DeepSeek"),
];

pub(super) fn open(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    let tag = opening.wrapper?;
    let can_open = python::is_name_char(opening.marker) && !opening.offered.is_empty();
    can_open.then(|| {
        Box::new(SpecialTokenRecognizer {
            state: State::Name { spaced: false },
            allows_bare_arguments: tag.form == MISTRAL,
            name: 0..opening.marker.len_utf8(),
            form: MISTRAL,
            arguments: 0,
            body: JsonArguments::default(),
        }) as _
    })
}

#[derive(Debug)]
struct SpecialTokenRecognizer {
    state: State,
    /// The arguments may follow the name directly.
    allows_bare_arguments: bool,
    name: Range<usize>,
    form: &'static str,
    /// Start of the arguments.
    arguments: usize,
    body: JsonArguments,
}

/// Progress within the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SpecialTokenState {
    Name {
        spaced: bool,
    },
    Separator {
        start: usize,
    },
    Identifier {
        start: usize,
    },
    /// `[ARGS]` after an identifier.
    LastSeparator {
        start: usize,
    },
    /// After the separator: before the arguments or the name.
    AfterSeparator {
        renamed: bool,
    },
    SecondName,
    /// Whitespace and the opening line of a fence.
    BeforeArguments {
        ticks: usize,
        start: usize,
    },
    Arguments {
        fenced: bool,
    },
    /// The fence around the arguments may close.
    Fence {
        ticks: usize,
        end: usize,
    },
}

impl Recognizer for SpecialTokenRecognizer {
    fn step(&mut self, c: char, body: &str, offered: &Toolset) -> Advance {
        let char_start = body.len() - c.len_utf8();
        match self.state {
            State::Name { spaced } => self.in_name(c, char_start, spaced),
            State::Separator { start } => {
                self.in_separator(&body[start..], &body[self.name.clone()])
            }
            State::Identifier { start } => self.in_identifier(c, char_start, start),
            State::LastSeparator { start } => match &body[start..] {
                "[ARGS]" => self.enter(State::AfterSeparator { renamed: false }),
                part if "[ARGS]".starts_with(part) => Advance::Hold,
                _ => Advance::Reject,
            },
            State::AfterSeparator { renamed } => match c {
                '{' => self.open_body(char_start, false),
                c if c.is_whitespace() => Advance::Hold,
                c if renamed && python::is_name_char(c) => {
                    self.name = char_start..body.len();
                    self.enter(State::SecondName)
                }
                '`' => self.enter_before_arguments(1, char_start),
                _ => Advance::Reject,
            },
            State::SecondName => match c {
                c if python::is_name_char(c) && self.name.len() < NAME_CHARS_MAX => {
                    self.name.end = body.len();
                    Advance::Hold
                }
                '{' => self.open_body(char_start, false),
                c if c.is_whitespace() => self.enter_before_arguments(0, char_start),
                _ => Advance::Reject,
            },
            State::BeforeArguments { ticks, start } => match c {
                '{' => self.open_body(char_start, ticks >= 3),
                _ if char_start - start > BLANK_CHARS_MAX => Advance::Reject,
                '`' => self.enter_before_arguments(ticks + 1, start),
                c if c.is_whitespace() || ticks >= 3 && c.is_ascii_alphanumeric() => Advance::Hold,
                _ => Advance::Reject,
            },
            State::Arguments { fenced } => match self.body.push(c, body) {
                JsonProgress::Incomplete => Advance::Hold,
                JsonProgress::EndedBefore(end) if fenced && c == '`' => {
                    self.enter(State::Fence { ticks: 1, end })
                }
                JsonProgress::EndedBefore(_) => Advance::Reject,
                JsonProgress::Complete if fenced => self.enter(State::Fence {
                    ticks: 0,
                    end: body.len(),
                }),
                JsonProgress::Complete => self.complete(body, offered),
            },
            State::Fence { ticks: 2, end } if c == '`' => self.complete(&body[..end], offered),
            State::Fence { ticks, end } => match c {
                '`' => self.enter(State::Fence {
                    ticks: ticks + 1,
                    end,
                }),
                c if c.is_whitespace() && ticks == 0 && char_start - end < BLANK_CHARS_MAX => {
                    Advance::Hold
                }
                _ => Advance::Reject,
            },
        }
    }

    fn unconsumed_bytes(&self, body: &str) -> usize {
        let end = matches!(self.state, State::Arguments { .. }).then(|| self.body.end(body));
        end.flatten().map_or(0, |end| body.len() - end)
    }

    fn finish(&mut self, body: &str, offered: &Toolset, end: FormEnd) -> Option<RecognizedForm> {
        if matches!(self.state, State::Arguments { .. })
            && let Some(end) = self.body.end(body)
        {
            return self.read(&body[..end], offered);
        }
        match self.state {
            State::Fence { end: at, .. } => self.read(&body[..at], offered),
            State::AfterSeparator { renamed: false } if end == FormEnd::Rejected => {
                self.arguments = body.len();
                self.read(body, offered)
            }
            State::Name { .. } | State::Separator { .. } => None,
            _ if end == FormEnd::Rejected => None,
            _ => {
                let cut = json_call::unusable_call(body.trim_end(), json_call::CUT_OFF);
                Some(RecognizedForm::Calls(vec![cut]))
            }
        }
    }
}

impl SpecialTokenRecognizer {
    fn enter(&mut self, state: State) -> Advance {
        self.state = state;
        Advance::Hold
    }

    fn enter_before_arguments(&mut self, ticks: usize, start: usize) -> Advance {
        self.enter(State::BeforeArguments { ticks, start })
    }

    fn in_name(&mut self, c: char, char_start: usize, spaced: bool) -> Advance {
        match c {
            '[' | '<' => self.enter(State::Separator { start: char_start }),
            '{' if self.allows_bare_arguments => self.open_body(char_start, false),
            c if c.is_whitespace() && char_start - self.name.end < BLANK_CHARS_MAX => {
                self.enter(State::Name { spaced: true })
            }
            c if python::is_name_char(c) && !spaced && self.name.len() < NAME_CHARS_MAX => {
                self.name.end = char_start + c.len_utf8();
                Advance::Hold
            }
            _ => Advance::Reject,
        }
    }

    fn in_separator(&mut self, part: &str, name: &str) -> Advance {
        let mut possible = SEPARATORS
            .iter()
            .filter(|(separator, ..)| separator.starts_with(part));
        let Some((separator, follows, form)) = possible.next() else {
            return Advance::Reject;
        };
        if separator.len() > part.len() {
            return Advance::Hold;
        }
        self.form = form;
        let renamed = *follows == AfterName::Name && name == "function";
        self.enter(match follows {
            AfterName::Identifier => State::Identifier { start: 0 },
            AfterName::Arguments | AfterName::Name => State::AfterSeparator { renamed },
        })
    }

    fn in_identifier(&mut self, c: char, char_start: usize, start: usize) -> Advance {
        let start = if start == 0 { char_start } else { start };
        match c {
            '[' => self.enter(State::LastSeparator { start: char_start }),
            _ if char_start - start > NAME_CHARS_MAX => Advance::Reject,
            c if c.is_ascii_alphanumeric() || "_-. ".contains(c) => {
                self.enter(State::Identifier { start })
            }
            _ => Advance::Reject,
        }
    }

    fn open_body(&mut self, char_start: usize, fenced: bool) -> Advance {
        self.arguments = char_start;
        self.body.push('{', "{");
        self.enter(State::Arguments { fenced })
    }

    fn complete(&self, body: &str, offered: &Toolset) -> Advance {
        match self.read(body, offered) {
            Some(found) => Advance::Found(found),
            None => Advance::Text,
        }
    }

    /// Parses `call`, which ends with its arguments.
    fn read(&self, call: &str, offered: &Toolset) -> Option<RecognizedForm> {
        let (arguments, repaired) = match &call[self.arguments..] {
            "" => (Ok(Value::Null), false),
            json => JsonArguments::parse(json),
        };
        let parsed = ParsedCall {
            raw: call,
            server: None,
            name: &call[self.name.clone()],
            arguments,
            form: self.form,
            was_repaired: repaired,
            is_terminated: true,
            unmistakable: true,
        };
        json_call::resolve_call(parsed, offered).map(|piece| RecognizedForm::Calls(vec![piece]))
    }
}
