//! Gemma's calls (DIALECTS 23): `call:f{city:<escape>Paris<escape>}` behind a
//! literal that means a call. `gemma/arguments` reads what is in the braces.

mod arguments;

use super::json_call::{self, Written};
use super::recognizer::{Advance, Candidate, End, Match, Opening, Recognizer};
use crate::domain::Offered;
use crate::text::python;
use arguments::Arguments;
use std::ops::Range;

const START: &str = "call:";
const NAME_CHARS_MAX: usize = 256;
const FORM: &str = "Gemma";

pub(super) fn open(opening: &Opening<'_>) -> Option<Candidate> {
    let tagged = opening.wrapper.is_some();
    (tagged && opening.marker == 'c' && !opening.offered.is_empty()).then(|| {
        Box::new(Gemma {
            at: At::Start,
            name: 0..0,
            arguments: Arguments::default(),
        }) as _
    })
}

#[derive(Debug)]
struct Gemma {
    at: At,
    name: Range<usize>,
    arguments: Arguments,
}

/// What of the form has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Start,
    Name,
    Arguments,
}

impl Recognizer for Gemma {
    fn step(&mut self, c: char, body: &str, offered: &Offered) -> Advance {
        let here = body.len() - c.len_utf8();
        match self.at {
            At::Start if body == START => {
                self.name = body.len()..body.len();
                self.at = At::Name;
                Advance::Hold
            }
            At::Start if START.starts_with(body) => Advance::Hold,
            At::Start => Advance::Reject,
            At::Name if c == '{' && !self.name.is_empty() => {
                self.arguments.push(c);
                self.at = At::Arguments;
                Advance::Hold
            }
            At::Name if c == ' ' && self.name.is_empty() && here < NAME_CHARS_MAX => {
                self.name = body.len()..body.len();
                Advance::Hold
            }
            At::Name if python::is_name_char(c) && self.name.len() < NAME_CHARS_MAX => {
                self.name.end = body.len();
                Advance::Hold
            }
            At::Name => Advance::Reject,
            At::Arguments if self.arguments.push(c) => self.read(body, offered),
            At::Arguments => Advance::Hold,
        }
    }

    fn finish(&mut self, body: &str, _offered: &Offered, end: End) -> Option<Match> {
        let cut = self.at == At::Arguments && end == End::Stream;
        cut.then(|| {
            let cut = json_call::unusable(body.trim_end(), json_call::CUT_OFF);
            Match::Calls(vec![cut])
        })
    }
}

impl Gemma {
    fn read(&mut self, body: &str, offered: &Offered) -> Advance {
        let (arguments, repaired) = std::mem::take(&mut self.arguments).read();
        let written = Written {
            raw: body,
            server: None,
            name: &body[self.name.clone()],
            arguments,
            form: FORM,
            repaired,
            whole: true,
            unmistakable: true,
        };
        match json_call::written(written, offered) {
            Some(piece) => Advance::Found(Match::Calls(vec![piece])),
            None => Advance::Text,
        }
    }
}
