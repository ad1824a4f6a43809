//! A name, a special token and JSON, behind a literal that means a call: Mistral's
//! `f[ARGS]{…}`, DeepSeek's `f<｜tool▁sep｜>{…}` and Kimi's
//! `functions.f:0<|tool_call_argument_begin|>{…}` (DIALECTS 26, 29, 30).

use super::json_arguments::JsonArguments;
use super::json_call::{self, Written};
use super::recognizer::{Advance, Candidate, End, Match, Opening, Recognizer};
use super::unterminated_json::Progress;
use crate::domain::Offered;
use crate::text::python;
use serde_json::Value;
use std::ops::Range;

const NAME_CHARS_MAX: usize = 256;
/// White space and the line of a fence before the arguments.
const BLANK_CHARS_MAX: usize = 256;
const MISTRAL: &str = "Mistral";

/// What may stand behind the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    Arguments,
    /// An identifier, and then `[ARGS]`.
    Identifier,
    /// Arguments or, where the name was only `function`, the name.
    Name,
}

const SEPARATORS: [(&str, Behind, &str); 6] = [
    ("[ARGS]", Behind::Arguments, MISTRAL),
    ("[CALL_ID]", Behind::Identifier, MISTRAL),
    ("<|tool_call_argument_begin|>", Behind::Arguments, "Kimi"),
    ("<｜tool▁sep｜>", Behind::Name, "DeepSeek"),
    ("<|tool▁sep|>", Behind::Name, "DeepSeek"),
    ("<|tool_sep|>", Behind::Name, "DeepSeek"),
];

pub(super) fn open(opening: &Opening<'_>) -> Option<Candidate> {
    let tag = opening.wrapper?;
    let may = python::is_name_char(opening.marker) && !opening.offered.is_empty();
    may.then(|| {
        Box::new(Named {
            at: At::Name { spaced: false },
            bare: tag.form == MISTRAL,
            name: 0..opening.marker.len_utf8(),
            form: MISTRAL,
            arguments: 0,
            body: JsonArguments::default(),
        }) as _
    })
}

#[derive(Debug)]
struct Named {
    at: At,
    /// The arguments may follow the name at once.
    bare: bool,
    name: Range<usize>,
    form: &'static str,
    /// Where the arguments begin.
    arguments: usize,
    body: JsonArguments,
}

/// What of the form has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
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
    Separated {
        renamed: bool,
    },
    SecondName,
    /// White space and the line that opens a fence.
    BeforeBody {
        ticks: usize,
        start: usize,
    },
    Body {
        fenced: bool,
    },
    /// The fence around the arguments may close.
    Fence {
        ticks: usize,
        end: usize,
    },
}

