//! The JSON object behind the name of a call: where it ends, also where it cannot
//! be read, and what is in it.

use crate::text::{Outline, OutlineEvent, json};
use serde_json::Value;

/// Follows an object from its opening brace on, in constant time a character.
#[derive(Debug, Default)]
pub(super) struct JsonBody {
    outline: Outline,
    /// What is no JSON any more is followed to its end by its braces.
    broken: Option<Broken>,
}

#[derive(Debug)]
struct Broken {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl JsonBody {
    /// Takes `c`; true where it completes the object.
    pub(super) fn push(&mut self, c: char) -> bool {
        if let Some(broken) = &mut self.broken {
            return broken.push(c);
        }
        match self.outline.push(c) {
            OutlineEvent::Ended => true,
            OutlineEvent::Broken => {
                let mut broken = Broken {
                    depth: self.outline.depth(),
                    in_string: false,
                    escaped: false,
                };
                let ended = broken.push(c);
                self.broken = Some(broken);
                ended
            }
            _ => false,
        }
    }

    /// The arguments, or why they cannot be read; and whether they were repaired.
    pub(super) fn read(json: &str) -> (Result<Value, String>, bool) {
        match json::parse(json) {
            Ok(read) => (Ok(read.value), read.repaired),
            Err(why) => (Err(format!("its JSON cannot be read: {why}")), false),
        }
    }
}

impl Broken {
    fn push(&mut self, c: char) -> bool {
        match c {
            _ if self.escaped => self.escaped = false,
            '\\' => self.escaped = self.in_string,
            '"' => self.in_string = !self.in_string,
            _ if self.in_string => {}
            '{' | '[' => self.depth += 1,
            '}' | ']' => self.depth -= 1,
            _ => {}
        }
        self.depth == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(text: &str) -> Option<usize> {
        let mut body = JsonBody::default();
        text.char_indices()
            .find_map(|(at, c)| body.push(c).then_some(at + c.len_utf8()))
    }

    #[test]
    fn the_end_is_found_whether_it_can_be_read_or_not() {
        for text in [
            "{}",
            r#"{"a": "}", 'b': {"c": [1, "]"]}}"#,
            r#"{"a" 1, "b": "} \" }", "c": {}}"#,
            r#"{"도시": 서울, "x": [{}]}"#,
        ] {
            assert_eq!(end(&format!("{text}}} tail")), Some(text.len()), "{text}");
        }
        assert_eq!(end(r#"{"a": {"#), None);
    }
}
