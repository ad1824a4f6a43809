//! What a line leaves open for the next one. Small and `Copy`: a line that is still
//! being received is read again and again from a kept copy.

use super::language::Language;

/// How deep code within strings within code is followed.
const FRAMES_MAX: usize = 3;

/// What one language has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct LexState {
    pub mode: LexMode,
    frames: [InterpolationFrame; FRAMES_MAX],
    pub frame_count: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum LexMode {
    #[default]
    Start,
    /// A command goes on behind a backslash.
    Continued,
    Comment {
        block: u8,
        depth: u16,
    },
    /// A string by rule `rule`; `count` and `tag` say which closing it waits for.
    String {
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
        raw: TagContent,
    },
    /// Markup: inside an attribute's value.
    Attribute {
        quote: u8,
        raw: TagContent,
    },
    MarkupComment,
    Cdata,
    /// Style sheets: behind a property's colon.
    Property,
    /// YAML: lines indented deeper than `indent` are text.
    BlockScalar {
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
pub(super) enum TagContent {
    #[default]
    Markup,
    Script,
    Style,
}

/// A string that waits for the end of the code inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct InterpolationFrame {
    pub string_rule: u8,
    /// Brackets that the code has open itself.
    open_brackets: u8,
}

impl LexState {
    /// Begins code inside a string; false where it is nested too deep to be followed.
    pub fn enter_interpolation(&mut self, rule: u8) -> bool {
        let Some(frame) = self.frames.get_mut(usize::from(self.frame_count)) else {
            return false;
        };
        *frame = InterpolationFrame {
            string_rule: rule,
            open_brackets: 0,
        };
        self.frame_count += 1;
        self.mode = LexMode::Start;
        true
    }

    /// The innermost string that code is inside of.
    pub fn innermost_frame(&self) -> Option<InterpolationFrame> {
        let innermost = usize::from(self.frame_count).checked_sub(1)?;
        self.frames.get(innermost).copied()
    }

    pub fn open_bracket(&mut self) {
        if let Some(innermost) = usize::from(self.frame_count).checked_sub(1) {
            self.frames[innermost].open_brackets =
                self.frames[innermost].open_brackets.saturating_add(1);
        }
    }

    /// Closes a bracket of the code inside a string, or the code itself.
    pub fn close_bracket(&mut self) {
        let Some(innermost) = usize::from(self.frame_count).checked_sub(1) else {
            return;
        };
        let frame = &mut self.frames[innermost];
        match frame.open_brackets.checked_sub(1) {
            Some(depth) => frame.open_brackets = depth,
            None => {
                self.mode = LexMode::String {
                    rule: frame.string_rule,
                    count: 0,
                    tag: 0,
                };
                *frame = InterpolationFrame::default();
                self.frame_count -= 1;
            }
        }
    }

    /// Leaves the outermost string that `ends` with its line, and all inside it.
    pub fn leave_strings_where(&mut self, ends: impl Fn(u8) -> bool) {
        let open = &self.frames[..usize::from(self.frame_count)];
        if let Some(outermost) = open.iter().position(|frame| ends(frame.string_rule)) {
            self.frames[outermost..].fill(InterpolationFrame::default());
            self.frame_count = outermost as u8;
            self.mode = LexMode::Start;
        }
    }
}

/// A language inside another one: a script in a page, a fence in Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EmbeddedLanguage {
    pub language: &'static Language,
    pub state: LexState,
    pub end: EmbeddedEnd,
}

/// What ends a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EmbeddedEnd {
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
