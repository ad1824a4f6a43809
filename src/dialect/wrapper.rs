//! Recognizes the literals of `markers` around calls. What stands between them is read by the
//! other recognizers.

use super::markers::{CLOSERS, WRAPPERS};
use super::recognizer::{Advance, Candidate, Match, Opening, Recognizer};
use crate::domain::Offered;

pub(super) fn open(opening: &Opening<'_>) -> Option<Candidate> {
    let may = match opening.marker {
        '<' | '[' => !opening.quoted(),
        'f' => opening.at_line_start && !opening.in_code && opening.wrapper.is_none(),
        _ => false,
    };
    (may && !opening.offered.is_empty()).then(|| Box::new(Opener) as _)
}

/// Bytes of brackets too many, with white space between them.
const STRAY_BYTES_MAX: usize = 32;

/// Right after a call only: elsewhere a closing tag is text.
/// With it goes a bracket too many that stands before it.
pub(super) fn close(opening: &Opening<'_>) -> Option<Candidate> {
    let may = opening.after_call && matches!(opening.marker, '<' | '[' | '}' | ']');
    may.then(|| Box::new(Closer) as _)
}

#[derive(Debug)]
struct Opener;

impl Recognizer for Opener {
    fn step(&mut self, _c: char, body: &str, _offered: &Offered) -> Advance {
        let mut starts = WRAPPERS.iter().filter(|one| one.opens.starts_with(body));
        match starts.next() {
            Some(wrapper) if wrapper.opens == body => Advance::Found(Match::Opens(wrapper)),
            Some(_) => Advance::Hold,
            None => Advance::Reject,
        }
    }
}

#[derive(Debug)]
struct Closer;

impl Recognizer for Closer {
    fn step(&mut self, _c: char, body: &str, _offered: &Offered) -> Advance {
        let closer = body.trim_start_matches(|c: char| "}]".contains(c) || c.is_whitespace());
        if CLOSERS.contains(&closer) {
            Advance::Found(Match::Closes)
        } else if body.len() - closer.len() <= STRAY_BYTES_MAX
            && CLOSERS.iter().any(|one| one.starts_with(closer))
        {
            Advance::Hold
        } else {
            Advance::Reject
        }
    }
}
