//! What a line leaves open for the next one. Small and `Copy`: a line that is still
//! being received is read again and again from a kept copy.

use super::language::Language;

/// How deep code within strings within code is followed.
const FRAMES_MAX: usize = 3;

/// What one language has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct State {
    pub mode: Mode,
    frames: [Frame; FRAMES_MAX],
    pub height: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Mode {
    #[default]
    Start,
    /// A command goes on behind a backslash.
    Continued,
    Comment {
        block: u8,
        depth: u16,
    },
    /// A string by rule `rule`; `count` and `tag` say which closing it waits for.
    Quote {
        rule: u8,
        count: u8,
        tag: u32,
    },
    /// Text until a line that is the word with this fingerprint.
    Heredoc {
        word: u32,
    },
    /// Markup: inside a tag, and whose text follows it.
    Tag {
        raw: Raw,
    },
    /// Markup: inside an attribute's value.
    Attribute {
        quote: u8,
        raw: Raw,
    },
    MarkupComment,
    Cdata,
    /// Style sheets: behind a property's colon.
    Property,
    /// YAML: lines indented deeper than `indent` are text.
    Scalar {
        indent: u16,
    },
    /// Diff: behind `@@`.
    Hunk,
    /// Markdown: a fence of a language that is not known.
    Fence {
        mark: u8,
        count: u8,
    },
}

/// What follows a tag's `>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Raw {
    #[default]
    Markup,
    Script,
    Style,
}

/// A string that waits for the end of the code inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Frame {
    pub rule: u8,
    /// Brackets that the code has open itself.
    depth: u8,
}

impl State {
    /// Begins code inside a string; false where it is nested too deep to be followed.
    pub fn enter(&mut self, rule: u8) -> bool {
        let Some(frame) = self.frames.get_mut(usize::from(self.height)) else {
            return false;
        };
        *frame = Frame { rule, depth: 0 };
        self.height += 1;
        self.mode = Mode::Start;
        true
    }

    /// The innermost string that code is inside of.
    pub fn frame(&self) -> Option<Frame> {
        let innermost = usize::from(self.height).checked_sub(1)?;
        self.frames.get(innermost).copied()
    }

    pub fn nest(&mut self) {
        if let Some(innermost) = usize::from(self.height).checked_sub(1) {
            self.frames[innermost].depth = self.frames[innermost].depth.saturating_add(1);
        }
    }

    /// Closes a bracket of the code inside a string, or the code itself.
    pub fn unnest(&mut self) {
        let Some(innermost) = usize::from(self.height).checked_sub(1) else {
            return;
        };
        let frame = &mut self.frames[innermost];
        match frame.depth.checked_sub(1) {
            Some(depth) => frame.depth = depth,
            None => {
                self.mode = Mode::Quote {
                    rule: frame.rule,
                    count: 0,
                    tag: 0,
                };
                *frame = Frame::default();
                self.height -= 1;
            }
        }
    }

    /// Leaves the outermost string that `ends` with its line, and all inside it.
    pub fn leave_where(&mut self, ends: impl Fn(u8) -> bool) {
        let open = &self.frames[..usize::from(self.height)];
        if let Some(outermost) = open.iter().position(|frame| ends(frame.rule)) {
            self.frames[outermost..].fill(Frame::default());
            self.height = outermost as u8;
            self.mode = Mode::Start;
        }
    }
}

/// A language inside another one: a script in a page, a fence in Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Guest {
    pub language: &'static Language,
    pub state: State,
    pub end: GuestEnd,
}

/// What ends a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GuestEnd {
    Script,
    Style,
    /// `?>`; nothing but blanks came yet, so that the code may still turn out a page.
    PageStart,
    /// `?>`
    Page,
    /// A line of at least `count` of `mark`.
    Fence {
        mark: u8,
        count: u8,
    },
}
