//! Recognizes the opening and closing markers in `markers`. The other recognizers read the text
//! between them.

use super::markers::{CLOSERS, WRAPPERS};
use super::recognizer::{Advance, BoxedRecognizer, OpeningContext, RecognizedForm, Recognizer};
use crate::domain::Toolset;

pub(super) fn open(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    let can_open = match opening.first_char {
        '<' | '[' => !opening.is_quoted(),
        'f' => opening.is_at_line_start && !opening.is_in_fence && opening.wrapper.is_none(),
        _ => false,
    };
    (can_open && !opening.offered.is_empty()).then(|| Box::new(OpenerRecognizer) as _)
}

/// Maximum length of extra brackets before a closing marker, including whitespace between them.
const EXTRA_BRACKETS_BYTES_MAX: usize = 32;

/// Recognizes a closing marker only directly after a call; elsewhere, it is text. Extra brackets
/// before the marker are hidden as part of it.
pub(super) fn close(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    let can_open = opening.is_after_call && matches!(opening.first_char, '<' | '[' | '}' | ']');
    can_open.then(|| Box::new(CloserRecognizer) as _)
}

#[derive(Debug)]
struct OpenerRecognizer;

impl Recognizer for OpenerRecognizer {
    fn step(&mut self, _c: char, body: &str, _offered: &Toolset) -> Advance {
        let mut candidates = WRAPPERS
            .iter()
            .filter(|wrapper| wrapper.opening.starts_with(body));
        match candidates.next() {
            Some(wrapper) if wrapper.opening == body => {
                Advance::Found(RecognizedForm::WrapperStart(wrapper))
            }
            Some(_) => Advance::Hold,
            None => Advance::Reject,
        }
    }
}

#[derive(Debug)]
struct CloserRecognizer;

impl Recognizer for CloserRecognizer {
    fn step(&mut self, _c: char, body: &str, _offered: &Toolset) -> Advance {
        let closer = body.trim_start_matches(|c: char| "}]".contains(c) || c.is_whitespace());
        if CLOSERS.contains(&closer) {
            Advance::Found(RecognizedForm::Delimiter)
        } else if body.len() - closer.len() <= EXTRA_BRACKETS_BYTES_MAX
            && CLOSERS.iter().any(|marker| marker.starts_with(closer))
        {
            Advance::Hold
        } else {
            Advance::Reject
        }
    }
}
