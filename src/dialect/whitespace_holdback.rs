//! The white space where a piece begins: at the start of the stream and next to
//! thinking and calls. It is held back, since between two calls it is nothing.

/// More white space than this is text.
const HELD_BYTES_MAX: usize = 4096;

#[derive(Debug)]
pub(super) struct WhitespaceHoldback {
    withheld: String,
    /// Semicolons and commas separate calls (DIALECTS 4).
    after_call: bool,
}

impl WhitespaceHoldback {
    pub(super) fn new(after_call: bool) -> Self {
        Self {
            withheld: String::new(),
            after_call,
        }
    }

    /// Whether `c` is part of the seam.
    pub(super) fn accepts(&mut self, c: char) -> bool {
        let belongs = c.is_whitespace() || self.after_call && matches!(c, ';' | ',');
        let takes = belongs && self.withheld.len() < HELD_BYTES_MAX;
        if takes {
            self.withheld.push(c);
        }
        takes
    }

    pub(super) fn is_after_call(&self) -> bool {
        self.after_call
    }

    pub(super) fn withheld(&self) -> &str {
        &self.withheld
    }

    /// What of it is not shown when text follows, and what is: blank lines go, an
    /// indentation that means code in Markdown stays.
    pub(super) fn split_before_text(&self) -> (&str, &str) {
        let separators = self.withheld.trim_start();
        if !separators.is_empty() {
            return self
                .withheld
                .split_at(self.withheld.len() - separators.len());
        }
        let line = self.withheld.rfind('\n').map_or(0, |at| at + 1);
        let (blank, indentation) = self.withheld.split_at(line);
        if indentation.starts_with("    ") || indentation.starts_with('\t') {
            (blank, indentation)
        } else {
            (&self.withheld, "")
        }
    }
}
