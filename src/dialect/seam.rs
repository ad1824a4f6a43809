//! The white space where a piece begins: at the start of the stream and next to
//! thinking and calls. It is held back, since between two calls it is nothing.

/// More white space than this is text.
const HELD_BYTES_MAX: usize = 4096;

#[derive(Debug)]
pub(super) struct Seam {
    held: String,
    /// Semicolons and commas separate calls (DIALECTS 4).
    after_call: bool,
}

impl Seam {
    pub(super) fn new(after_call: bool) -> Self {
        Self {
            held: String::new(),
            after_call,
        }
    }

    /// Whether `c` is part of the seam.
    pub(super) fn takes(&mut self, c: char) -> bool {
        let belongs = c.is_whitespace() || self.after_call && matches!(c, ';' | ',');
        let takes = belongs && self.held.len() < HELD_BYTES_MAX;
        if takes {
            self.held.push(c);
        }
        takes
    }

    /// What of it is shown when text follows: blank lines go, an indentation that
    /// means code in Markdown stays.
    pub(super) fn before_text(&self) -> &str {
        let separators = self.held.trim_start();
        if !separators.is_empty() {
            return separators;
        }
        let indentation = match self.held.rfind('\n') {
            Some(at) => &self.held[at + 1..],
            None => &self.held,
        };
        if indentation.starts_with("    ") || indentation.starts_with('\t') {
            indentation
        } else {
            ""
        }
    }
}
