//! The start of a tag call: an opening tag of one of the forms, or the bare tool name (GLM).
//! `parser` reads the rest.

use super::super::markers::Wrapper;
use super::super::recognizer::{
    Advance, BoxedRecognizer, FormEnd, OpeningContext, RecognizedForm, Recognizer,
};
use super::grammar::{GLM, TAG_BYTES_MAX, TAG_GRAMMARS, TagMatch};
use super::parser::{TagCursor, TagParser, next_quote};
use crate::domain::Toolset;

const NAME_BYTES_MAX: usize = 256;

/// Opens all forms that begin with a tag at once.
pub(in super::super) fn open(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    let quoted = opening.is_quoted() || opening.is_in_code_span && opening.wrapper.is_none();
    let can_open = opening.marker == '<' && !quoted && !opening.offered.is_empty();
    can_open.then(|| {
        Box::new(OpeningTagRecognizer {
            wrapper: opening.wrapper,
            quote: None,
            call: None,
        }) as _
    })
}

/// Opens the form that begins with a name; only its wrapper distinguishes it from text.
pub(in super::super) fn open_named(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    let wrapped = opening.wrapper.is_some_and(|w| w.opening == "<tool_call>");
    let first = opening.marker.is_alphabetic() || opening.marker == '_';
    let can_open = wrapped && first && !opening.offered.is_empty();
    can_open.then(|| {
        Box::new(BareNameRecognizer {
            wrapper: opening.wrapper,
            call: None,
        }) as _
    })
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || "_-.:/".contains(c)
}

#[derive(Debug)]
struct OpeningTagRecognizer {
    wrapper: Option<&'static Wrapper>,
    /// The quote that is open in the tag.
    quote: Option<char>,
    /// Parser for the text after the tag, once the tag is complete.
    call: Option<TagParser>,
}

impl Recognizer for OpeningTagRecognizer {
    fn step(&mut self, c: char, body: &str, offered: &Toolset) -> Advance {
        let cursor = TagCursor { c, body, offered };
        if let Some(call) = &mut self.call {
            return call.step(cursor);
        }
        self.quote = next_quote(self.quote, c);
        let mut may_be_tag = false;
        for grammar in &TAG_GRAMMARS {
            match grammar.match_head(body, self.quote.is_some()) {
                TagMatch::No => {}
                TagMatch::Partial => may_be_tag = true,
                TagMatch::Complete(tag) => {
                    let call = TagParser::new(grammar, tag.name, self.wrapper, body.len());
                    let step = match tag.is_self_closing {
                        true => call.complete(cursor, body.len()),
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

    fn finish(&mut self, body: &str, offered: &Toolset, end: FormEnd) -> Option<RecognizedForm> {
        self.call.as_mut()?.finish(body, offered, end)
    }

    fn unconsumed_bytes(&self, body: &str) -> usize {
        let call = self.call.as_ref();
        call.map_or(0, |call| call.unconsumed_bytes(body))
    }
}

#[derive(Debug)]
struct BareNameRecognizer {
    wrapper: Option<&'static Wrapper>,
    /// Parser for the text after the name, once the name is complete.
    call: Option<TagParser>,
}

impl Recognizer for BareNameRecognizer {
    fn step(&mut self, c: char, body: &str, offered: &Toolset) -> Advance {
        let cursor = TagCursor { c, body, offered };
        if let Some(call) = &mut self.call {
            return call.step(cursor);
        }
        if is_name(c) && body.len() <= NAME_BYTES_MAX {
            return Advance::Hold;
        }
        let name = &body[..cursor.offset()];
        let mut call = TagParser::new(&GLM, Some(name.to_owned()), self.wrapper, name.len());
        let step = call.step(cursor);
        self.call = Some(call);
        step
    }

    fn finish(&mut self, body: &str, offered: &Toolset, end: FormEnd) -> Option<RecognizedForm> {
        if self.call.is_none() && end == FormEnd::Stream {
            let name = Some(body.to_owned());
            self.call = Some(TagParser::new(&GLM, name, self.wrapper, body.len()));
        }
        self.call.as_mut()?.finish(body, offered, end)
    }

    fn unconsumed_bytes(&self, body: &str) -> usize {
        let call = self.call.as_ref();
        call.map_or(0, |call| call.unconsumed_bytes(body))
    }
}
