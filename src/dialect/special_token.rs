//! Calls that consist of a name, a separator token and JSON after an opening marker: Mistral's
//! `f[ARGS]{…}`, DeepSeek's `f<｜tool▁sep｜>{…}` and Kimi's
//! `functions.f:0<|tool_call_argument_begin|>{…}`.

use super::invalid_json::JsonProgress;
use super::json_arguments::JsonArguments;
use super::json_call::{self, ParsedCall};
use super::recognizer::{
    Advance, BoxedRecognizer, FormEnd, OpeningContext, RecognizedForm, Recognizer,
};
use crate::domain::Toolset;
use crate::text::python;
use serde_json::Value;
use std::ops::Range;

use SpecialTokenState as State;

const NAME_BYTES_MAX: usize = 256;
/// Maximum length of the whitespace, or of the fence's first line, before the arguments.
const GAP_BYTES_MAX: usize = 256;
const MISTRAL: &str = "Mistral";

/// The part of the call that follows a separator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NextPart {
    Arguments,
    /// A call id, then `[ARGS]`.
    CallId,
    /// Arguments or, if the name was just `function`, the tool name.
    NameOrArguments,
}

/// Each separator with the part that follows it and the form's label.
const SEPARATORS: [(&str, NextPart, &str); 6] = [
    ("[ARGS]", NextPart::Arguments, MISTRAL),
    ("[CALL_ID]", NextPart::CallId, MISTRAL),
    ("<|tool_call_argument_begin|>", NextPart::Arguments, "Kimi"),
    ("<｜tool▁sep｜>", NextPart::NameOrArguments, "DeepSeek"),
    ("<|tool▁sep|>", NextPart::NameOrArguments, "DeepSeek"),
    ("<|tool_sep|>", NextPart::NameOrArguments, "DeepSeek"),
];

pub(super) fn open(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    let wrapper = opening.wrapper?;
    let can_open = python::is_name_char(opening.first_char) && !opening.offered.is_empty();
    can_open.then(|| {
        Box::new(SpecialTokenRecognizer {
            state: State::Name {
                has_whitespace: false,
            },
            allows_bare_arguments: wrapper.form == MISTRAL,
            name: 0..opening.first_char.len_utf8(),
            form: MISTRAL,
            arguments_start: 0,
            arguments: JsonArguments::default(),
        }) as _
    })
}

#[derive(Debug)]
struct SpecialTokenRecognizer {
    state: State,
    /// The arguments may follow the name without a separator.
    allows_bare_arguments: bool,
    name: Range<usize>,
    form: &'static str,
    arguments_start: usize,
    arguments: JsonArguments,
}

/// Offsets are bytes of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SpecialTokenState {
    /// In the name, or in the whitespace after it.
    Name {
        has_whitespace: bool,
    },
    Separator {
        start: usize,
    },
    /// In the call id; `start` is 0 before its first character.
    CallId {
        start: usize,
    },
    /// In `[ARGS]` after a call id.
    LastSeparator {
        start: usize,
    },
    /// After the separator, before the arguments. A second name may come first.
    AfterSeparator {
        may_be_renamed: bool,
    },
    SecondName,
    /// In the whitespace or the first line of a fence, which began at `start`.
    BeforeArguments {
        backticks: usize,
        start: usize,
    },
    Arguments {
        is_fenced: bool,
    },
    /// After fenced arguments, which end at `end`: the fence may close.
    FenceEnd {
        backticks: usize,
        end: usize,
    },
}

impl Recognizer for SpecialTokenRecognizer {
    fn step(&mut self, c: char, body: &str, offered: &Toolset) -> Advance {
        let char_start = body.len() - c.len_utf8();
        match self.state {
            State::Name { has_whitespace } => self.step_name(c, char_start, has_whitespace),
            State::Separator { start } => {
                self.step_separator(&body[start..], &body[self.name.clone()])
            }
            State::CallId { start } => self.step_call_id(c, char_start, start),
            State::LastSeparator { start } => match &body[start..] {
                "[ARGS]" => self.enter(State::AfterSeparator {
                    may_be_renamed: false,
                }),
                text if "[ARGS]".starts_with(text) => Advance::Hold,
                _ => Advance::Reject,
            },
            State::AfterSeparator { may_be_renamed } => match c {
                '{' => self.start_arguments(char_start, false),
                c if c.is_whitespace() => Advance::Hold,
                c if may_be_renamed && python::is_name_char(c) => {
                    self.name = char_start..body.len();
                    self.enter(State::SecondName)
                }
                '`' => self.enter_before_arguments(1, char_start),
                _ => Advance::Reject,
            },
            State::SecondName => match c {
                c if python::is_name_char(c) && self.name.len() < NAME_BYTES_MAX => {
                    self.name.end = body.len();
                    Advance::Hold
                }
                '{' => self.start_arguments(char_start, false),
                c if c.is_whitespace() => self.enter_before_arguments(0, char_start),
                _ => Advance::Reject,
            },
            State::BeforeArguments { backticks, start } => match c {
                '{' => self.start_arguments(char_start, backticks >= 3),
                _ if char_start - start > GAP_BYTES_MAX => Advance::Reject,
                '`' => self.enter_before_arguments(backticks + 1, start),
                c if c.is_whitespace() || backticks >= 3 && c.is_ascii_alphanumeric() => {
                    Advance::Hold
                }
                _ => Advance::Reject,
            },
            State::Arguments { is_fenced } => match self.arguments.push(c, body) {
                JsonProgress::Incomplete => Advance::Hold,
                JsonProgress::EndedBefore(end) if is_fenced && c == '`' => {
                    self.enter(State::FenceEnd { backticks: 1, end })
                }
                JsonProgress::EndedBefore(_) => Advance::Reject,
                JsonProgress::Complete if is_fenced => self.enter(State::FenceEnd {
                    backticks: 0,
                    end: body.len(),
                }),
                JsonProgress::Complete => self.end_call(body, offered),
            },
            State::FenceEnd { backticks: 2, end } if c == '`' => {
                self.end_call(&body[..end], offered)
            }
            State::FenceEnd { backticks, end } => match c {
                '`' => self.enter(State::FenceEnd {
                    backticks: backticks + 1,
                    end,
                }),
                c if c.is_whitespace() && backticks == 0 && char_start - end < GAP_BYTES_MAX => {
                    Advance::Hold
                }
                _ => Advance::Reject,
            },
        }
    }

