//! Lists without a tag: only one that stands alone on its line is a call, and no
//! link, index or example.

use super::super::markers::CLOSERS;
use super::super::recognizer::{Advance, OpeningContext};
use super::{BracketScanner, PythonicRecognizer, PythonicState};
use crate::domain::Toolset;

/// Whether a list may be a call here: not in code, and where its line begins or right
/// behind what announces it.
pub(super) fn can_be_bare_list(opening: &OpeningContext<'_>) -> bool {
    let in_fence = match opening.fence_info {
        Some(info) => opening.at_line_start && matches!(info, "" | "tool_code"),
        None => !(opening.is_in_fence || opening.is_in_code_span || opening.is_quoted()),
    };
    in_fence && (opening.at_line_start || opening.after_colon)
}

impl PythonicRecognizer {
    /// What stands behind a list without a tag, on its line.
    pub(super) fn step_after_list(&mut self, c: char, blank: bool, here: usize) -> Advance {
        match c {
            '\n' => {
                self.state = PythonicState::StandsAlone;
                Advance::Reject
            }
            '`' if self.in_fence => {
                self.state = PythonicState::StandsAlone;
                Advance::Reject
            }
            c if c.is_whitespace() || matches!(c, ';' | ',') => {
                self.hold(PythonicState::ListClosed { blank: true })
            }
            '<' => self.hold(PythonicState::MessageEnd { start: here }),
            '[' if blank => {
                self.brackets = BracketScanner::default();
                self.brackets.push(c);
                self.list_start = here;
                self.hold(PythonicState::Item)
            }
            _ => Advance::Reject,
        }
    }

    pub(super) fn step_message_end(
        &mut self,
        closer: &str,
        body: &str,
        offered: &Toolset,
    ) -> Advance {
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
