//! Knows, of the text that was shown, where its lines and its fences are
//! (CommonMark 4.5), and of a fence that is held back, whether a call may follow.

/// A longer run of backticks opens nothing.
const RUN_MAX: usize = 32;
const INFO_CHARS_MAX: usize = 32;
const BLANK_CHARS_MAX: usize = 256;

/// Follows the text that was shown.
#[derive(Debug)]
pub(super) struct FenceTracker {
    pub(super) last_char: Option<char>,
    /// Nothing but white space since the line began.
    pub(super) at_line_start: bool,
    /// The last character on the line that is no white space.
    last_word: Option<char>,
    /// Nothing but what a quote or an item of a list begins with.
    may_open_fence: bool,
    /// The length of the run that opened the fence around this place.
    fence: Option<usize>,
    /// Fences are made of backticks or of tildes.
    mark: char,
    on_opening_line: bool,
    run: usize,
    run_of: char,
    run_starts_line: bool,
    /// The length of the backtick run that opened a code span on this line.
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
            mark: '`',
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

    /// In a code span, as far as its line tells.
    pub(super) fn is_in_code_span(&self) -> bool {
        self.span.is_some()
    }

    pub(super) fn is_after_colon(&self) -> bool {
        self.last_char.is_some_and(char::is_whitespace)
            && matches!(self.last_word, Some(':' | '：'))
    }

    /// What was left out here, a call or thinking, stood between lines.
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
        let goes_on = self.run > 0 && c == self.run_of;
        let begins = self.run == 0 && (c == '`' || c == '~' && self.may_open_fence);
        if goes_on || begins {
            if self.run == 0 {
                // A fence closes with what it was opened with.
                self.run_starts_line =
                    self.may_open_fence && (self.fence.is_none() || c == self.mark);
                self.mark = if self.fence.is_none() { c } else { self.mark };
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
            // "```like this```" is a code span: no fence was opened.
            Some(_) if self.on_opening_line => self.fence = None,
            Some(length) if self.run_starts_line && self.run >= length => self.fence = None,
            _ => {}
        }
    }
}

/// The start of a fence, or of a code span, that is held back.
#[derive(Debug, Default)]
pub(super) struct BacktickRun {
    pub(super) length: usize,
    info: usize,
    blank: usize,
}

impl BacktickRun {
    /// A code span holds a call only right behind its backticks.
    pub(super) fn can_contain_call(&self) -> bool {
        self.length >= 3 || self.info + self.blank == 0
    }

    /// Whether what it holds may begin with `c`: on a line of its own, or a bracket.
    pub(super) fn can_end_before(&self, c: char) -> bool {
        self.length >= 3 && !c.is_whitespace() && (self.blank > 0 || "{[<".contains(c))
    }

    /// Whether it may still be one with `c`.
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
