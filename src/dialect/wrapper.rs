//! Recognizes the `markers` around calls. The other recognizers read the text between them.

use super::markers::{CLOSERS, WRAPPERS};
use super::recognizer::{Advance, BoxedRecognizer, OpeningContext, RecognizedForm, Recognizer};
use crate::domain::Toolset;

pub(super) fn open(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    let can_open = match opening.marker {
        '<' | '[' => !opening.is_quoted(),
        'f' => opening.at_line_start && !opening.is_in_fence && opening.wrapper.is_none(),
        _ => false,
    };
    (can_open && !opening.offered.is_empty()).then(|| Box::new(OpenerRecognizer) as _)
}

/// Maximum length of extra brackets, including whitespace between them.
const STRAY_BYTES_MAX: usize = 32;

/// Only directly after a call; elsewhere a closing tag is text. Extra brackets before it are
/// dropped with it.
pub(super) fn close(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    let can_open = opening.after_call && matches!(opening.marker, '<' | '[' | '}' | ']');
    can_open.then(|| Box::new(CloserRecognizer) as _)
}

#[derive(Debug)]
struct OpenerRecognizer;

impl Recognizer for OpenerRecognizer {
    fn step(&mut self, _c: char, body: &str, _offered: &Toolset) -> Advance {
        let mut starts = WRAPPERS
            .iter()
            .filter(|wrapper| wrapper.opening.starts_with(body));
        match starts.next() {
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
        } else if body.len() - closer.len() <= STRAY_BYTES_MAX
            && CLOSERS.iter().any(|marker| marker.starts_with(closer))
        {
            Advance::Hold
        } else {
            Advance::Reject
        }
    }
}
