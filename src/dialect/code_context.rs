//! Tracks Markdown code in the text: line starts, fences (CommonMark 4.5) and code spans. Also
//! decides whether a withheld run of backticks may precede a call.

/// Longer runs of backticks open nothing.
const RUN_MAX: usize = 32;
const INFO_CHARS_MAX: usize = 32;
const BLANK_CHARS_MAX: usize = 256;

/// Tracks lines, fences and code spans in the shown text.
#[derive(Debug)]
pub(super) struct FenceTracker {
    pub(super) last_char: Option<char>,
    /// Only whitespace since the start of the line.
    pub(super) at_line_start: bool,
    /// Last non-whitespace character on the line.
    last_word: Option<char>,
    /// Only whitespace, quote markers or list markers since the start of the line.
    may_open_fence: bool,
    /// Length of the run that opened the current fence.
    fence: Option<usize>,
    /// Character that the current fence is made of: a backtick or a tilde.
    fence_char: char,
    on_opening_line: bool,
    run: usize,
    run_of: char,
    run_starts_line: bool,
    /// Length of the backtick run that opened a code span on this line.
    span: Option<usize>,
}

impl Default for FenceTracker {
    fn default() -> Self {
        Self {
            last_char: None,
            at_line_start: true,
            last_word: None,
            may_open_fence: true,
            fence: None,
            fence_char: '`',
            on_opening_line: false,
            run: 0,
            run_of: '`',
            run_starts_line: false,
            span: None,
        }
    }
}

impl FenceTracker {
    pub(super) fn is_in_fence(&self) -> bool {
        self.fence.is_some() || self.run >= 3 && self.run_starts_line
    }

    /// A code span cannot be confirmed until its line ends, so this looks only backwards.
    pub(super) fn is_in_code_span(&self) -> bool {
        self.span.is_some()
    }

    pub(super) fn is_after_colon(&self) -> bool {
        self.last_char.is_some_and(char::is_whitespace)
            && matches!(self.last_word, Some(':' | '：'))
    }

    /// Counts an omitted call or thinking block as a line break.
    pub(super) fn start_line(&mut self) {
        self.show_char('\n');
    }

    pub(super) fn push(&mut self, text: &str) {
        text.chars().for_each(|c| self.show_char(c));
    }

    fn show_char(&mut self, c: char) {
        self.last_char = Some(c);
        if c == '\n' {
            self.last_word = None;
        } else if !c.is_whitespace() {
            self.last_word = Some(c);
        }
        let continues_run = self.run > 0 && c == self.run_of;
        let starts_run = self.run == 0 && (c == '`' || c == '~' && self.may_open_fence);
        if continues_run || starts_run {
            if self.run == 0 {
                // A fence closes with the character that opened it.
                self.run_starts_line =
                    self.may_open_fence && (self.fence.is_none() || c == self.fence_char);
                self.fence_char = if self.fence.is_none() {
                    c
                } else {
                    self.fence_char
                };
            }
            self.run += 1;
            self.run_of = c;
            self.at_line_start = false;
            self.may_open_fence = false;
            return;
        }
        if self.run >= 3 {
            self.end_run();
        }
        self.span = match self.span {
            span if self.run == 0 || self.run_of != '`' => span,
            None => Some(self.run),
            span => span.filter(|&run| run != self.run),
        };
        self.run = 0;
        match c {
            '\n' => {
                self.span = None;
                self.at_line_start = true;
                self.may_open_fence = true;
                self.on_opening_line = false;
            }
            c if c.is_whitespace() => {}
            _ => {
                self.at_line_start = false;
                self.may_open_fence &= c.is_ascii_digit() || ">-*+.)".contains(c);
            }
        }
    }

    fn end_run(&mut self) {
        match self.fence {
            None if self.run_starts_line => {
                self.fence = Some(self.run);
                self.on_opening_line = true;
            }
            // "```like this```" is a code span, not a fence.
            Some(_) if self.on_opening_line => self.fence = None,
            Some(length) if self.run_starts_line && self.run >= length => self.fence = None,
            _ => {}
        }
    }
}

/// A withheld start of a fence or code span.
#[derive(Debug, Default)]
pub(super) struct BacktickRun {
    pub(super) length: usize,
    info: usize,
    blank: usize,
}

impl BacktickRun {
    /// In a code span, a call must follow the backticks directly.
    pub(super) fn can_contain_call(&self) -> bool {
        self.length >= 3 || self.info + self.blank == 0
    }

    /// Whether a call may begin with `c` after the run: on a line of its own, or with a bracket.
    pub(super) fn can_end_before(&self, c: char) -> bool {
        self.length >= 3 && !c.is_whitespace() && (self.blank > 0 || "{[<".contains(c))
    }

    /// Whether the run may continue with `c`.
    pub(super) fn accepts(&mut self, c: char) -> bool {
        match c {
            '`' if self.info + self.blank == 0 => {
                self.length += 1;
                self.length <= RUN_MAX
            }
            _ if self.length < 3 => false,
            c if c.is_ascii_alphanumeric() || "_+-.#".contains(c) => {
                self.info += 1;
                self.blank == 0 && self.info <= INFO_CHARS_MAX
            }
            c if c.is_whitespace() => {
                self.blank += 1;
                self.blank <= BLANK_CHARS_MAX
            }
            _ => false,
        }
    }
}
