//! Lists without an opening marker. Only a list that ends its line contains calls; others are
//! links, indexes or examples.

use super::super::markers::CLOSERS;
use super::super::recognizer::{Advance, OpeningContext};
use super::{BracketScanner, PythonicRecognizer, State};
use crate::domain::Toolset;

/// Whether a list may contain calls here: at the start of a line or after a colon outside code, or
/// at the start of a line in a withheld fence whose info word is missing or `tool_code`.
pub(super) fn can_be_bare_list(opening: &OpeningContext<'_>) -> bool {
    let is_allowed_here = match opening.fence_info {
        Some(info) => opening.is_at_line_start && matches!(info, "" | "tool_code"),
        None => !(opening.is_in_fence || opening.is_in_code_span || opening.is_quoted()),
    };
    is_allowed_here && (opening.is_at_line_start || opening.is_after_colon)
}

impl PythonicRecognizer {
    /// Handles the rest of the line after a list without a marker. The end of the line is not part
    /// of the form, so it is rejected; the state records that the list contains calls.
    pub(super) fn step_after_list(
        &mut self,
        c: char,
        has_separator: bool,
        char_start: usize,
    ) -> Advance {
        match c {
            '\n' => {
                self.state = State::LineEnded;
                Advance::Reject
            }
            '`' if self.is_in_fence => {
                self.state = State::LineEnded;
                Advance::Reject
            }
            c if c.is_whitespace() || matches!(c, ';' | ',') => self.enter(State::ListClosed {
                has_separator: true,
            }),
            '<' => self.enter(State::PossibleCloser { start: char_start }),
            '[' if has_separator => {
                self.brackets = BracketScanner::default();
                self.brackets.push(c);
                self.list_start = char_start;
                self.enter(State::BeforeItem)
            }
            _ => Advance::Reject,
        }
    }

    pub(super) fn step_possible_closer(
        &mut self,
        marker: &str,
        body: &str,
        offered: &Toolset,
    ) -> Advance {
        if CLOSERS.contains(&marker) {
            return self
                .parse_items(body, offered)
                .map_or(Advance::Text, Advance::Found);
        }
        if CLOSERS.iter().any(|closer| closer.starts_with(marker)) {
            return Advance::Hold;
        }
        Advance::Reject
    }
}
