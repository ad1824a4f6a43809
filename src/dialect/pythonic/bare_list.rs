//! Lists without an opening marker. Only a list alone on its line is a call; others are links,
//! indexes or examples.

use super::super::markers::CLOSERS;
use super::super::recognizer::{Advance, OpeningContext};
use super::{BracketScanner, PythonicRecognizer, State};
use crate::domain::Toolset;

/// Whether a list may be a call here: outside code, at the start of a line or directly after a
/// colon.
pub(super) fn can_be_bare_list(opening: &OpeningContext<'_>) -> bool {
    let in_fence = match opening.fence_info {
        Some(info) => opening.at_line_start && matches!(info, "" | "tool_code"),
        None => !(opening.is_in_fence || opening.is_in_code_span || opening.is_quoted()),
    };
    in_fence && (opening.at_line_start || opening.after_colon)
}

impl PythonicRecognizer {
    /// Handles the rest of the line after a list without a marker.
    pub(super) fn step_after_list(&mut self, c: char, blank: bool, char_start: usize) -> Advance {
        match c {
            '\n' => {
                self.state = State::StandsAlone;
                Advance::Reject
            }
            '`' if self.in_fence => {
                self.state = State::StandsAlone;
                Advance::Reject
            }
            c if c.is_whitespace() || matches!(c, ';' | ',') => {
                self.enter(State::ListClosed { blank: true })
            }
            '<' => self.enter(State::MessageEnd { start: char_start }),
            '[' if blank => {
                self.brackets = BracketScanner::default();
                self.brackets.push(c);
                self.list_start = char_start;
                self.enter(State::Item)
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
                .parse_items(body, offered)
                .map_or(Advance::Text, Advance::Found);
        }
        if CLOSERS.iter().any(|known| known.starts_with(closer)) {
            return Advance::Hold;
        }
        Advance::Reject
    }
}
