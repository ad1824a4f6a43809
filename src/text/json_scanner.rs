//! Follows one JSON value through a stream, a character at a time, without
//! building it: where containers open and close, which keys come by, where the
//! text stops being JSON. As lenient as [`super::lenient_json`], and no more.

use super::lenient_json::is_word;

const DEPTH_MAX: usize = 128;
/// Characters of a string that are kept for [`JsonEvent::Key`] and [`JsonEvent::Text`]:
/// enough for every name that matters.
const STRING_CHARS_MAX: usize = 256;
/// Longer runs are neither a number nor the name of a constant.
const WORD_CHARS_MAX: usize = 400;
const CONSTANTS: [&str; 6] = ["true", "false", "null", "True", "False", "None"];

/// What the character that was pushed completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonEvent {
    Nothing,
    /// An object or array opened; `depth` counts it.
    Opened {
        array: bool,
    },
    Closed,
    /// A key is complete: [`JsonScanner::string`].
    Key,
    /// A string value began.
    TextStarts,
    /// A string value is complete: [`JsonScanner::string`].
    Text,
    /// A number, `true`, `None` … began.
    WordStarts,
    /// The value is complete.
    Ended,
    /// The character cannot stand here. Nothing more may be pushed.
    Broken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// A value must follow.
    Value,
    /// A value or the end of the array.
    ItemOrEnd,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
    String {
        quote: char,
        key: bool,
        escaped: bool,
    },
    Word,
    Comment(Comment),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comment {
    Slash,
    Line,
    Block,
    Star,
}

/// Follows a value that starts with `{` or `[`. Constant memory, O(1) a character.
#[derive(Debug, Clone)]
pub struct JsonScanner {
    at: At,
    /// Where to go on after a comment.
    after_comment: At,
    /// True for arrays, outermost first.
    arrays: Vec<bool>,
    string: String,
    string_chars: usize,
}

impl Default for JsonScanner {
    fn default() -> Self {
        Self {
            at: At::Value,
            after_comment: At::Value,
            arrays: Vec::new(),
            string: String::new(),
            string_chars: 0,
        }
    }
}

impl JsonScanner {
    /// Containers that are open.
    pub fn depth(&self) -> usize {
        self.arrays.len()
    }

    /// The last key or string value as written, escapes included; None where it
    /// was too long to be kept.
    pub fn string(&self) -> Option<&str> {
        (self.string_chars <= STRING_CHARS_MAX).then_some(self.string.as_str())
    }

    pub fn in_string(&self) -> bool {
        matches!(self.at, At::String { .. })
    }

    /// Goes on after [`JsonEvent::Broken`], as if the text had been read up to the end
    /// of the container below which `depth` are open.
    pub fn resume(&mut self, depth: usize) {
        self.arrays.truncate(depth);
        self.at = At::CommaOrEnd;
    }

    pub fn push(&mut self, c: char) -> JsonEvent {
        match self.at {
            At::String {
                quote,
                key,
                escaped,
            } => self.push_in_string(c, quote, key, escaped),
            At::Comment(comment) => self.in_comment(c, comment),
            At::Word if is_word(c) => self.in_word(c),
            At::Word => {
                self.at = At::CommaOrEnd;
                self.between(c)
            }
            _ => self.between(c),
        }
    }

    fn between(&mut self, c: char) -> JsonEvent {
        if c.is_whitespace() {
            return JsonEvent::Nothing;
        }
        if matches!(c, '/' | '#') && self.depth() > 0 {
            self.after_comment = self.at;
            self.at = At::Comment(if c == '#' {
                Comment::Line
            } else {
                Comment::Slash
            });
            return JsonEvent::Nothing;
        }
        match (self.at, c) {
            (At::ItemOrEnd, ']') | (At::KeyOrEnd, '}') => self.close(),
            (At::Value | At::ItemOrEnd, '{' | '[') => self.open(c == '['),
            (At::Value | At::ItemOrEnd, '"' | '\'') if self.depth() > 0 => {
                self.start_string(c, false);
                JsonEvent::TextStarts
            }
            (At::Value | At::ItemOrEnd, c) if is_word(c) && self.depth() > 0 => {
                self.at = At::Word;
                self.string.clear();
                self.string_chars = 0;
                match self.in_word(c) {
                    JsonEvent::Broken => JsonEvent::Broken,
                    _ => JsonEvent::WordStarts,
                }
            }
            (At::KeyOrEnd, '"' | '\'') => {
                self.start_string(c, true);
                JsonEvent::Nothing
            }
            (At::Colon, ':') => {
                self.at = At::Value;
                JsonEvent::Nothing
            }
            (At::CommaOrEnd, ',') => {
                self.at = if self.in_array() {
                    At::ItemOrEnd
                } else {
                    At::KeyOrEnd
                };
                JsonEvent::Nothing
            }
            (At::CommaOrEnd, ']') if self.in_array() => self.close(),
            (At::CommaOrEnd, '}') if !self.in_array() => self.close(),
            _ => JsonEvent::Broken,
        }
    }

