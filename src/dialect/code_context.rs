//! Tracks Markdown code in the shown text: line starts, fences (CommonMark 4.5) and code spans. Also
//! decides whether withheld backticks may precede a call.

/// Longer runs of backticks never precede a call.
const BACKTICKS_MAX: usize = 32;
/// Role and channel of a gpt-oss message with a call, without the special tokens around them.
const HEADER: &[u8] = b"assistantcommentary ";
const INFO_CHARS_MAX: usize = 32;
const WHITESPACE_CHARS_MAX: usize = 256;

#[derive(Debug)]
pub(super) struct CodeContext {
    pub(super) last_char: Option<char>,
    /// The current line contains only whitespace so far.
    pub(super) is_at_line_start: bool,
    /// The last non-whitespace character on the current line.
    last_visible_char: Option<char>,
    /// The number of characters of [`HEADER`] that the text ends with.
    header_length: usize,
    /// The current line contains only whitespace, quote markers or list markers so far.
    may_open_fence: bool,
    /// The length of the run that opened the current fence.
    fence_length: Option<usize>,
    /// The current fence's character: a backtick or a tilde.
    fence_char: char,
    is_on_opening_line: bool,
    /// The length of the unfinished run of backticks or tildes; 0 if there is none.
    run_length: usize,
    run_char: char,
    /// The unfinished run may open or close a fence.
    is_fence_run: bool,
    /// The length of the backtick run that opened a code span on this line.
    span_length: Option<usize>,
}

impl Default for CodeContext {
    fn default() -> Self {
        Self {
            last_char: None,
            is_at_line_start: true,
            last_visible_char: None,
            header_length: 0,
            may_open_fence: true,
            fence_length: None,
            fence_char: '`',
            is_on_opening_line: false,
            run_length: 0,
            run_char: '`',
            is_fence_run: false,
            span_length: None,
        }
    }
}

impl CodeContext {
    pub(super) fn is_in_fence(&self) -> bool {
        self.fence_length.is_some() || self.run_length >= 3 && self.is_fence_run
    }

    /// Whether a code span was opened on this line and not closed. It may turn out to be plain
    /// backticks if it is never closed.
    pub(super) fn is_in_code_span(&self) -> bool {
        self.span_length.is_some()
    }

    pub(super) fn is_after_colon(&self) -> bool {
        self.last_char.is_some_and(char::is_whitespace)
            && matches!(self.last_visible_char, Some(':' | '：'))
    }

    pub(super) fn is_after_header(&self) -> bool {
        self.header_length == HEADER.len()
    }

    /// Records a hidden form, which counts as a line break.
    pub(super) fn start_line(&mut self) {
        self.push_char('\n');
    }

    pub(super) fn push(&mut self, text: &str) {
        text.chars().for_each(|c| self.push_char(c));
    }

    fn push_char(&mut self, c: char) {
        self.last_char = Some(c);
        self.header_length = match HEADER.get(self.header_length) {
            Some(next) if char::from(*next) == c => self.header_length + 1,
            _ => usize::from(c == 'a'),
        };
        if c == '\n' {
            self.last_visible_char = None;
        } else if !c.is_whitespace() {
            self.last_visible_char = Some(c);
        }
        let continues_run = self.run_length > 0 && c == self.run_char;
        let starts_run = self.run_length == 0 && (c == '`' || c == '~' && self.may_open_fence);
        if continues_run || starts_run {
            if self.run_length == 0 {
                // A fence closes with the character that opened it.
                self.is_fence_run =
                    self.may_open_fence && (self.fence_length.is_none() || c == self.fence_char);
                self.fence_char = if self.fence_length.is_none() {
                    c
                } else {
                    self.fence_char
                };
            }
            self.run_length += 1;
            self.run_char = c;
            self.is_at_line_start = false;
            self.may_open_fence = false;
            return;
        }
        if self.run_length >= 3 {
            self.end_run();
        }
        self.span_length = match self.span_length {
            span if self.run_length == 0 || self.run_char != '`' => span,
            None => Some(self.run_length),
            span => span.filter(|&length| length != self.run_length),
        };
        self.run_length = 0;
        match c {
            '\n' => {
                self.span_length = None;
                self.is_at_line_start = true;
                self.may_open_fence = true;
                self.is_on_opening_line = false;
            }
            c if c.is_whitespace() => {}
            _ => {
                self.is_at_line_start = false;
                self.may_open_fence &= c.is_ascii_digit() || ">-*+.)".contains(c);
            }
        }
    }

    fn end_run(&mut self) {
        match self.fence_length {
            None if self.is_fence_run => {
                self.fence_length = Some(self.run_length);
                self.is_on_opening_line = true;
            }
            // "```like this```" is a code span, not a fence.
            Some(_) if self.is_on_opening_line => self.fence_length = None,
            Some(length) if self.is_fence_run && self.run_length >= length => {
                self.fence_length = None;
            }
            _ => {}
        }
    }
}

/// The withheld start of a fence or code span: backticks, then an info word and whitespace.
#[derive(Debug, Default)]
pub(super) struct BacktickRun {
    pub(super) backticks: usize,
    info_chars: usize,
    whitespace_chars: usize,
}

impl BacktickRun {
    /// Whether a call may begin after the text so far. In a code span, it must follow the backticks
    /// directly.
    pub(super) fn can_precede_call(&self) -> bool {
        self.backticks >= 3 || self.info_chars + self.whitespace_chars == 0
    }

    /// Whether `c` may begin a call in a fence: it follows whitespace or is a bracket.
    pub(super) fn can_start_call(&self, c: char) -> bool {
        self.backticks >= 3
            && !c.is_whitespace()
            && (self.whitespace_chars > 0 || "{[<".contains(c))
    }

    /// Adds `c`. Returns false if `c` cannot belong to the start of a fence or code span.
    pub(super) fn push(&mut self, c: char) -> bool {
        match c {
            '`' if self.info_chars + self.whitespace_chars == 0 => {
                self.backticks += 1;
                self.backticks <= BACKTICKS_MAX
            }
            _ if self.backticks < 3 => false,
            c if c.is_ascii_alphanumeric() || "_+-.#".contains(c) => {
                self.info_chars += 1;
                self.whitespace_chars == 0 && self.info_chars <= INFO_CHARS_MAX
            }
            c if c.is_whitespace() => {
                self.whitespace_chars += 1;
                self.whitespace_chars <= WHITESPACE_CHARS_MAX
            }
            _ => false,
        }
    }
}
