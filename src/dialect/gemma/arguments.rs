//! Parses the arguments of a Gemma call: `{city:<escape>Paris<escape>,n:3}`. Strings are quoted
//! with `<escape>`, `<|"|>` or plain quotes; keys need no quotes.

use crate::text::lenient_json;
use serde_json::{Map, Value};

use GemmaArgumentsState as State;

/// Maximum nesting, the same as in the JSON parser.
const DEPTH_MAX: usize = 128;
const QUOTES: [&str; 4] = ["<escape>", "<|\"|>", "\"", "'"];

/// Builds the value incrementally, in amortized constant time per character. After an error, reads
/// on to the closing brace and reports the first error.
#[derive(Debug, Default)]
pub(super) struct GemmaArguments {
    state: State,
    /// The open containers, outermost first.
    open_containers: Vec<OpenContainer>,
    /// The number of open containers beyond the depth limit.
    excess_depth: usize,
    /// The current key or value. A complete opening quote is removed from it.
    token: String,
    complete: Option<Value>,
    was_repaired: bool,
    error: Option<String>,
}

#[derive(Debug)]
enum OpenContainer {
    Object {
        map: Map<String, Value>,
        key: String,
    },
    Array(Vec<Value>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum GemmaArgumentsState {
    #[default]
    Value,
    ItemOrEnd,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
    /// In a key or value that has no quotes, or whose opening quote is incomplete.
    Unquoted {
        is_key: bool,
    },
    Quoted {
        quote: &'static str,
        is_key: bool,
        is_escaped: bool,
    },
    TooDeep,
}

impl GemmaArguments {
    /// Returns true if `c` completes the arguments.
    pub(super) fn push(&mut self, c: char) -> bool {
        match self.state {
            State::Quoted {
                quote,
                is_key,
                is_escaped,
            } => {
                self.push_quoted(c, quote, is_key, is_escaped);
                false
            }
            State::Unquoted { is_key } => self.push_unquoted(c, is_key),
            State::TooDeep => {
                match c {
                    '{' | '[' => self.excess_depth += 1,
                    '}' | ']' => self.excess_depth -= 1,
                    _ => {}
                }
                if self.excess_depth == 0 {
                    self.state = State::CommaOrEnd;
                }
                false
            }
            _ => self.push_structural(c),
        }
    }

    /// The arguments or the parse error, and whether a string was repaired.
    pub(super) fn into_value(self) -> (Result<Value, String>, bool) {
        let result = match (self.error, self.complete) {
            (Some(error), _) => Err(format!("its arguments cannot be read: {error}")),
            (None, value) => Ok(value.unwrap_or_default()),
        };
        (result, self.was_repaired)
    }

    fn record_error(&mut self, error: &str) {
        self.error.get_or_insert_with(|| error.to_owned());
    }

    fn is_in_array(&self) -> bool {
        matches!(self.open_containers.last(), Some(OpenContainer::Array(_)))
    }

    fn push_structural(&mut self, c: char) -> bool {
        if c.is_whitespace() {
            return false;
        }
        match (self.state, c) {
            (State::Value | State::ItemOrEnd, '{' | '[') => self.open(c == '['),
            (State::ItemOrEnd | State::CommaOrEnd, ']') if self.is_in_array() => {
                return self.close();
            }
            (State::KeyOrEnd | State::CommaOrEnd, '}') if !self.is_in_array() => {
                return self.close();
            }
            (State::CommaOrEnd, ',') => self.expect_item(),
            (State::Colon, ':') => self.state = State::Value,
            (State::Value, ',' | '}' | ']') | (State::Colon, ',' | '}') => {
                self.record_error("a key has no value");
                self.state = State::CommaOrEnd;
                return self.push_structural(c);
            }
            (State::KeyOrEnd, ',') | (State::ItemOrEnd, ',') => {
                self.record_error("there is an extra comma")
            }
            (_, '}' | ']') => self.record_error("its brackets do not match"),
            (State::KeyOrEnd | State::Value | State::ItemOrEnd, _) => {
                self.token.clear();
                let is_key = self.state == State::KeyOrEnd;
                self.state = State::Unquoted { is_key };
                return self.push_unquoted(c, is_key);
            }
            _ => self.record_error("a comma is missing"),
        }
        false
    }

    fn expect_item(&mut self) {
        self.state = if self.is_in_array() {
            State::ItemOrEnd
        } else {
            State::KeyOrEnd
        };
    }

    fn open(&mut self, is_array: bool) {
        if self.open_containers.len() == DEPTH_MAX {
            self.record_error("its values are nested too deeply");
            self.excess_depth = 1;
            self.state = State::TooDeep;
            return;
        }
        self.open_containers.push(if is_array {
            OpenContainer::Array(Vec::new())
        } else {
            OpenContainer::Object {
                map: Map::new(),
                key: String::new(),
            }
        });
        self.expect_item();
    }

    /// Returns true if the arguments are complete.
    fn close(&mut self) -> bool {
        let value = match self.open_containers.pop() {
            Some(OpenContainer::Object { map, .. }) => Value::Object(map),
            Some(OpenContainer::Array(items)) => Value::Array(items),
            None => Value::Null,
        };
        if self.open_containers.is_empty() {
            self.complete = Some(value);
            return true;
        }
        self.add_value(value);
        false
    }

    fn add_value(&mut self, value: Value) {
        match self.open_containers.last_mut() {
            Some(OpenContainer::Object { map, key }) => {
                map.insert(std::mem::take(key), value);
            }
            Some(OpenContainer::Array(items)) => items.push(value),
            None => {}
        }
        self.state = State::CommaOrEnd;
    }

    fn set_key(&mut self, new_key: String) {
        if let Some(OpenContainer::Object { key, .. }) = self.open_containers.last_mut() {
            *key = new_key;
        }
        self.state = State::Colon;
    }

    /// An unquoted key ends at its colon, an unquoted value at a comma or bracket.
    fn push_unquoted(&mut self, c: char, is_key: bool) -> bool {
        let is_end = matches!(c, ',' | '}' | ']') || is_key && c == ':';
        if !is_end {
            self.token.push(c);
            if let Some(quote) = QUOTES.into_iter().find(|&quote| quote == self.token) {
                self.token.clear();
                self.state = State::Quoted {
                    quote,
                    is_key,
                    is_escaped: false,
                };
            }
            return false;
        }
        let token = std::mem::take(&mut self.token);
        let word = token.trim();
        if is_key {
            self.set_key(word.to_owned());
        } else {
            let value = self.parse_unquoted(word);
            self.add_value(value);
        }
        self.push_structural(c)
    }

    fn parse_unquoted(&mut self, word: &str) -> Value {
        match lenient_json::parse(word) {
            Ok(parsed) => parsed.value,
            Err(_) => {
                self.was_repaired = true;
                Value::String(word.to_owned())
            }
        }
    }

    fn push_quoted(&mut self, c: char, quote: &'static str, is_key: bool, is_escaped: bool) {
        let is_plain_quote = quote.len() == 1;
        self.token.push(c);
        if is_escaped || !self.token.ends_with(quote) {
            self.state = State::Quoted {
                quote,
                is_key,
                is_escaped: is_plain_quote && c == '\\' && !is_escaped,
            };
            return;
        }
        let mut text = std::mem::take(&mut self.token);
        text.truncate(text.len() - quote.len());
        if is_plain_quote {
            // Only plain quotes support escapes.
            text = match lenient_json::parse(&format!("{quote}{text}{quote}")) {
                Ok(lenient_json::LenientValue {
                    value: Value::String(text),
                    was_repaired,
                }) => {
                    self.was_repaired |= was_repaired;
                    text
                }
                _ => text,
            };
        }
        if is_key {
            self.set_key(text);
        } else {
            self.add_value(Value::String(text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &str) -> (Result<Value, String>, bool) {
        let mut arguments = GemmaArguments::default();
        let last = text.char_indices().find(|&(_, c)| arguments.push(c));
        let end = last.map(|(index, _)| index + 1);
        assert_eq!(end, Some(text.len()), "{text}");
        arguments.into_value()
    }

    #[test]
    fn all_value_kinds_are_parsed() {
        for (text, value) in [
            ("{}", json!({})),
            (
                "{city:<escape>서울, {특별시}<escape>,n:3,flag:true,none:null}",
                json!({"city": "서울, {특별시}", "n": 3, "flag": true, "none": null}),
            ),
            (
                "{ xs:[<|\"|>a\"b<|\"|>, -1.5e3 , []], o:{k:{}, <|\"|>도시<|\"|>:<|\"|><|\"|>} , }",
                json!({"xs": ["a\"b", -1500.0, []], "o": {"k": {}, "도시": ""}}),
            ),
            (
                "{\"city\": \"Pa\\\"ri}s\\u00e9\", \"n\": 1}",
                json!({"city": "Pa\"ri}sé", "n": 1}),
            ),
            (
                "{a:<escape><b> <|\"|> \\n<escape>}",
                json!({"a": "<b> <|\"|> \\n"}),
            ),
        ] {
            assert_eq!(read(text), (Ok(value), false), "{text}");
        }
    }

    #[test]
    fn unquoted_words_become_strings_and_count_as_repaired() {
        assert_eq!(read("{a:'it\\'s, {'}"), (Ok(json!({"a": "it's, {"})), true));
        assert_eq!(
            read("{city:New York ,q:it's \"so\",t:12:30,b:<b>,f:False}"),
            (
                Ok(
                    json!({"city": "New York", "q": "it's \"so\"", "t": "12:30", "b": "<b>", "f": false})
                ),
                true
            )
        );
    }

    #[test]
    fn invalid_arguments_are_read_to_their_end() {
        for (text, error) in [
            ("{a}", "a key has no value"),
            ("{a:}", "a key has no value"),
            ("{a:1,,b:2}", "there is an extra comma"),
            ("{a:<escape>x<escape> y}", "a comma is missing"),
            ("{a:[1}], b:2}", "its brackets do not match"),
        ] {
            let error = format!("its arguments cannot be read: {error}");
            assert_eq!(read(text).0, Err(error), "{text}");
        }
    }

    #[test]
    fn deeply_nested_gemma_arguments_are_rejected_without_a_stack_overflow() {
        let depth = 200_000;
        let text = format!("{{a:{}{}}}", "[".repeat(depth), "]".repeat(depth));
        let error = "its arguments cannot be read: its values are nested too deeply";
        assert_eq!(read(&text).0, Err(error.to_owned()));
        let mut unclosed = GemmaArguments::default();
        assert!(!"{a:".repeat(1000).chars().any(|c| unclosed.push(c)));
    }
}
