//! Lexer state that crosses lines. It is small and `Copy`, so an unfinished line can be lexed
//! repeatedly from a saved copy.

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
    /// In no open construct.
    #[default]
    Start,
    /// In a command that the previous line continues with a backslash.
    Continued,
    /// In a block comment. `block` is its index in `CodeSyntax::block_comments`.
    Comment {
        block: u8,
        depth: u16,
    },
    /// In a string. `syntax` is its index in `CodeSyntax::strings`, or the quote in YAML; `count`
    /// and `tag` identify its closing delimiter.
    String {
        syntax: u8,
        count: u8,
        tag: u32,
    },
    /// In a here-document. `word` is the fingerprint of the word that ends it.
    Heredoc {
        word: u32,
    },
    /// Markup: in a tag.
    Tag {
        content: TagContent,
    },
    /// Markup: in an attribute value.
    Attribute {
        quote: u8,
        content: TagContent,
    },
    MarkupComment,
    Cdata,
    /// CSS: after the colon of a property.
    PropertyValue,
    /// YAML: lines indented deeper than `indent` are text.
    BlockScalar {
        indent: u16,
    },
    /// Diff: after `@@`.
    Hunk,
    /// Markdown: in a fence of an unknown language.
    Fence {
        delimiter: u8,
        count: u8,
    },
}

/// The language of the text after a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum TagContent {
    #[default]
    Markup,
    Script,
    Style,
}

/// A string that is interrupted by interpolated code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct InterpolationFrame {
    /// Index in `CodeSyntax::strings`.
    pub string_syntax: u8,
    /// Number of brackets that are open within the code.
    open_brackets: u8,
}

impl LexState {
    /// Enters interpolated code. Returns false if it is nested too deeply.
    pub fn enter_interpolation(&mut self, string_syntax: u8) -> bool {
        let Some(frame) = self.frames.get_mut(usize::from(self.frame_count)) else {
            return false;
        };
        *frame = InterpolationFrame {
            string_syntax,
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

    /// Closes a bracket within the interpolated code, or leaves the code.
    pub fn close_bracket(&mut self) {
        let Some(innermost) = usize::from(self.frame_count).checked_sub(1) else {
            return;
        };
        let frame = &mut self.frames[innermost];
        match frame.open_brackets.checked_sub(1) {
            Some(depth) => frame.open_brackets = depth,
            None => {
                self.mode = LexMode::String {
                    syntax: frame.string_syntax,
                    count: 0,
                    tag: 0,
                };
                *frame = InterpolationFrame::default();
                self.frame_count -= 1;
            }
        }
    }

    /// Leaves the outermost interrupted string whose syntax ends with the line, and everything inside
    /// it. `ends_with_line` receives the index of the syntax in `CodeSyntax::strings`.
    pub fn leave_strings_where(&mut self, ends_with_line: impl Fn(u8) -> bool) {
        let open = &self.frames[..usize::from(self.frame_count)];
        let mut syntaxes = open.iter().map(|frame| frame.string_syntax);
        if let Some(outermost) = syntaxes.position(ends_with_line) {
            self.frames[outermost..].fill(InterpolationFrame::default());
            self.frame_count = outermost as u8;
            self.mode = LexMode::Start;
        }
    }
}

/// A language embedded in another, such as a script in a page or a fence in Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EmbeddedLanguage {
    pub language: &'static Language,
    pub state: LexState,
    pub end: EmbeddedEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EmbeddedEnd {
    Script,
    Style,
    /// `?>`. There was only whitespace so far, so the text may be a page instead of code.
    PageStart,
    /// `?>`
    Page,
    /// A line of `delimiter`, repeated at least `count` times.
    Fence {
        delimiter: u8,
        count: u8,
    },
}