impl Recognizer for Named {
    fn step(&mut self, c: char, body: &str, offered: &Offered) -> Advance {
        let here = body.len() - c.len_utf8();
        match self.at {
            At::Name { spaced } => self.in_name(c, here, spaced),
            At::Separator { start } => self.in_separator(&body[start..], &body[self.name.clone()]),
            At::Identifier { start } => self.in_identifier(c, here, start),
            At::LastSeparator { start } => match &body[start..] {
                "[ARGS]" => self.hold(At::Separated { renamed: false }),
                part if "[ARGS]".starts_with(part) => Advance::Hold,
                _ => Advance::Reject,
            },
            At::Separated { renamed } => match c {
                '{' => self.open_body(here, false),
                c if c.is_whitespace() => Advance::Hold,
                c if renamed && python::is_name_char(c) => {
                    self.name = here..body.len();
                    self.hold(At::SecondName)
                }
                '`' => self.hold(At::BeforeBody {
                    ticks: 1,
                    start: here,
                }),
                _ => Advance::Reject,
            },
            At::SecondName => match c {
                c if python::is_name_char(c) && self.name.len() < NAME_CHARS_MAX => {
                    self.name.end = body.len();
                    Advance::Hold
                }
                '{' => self.open_body(here, false),
                c if c.is_whitespace() => self.hold(At::BeforeBody {
                    ticks: 0,
                    start: here,
                }),
                _ => Advance::Reject,
            },
            At::BeforeBody { ticks, start } => match c {
                '{' => self.open_body(here, ticks >= 3),
                _ if here - start > BLANK_CHARS_MAX => Advance::Reject,
                '`' => self.hold(At::BeforeBody {
                    ticks: ticks + 1,
                    start,
                }),
                c if c.is_whitespace() || ticks >= 3 && c.is_ascii_alphanumeric() => Advance::Hold,
                _ => Advance::Reject,
            },
            At::Body { fenced } => match self.body.push(c, body) {
                Progress::Goes => Advance::Hold,
                Progress::Over(end) if fenced && c == '`' => self.hold(At::Fence { ticks: 1, end }),
                Progress::Over(_) => Advance::Reject,
                Progress::Ends if fenced => self.hold(At::Fence {
                    ticks: 0,
                    end: body.len(),
                }),
                Progress::Ends => self.found(body, offered),
            },
            At::Fence { ticks: 2, end } if c == '`' => self.found(&body[..end], offered),
            At::Fence { ticks, end } => match c {
                '`' => self.hold(At::Fence {
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

    fn again(&self, body: &str) -> usize {
        let over = matches!(self.at, At::Body { .. }).then(|| self.body.over(body));
        over.flatten().map_or(0, |over| body.len() - over)
    }

    fn finish(&mut self, body: &str, offered: &Offered, end: End) -> Option<Match> {
        if matches!(self.at, At::Body { .. })
            && let Some(over) = self.body.over(body)
        {
            return self.read(&body[..over], offered);
        }
        match self.at {
            At::Fence { end: at, .. } => self.read(&body[..at], offered),
            At::Separated { renamed: false } if end == End::Rejected => {
                self.arguments = body.len();
                self.read(body, offered)
            }
            At::Name { .. } | At::Separator { .. } => None,
            _ if end == End::Rejected => None,
            _ => {
                let cut = json_call::unusable(body.trim_end(), json_call::CUT_OFF);
                Some(Match::Calls(vec![cut]))
            }
        }
    }
}

impl Named {
    fn hold(&mut self, at: At) -> Advance {
        self.at = at;
        Advance::Hold
    }

    fn in_name(&mut self, c: char, here: usize, spaced: bool) -> Advance {
        match c {
            '[' | '<' => self.hold(At::Separator { start: here }),
            '{' if self.bare => self.open_body(here, false),
            c if c.is_whitespace() && here - self.name.end < BLANK_CHARS_MAX => {
                self.hold(At::Name { spaced: true })
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
        let renamed = *behind == Behind::Name && name == "function";
        self.hold(match behind {
            Behind::Identifier => At::Identifier { start: 0 },
            Behind::Arguments | Behind::Name => At::Separated { renamed },
        })
    }

    fn in_identifier(&mut self, c: char, here: usize, start: usize) -> Advance {
        let start = if start == 0 { here } else { start };
        match c {
            '[' => self.hold(At::LastSeparator { start: here }),
            _ if here - start > NAME_CHARS_MAX => Advance::Reject,
            c if c.is_ascii_alphanumeric() || "_-. ".contains(c) => {
                self.hold(At::Identifier { start })
            }
            _ => Advance::Reject,
        }
    }

    fn open_body(&mut self, here: usize, fenced: bool) -> Advance {
        self.arguments = here;
        self.body.push('{', "{");
        self.hold(At::Body { fenced })
    }

    fn found(&self, body: &str, offered: &Offered) -> Advance {
        match self.read(body, offered) {
            Some(found) => Advance::Found(found),
            None => Advance::Text,
        }
    }

    /// `call` ends where its arguments do.
    fn read(&self, call: &str, offered: &Offered) -> Option<Match> {
        let (arguments, repaired) = match &call[self.arguments..] {
            "" => (Ok(Value::Null), false),
            json => JsonArguments::read(json),
        };
        let written = Written {
            raw: call,
            server: None,
            name: &call[self.name.clone()],
            arguments,
            form: self.form,
            repaired,
            whole: true,
            unmistakable: true,
        };
        json_call::written(written, offered).map(|piece| Match::Calls(vec![piece]))
    }
}
