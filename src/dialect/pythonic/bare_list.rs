//! Lists without a tag: only one that stands alone on its line is a call, and no
//! link, index or example.

use super::super::markers::CLOSERS;
use super::super::recognizer::{Advance, Opening};
use super::{At, BracketScanner, Pythonic};
use crate::domain::Offered;

/// Whether a list may be a call here: not in code, and where its line begins or right
/// behind what announces it.
pub(super) fn may_be_bare(opening: &Opening<'_>) -> bool {
    let in_fence = match opening.fence {
        Some(info) => opening.at_line_start && matches!(info, "" | "tool_code"),
        None => !(opening.in_code || opening.in_span || opening.quoted()),
    };
    in_fence && (opening.at_line_start || opening.after_colon)
}

impl Pythonic {
    /// What stands behind a list without a tag, on its line.
    pub(super) fn behind(&mut self, c: char, blank: bool, here: usize) -> Advance {
        match c {
            '\n' => {
                self.at = At::Alone;
                Advance::Reject
            }
            '`' if self.in_fence => {
                self.at = At::Alone;
                Advance::Reject
            }
            c if c.is_whitespace() || matches!(c, ';' | ',') => {
                self.hold(At::Closed { blank: true })
            }
            '<' => self.hold(At::Closer { start: here }),
            '[' if blank => {
                self.outline = BracketScanner::default();
                self.outline.push(c);
                self.list_start = here;
                self.hold(At::Item)
            }
            _ => Advance::Reject,
        }
    }

    pub(super) fn closer(&mut self, closer: &str, body: &str, offered: &Offered) -> Advance {
        if CLOSERS.contains(&closer) {
            return self
                .read(body, offered)
                .map_or(Advance::Text, Advance::Found);
        }
        if CLOSERS.iter().any(|one| one.starts_with(closer)) {
            return Advance::Hold;
        }
        Advance::Reject
    }
}
