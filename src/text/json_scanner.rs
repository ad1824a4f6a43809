//! Tracks one JSON value through a stream, character by character, without building it: containers,
//! keys, and where the text stops being JSON. It accepts the same deviations as
//! [`super::lenient_json`] but does not check that numbers and constants are complete.

use super::lenient_json::is_literal_char;

const DEPTH_MAX: usize = 128;
/// Characters of a string kept for [`JsonEvent::Key`] and [`JsonEvent::StringEnd`]: longer than
/// any name that callers look for.
const STRING_CHARS_MAX: usize = 256;
/// A longer literal is neither a number nor a constant.
const LITERAL_CHARS_MAX: usize = 400;
const CONSTANTS: [&str; 6] = ["true", "false", "null", "True", "False", "None"];

/// The effect of the pushed character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonEvent {
    Nothing,
    /// An object or array opened; [`JsonScanner::depth`] includes it.
    Opened {
        is_array: bool,
    },
    Closed,
    /// A key is complete; see [`JsonScanner::last_string`].
    Key,
    /// A string value began.
    StringStart,
    /// A string value is complete; see [`JsonScanner::last_string`].
    StringEnd,
    /// A number, or a constant such as `true` or `None`, began.
    LiteralStart,
    /// The outermost value is complete.
    ValueEnd,
    /// The character is not valid here. Push nothing more before [`JsonScanner::resume`].
    Invalid,
}

/// The token expected next, or the one being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonScanState {
    Value,
    ItemOrEnd,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
    String {
        quote: char,
        is_key: bool,
        is_escaped: bool,
    },
    Literal,
    Comment(CommentState),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommentState {
    /// After the first `/`.
    Slash,
    Line,
    Block,
    /// After a `*` in a block comment.
    Star,
}

/// Tracks a value that starts with `{` or `[`. Constant memory, O(1) per character.
#[derive(Debug, Clone)]
pub struct JsonScanner {
    state: JsonScanState,
    state_after_comment: JsonScanState,
    /// The open containers, outermost first: true for an array, false for an object.
    container_stack: Vec<bool>,
    /// The last string or literal; a long string is truncated.
    last_token: String,
    /// Its full length in characters.
    token_chars: usize,
}

impl Default for JsonScanner {
    fn default() -> Self {
        Self {
            state: JsonScanState::Value,
            state_after_comment: JsonScanState::Value,
            container_stack: Vec::new(),
            last_token: String::new(),
            token_chars: 0,
        }
    }
}

impl JsonScanner {
    /// The number of open containers.
    pub fn depth(&self) -> usize {
        self.container_stack.len()
    }

    /// After [`JsonEvent::Key`] or [`JsonEvent::StringEnd`]: the string as written, escapes
    /// included; `None` if it was too long to keep.
    pub fn last_string(&self) -> Option<&str> {
        (self.token_chars <= STRING_CHARS_MAX).then_some(self.last_token.as_str())
    }

    pub fn is_in_string(&self) -> bool {
        matches!(self.state, JsonScanState::String { .. })
    }

    /// Resumes after [`JsonEvent::Invalid`] as if all but the `depth` outermost containers had
    /// ended.
    pub fn resume(&mut self, depth: usize) {
        self.container_stack.truncate(depth);
        self.state = JsonScanState::CommaOrEnd;
    }

    pub fn push(&mut self, c: char) -> JsonEvent {
        match self.state {
            JsonScanState::String {
                quote,
                is_key,
                is_escaped,
            } => self.push_in_string(c, quote, is_key, is_escaped),
            JsonScanState::Comment(comment) => self.push_comment_char(c, comment),
            JsonScanState::Literal if is_literal_char(c) => self.push_literal_char(c),
            JsonScanState::Literal => {
                self.state = JsonScanState::CommaOrEnd;
                self.push_between_tokens(c)
            }
            _ => self.push_between_tokens(c),
        }
    }

