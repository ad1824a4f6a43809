//! Withholds whitespace at the start of the stream and after thinking, calls and markers, until it
//! is known whether text follows.

/// Whitespace beyond this limit is text.
const HELD_BYTES_MAX: usize = 4096;

#[derive(Debug)]
pub(super) struct WhitespaceHoldback {
    withheld: String,
    /// After a call, semicolons and commas are withheld too, as separators between calls.
    is_after_call: bool,
}

impl WhitespaceHoldback {
    pub(super) fn new(is_after_call: bool) -> Self {
        Self {
            withheld: String::new(),
            is_after_call,
        }
    }

    /// Withholds `c` if it is whitespace or a separator. Returns whether it was withheld.
    pub(super) fn withhold(&mut self, c: char) -> bool {
        let can_withhold = c.is_whitespace() || self.is_after_call && matches!(c, ';' | ',');
        let is_withheld = can_withhold && self.withheld.len() < HELD_BYTES_MAX;
        if is_withheld {
            self.withheld.push(c);
        }
        is_withheld
    }

    pub(super) fn is_after_call(&self) -> bool {
        self.is_after_call
    }

    pub(super) fn withheld(&self) -> &str {
        &self.withheld
    }

    /// Splits the withheld text into a hidden and a shown part, for use when text follows.
    /// Separators, and indentation that means code in Markdown, are shown; other whitespace is
    /// hidden.
    pub(super) fn split_before_text(&self) -> (&str, &str) {
        let separators = self.withheld.trim_start();
        if !separators.is_empty() {
            return self
                .withheld
                .split_at(self.withheld.len() - separators.len());
        }
        let line_start = self.withheld.rfind('\n').map_or(0, |newline| newline + 1);
        let (blank_lines, indentation) = self.withheld.split_at(line_start);
        if indentation.starts_with("    ") || indentation.starts_with('\t') {
            (blank_lines, indentation)
        } else {
            (&self.withheld, "")
        }
    }
}
