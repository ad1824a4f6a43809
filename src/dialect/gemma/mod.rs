//! Gemma's calls: `call:f{city:<escape>Paris<escape>}` after an opening marker. `gemma/arguments`
//! parses the arguments.

mod arguments;

use super::json_call::{self, ParsedCall};
use super::recognizer::{
    Advance, BoxedRecognizer, FormEnd, OpeningContext, RecognizedForm, Recognizer,
};
use crate::domain::Toolset;
use crate::text::python;
use arguments::GemmaArguments;
use std::ops::Range;

const START: &str = "call:";
const NAME_BYTES_MAX: usize = 256;
const FORM: &str = "Gemma";

pub(super) fn open(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    let is_wrapped = opening.wrapper.is_some();
    (is_wrapped && opening.first_char == 'c' && !opening.offered.is_empty()).then(|| {
        Box::new(GemmaRecognizer {
            state: GemmaState::Start,
            name: 0..0,
            arguments: GemmaArguments::default(),
        }) as _
    })
}

#[derive(Debug)]
struct GemmaRecognizer {
    state: GemmaState,
    name: Range<usize>,
    arguments: GemmaArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GemmaState {
    Start,
    Name,
    Arguments,
}

impl Recognizer for GemmaRecognizer {
    fn step(&mut self, c: char, body: &str, offered: &Toolset) -> Advance {
        let char_start = body.len() - c.len_utf8();
        match self.state {
            GemmaState::Start if body == START => {
                self.name = body.len()..body.len();
                self.state = GemmaState::Name;
                Advance::Hold
            }
            GemmaState::Start if START.starts_with(body) => Advance::Hold,
            GemmaState::Start => Advance::Reject,
            GemmaState::Name if c == '{' && !self.name.is_empty() => {
                self.arguments.push(c);
                self.state = GemmaState::Arguments;
                Advance::Hold
            }
            GemmaState::Name if c == ' ' && self.name.is_empty() && char_start < NAME_BYTES_MAX => {
                self.name = body.len()..body.len();
                Advance::Hold
            }
            GemmaState::Name if python::is_name_char(c) && self.name.len() < NAME_BYTES_MAX => {
                self.name.end = body.len();
                Advance::Hold
            }
            GemmaState::Name => Advance::Reject,
            GemmaState::Arguments if self.arguments.push(c) => self.parse_call(body, offered),
            GemmaState::Arguments => Advance::Hold,
        }
    }

    fn finish(&mut self, body: &str, _offered: &Toolset, end: FormEnd) -> Option<RecognizedForm> {
        let is_cut_off = self.state == GemmaState::Arguments && end == FormEnd::Stream;
        is_cut_off.then(|| {
            let call = json_call::unusable_call(body.trim_end(), json_call::CUT_OFF);
            RecognizedForm::Calls(vec![call])
        })
    }
}

impl GemmaRecognizer {
    fn parse_call(&mut self, body: &str, offered: &Toolset) -> Advance {
        let (arguments, was_repaired) = std::mem::take(&mut self.arguments).into_value();
        let call = ParsedCall {
            raw: body,
            server: None,
            name: &body[self.name.clone()],
            arguments,
            form: FORM,
            was_repaired,
            has_end: true,
            is_unmistakable: true,
        };
        match json_call::resolve_call(call, offered) {
            Some(event) => Advance::Found(RecognizedForm::Calls(vec![event])),
            None => Advance::Text,
        }
    }
}