    fn in_array(&self) -> bool {
        self.arrays.last() == Some(&true)
    }

    fn open(&mut self, array: bool) -> JsonEvent {
        if self.depth() == DEPTH_MAX {
            return JsonEvent::Broken;
        }
        self.arrays.push(array);
        self.at = if array { At::ItemOrEnd } else { At::KeyOrEnd };
        JsonEvent::Opened { array }
    }

    fn close(&mut self) -> JsonEvent {
        self.arrays.pop();
        self.at = At::CommaOrEnd;
        if self.arrays.is_empty() {
            JsonEvent::Ended
        } else {
            JsonEvent::Closed
        }
    }

    fn start_string(&mut self, quote: char, key: bool) {
        self.string.clear();
        self.string_chars = 0;
        self.at = At::String {
            quote,
            key,
            escaped: false,
        };
    }

    fn keep(&mut self, c: char) {
        self.string_chars += 1;
        if self.string_chars <= STRING_CHARS_MAX {
            self.string.push(c);
        }
    }

    fn push_in_string(&mut self, c: char, quote: char, key: bool, escaped: bool) -> JsonEvent {
        if c == quote && !escaped {
            self.at = if key { At::Colon } else { At::CommaOrEnd };
            return if key { JsonEvent::Key } else { JsonEvent::Text };
        }
        // A key with a line end in it is prose between two quotation marks.
        if key && c == '\n' {
            return JsonEvent::Broken;
        }
        self.keep(c);
        self.at = At::String {
            quote,
            key,
            escaped: c == '\\' && !escaped,
        };
        JsonEvent::Nothing
    }

    fn in_word(&mut self, c: char) -> JsonEvent {
        self.string_chars += 1;
        if self.string_chars > WORD_CHARS_MAX {
            return JsonEvent::Broken;
        }
        self.string.push(c);
        let word = self.string.as_str();
        let numeric = word.starts_with(|c: char| c.is_ascii_digit() || c == '-')
            && matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E');
        if numeric || CONSTANTS.iter().any(|constant| constant.starts_with(word)) {
            JsonEvent::Nothing
        } else {
            JsonEvent::Broken
        }
    }

    fn in_comment(&mut self, c: char, comment: Comment) -> JsonEvent {
        self.at = match (comment, c) {
            (Comment::Slash, '/') => At::Comment(Comment::Line),
            (Comment::Slash, '*') => At::Comment(Comment::Block),
            (Comment::Slash, _) => return JsonEvent::Broken,
            (Comment::Line, '\n') => self.after_comment,
            (Comment::Star, '/') => self.after_comment,
            (Comment::Block | Comment::Star, '*') => At::Comment(Comment::Star),
            (Comment::Block | Comment::Star, _) => At::Comment(Comment::Block),
            (Comment::Line, _) => At::Comment(Comment::Line),
        };
        JsonEvent::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys that came by with their depth, and how the text ended.
    fn follow(text: &str) -> (Vec<(usize, String)>, JsonEvent, usize) {
        let mut outline = JsonScanner::default();
        let mut keys = Vec::new();
        for (at, c) in text.char_indices() {
            match outline.push(c) {
                JsonEvent::Key => keys.push((
                    outline.depth(),
                    outline.string().unwrap_or_default().to_owned(),
                )),
                event @ (JsonEvent::Ended | JsonEvent::Broken) => return (keys, event, at),
                _ => {}
            }
        }
        (keys, JsonEvent::Nothing, text.len())
    }

    #[test]
    fn keys_come_by_with_their_depth_and_the_end_is_found() {
        let (keys, event, at) =
            follow(r#"{"a": {"b}": "}\"{", 'c': [1, true]}, "한": None,} tail"#);
        let keys: Vec<_> = keys
            .iter()
            .map(|(depth, key)| (*depth, key.as_str()))
            .collect();
        assert_eq!(keys, [(1, "a"), (2, "b}"), (2, "c"), (1, "한")]);
        assert_eq!(event, JsonEvent::Ended);
        assert_eq!(
            at,
            r#"{"a": {"b}": "}\"{", 'c': [1, true]}, "한": None,}"#.len() - 1
        );
    }

    #[test]
    fn what_is_not_json_breaks_at_the_first_character_that_cannot_be() {
        for (text, at) in [
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
            let (_, event, broken_at) = follow(text);
            assert_eq!((event, broken_at), (JsonEvent::Broken, at), "{text}");
        }
    }

    #[test]
    fn braces_in_strings_and_comments_do_not_count() {
        let text = "{\"a\": 1, // }\n /* } **/ \"b\": '}' # }\n}";
        assert_eq!(follow(text).1, JsonEvent::Ended);
        assert_eq!(follow(text).2, text.len() - 1);
    }
}
