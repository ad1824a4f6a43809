//! How a call between tags begins: with a tag of one of the forms, or with the bare
//! name of the tool (GLM). `parser` reads the rest.

use super::super::markers::Wrapper;
use super::super::recognizer::{Advance, Candidate, End, Match, Opening, Recognizer};
use super::grammar::{Fit, HEADED, NAMED, TAG_BYTES_MAX};
use super::parser::{Here, TagParser, quoted};
use crate::domain::Offered;

const NAME_BYTES_MAX: usize = 256;

/// The forms that begin with a tag, all at once.
pub(in super::super) fn open(opening: &Opening<'_>) -> Option<Candidate> {
    let quoted = opening.quoted() || opening.in_span && opening.wrapper.is_none();
    let may = opening.marker == '<' && !quoted && !opening.offered.is_empty();
    may.then(|| {
        Box::new(Head {
            wrapper: opening.wrapper,
            quote: None,
            call: None,
        }) as _
    })
}

/// The form that begins with a name, which only its wrapper tells from text.
pub(in super::super) fn open_named(opening: &Opening<'_>) -> Option<Candidate> {
    let wrapped = opening.wrapper.is_some_and(|w| w.opens == "<tool_call>");
    let first = opening.marker.is_alphabetic() || opening.marker == '_';
    let may = wrapped && first && !opening.offered.is_empty();
    may.then(|| {
        Box::new(Name {
            wrapper: opening.wrapper,
            call: None,
        }) as _
    })
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || "_-.:/".contains(c)
}

#[derive(Debug)]
struct Head {
    wrapper: Option<&'static Wrapper>,
    /// The quotation mark that is open in the tag.
    quote: Option<char>,
    /// What follows the tag, once it is complete.
    call: Option<TagParser>,
}

impl Recognizer for Head {
    fn step(&mut self, c: char, body: &str, offered: &Offered) -> Advance {
        let here = Here { c, body, offered };
        if let Some(call) = &mut self.call {
            return call.step(here);
        }
        self.quote = quoted(self.quote, c);
        let mut may_be_tag = false;
        for grammar in &HEADED {
            match grammar.head_fit(body, self.quote.is_some()) {
                Fit::No => {}
                Fit::Partial => may_be_tag = true,
                Fit::Whole(tag) => {
                    let call = TagParser::new(grammar, tag.name, self.wrapper, body.len());
                    let step = match tag.is_empty {
                        true => call.ends(here, body.len()),
                        false => Advance::Hold,
                    };
                    self.call = Some(call);
                    return step;
                }
            }
        }
        match may_be_tag && body.len() <= TAG_BYTES_MAX {
            true => Advance::Hold,
            false => Advance::Reject,
        }
    }

    fn finish(&mut self, body: &str, offered: &Offered, end: End) -> Option<Match> {
        self.call.as_mut()?.finish(body, offered, end)
    }

    fn again(&self, body: &str) -> usize {
        let call = self.call.as_ref();
        call.map_or(0, |call| call.again(body))
    }
}

#[derive(Debug)]
struct Name {
    wrapper: Option<&'static Wrapper>,
    /// What follows the name, once it is complete.
    call: Option<TagParser>,
}

impl Recognizer for Name {
    fn step(&mut self, c: char, body: &str, offered: &Offered) -> Advance {
        let here = Here { c, body, offered };
        if let Some(call) = &mut self.call {
            return call.step(here);
        }
        if is_name(c) && body.len() <= NAME_BYTES_MAX {
            return Advance::Hold;
        }
        let name = &body[..here.at()];
        let mut call = TagParser::new(&NAMED, Some(name.to_owned()), self.wrapper, name.len());
        let step = call.step(here);
        self.call = Some(call);
        step
    }

    fn finish(&mut self, body: &str, offered: &Offered, end: End) -> Option<Match> {
        if self.call.is_none() && end == End::Stream {
            let name = Some(body.to_owned());
            self.call = Some(TagParser::new(&NAMED, name, self.wrapper, body.len()));
        }
        self.call.as_mut()?.finish(body, offered, end)
    }

    fn again(&self, body: &str) -> usize {
        let call = self.call.as_ref();
        call.map_or(0, |call| call.again(body))
    }
}
