//! Finds the end of the JSON arguments after the name of a call, even if they are invalid, and
//! parses them.

use super::invalid_json::{InvalidJson, JsonProgress, UnclosedString};
use crate::text::{JsonEvent, JsonScanner, lenient_json};
use serde_json::Value;

/// Finds the end of an object, starting at its opening brace, in constant time per character.
#[derive(Debug, Default)]
pub(super) struct JsonArguments {
    scanner: JsonScanner,
    invalid_json: Option<InvalidJson>,
    unclosed_string: UnclosedString,
    /// The end of the object, if it ended without a closing brace.
    end: Option<usize>,
}

impl JsonArguments {
    /// Consumes `c`, the last character of `text`; the object begins somewhere in `text`.
    pub(super) fn push(&mut self, c: char, text: &str) -> JsonProgress {
        let progress = self.scan(c, text);
        if let JsonProgress::EndedBefore(end) = progress {
            self.end = Some(end);
        }
        progress
    }

    fn scan(&mut self, c: char, text: &str) -> JsonProgress {
        if let Some(invalid_json) = &mut self.invalid_json {
            return invalid_json.push(c, text, 0);
        }
        let is_in_string = self.scanner.is_in_string();
        if let Some(end) = self.unclosed_string.push(c, text, is_in_string) {
            return JsonProgress::EndedBefore(end);
        }
        match self.scanner.push(c) {
            JsonEvent::ValueEnd => JsonProgress::Complete,
            JsonEvent::Invalid => {
                let before = &text[..text.len() - c.len_utf8()];
                let mut invalid_json = InvalidJson::new(self.scanner.depth(), before);
                let progress = invalid_json.push(c, text, 0);
                self.invalid_json = Some(invalid_json);
                progress
            }
            _ => JsonProgress::Incomplete,
        }
    }

    pub(super) fn end(&self, text: &str) -> Option<usize> {
        self.end.or_else(|| self.unclosed_string.end_of_json(text))
    }

    /// The arguments or the parse error, and whether they were repaired.
    pub(super) fn parse(json: &str) -> (Result<Value, String>, bool) {
        match lenient_json::parse(json) {
            Ok(parsed) => (Ok(parsed.value), parsed.was_repaired),
            Err(why) => (Err(format!("its JSON cannot be read: {why}")), false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(text: &str) -> Option<usize> {
        let mut arguments = JsonArguments::default();
        text.char_indices().find_map(|(start, c)| {
            let end = start + c.len_utf8();
            (arguments.push(c, &text[..end]) == JsonProgress::Complete).then_some(end)
        })
    }

    #[test]
    fn the_end_of_json_arguments_is_found_even_if_they_are_invalid() {
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
