//! The JSON object behind the name of a call: where it ends, also where it cannot
//! be read, and what is in it.

use super::unterminated_json::{JsonProgress, UnclosedString, UnterminatedJson};
use crate::text::{JsonEvent, JsonScanner, lenient_json};
use serde_json::Value;

/// Follows an object from its opening brace on, in constant time a character.
#[derive(Debug, Default)]
pub(super) struct JsonArguments {
    scanner: JsonScanner,
    unterminated: Option<UnterminatedJson>,
    unclosed_string: UnclosedString,
    /// Where it was over before a closing brace came.
    end: Option<usize>,
}

impl JsonArguments {
    /// Takes `c`, with which `text` ends; the object begins somewhere in it.
    pub(super) fn push(&mut self, c: char, text: &str) -> JsonProgress {
        let progress = self.follow(c, text);
        if let JsonProgress::EndedBefore(at) = progress {
            self.end = Some(at);
        }
        progress
    }

    fn follow(&mut self, c: char, text: &str) -> JsonProgress {
        if let Some(broken) = &mut self.unterminated {
            return broken.push(c, text, 0);
        }
        let in_string = self.scanner.is_in_string();
        if let Some(over) = self.unclosed_string.push(c, text, in_string) {
            return JsonProgress::EndedBefore(over);
        }
        match self.scanner.push(c) {
            JsonEvent::ValueEnd => JsonProgress::Complete,
            JsonEvent::Invalid => {
                let before = &text[..text.len() - c.len_utf8()];
                let mut broken = UnterminatedJson::new(self.scanner.depth(), before);
                let progress = broken.push(c, text, 0);
                self.unterminated = Some(broken);
                progress
            }
            _ => JsonProgress::Incomplete,
        }
    }

    /// The byte of `text` at which it was over, though nothing closed it.
    pub(super) fn end(&self, text: &str) -> Option<usize> {
        self.end.or_else(|| self.unclosed_string.end_of_json(text))
    }

    /// The arguments, or why they cannot be read; and whether they were repaired.
    pub(super) fn parse(json: &str) -> (Result<Value, String>, bool) {
        match lenient_json::parse(json) {
            Ok(read) => (Ok(read.value), read.was_repaired),
            Err(why) => (Err(format!("its JSON cannot be read: {why}")), false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(text: &str) -> Option<usize> {
        let mut body = JsonArguments::default();
        text.char_indices().find_map(|(at, c)| {
            let end = at + c.len_utf8();
            (body.push(c, &text[..end]) == JsonProgress::Complete).then_some(end)
        })
    }

    #[test]
    fn end_is_found_even_in_unreadable_json() {
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
