//! Parses the braces of a Gemma call: `{city:<escape>Paris<escape>,n:3}`. Strings are quoted with
//! `<escape>`, `<|"|>` or plain quotes; keys are bare.

use crate::text::lenient_json;
use serde_json::{Map, Value};

/// The depth limit of the JSON parser.
const DEPTH_MAX: usize = 128;
const QUOTES: [&str; 4] = ["<escape>", "<|\"|>", "\"", "'"];

/// Builds the value incrementally, in amortized constant time per character. Keeps the first error
/// and reads on to the closing brace.
#[derive(Debug, Default)]
pub(super) struct GemmaArguments {
    state: GemmaArgumentsState,
    /// Open containers, outermost first.
    open: Vec<OpenContainer>,
    /// Number of open containers beyond the depth limit.
    too_deep: usize,
    /// The current key or value, including its opening quote.
    part: String,
    complete: Option<Value>,
    repaired: bool,
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
    /// A value must follow.
    #[default]
    Value,
    ItemOrEnd,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
    /// Outside quotes, or not known yet.
    Unquoted {
        key: bool,
    },
    Quoted {
        quote: &'static str,
        key: bool,
        escaped: bool,
    },
    /// In containers beyond the depth limit.
    TooDeep,
}

impl GemmaArguments {
    /// Consumes `c`. Returns true if it completes the arguments.
    pub(super) fn push(&mut self, c: char) -> bool {
        match self.state {
            GemmaArgumentsState::Quoted {
                quote,
                key,
                escaped,
            } => {
                self.push_quoted(c, quote, key, escaped);
                false
            }
            GemmaArgumentsState::Unquoted { key } => self.push_unquoted(c, key),
            GemmaArgumentsState::TooDeep => {
                match c {
                    '{' | '[' => self.too_deep += 1,
                    '}' | ']' => self.too_deep -= 1,
                    _ => {}
                }
                if self.too_deep == 0 {
                    self.state = GemmaArgumentsState::CommaOrEnd;
                }
                false
            }
            _ => self.push_structural(c),
        }
    }

    /// The arguments or the parse error, and whether an unquoted string was repaired.
    pub(super) fn into_value(self) -> (Result<Value, String>, bool) {
        let read = match (self.error, self.complete) {
            (Some(error), _) => Err(format!("its arguments cannot be read: {error}")),
            (None, value) => Ok(value.unwrap_or_default()),
        };
        (read, self.repaired)
    }

    fn record_error(&mut self, error: &str) {
        self.error.get_or_insert_with(|| error.to_owned());
    }

    fn in_array(&self) -> bool {
        matches!(self.open.last(), Some(OpenContainer::Array(_)))
    }

    fn push_structural(&mut self, c: char) -> bool {
        if c.is_whitespace() {
            return false;
        }
        match (self.state, c) {
            (GemmaArgumentsState::Value | GemmaArgumentsState::ItemOrEnd, '{' | '[') => {
                self.open(c == '[')
            }
            (GemmaArgumentsState::ItemOrEnd | GemmaArgumentsState::CommaOrEnd, ']')
                if self.in_array() =>
            {
                return self.close();
            }
            (GemmaArgumentsState::KeyOrEnd | GemmaArgumentsState::CommaOrEnd, '}')
                if !self.in_array() =>
            {
                return self.close();
            }
            (GemmaArgumentsState::CommaOrEnd, ',') => self.next_item(),
            (GemmaArgumentsState::Colon, ':') => self.state = GemmaArgumentsState::Value,
            (GemmaArgumentsState::Value, ',' | '}' | ']')
            | (GemmaArgumentsState::Colon, ',' | '}') => {
                self.record_error("a key has no value");
                self.state = GemmaArgumentsState::CommaOrEnd;
                return self.push_structural(c);
            }
            (GemmaArgumentsState::KeyOrEnd, ',') | (GemmaArgumentsState::ItemOrEnd, ',') => {
                self.record_error("there is an extra comma")
            }
            (_, '}' | ']') => self.record_error("its brackets do not match"),
            (
                GemmaArgumentsState::KeyOrEnd
                | GemmaArgumentsState::Value
                | GemmaArgumentsState::ItemOrEnd,
                _,
            ) => {
                self.part.clear();
                self.state = GemmaArgumentsState::Unquoted {
                    key: self.state == GemmaArgumentsState::KeyOrEnd,
                };
                return self
                    .push_unquoted(c, self.state == GemmaArgumentsState::Unquoted { key: true });
            }
            _ => self.record_error("a comma is missing"),
        }
        false
    }