    fn push_between_tokens(&mut self, c: char) -> JsonEvent {
        if c.is_whitespace() {
            return JsonEvent::Nothing;
        }
        if matches!(c, '/' | '#') && self.depth() > 0 {
            self.state_after_comment = self.state;
            self.state = JsonScanState::Comment(if c == '#' {
                CommentState::Line
            } else {
                CommentState::Slash
            });
            return JsonEvent::Nothing;
        }
        match (self.state, c) {
            (JsonScanState::ItemOrEnd, ']') | (JsonScanState::KeyOrEnd, '}') => self.close(),
            (JsonScanState::Value | JsonScanState::ItemOrEnd, '{' | '[') => self.open(c == '['),
            (JsonScanState::Value | JsonScanState::ItemOrEnd, '"' | '\'') if self.depth() > 0 => {
                self.start_string(c, false);
                JsonEvent::StringStart
            }
            (JsonScanState::Value | JsonScanState::ItemOrEnd, c)
                if is_literal_char(c) && self.depth() > 0 =>
            {
                self.state = JsonScanState::Literal;
                self.last_token.clear();
                self.token_chars = 0;
                match self.push_literal_char(c) {
                    JsonEvent::Invalid => JsonEvent::Invalid,
                    _ => JsonEvent::LiteralStart,
                }
            }
            (JsonScanState::KeyOrEnd, '"' | '\'') => {
                self.start_string(c, true);
                JsonEvent::Nothing
            }
            (JsonScanState::Colon, ':') => {
                self.state = JsonScanState::Value;
                JsonEvent::Nothing
            }
            (JsonScanState::CommaOrEnd, ',') => {
                self.state = if self.is_in_array() {
                    JsonScanState::ItemOrEnd
                } else {
                    JsonScanState::KeyOrEnd
                };
                JsonEvent::Nothing
            }
            (JsonScanState::CommaOrEnd, ']') if self.is_in_array() => self.close(),
            (JsonScanState::CommaOrEnd, '}') if !self.is_in_array() => self.close(),
            _ => JsonEvent::Invalid,
        }
    }

    fn is_in_array(&self) -> bool {
        self.container_stack.last() == Some(&true)
    }

    fn open(&mut self, is_array: bool) -> JsonEvent {
        if self.depth() == DEPTH_MAX {
            return JsonEvent::Invalid;
        }
        self.container_stack.push(is_array);
        self.state = if is_array {
            JsonScanState::ItemOrEnd
        } else {
            JsonScanState::KeyOrEnd
        };
        JsonEvent::Opened { is_array }
    }

    fn close(&mut self) -> JsonEvent {
        self.container_stack.pop();
        self.state = JsonScanState::CommaOrEnd;
        if self.container_stack.is_empty() {
            JsonEvent::ValueEnd
        } else {
            JsonEvent::Closed
        }
    }

    fn start_string(&mut self, quote: char, is_key: bool) {
        self.last_token.clear();
        self.token_chars = 0;
        self.state = JsonScanState::String {
            quote,
            is_key,
            is_escaped: false,
        };
    }

    fn push_string_char(&mut self, c: char) {
        self.token_chars += 1;
        if self.token_chars <= STRING_CHARS_MAX {
            self.last_token.push(c);
        }
    }

    fn push_in_string(
        &mut self,
        c: char,
        quote: char,
        is_key: bool,
        is_escaped: bool,
    ) -> JsonEvent {
        if c == quote && !is_escaped {
            self.state = if is_key {
                JsonScanState::Colon
            } else {
                JsonScanState::CommaOrEnd
            };
            return if is_key {
                JsonEvent::Key
            } else {
                JsonEvent::StringEnd
            };
        }
        // A key that contains a line break is quoted prose.
        if is_key && c == '\n' {
            return JsonEvent::Invalid;
        }
        self.push_string_char(c);
        self.state = JsonScanState::String {
            quote,
            is_key,
            is_escaped: c == '\\' && !is_escaped,
        };
        JsonEvent::Nothing
    }

