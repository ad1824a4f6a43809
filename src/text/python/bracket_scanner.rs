//! Tracks Python brackets through a stream, character by character, without parsing their contents.
//! Ignores brackets in strings and comments.

/// Tracks text from an opening bracket to the one that closes it. Accepts any input: a closing
/// bracket of another kind closes the nearest match, so a mistake inside a call does not swallow
/// the text after it. O(1) per character, amortized; memory proportional to the open brackets.
#[derive(Debug, Clone, Default)]
pub struct BracketScanner {
    /// The closing brackets expected, outermost first.
    closers: Vec<char>,
    /// The number of `closers` of each kind.
    open_counts: [usize; 3],
    state: BracketScanState,
    broken: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum BracketScanState {
    #[default]
    Code,
    /// After one or two quotes: an empty string or the start of one.
    OpeningQuotes {
        quote: char,
        run: u8,
    },
    /// `run` counts quotes that may end the string.
    String {
        quote: char,
        long: bool,
        run: u8,
        escaped: bool,
    },
    /// After a string; `blank` if white space followed.
    AfterString {
        blank: bool,
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

    /// Inside a triple-quoted string, which may contain line breaks.
    pub fn is_in_long_string(&self) -> bool {
        matches!(self.state, BracketScanState::String { long: true, .. })
    }

    pub fn is_in_comment(&self) -> bool {
        self.state == BracketScanState::Comment
    }

    /// A string was followed by text that cannot follow one, so it contained an unescaped quote.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Ends a single-quoted string at a line break, as Python does.
    pub fn end_short_string(&mut self) {
        if matches!(
            self.state,
            BracketScanState::String { long: false, .. } | BracketScanState::OpeningQuotes { .. }
        ) {
            self.state = BracketScanState::Code;
        }
    }

    /// Consumes `c`; true if it closes the outermost bracket.
    pub fn push(&mut self, c: char) -> bool {
        match self.state {
            BracketScanState::Code => self.push_code(c),
            BracketScanState::OpeningQuotes { quote, run: 1 } if c == quote => {
                self.state = BracketScanState::OpeningQuotes { quote, run: 2 };
                false
            }
            BracketScanState::OpeningQuotes { quote, run } if run == 1 || c == quote => {
                self.state = BracketScanState::String {
                    quote,
                    long: run == 2,
                    run: 0,
                    escaped: false,
                };
                // The third quote is part of the delimiter.
                run == 1 && self.push(c)
            }
            BracketScanState::OpeningQuotes { .. } => self.push_after_string(c, false),
            BracketScanState::AfterString { blank } => self.push_after_string(c, blank),
            BracketScanState::String {
                quote,
                long,
                run,
                escaped,
            } => {
                self.push_in_string(c, quote, long, run, escaped);
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

    fn push_in_string(&mut self, c: char, quote: char, long: bool, run: u8, escaped: bool) {
        let run = if c == quote && !escaped { run + 1 } else { 0 };
        self.state = if run == if long { 3 } else { 1 } {
            BracketScanState::AfterString { blank: false }
        } else {
            BracketScanState::String {
                quote,
                long,
                run,
                escaped: c == '\\' && !escaped,
            }
        };
    }

    fn push_after_string(&mut self, c: char, blank: bool) -> bool {
        if c.is_whitespace() {
            self.state = BracketScanState::AfterString { blank: true };
            return false;
        }
        // A prefixed string may follow after a space.
        let prefixes = blank && "rbufRBUF".contains(c);
        self.broken |= !prefixes && !",)]}:#\\\"'".contains(c);
        self.state = BracketScanState::Code;
        self.push_code(c)
    }

    fn push_code(&mut self, c: char) -> bool {
        match c {
            '(' => self.open(')'),
            '[' => self.open(']'),
            '{' => self.open('}'),
            ')' | ']' | '}' => return self.close(c),
            '"' | '\'' => self.state = BracketScanState::OpeningQuotes { quote: c, run: 1 },
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
        // The counts save searching for a bracket that closes nothing.
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
