//! Follows Python's brackets through a stream, a character at a time, without
//! reading what is in them: brackets in strings and comments do not count.

/// Follows a text from an opening bracket to the one that closes it. Takes
/// whatever comes: a bracket of another kind closes what it can, so that a
/// mistake inside a call does not swallow what follows it. O(1) a character,
/// amortised; memory for each bracket that is open.
#[derive(Debug, Clone, Default)]
pub struct BracketScanner {
    /// The brackets that would close what is open, outermost first.
    closers: Vec<char>,
    /// How many of `closers` are of each kind.
    open_counts: [usize; 3],
    state: BracketScanState,
    broken: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum BracketScanState {
    #[default]
    Code,
    /// One or two quotes came: an empty string, or the start of one.
    OpeningQuotes {
        quote: char,
        run: u8,
    },
    /// `run` counts quotes that may end a long string.
    String {
        quote: char,
        long: bool,
        run: u8,
        escaped: bool,
    },
    /// Behind a string; `blank` where white space came since.
    AfterString {
        blank: bool,
    },
    Comment,
}

impl BracketScanner {
    /// Brackets that are open.
    pub fn depth(&self) -> usize {
        self.closers.len()
    }

    pub fn is_in_string(&self) -> bool {
        matches!(self.state, BracketScanState::String { .. })
    }

    /// In a string that may hold line ends.
    pub fn is_in_long_string(&self) -> bool {
        matches!(self.state, BracketScanState::String { long: true, .. })
    }

    pub fn is_in_comment(&self) -> bool {
        self.state == BracketScanState::Comment
    }

    /// What followed a string cannot follow one: it held its own quotation mark.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// A line end ends a short string, as Python has it.
    pub fn end_short_string(&mut self) {
        if matches!(
            self.state,
            BracketScanState::String { long: false, .. } | BracketScanState::OpeningQuotes { .. }
        ) {
            self.state = BracketScanState::Code;
        }
    }

    /// Takes `c`; true where it closes the outermost bracket.
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
                // The third quote is no content.
                run == 1 && self.push(c)
            }
            // Two quotes were an empty string.
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
        // Another string may follow, whose prefix a space sets off.
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
        // Counted, so that a bracket that closes nothing costs no search.
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
