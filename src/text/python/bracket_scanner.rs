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
    open: [usize; 3],
    at: At,
    broken: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum At {
    #[default]
    Between,
    /// One or two quotes came: an empty string, or the start of one.
    Quotes {
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
    Strung {
        blank: bool,
    },
    Comment,
}

impl BracketScanner {
    /// Brackets that are open.
    pub fn depth(&self) -> usize {
        self.closers.len()
    }

    pub fn in_string(&self) -> bool {
        matches!(self.at, At::String { .. })
    }

    /// In a string that may hold line ends.
    pub fn in_long_string(&self) -> bool {
        matches!(self.at, At::String { long: true, .. })
    }

    pub fn in_comment(&self) -> bool {
        self.at == At::Comment
    }

    /// What followed a string cannot follow one: it held its own quotation mark.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// A line end ends a short string, as Python has it.
    pub fn end_short_string(&mut self) {
        if matches!(self.at, At::String { long: false, .. } | At::Quotes { .. }) {
            self.at = At::Between;
        }
    }

    /// Takes `c`; true where it closes the outermost bracket.
    pub fn push(&mut self, c: char) -> bool {
        match self.at {
            At::Between => self.between(c),
            At::Quotes { quote, run: 1 } if c == quote => {
                self.at = At::Quotes { quote, run: 2 };
                false
            }
            At::Quotes { quote, run } if run == 1 || c == quote => {
                self.at = At::String {
                    quote,
                    long: run == 2,
                    run: 0,
                    escaped: false,
                };
                // The third quote is no content.
                run == 1 && self.push(c)
            }
            // Two quotes were an empty string.
            At::Quotes { .. } => self.strung(c, false),
            At::Strung { blank } => self.strung(c, blank),
            At::String {
                quote,
                long,
                run,
                escaped,
            } => {
                self.in_string_at(c, quote, long, run, escaped);
                false
            }
            At::Comment => {
                if c == '\n' {
                    self.at = At::Between;
                }
                false
            }
        }
    }

    fn in_string_at(&mut self, c: char, quote: char, long: bool, run: u8, escaped: bool) {
        let run = if c == quote && !escaped { run + 1 } else { 0 };
        self.at = if run == if long { 3 } else { 1 } {
            At::Strung { blank: false }
        } else {
            At::String {
                quote,
                long,
                run,
                escaped: c == '\\' && !escaped,
            }
        };
    }

    fn strung(&mut self, c: char, blank: bool) -> bool {
        if c.is_whitespace() {
            self.at = At::Strung { blank: true };
            return false;
        }
        // Another string may follow, whose prefix a space sets off.
        let prefixes = blank && "rbufRBUF".contains(c);
        self.broken |= !prefixes && !",)]}:#\\\"'".contains(c);
        self.at = At::Between;
        self.between(c)
    }

    fn between(&mut self, c: char) -> bool {
        match c {
            '(' => self.open(')'),
            '[' => self.open(']'),
            '{' => self.open('}'),
            ')' | ']' | '}' => return self.close(c),
            '"' | '\'' => self.at = At::Quotes { quote: c, run: 1 },
            '#' => self.at = At::Comment,
            _ => {}
        }
        false
    }

    fn open(&mut self, closer: char) {
        self.open[kind(closer)] += 1;
        self.closers.push(closer);
    }

    fn close(&mut self, c: char) -> bool {
        // Counted, so that a bracket that closes nothing costs no search.
        if self.open[kind(c)] == 0 {
            return false;
        }
        while let Some(closer) = self.closers.pop() {
            self.open[kind(closer)] -= 1;
            if closer == c {
                break;
            }
        }
        self.closers.is_empty()
    }
}

fn kind(closer: char) -> usize {
    match closer {
        ')' => 0,
        ']' => 1,
        _ => 2,
    }
}
