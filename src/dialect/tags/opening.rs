//! Recognizes the start of a tag call: the opening tag of a form or, in GLM's form, the tool name.
//! `parser` reads the rest.

use super::super::markers::OpeningMarker;
use super::super::recognizer::{
    Advance, BoxedRecognizer, FormEnd, OpeningContext, RecognizedForm, Recognizer,
};
use super::grammar::{GLM, TAG_BYTES_MAX, TAG_GRAMMARS, TagMatch};
use super::parser::{TagCursor, TagParser, next_quote};
use crate::domain::Toolset;

const NAME_BYTES_MAX: usize = 256;

/// Opens one recognizer for all forms that begin with a tag.
pub(in super::super) fn open(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    let is_in_code = opening.is_quoted() || opening.is_in_code_span && opening.wrapper.is_none();
    let can_open = opening.first_char == '<' && !is_in_code && !opening.offered.is_empty();
    can_open.then(|| {
        Box::new(OpeningTagRecognizer {
            wrapper: opening.wrapper,
            open_quote: None,
            parser: None,
        }) as _
    })
}

/// Opens a recognizer for the form that begins with the tool name (GLM). Only its wrapper
/// distinguishes it from text.
pub(in super::super) fn open_named(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    let is_wrapped = opening
        .wrapper
        .is_some_and(|wrapper| wrapper.opening == "<tool_call>");
    let starts_name = opening.first_char.is_alphabetic() || opening.first_char == '_';
    let can_open = is_wrapped && starts_name && !opening.offered.is_empty();
    can_open.then(|| {
        Box::new(BareNameRecognizer {
            wrapper: opening.wrapper,
            parser: None,
        }) as _
    })
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || "_-.:/".contains(c)
}

#[derive(Debug)]
struct OpeningTagRecognizer {
    wrapper: Option<&'static OpeningMarker>,
    open_quote: Option<char>,
    /// The parser for the text after the tag, once the tag is complete.
    parser: Option<TagParser>,
}

impl Recognizer for OpeningTagRecognizer {
    fn step(&mut self, c: char, body: &str, offered: &Toolset) -> Advance {
        let cursor = TagCursor { c, body, offered };
        if let Some(parser) = &mut self.parser {
            return parser.step(cursor);
        }
        self.open_quote = next_quote(self.open_quote, c);
        let mut may_be_tag = false;
        for grammar in &TAG_GRAMMARS {
            match grammar.match_head(body, self.open_quote.is_some()) {
                TagMatch::No => {}
                TagMatch::Partial => may_be_tag = true,
                TagMatch::Complete(tag) => {
                    let parser = TagParser::new(grammar, tag.name, self.wrapper, body.len());
                    let advance = match tag.is_self_closing {
                        true => parser.complete(cursor, body.len()),
                        false => Advance::Hold,
                    };
                    self.parser = Some(parser);
                    return advance;
                }
            }
        }
        match may_be_tag && body.len() <= TAG_BYTES_MAX {
            true => Advance::Hold,
            false => Advance::Reject,
        }
    }

    fn finish(&mut self, body: &str, offered: &Toolset, end: FormEnd) -> Option<RecognizedForm> {
        self.parser.as_mut()?.finish(body, offered, end)
    }

    fn unconsumed_bytes(&self, body: &str) -> usize {
        let parser = self.parser.as_ref();
        parser.map_or(0, |parser| parser.unconsumed_bytes(body))
    }
}

#[derive(Debug)]
struct BareNameRecognizer {
    wrapper: Option<&'static OpeningMarker>,
    /// The parser for the text after the name, once the name is complete.
    parser: Option<TagParser>,
}

impl Recognizer for BareNameRecognizer {
    fn step(&mut self, c: char, body: &str, offered: &Toolset) -> Advance {
        let cursor = TagCursor { c, body, offered };
        if let Some(parser) = &mut self.parser {
            return parser.step(cursor);
        }
        if is_name_char(c) && body.len() <= NAME_BYTES_MAX {
            return Advance::Hold;
        }
        let name = &body[..cursor.offset()];
        let mut parser = TagParser::new(&GLM, Some(name.to_owned()), self.wrapper, name.len());
        let advance = parser.step(cursor);
        self.parser = Some(parser);
        advance
    }

    fn finish(&mut self, body: &str, offered: &Toolset, end: FormEnd) -> Option<RecognizedForm> {
        if self.parser.is_none() && end == FormEnd::Stream {
            let name = Some(body.to_owned());
            self.parser = Some(TagParser::new(&GLM, name, self.wrapper, body.len()));
        }
        self.parser.as_mut()?.finish(body, offered, end)
    }

    fn unconsumed_bytes(&self, body: &str) -> usize {
        let parser = self.parser.as_ref();
        parser.map_or(0, |parser| parser.unconsumed_bytes(body))
    }
}
