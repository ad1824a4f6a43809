//! Tracks Python brackets through a stream, character by character, without parsing their contents.
//! Ignores brackets in strings and comments.

/// Tracks text from an opening bracket to the one that closes it. Accepts any input: a mismatched
/// closing bracket closes the nearest open bracket of its kind, so a mistake inside a call does not
/// swallow the text after it. O(1) per character, amortized; memory proportional to the open
/// brackets.
#[derive(Debug, Clone, Default)]
pub struct BracketScanner {
    /// The closing brackets expected, outermost first.
    closers: Vec<char>,
    /// The number of `closers` of each kind.
    open_counts: [usize; 3],
    state: BracketScanState,
    has_stray_quote: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum BracketScanState {
    #[default]
    Code,
    /// After one or two quotes, which are an empty string or open a string.
    OpeningQuotes {
        quote: char,
        quote_run: u8,
    },
    /// `quote_run` is the number of consecutive quotes just read.
    String {
        quote: char,
        is_long: bool,
        quote_run: u8,
        is_escaped: bool,
    },
    AfterString {
        is_after_space: bool,
    },
    Comment,
}

impl BracketScanner {
    /// The number of open brackets.
    pub fn depth(&self) -> usize {
        self.closers.len()
    }

    pub fn is_in_string(&self) -> bool {
        matches!(self.state, BracketScanState::String { .. })
    }

    /// Whether the position is in a triple-quoted string, which may contain line breaks.
    pub fn is_in_long_string(&self) -> bool {
        matches!(self.state, BracketScanState::String { is_long: true, .. })
    }

    pub fn is_in_comment(&self) -> bool {
        self.state == BracketScanState::Comment
    }

    /// Whether text that cannot follow a string did follow one. The string probably contained an
    /// unescaped quote.
    pub fn has_stray_quote(&self) -> bool {
        self.has_stray_quote
    }

    /// Ends a string that is not triple-quoted, as Python does at a line break.
    pub fn end_short_string(&mut self) {
        if matches!(
            self.state,
            BracketScanState::String { is_long: false, .. }
                | BracketScanState::OpeningQuotes { .. }
        ) {
            self.state = BracketScanState::Code;
        }
    }

    /// Consumes `c`. Returns whether `c` closes the outermost bracket.
    pub fn push(&mut self, c: char) -> bool {
        match self.state {
            BracketScanState::Code => self.push_code(c),
            BracketScanState::OpeningQuotes {
                quote,
                quote_run: 1,
            } if c == quote => {
                self.state = BracketScanState::OpeningQuotes {
                    quote,
                    quote_run: 2,
                };
                false
            }
            BracketScanState::OpeningQuotes { quote, quote_run }
                if quote_run == 1 || c == quote =>
            {
                self.state = BracketScanState::String {
                    quote,
                    is_long: quote_run == 2,
                    quote_run: 0,
                    is_escaped: false,
                };
                // The third quote is part of the delimiter.
                quote_run == 1 && self.push(c)
            }
            BracketScanState::OpeningQuotes { .. } => self.push_after_string(c, false),
            BracketScanState::AfterString { is_after_space } => {
                self.push_after_string(c, is_after_space)
            }
            BracketScanState::String {
                quote,
                is_long,
                quote_run,
                is_escaped,
            } => {
                self.push_in_string(c, quote, is_long, quote_run, is_escaped);
                false
            }
            BracketScanState::Comment => {
                if c == '\n' {
                    self.state = BracketScanState::Code;
                }
                false
            }
        }
    }

    fn push_in_string(
        &mut self,
        c: char,
        quote: char,
        is_long: bool,
        quote_run: u8,
        is_escaped: bool,
    ) {
        let quote_run = if c == quote && !is_escaped {
            quote_run + 1
        } else {
            0
        };
        self.state = if quote_run == if is_long { 3 } else { 1 } {
            BracketScanState::AfterString {
                is_after_space: false,
            }
        } else {
            BracketScanState::String {
                quote,
                is_long,
                quote_run,
                is_escaped: c == '\\' && !is_escaped,
            }
        };
    }

    fn push_after_string(&mut self, c: char, is_after_space: bool) -> bool {
        if c.is_whitespace() {
            self.state = BracketScanState::AfterString {
                is_after_space: true,
            };
            return false;
        }
        // The prefix of another string may follow after a space.
        let is_prefix = is_after_space && "rbufRBUF".contains(c);
        self.has_stray_quote |= !is_prefix && !",)]}:#\\\"'".contains(c);
        self.state = BracketScanState::Code;
        self.push_code(c)
    }

    fn push_code(&mut self, c: char) -> bool {
        match c {
            '(' => self.open(')'),
            '[' => self.open(']'),
            '{' => self.open('}'),
            ')' | ']' | '}' => return self.close(c),
            '"' | '\'' => {
                self.state = BracketScanState::OpeningQuotes {
                    quote: c,
                    quote_run: 1,
                }
            }
            '#' => self.state = BracketScanState::Comment,
            _ => {}
        }
        false
    }

    fn open(&mut self, closer: char) {
        self.open_counts[closer_index(closer)] += 1;
        self.closers.push(closer);
    }

    fn close(&mut self, c: char) -> bool {
        // Without an open bracket of this kind, there is nothing to search for.
        if self.open_counts[closer_index(c)] == 0 {
            return false;
        }
        while let Some(closer) = self.closers.pop() {
            self.open_counts[closer_index(closer)] -= 1;
            if closer == c {
                break;
            }
        }
        self.closers.is_empty()
    }
}

fn closer_index(closer: char) -> usize {
    match closer {
        ')' => 0,
        ']' => 1,
        _ => 2,
    }
}