    fn unconsumed_bytes(&self, body: &str) -> usize {
        let is_in_arguments = matches!(self.state, State::Arguments { .. });
        let json_end = is_in_arguments.then(|| self.arguments.end(body));
        json_end
            .flatten()
            .map_or(0, |json_end| body.len() - json_end)
    }

    fn finish(&mut self, body: &str, offered: &Toolset, end: FormEnd) -> Option<RecognizedForm> {
        if matches!(self.state, State::Arguments { .. })
            && let Some(json_end) = self.arguments.end(body)
        {
            return self.parse_call(&body[..json_end], offered);
        }
        match self.state {
            State::FenceEnd { end: json_end, .. } => self.parse_call(&body[..json_end], offered),
            State::AfterSeparator {
                may_be_renamed: false,
            } if end == FormEnd::Rejected => {
                self.arguments_start = body.len();
                self.parse_call(body, offered)
            }
            State::Name { .. } | State::Separator { .. } => None,
            _ if end == FormEnd::Rejected => None,
            _ => {
                let call = json_call::unusable_call(body.trim_end(), json_call::CUT_OFF);
                Some(RecognizedForm::Calls(vec![call]))
            }
        }
    }
}

impl SpecialTokenRecognizer {
    fn enter(&mut self, state: State) -> Advance {
        self.state = state;
        Advance::Hold
    }

    fn enter_before_arguments(&mut self, backticks: usize, start: usize) -> Advance {
        self.enter(State::BeforeArguments { backticks, start })
    }

    fn step_name(&mut self, c: char, char_start: usize, has_whitespace: bool) -> Advance {
        match c {
            '[' | '<' => self.enter(State::Separator { start: char_start }),
            '{' if self.allows_bare_arguments => self.start_arguments(char_start, false),
            c if c.is_whitespace() && char_start - self.name.end < GAP_BYTES_MAX => {
                self.enter(State::Name {
                    has_whitespace: true,
                })
            }
            c if python::is_name_char(c) && !has_whitespace && self.name.len() < NAME_BYTES_MAX => {
                self.name.end = char_start + c.len_utf8();
                Advance::Hold
            }
            _ => Advance::Reject,
        }
    }

    fn step_separator(&mut self, text: &str, name: &str) -> Advance {
        let mut candidates = SEPARATORS
            .iter()
            .filter(|(separator, ..)| separator.starts_with(text));
        let Some((separator, next_part, form)) = candidates.next() else {
            return Advance::Reject;
        };
        if separator.len() > text.len() {
            return Advance::Hold;
        }
        self.form = form;
        self.enter(match next_part {
            NextPart::CallId => State::CallId { start: 0 },
            NextPart::Arguments => State::AfterSeparator {
                may_be_renamed: false,
            },
            NextPart::NameOrArguments => State::AfterSeparator {
                may_be_renamed: name == "function",
            },
        })
    }

    fn step_call_id(&mut self, c: char, char_start: usize, start: usize) -> Advance {
        let start = if start == 0 { char_start } else { start };
        match c {
            '[' => self.enter(State::LastSeparator { start: char_start }),
            _ if char_start - start > NAME_BYTES_MAX => Advance::Reject,
            c if c.is_ascii_alphanumeric() || "_-. ".contains(c) => {
                self.enter(State::CallId { start })
            }
            _ => Advance::Reject,
        }
    }

    fn start_arguments(&mut self, char_start: usize, is_fenced: bool) -> Advance {
        self.arguments_start = char_start;
        self.arguments.push('{', "{");
        self.enter(State::Arguments { is_fenced })
    }

    fn end_call(&self, raw: &str, offered: &Toolset) -> Advance {
        match self.parse_call(raw, offered) {
            Some(form) => Advance::Found(form),
            None => Advance::Text,
        }
    }

    /// `raw` ends with the call's arguments.
    fn parse_call(&self, raw: &str, offered: &Toolset) -> Option<RecognizedForm> {
        let (arguments, was_repaired) = match &raw[self.arguments_start..] {
            "" => (Ok(Value::Null), false),
            json => JsonArguments::parse(json),
        };
        let call = ParsedCall {
            raw,
            server: None,
            name: &raw[self.name.clone()],
            arguments,
            form: self.form,
            was_repaired,
            has_end: true,
            is_unmistakable: true,
        };
        json_call::resolve_call(call, offered).map(|event| RecognizedForm::Calls(vec![event]))
    }
}
