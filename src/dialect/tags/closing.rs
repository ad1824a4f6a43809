//! How a call between tags ends: with its own tag, with one that closes what is
//! around it, or with the stream.

use super::super::json_call;
use super::super::recognizer::{Advance, End, Match};
use super::super::scan_event::Piece;
use super::grammar;
use super::parser::{At, Here, TagParser};
use crate::domain::{Offered, Resolved};
use std::ops::Range;

const STRAY: &str =
    "there is text between its arguments, or a value has the tag in it that ends a value";

impl TagParser {
    pub(super) fn in_broken(&mut self, here: Here<'_>, start: usize) -> Advance {
        if !self.is_known(here.offered) {
            return Advance::Reject;
        }
        self.at = At::Broken { start };
        match self.end_tag(here) {
            Some((end, raw_end)) => {
                self.call.json = Some(start..end);
                self.ends(here, raw_end)
            }
            None => Advance::Hold,
        }
    }

    pub(super) fn in_stray(&mut self, here: Here<'_>) -> Advance {
        match self.end_tag(here) {
            Some((_, raw_end)) => {
                self.call.fault = Some(STRAY);
                self.ends(here, raw_end)
            }
            None => Advance::Hold,
        }
    }

    /// Where the call ends, without its end tag and with it, if a tag ends here that
    /// ends it.
    fn end_tag(&self, here: Here<'_>) -> Option<(usize, usize)> {
        if here.c != '>' {
            return None;
        }
        let own = Some(self.grammar.end).filter(|_| !self.grammar.end_is_outside);
        if let Some(inside) = own.and_then(|end| here.body.strip_suffix(end)) {
            return Some((inside.len(), here.body.len()));
        }
        let inside = grammar::outer_ends().find_map(|end| here.body.strip_suffix(end))?;
        let end = inside.trim_end().len();
        Some((end, end))
    }

    /// The call is complete and ends at `raw_end`.
    pub(super) fn ends(&self, here: Here<'_>, raw_end: usize) -> Advance {
        let is_nameless = self.call.name.is_none() && self.call.values.is_empty();
        if is_nameless || self.is_word(here.offered) {
            return Advance::Text;
        }
        match self.piece(here.body, raw_end, true, here.offered) {
            Some(piece) => Advance::Found(Match::Calls(vec![piece])),
            None => Advance::Text,
        }
    }

    /// A bare word that names no tool: the tags around it are being talked about.
    fn is_word(&self, offered: &Offered) -> bool {
        let is_bare = self.grammar.head.is_none() && self.call.values.is_empty();
        let name = self.call.name.as_deref().unwrap_or_default();
        is_bare && self.call.json.is_none() && offered.resolve(None, name) == Resolved::Unknown
    }

    fn piece(&self, body: &str, end: usize, whole: bool, offered: &Offered) -> Option<Piece> {
        self.call
            .piece(self.grammar, &body[..end], body, whole, offered)
    }

    /// Nothing more comes. None where that leaves text.
    pub(super) fn finish(&mut self, body: &str, offered: &Offered, end: End) -> Option<Match> {
        match end {
            End::Stream => self.cut_off(body, offered),
            End::Rejected if !self.is_under_way() => None,
            End::Rejected => {
                let call = self.piece(body, self.call.end, true, offered)?;
                Some(Match::Calls(vec![call]))
            }
        }
    }

    /// What stands at the end of `body` and is none of this call's.
    pub(super) fn again(&self, body: &str) -> usize {
        match self.at {
            At::Tag { start, .. } => body.len() - start,
            At::Over => body.len() - self.call.end,
            _ => 0,
        }
    }

    fn cut_off(&mut self, body: &str, offered: &Offered) -> Option<Match> {
        let pieces = match &self.at {
            At::Value { start } | At::ValueOrEnd { start, .. } if self.ended().is_some() => {
                let (start, tag) = (*start, self.ended()?);
                let rest = tag.end;
                self.over(body, start, tag);
                let call = self.piece(body, self.call.end, false, offered)?;
                with_rest(call, &body[rest..])
            }
            At::Between => vec![self.unended(body, offered)?],
            At::Tag { start, .. } if self.grammar.may_end(&body[*start..]) => {
                vec![self.unended(body, offered)?]
            }
            At::Tag { .. } if !self.is_under_way() && !self.is_known(offered) => return None,
            At::ValueOrEnd { start, tag, .. } => {
                let (start, tag) = (*start, tag.clone());
                self.over(body, start, tag);
                vec![self.piece(body, self.call.end, false, offered)?]
            }
            At::Value { start } => match outer_end(&body[*start..]) {
                Some(length) => {
                    let start = *start;
                    let end = start + length;
                    self.call.close_value(start..end, true);
                    vec![self.piece(body, end, false, offered)?]
                }
                None => vec![cut(body)],
            },
            At::Broken { start } => {
                let end = body.trim_end().len();
                self.call.json = Some(*start..end);
                vec![self.piece(body, end, false, offered)?]
            }
            At::Stray {
                has_value_end: true,
            } => {
                vec![json_call::unusable(body.trim_end(), STRAY)]
            }
            At::Stray { .. } => {
                let call = self.unended(body, offered)?;
                let rest = &body[call.raw().len()..];
                with_rest(call, rest)
            }
            _ => vec![cut(body)],
        };
        Some(Match::Calls(pieces))
    }

    /// The tag in the value under way that seems to have ended the call.
    fn ended(&self) -> Option<Range<usize>> {
        let candidate = self.inside.candidate.as_ref();
        let candidate = candidate.filter(|candidate| candidate.is_lined)?;
        Some(candidate.tag.clone())
    }

    /// Nothing is open in the call, only its end is missing.
    fn unended(&self, body: &str, offered: &Offered) -> Option<Piece> {
        let name = self.call.name.as_deref();
        if self.call.values.is_empty() {
            let is_plain = self.is_wrapped() || self.grammar.tool.is_some();
            match offered.resolve(self.call.server.as_deref(), name?) {
                Resolved::Tool(tool) if is_plain && tool.tool.required().next().is_none() => {}
                Resolved::Unknown if !is_plain => return None,
                _ => return Some(cut(body)),
            }
        }
        self.piece(body, self.call.end, false, offered)
    }
}

/// The call, and what came behind it as text.
fn with_rest(call: Piece, rest: &str) -> Vec<Piece> {
    let rest = rest.trim_start().to_owned();
    let text = (!rest.is_empty()).then_some(Piece::Text(rest));
    [call].into_iter().chain(text).collect()
}

fn cut(body: &str) -> Piece {
    json_call::unusable(body.trim_end(), json_call::CUT_OFF)
}

/// The bytes of the value in `text`, where the end of a wrapper is all that ends it.
fn outer_end(text: &str) -> Option<usize> {
    let text = text.trim_end();
    let inside = grammar::outer_ends().find_map(|end| text.strip_suffix(end))?;
    Some(inside.len())
}