    fn push_literal_char(&mut self, c: char) -> JsonEvent {
        self.token_chars += 1;
        if self.token_chars > LITERAL_CHARS_MAX {
            return JsonEvent::Invalid;
        }
        self.last_token.push(c);
        let literal = self.last_token.as_str();
        let is_numeric = literal.starts_with(|c: char| c.is_ascii_digit() || c == '-')
            && matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E');
        if is_numeric
            || CONSTANTS
                .iter()
                .any(|constant| constant.starts_with(literal))
        {
            JsonEvent::Nothing
        } else {
            JsonEvent::Invalid
        }
    }

    fn push_comment_char(&mut self, c: char, comment: CommentState) -> JsonEvent {
        self.state = match (comment, c) {
            (CommentState::Slash, '/') => JsonScanState::Comment(CommentState::Line),
            (CommentState::Slash, '*') => JsonScanState::Comment(CommentState::Block),
            (CommentState::Slash, _) => return JsonEvent::Invalid,
            (CommentState::Line, '\n') => self.state_after_comment,
            (CommentState::Star, '/') => self.state_after_comment,
            (CommentState::Block | CommentState::Star, '*') => {
                JsonScanState::Comment(CommentState::Star)
            }
            (CommentState::Block | CommentState::Star, _) => {
                JsonScanState::Comment(CommentState::Block)
            }
            (CommentState::Line, _) => JsonScanState::Comment(CommentState::Line),
        };
        JsonEvent::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys with their depth, the final event, and its position.
    fn scan_keys(text: &str) -> (Vec<(usize, String)>, JsonEvent, usize) {
        let mut scanner = JsonScanner::default();
        let mut keys = Vec::new();
        for (offset, c) in text.char_indices() {
            match scanner.push(c) {
                JsonEvent::Key => keys.push((
                    scanner.depth(),
                    scanner.last_string().unwrap_or_default().to_owned(),
                )),
                event @ (JsonEvent::ValueEnd | JsonEvent::Invalid) => return (keys, event, offset),
                _ => {}
            }
        }
        (keys, JsonEvent::Nothing, text.len())
    }

    #[test]
    fn keys_are_reported_with_their_depth_and_the_end_is_found() {
        let (keys, event, offset) =
            scan_keys(r#"{"a": {"b}": "}\"{", 'c': [1, true]}, "한": None,} tail"#);
        let keys: Vec<_> = keys
            .iter()
            .map(|(depth, key)| (*depth, key.as_str()))
            .collect();
        assert_eq!(keys, [(1, "a"), (2, "b}"), (2, "c"), (1, "한")]);
        assert_eq!(event, JsonEvent::ValueEnd);
        assert_eq!(
            offset,
            r#"{"a": {"b}": "}\"{", 'c': [1, true]}, "한": None,}"#.len() - 1
        );
    }

    #[test]
    fn scanning_stops_at_the_first_character_that_is_not_json() {
        for (text, offset) in [
            ("{{", 1),
            ("{ let", 2),
            ("[text](url)", 2),
            ("[x]", 1),
            ("{\"a\" \"b\"}", 5),
            ("{\"a\nb\"}", 3),
            ("{\"a\": tru3}", 9),
            ("{\"a\": 1]", 7),
            ("[/x", 2),
            ("[,]", 1),
        ] {
            let (_, event, invalid_offset) = scan_keys(text);
            assert_eq!(
                (event, invalid_offset),
                (JsonEvent::Invalid, offset),
                "{text}"
            );
        }
    }

    #[test]
    fn braces_in_strings_and_comments_do_not_end_a_json_value() {
        let text = "{\"a\": 1, // }\n /* } **/ \"b\": '}' # }\n}";
        assert_eq!(scan_keys(text).1, JsonEvent::ValueEnd);
        assert_eq!(scan_keys(text).2, text.len() - 1);
    }
}
