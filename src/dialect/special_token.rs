//! A name, a special token and JSON, behind a literal that means a call: Mistral's
//! `f[ARGS]{…}`, DeepSeek's `f<｜tool▁sep｜>{…}` and Kimi's
//! `functions.f:0<|tool_call_argument_begin|>{…}` (DIALECTS 26, 29, 30).

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

const NAME_CHARS_MAX: usize = 256;
/// White space and the line of a fence before the arguments.
const BLANK_CHARS_MAX: usize = 256;
const MISTRAL: &str = "Mistral";

/// What may stand behind the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterName {
    Arguments,
    /// An identifier, and then `[ARGS]`.
    Identifier,
    /// Arguments or, where the name was only `function`, the name.
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
    let may = python::is_name_char(opening.marker) && !opening.offered.is_empty();
    may.then(|| {
        Box::new(SpecialTokenRecognizer {
            state: SpecialTokenState::Name { spaced: false },
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
    state: SpecialTokenState,
    /// The arguments may follow the name at once.
    allows_bare_arguments: bool,
    name: Range<usize>,
    form: &'static str,
    /// Where the arguments begin.
    arguments: usize,
    body: JsonArguments,
}

/// What of the form has come.
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
    /// `[ARGS]` behind an identifier.
    LastSeparator {
        start: usize,
    },
    /// Behind the separator: arguments, or the name that they follow.
    AfterSeparator {
        renamed: bool,
    },
    SecondName,
    /// White space and the line that opens a fence.
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
        let here = body.len() - c.len_utf8();
        match self.state {
            SpecialTokenState::Name { spaced } => self.in_name(c, here, spaced),
            SpecialTokenState::Separator { start } => {
                self.in_separator(&body[start..], &body[self.name.clone()])
            }
            SpecialTokenState::Identifier { start } => self.in_identifier(c, here, start),
            SpecialTokenState::LastSeparator { start } => match &body[start..] {
                "[ARGS]" => self.hold(SpecialTokenState::AfterSeparator { renamed: false }),
                part if "[ARGS]".starts_with(part) => Advance::Hold,
                _ => Advance::Reject,
            },
            SpecialTokenState::AfterSeparator { renamed } => match c {
                '{' => self.open_body(here, false),
                c if c.is_whitespace() => Advance::Hold,
                c if renamed && python::is_name_char(c) => {
                    self.name = here..body.len();
                    self.hold(SpecialTokenState::SecondName)
                }
                '`' => self.hold(SpecialTokenState::BeforeArguments {
                    ticks: 1,
                    start: here,
                }),
                _ => Advance::Reject,
            },
            SpecialTokenState::SecondName => match c {
                c if python::is_name_char(c) && self.name.len() < NAME_CHARS_MAX => {
                    self.name.end = body.len();
                    Advance::Hold
                }
                '{' => self.open_body(here, false),
                c if c.is_whitespace() => self.hold(SpecialTokenState::BeforeArguments {
                    ticks: 0,
                    start: here,
                }),
                _ => Advance::Reject,
            },
            SpecialTokenState::BeforeArguments { ticks, start } => match c {
                '{' => self.open_body(here, ticks >= 3),
                _ if here - start > BLANK_CHARS_MAX => Advance::Reject,
                '`' => self.hold(SpecialTokenState::BeforeArguments {
                    ticks: ticks + 1,
                    start,
                }),
                c if c.is_whitespace() || ticks >= 3 && c.is_ascii_alphanumeric() => Advance::Hold,
                _ => Advance::Reject,
            },
            SpecialTokenState::Arguments { fenced } => match self.body.push(c, body) {
                JsonProgress::Incomplete => Advance::Hold,
                JsonProgress::EndedBefore(end) if fenced && c == '`' => {
                    self.hold(SpecialTokenState::Fence { ticks: 1, end })
                }
                JsonProgress::EndedBefore(_) => Advance::Reject,
                JsonProgress::Complete if fenced => self.hold(SpecialTokenState::Fence {
                    ticks: 0,
                    end: body.len(),
                }),
                JsonProgress::Complete => self.complete(body, offered),
            },
            SpecialTokenState::Fence { ticks: 2, end } if c == '`' => {
                self.complete(&body[..end], offered)
            }
            SpecialTokenState::Fence { ticks, end } => match c {
                '`' => self.hold(SpecialTokenState::Fence {
                    ticks: ticks + 1,
                    end,
                }),
                c if c.is_whitespace() && ticks == 0 && here - end < BLANK_CHARS_MAX => {
                    Advance::Hold
                }
                _ => Advance::Reject,
            },
        }
    }

    fn unconsumed_bytes(&self, body: &str) -> usize {
        let over =
            matches!(self.state, SpecialTokenState::Arguments { .. }).then(|| self.body.end(body));
        over.flatten().map_or(0, |over| body.len() - over)
    }

    fn finish(&mut self, body: &str, offered: &Toolset, end: FormEnd) -> Option<RecognizedForm> {
        if matches!(self.state, SpecialTokenState::Arguments { .. })
            && let Some(over) = self.body.end(body)
        {
            return self.read(&body[..over], offered);
        }
        match self.state {
            SpecialTokenState::Fence { end: at, .. } => self.read(&body[..at], offered),
            SpecialTokenState::AfterSeparator { renamed: false } if end == FormEnd::Rejected => {
                self.arguments = body.len();
                self.read(body, offered)
            }
            SpecialTokenState::Name { .. } | SpecialTokenState::Separator { .. } => None,
            _ if end == FormEnd::Rejected => None,
            _ => {
                let cut = json_call::unusable_call(body.trim_end(), json_call::CUT_OFF);
                Some(RecognizedForm::Calls(vec![cut]))
            }
        }
    }
}

impl SpecialTokenRecognizer {
    fn hold(&mut self, at: SpecialTokenState) -> Advance {
        self.state = at;
        Advance::Hold
    }

    fn in_name(&mut self, c: char, here: usize, spaced: bool) -> Advance {
        match c {
            '[' | '<' => self.hold(SpecialTokenState::Separator { start: here }),
            '{' if self.allows_bare_arguments => self.open_body(here, false),
            c if c.is_whitespace() && here - self.name.end < BLANK_CHARS_MAX => {
                self.hold(SpecialTokenState::Name { spaced: true })
            }
            c if python::is_name_char(c) && !spaced && self.name.len() < NAME_CHARS_MAX => {
                self.name.end = here + c.len_utf8();
                Advance::Hold
            }
            _ => Advance::Reject,
        }
    }

    fn in_separator(&mut self, part: &str, name: &str) -> Advance {
        let mut may = SEPARATORS
            .iter()
            .filter(|(separator, ..)| separator.starts_with(part));
        let Some((separator, behind, form)) = may.next() else {
            return Advance::Reject;
        };
        if separator.len() > part.len() {
            return Advance::Hold;
        }
        self.form = form;
        let renamed = *behind == AfterName::Name && name == "function";
        self.hold(match behind {
            AfterName::Identifier => SpecialTokenState::Identifier { start: 0 },
            AfterName::Arguments | AfterName::Name => SpecialTokenState::AfterSeparator { renamed },
        })
    }

    fn in_identifier(&mut self, c: char, here: usize, start: usize) -> Advance {
        let start = if start == 0 { here } else { start };
        match c {
            '[' => self.hold(SpecialTokenState::LastSeparator { start: here }),
            _ if here - start > NAME_CHARS_MAX => Advance::Reject,
            c if c.is_ascii_alphanumeric() || "_-. ".contains(c) => {
                self.hold(SpecialTokenState::Identifier { start })
            }
            _ => Advance::Reject,
        }
    }

    fn open_body(&mut self, here: usize, fenced: bool) -> Advance {
        self.arguments = here;
        self.body.push('{', "{");
        self.hold(SpecialTokenState::Arguments { fenced })
    }

    fn complete(&self, body: &str, offered: &Toolset) -> Advance {
        match self.read(body, offered) {
            Some(found) => Advance::Found(found),
            None => Advance::Text,
        }
    }

    /// `call` ends where its arguments do.
    fn read(&self, call: &str, offered: &Toolset) -> Option<RecognizedForm> {
        let (arguments, repaired) = match &call[self.arguments..] {
            "" => (Ok(Value::Null), false),
            json => JsonArguments::parse(json),
        };
        let written = ParsedCall {
            raw: call,
            server: None,
            name: &call[self.name.clone()],
            arguments,
            form: self.form,
            was_repaired: repaired,
            is_terminated: true,
            unmistakable: true,
        };
        json_call::resolve_call(written, offered).map(|piece| RecognizedForm::Calls(vec![piece]))
    }
}
