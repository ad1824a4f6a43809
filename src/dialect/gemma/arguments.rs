//! What Gemma writes in the braces of a call: `{city:<escape>Paris<escape>,n:3}`,
//! with strings between `<escape>`, `<|"|>` or plain quotes, and bare keys.

use crate::text::lenient_json;
use serde_json::{Map, Value};

/// As deep as JSON is read.
const DEPTH_MAX: usize = 128;
const QUOTES: [&str; 4] = ["<escape>", "<|\"|>", "\"", "'"];

/// Builds the value while the text passes by, in constant time a character,
/// amortised. A fault is kept, and reading goes on to the brace that closes.
#[derive(Debug, Default)]
pub(super) struct GemmaArguments {
    state: GemmaArgumentsState,
    /// Containers that are open, outermost first.
    open: Vec<OpenContainer>,
    /// Containers deeper than can be read.
    too_deep: usize,
    /// The key or value under way, with its quote in front.
    part: String,
    whole: Option<Value>,
    repaired: bool,
    fault: Option<String>,
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
    /// Not between quotes, or not known to be.
    Unquoted {
        key: bool,
    },
    Quoted {
        quote: &'static str,
        key: bool,
        escaped: bool,
    },
    /// In containers deeper than can be read.
    TooDeep,
}

impl GemmaArguments {
    /// Takes `c`; true where it completes the whole.
    pub(super) fn push(&mut self, c: char) -> bool {
        match self.state {
            GemmaArgumentsState::Quoted {
                quote,
                key,
                escaped,
            } => {
                self.in_quoted(c, quote, key, escaped);
                false
            }
            GemmaArgumentsState::Unquoted { key } => self.in_bare(c, key),
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
            _ => self.between(c),
        }
    }

    /// The arguments, or why they cannot be read; and whether a string was bare.
    pub(super) fn into_value(self) -> (Result<Value, String>, bool) {
        let read = match (self.fault, self.whole) {
            (Some(fault), _) => Err(format!("its arguments cannot be read: {fault}")),
            (None, value) => Ok(value.unwrap_or_default()),
        };
        (read, self.repaired)
    }

    fn fault(&mut self, what: &str) {
        self.fault.get_or_insert_with(|| what.to_owned());
    }

    fn in_array(&self) -> bool {
        matches!(self.open.last(), Some(OpenContainer::Array(_)))
    }

    fn between(&mut self, c: char) -> bool {
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
                self.fault("a key has no value");
                self.state = GemmaArgumentsState::CommaOrEnd;
                return self.between(c);
            }
            (GemmaArgumentsState::KeyOrEnd, ',') | (GemmaArgumentsState::ItemOrEnd, ',') => {
                self.fault("a comma stands alone")
            }
            (_, '}' | ']') => self.fault("its brackets do not match"),
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
                return self.in_bare(c, self.state == GemmaArgumentsState::Unquoted { key: true });
            }
            _ => self.fault("a comma is missing"),
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
            self.fault("its values are nested too deep");
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
            self.whole = Some(value);
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

    /// A bare key ends at its colon, a bare value at a comma or a bracket.
    fn in_bare(&mut self, c: char, key: bool) -> bool {
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
            let value = self.bare_value(word);
            self.put(value);
        }
        self.between(c)
    }

    fn bare_value(&mut self, word: &str) -> Value {
        match lenient_json::parse(word) {
            Ok(read) => read.value,
            Err(_) => {
                self.repaired = true;
                Value::String(word.to_owned())
            }
        }
    }

    fn in_quoted(&mut self, c: char, quote: &'static str, key: bool, escaped: bool) {
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
            // Only plain quotes have escapes.
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
    fn unreadable_arguments_are_followed_to_their_end() {
        for (text, why) in [
            ("{a}", "a key has no value"),
            ("{a:}", "a key has no value"),
            ("{a:1,,b:2}", "a comma stands alone"),
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
        let why = "its arguments cannot be read: its values are nested too deep";
        assert_eq!(read(&text).0, Err(why.to_owned()));
        let mut open = GemmaArguments::default();
        assert!(!"{a:".repeat(1000).chars().any(|c| open.push(c)));
    }
}
