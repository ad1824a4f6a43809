//! State that crosses lines. Small and `Copy`, so an unfinished line can be lexed repeatedly from a
//! saved copy.

use super::language::Language;

/// Maximum nesting of code within strings.
const FRAMES_MAX: usize = 3;

/// The open constructs of one language.
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
    /// A command continued by a backslash.
    Continued,
    Comment {
        block: u8,
        depth: u16,
    },
    /// A string of rule `rule`; `count` and `tag` identify its closing delimiter.
    String {
        rule: u8,
        count: u8,
        tag: u32,
    },
    /// Text until a line with the word of this fingerprint.
    Heredoc {
        word: u32,
    },
    /// Markup: inside a tag, whose content is `raw`.
    Tag {
        raw: TagContent,
    },
    /// Markup: inside an attribute value.
    Attribute {
        quote: u8,
        raw: TagContent,
    },
    MarkupComment,
    Cdata,
    /// CSS: after the colon of a property.
    Property,
    /// YAML: lines indented deeper than `indent` are text.
    BlockScalar {
        indent: u16,
    },
    /// Diff: after `@@`.
    Hunk,
    /// Markdown: a fence of an unknown language.
    Fence {
        mark: u8,
        count: u8,
    },
}

/// The content after a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum TagContent {
    #[default]
    Markup,
    Script,
    Style,
}

/// A string interrupted by interpolated code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct InterpolationFrame {
    pub string_rule: u8,
    /// Brackets open within the code.
    open_brackets: u8,
}

impl LexState {
    /// Enters interpolated code; false if it is nested too deeply.
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

    /// The innermost interrupted string.
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

    /// Closes a bracket of the interpolated code, or the code itself.
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

    /// Leaves the outermost string that `ends` with its line, and everything inside it.
    pub fn leave_strings_where(&mut self, ends: impl Fn(u8) -> bool) {
        let open = &self.frames[..usize::from(self.frame_count)];
        if let Some(outermost) = open.iter().position(|frame| ends(frame.string_rule)) {
            self.frames[outermost..].fill(InterpolationFrame::default());
            self.frame_count = outermost as u8;
            self.mode = LexMode::Start;
        }
    }
}

/// An embedded language: a script in a page, a fence in Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EmbeddedLanguage {
    pub language: &'static Language,
    pub state: LexState,
    pub end: EmbeddedEnd,
}

/// What ends an embedded language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EmbeddedEnd {
    Script,
    Style,
    /// `?>`; only blanks so far, so the code may turn out to be a page.
    PageStart,
    /// `?>`
    Page,
    /// A line of at least `count` of `mark`.
    Fence {
        mark: u8,
        count: u8,
    },
}
