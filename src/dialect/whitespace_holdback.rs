//! Whitespace at the start of the stream and around thinking and calls. It is withheld because
//! whitespace between two calls is not shown.

/// More whitespace than this is text.
const HELD_BYTES_MAX: usize = 4096;

#[derive(Debug)]
pub(super) struct WhitespaceHoldback {
    withheld: String,
    /// After a call, semicolons and commas are separators too.
    after_call: bool,
}

impl WhitespaceHoldback {
    pub(super) fn new(after_call: bool) -> Self {
        Self {
            withheld: String::new(),
            after_call,
        }
    }

    /// Whether `c` is withheld.
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

    /// The withheld text split into a hidden and a shown part, for use when text follows. Blank
    /// lines are hidden; indentation that means code in Markdown is shown.
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