    fn next_item(&mut self) {
        self.state = if self.in_array() {
            GemmaArgumentsState::ItemOrEnd
        } else {
            GemmaArgumentsState::KeyOrEnd
        };
    }

    fn open(&mut self, array: bool) {
        if self.open.len() == DEPTH_MAX {
            self.record_error("its values are nested too deeply");
            self.too_deep = 1;
            self.state = GemmaArgumentsState::TooDeep;
            return;
        }
        self.open.push(if array {
            OpenContainer::Array(Vec::new())
        } else {
            OpenContainer::Object {
                map: Map::new(),
                key: String::new(),
            }
        });
        self.next_item();
    }

    fn close(&mut self) -> bool {
        let value = match self.open.pop() {
            Some(OpenContainer::Object { map, .. }) => Value::Object(map),
            Some(OpenContainer::Array(items)) => Value::Array(items),
            None => Value::Null,
        };
        if self.open.is_empty() {
            self.complete = Some(value);
            return true;
        }
        self.put(value);
        false
    }

    fn put(&mut self, value: Value) {
        match self.open.last_mut() {
            Some(OpenContainer::Object { map, key }) => {
                map.insert(std::mem::take(key), value);
            }
            Some(OpenContainer::Array(items)) => items.push(value),
            None => {}
        }
        self.state = GemmaArgumentsState::CommaOrEnd;
    }

    fn put_key(&mut self, written: String) {
        if let Some(OpenContainer::Object { key, .. }) = self.open.last_mut() {
            *key = written;
        }
        self.state = GemmaArgumentsState::Colon;
    }

    /// A bare key ends at its colon; a bare value ends at a comma or bracket.
    fn push_unquoted(&mut self, c: char, key: bool) -> bool {
        let ends = matches!(c, ',' | '}' | ']') || key && c == ':';
        if !ends {
            self.part.push(c);
            if let Some(quote) = QUOTES.into_iter().find(|&quote| quote == self.part) {
                self.part.clear();
                self.state = GemmaArgumentsState::Quoted {
                    quote,
                    key,
                    escaped: false,
                };
            }
            return false;
        }
        let part = std::mem::take(&mut self.part);
        let word = part.trim();
        if key {
            self.put_key(word.to_owned());
        } else {
            let value = self.parse_unquoted(word);
            self.put(value);
        }
        self.push_structural(c)
    }

    fn parse_unquoted(&mut self, word: &str) -> Value {
        match lenient_json::parse(word) {
            Ok(read) => read.value,
            Err(_) => {
                self.repaired = true;
                Value::String(word.to_owned())
            }
        }
    }

    fn push_quoted(&mut self, c: char, quote: &'static str, key: bool, escaped: bool) {
        let plain = quote.len() == 1;
        self.part.push(c);
        if escaped || !self.part.ends_with(quote) {
            self.state = GemmaArgumentsState::Quoted {
                quote,
                key,
                escaped: plain && c == '\\' && !escaped,
            };
            return;
        }
        let mut part = std::mem::take(&mut self.part);
        part.truncate(part.len() - quote.len());
        if plain {
            // Only plain quotes support escapes.
            part = match lenient_json::parse(&format!("{quote}{part}{quote}")) {
                Ok(lenient_json::LenientValue {
                    value: Value::String(text),
                    was_repaired: repaired,
                }) => {
                    self.repaired |= repaired;
                    text
                }
                _ => part,
            };
        }
        if key {
            self.put_key(part);
        } else {
            self.put(Value::String(part));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &str) -> (Result<Value, String>, bool) {
        let mut arguments = GemmaArguments::default();
        let end = text.char_indices().find(|&(_, c)| arguments.push(c));
        assert_eq!(end.map(|(at, _)| at + 1), Some(text.len()), "{text}");
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
        for (text, why) in [
            ("{a}", "a key has no value"),
            ("{a:}", "a key has no value"),
            ("{a:1,,b:2}", "there is an extra comma"),
            ("{a:<escape>x<escape> y}", "a comma is missing"),
            ("{a:[1}], b:2}", "its brackets do not match"),
        ] {
            let why = format!("its arguments cannot be read: {why}");
            assert_eq!(read(text).0, Err(why), "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_rejected_without_a_stack_overflow() {
        let depth = 200_000;
        let text = format!("{{a:{}{}}}", "[".repeat(depth), "]".repeat(depth));
        let why = "its arguments cannot be read: its values are nested too deeply";
        assert_eq!(read(&text).0, Err(why.to_owned()));
        let mut open = GemmaArguments::default();
        assert!(!"{a:".repeat(1000).chars().any(|c| open.push(c)));
    }
}
