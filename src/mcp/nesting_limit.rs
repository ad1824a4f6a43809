//! Handles messages that are nested deeper than serde_json's recursion limit. Cuts the parts that
//! are too deep from the text before parsing, so that the rest is still read: the request id, and
//! the other tools of a list. Pure.

use super::http::SYNTHETIC_ERROR_CODE;
use std::ops::Range;

/// Maximum number of nested arrays and objects. With a value in the innermost one, that makes 128
/// levels.
const CONTAINERS_MAX: usize = 127;
/// Replaces the member of a tool definition that was nested too deep.
pub const TOO_DEEP_KEY: &str = "humble/nestedTooDeep";
pub const TOO_DEEP_TEXT: &str = "nested deeper than 128 levels";

/// Returns `text` without the parts that are nested too deep; `None` if there are none, or if
/// `text` ends inside one. A result that is too deep becomes an error; in a tool list only the
/// affected tools are marked; in anything else the member becomes null. O(len), without building
/// values.
pub fn limit_nesting(text: &str) -> Option<String> {
    let mut scanner = NestingScanner::default();
    scanner.run(text.as_bytes());
    if scanner.cuts.is_empty() {
        return None;
    }
    let (mut out, mut copied_until) = (String::new(), 0);
    for cut in scanner.cuts {
        out.push_str(&text[copied_until..cut.span.start]);
        out.push_str(&cut.text);
        copied_until = cut.span.end;
    }
    out.push_str(&text[copied_until..]);
    Some(out)
}

/// An open array or object close to the root.
#[derive(Debug)]
struct ContainerFrame {
    is_array: bool,
    /// The key of the current value, including its quotes.
    key: Range<usize>,
    /// Whether the next string is a key.
    expects_key: bool,
}

/// The relevant frames: a batch, a message, its result, the tools, one tool.
const FRAMES_MAX: usize = 5;

#[derive(Debug, Default)]
struct NestingScanner {
    frames: Vec<ContainerFrame>,
    depth: usize,
    /// A cut whose end is not known yet, and the depth at which its value ends.
    pending: Option<(usize, Replacement)>,
    cuts: Vec<Replacement>,
}

#[derive(Debug)]
struct Replacement {
    span: Range<usize>,
    text: String,
}

impl NestingScanner {
    fn run(&mut self, text: &[u8]) {
        let mut index = 0;
        while let Some(&byte) = text.get(index) {
            let mut next_index = index + 1;
            match byte {
                b'"' => {
                    next_index = string_end(text, index);
                    if let Some(frame) = self.innermost()
                        && frame.expects_key
                    {
                        frame.key = index..next_index;
                    }
                }
                b'{' | b'[' => self.open(text, byte == b'['),
                b'}' | b']' => self.close(next_index),
                b',' | b':' => {
                    if let Some(frame) = self.innermost() {
                        frame.expects_key = byte == b',' && !frame.is_array;
                    }
                }
                _ => {}
            }
            index = next_index;
        }
    }

    /// The frame of the current container, or `None` if it is too far from the root.
    fn innermost(&mut self) -> Option<&mut ContainerFrame> {
        match self.frames.len() == self.depth {
            true => self.frames.last_mut(),
            false => None,
        }
    }

    fn open(&mut self, text: &[u8], is_array: bool) {
        if self.frames.len() == self.depth && self.depth < FRAMES_MAX {
            self.frames.push(ContainerFrame {
                is_array,
                key: 0..0,
                expects_key: !is_array,
            });
        }
        self.depth += 1;
        if self.depth > CONTAINERS_MAX && self.pending.is_none() {
            self.pending = self.replacement_for(text);
        }
    }

    fn close(&mut self, end: usize) {
        self.depth = self.depth.saturating_sub(1);
        self.frames.truncate(self.depth);
        if let Some((_, mut cut)) = self.pending.take_if(|(depth, _)| *depth == self.depth) {
            cut.span.end = end;
            self.cuts.push(cut);
        }
    }

    /// The cut for a container that is too deep, with its end still unknown, and the depth at which
    /// the cut value ends.
    fn replacement_for(&self, text: &[u8]) -> Option<(usize, Replacement)> {
        let message_frame = usize::from(self.frames.first()?.is_array);
        let key = |level: usize| {
            let frame = self.frames.get(message_frame + level)?;
            (!frame.is_array).then(|| &text[frame.key.clone()])
        };
        let is_list = |level: usize| {
            self.frames
                .get(message_frame + level)
                .is_some_and(|frame| frame.is_array)
        };
        let is_in_tool = key(1) == Some(br#""tools""#) && is_list(2) && key(3).is_some();
        let (level, replacement) = match key(0)? {
            br#""result""# if is_in_tool => (3, format!("\"{TOO_DEEP_KEY}\":true")),
            br#""error""# if key(1).is_some() => (1, self.null_member(text, message_frame + 1)),
            br#""result""# | br#""error""# => {
                let why = format!(
                    r#"{{"code":{SYNTHETIC_ERROR_CODE},"message":"The answer is {TOO_DEEP_TEXT}."}}"#
                );
                (0, format!(r#""error":{why}"#))
            }
            _ => (0, self.null_member(text, message_frame)),
        };
        let start = self.frames[message_frame + level].key.start;
        let span = start..start;
        Some((
            message_frame + level + 1,
            Replacement {
                span,
                text: replacement,
            },
        ))
    }

    /// A member with the current key of a frame and a null value.
    fn null_member(&self, text: &[u8], frame: usize) -> String {
        let key = String::from_utf8_lossy(&text[self.frames[frame].key.clone()]);
        format!("{key}:null")
    }
}

/// The index after the string that starts at `start`, or the end of the text.
fn string_end(text: &[u8], start: usize) -> usize {
    let mut index = start + 1;
    while let Some(byte) = text.get(index) {
        match byte {
            b'"' => return index + 1,
            b'\\' => index += 2,
            _ => index += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn nested(levels: usize) -> String {
        format!("{}\"}}]\\\"\"{}", "[".repeat(levels), "]".repeat(levels))
    }

    fn parse_limited(text: &str) -> Option<Value> {
        let text = limit_nesting(text)?;
        Some(serde_json::from_str(&text).expect("the remaining text is JSON"))
    }

    #[test]
    fn the_nesting_limit_matches_that_of_the_json_parser() {
        for levels in 1..200 {
            let text = format!("{{\"id\":1,\"params\":{}}}", nested(levels));
            let is_parsed = serde_json::from_str::<Value>(&text).is_ok();
            assert_eq!(limit_nesting(&text).is_none(), is_parsed, "{levels}");
        }
    }

    #[test]
    fn a_result_nested_too_deeply_becomes_an_error_with_the_id_of_its_request() {
        let error = json!({ "code": 0, "message": "The answer is nested deeper than 128 levels." });
        let deep = nested(300);
        for result in [
            deep.clone(),
            format!("{{\"content\":[],\"structuredContent\":{deep},\"a\":{deep}}}"),
            format!("{{\"tools\":[{deep}]}}"),
            format!("{{\"tools\":{{\"x\":{deep}}}}}"),
            format!("{{\"tools\":[],\"_meta\":{deep}}}"),
        ] {
            for text in [
                format!(r#"{{"id":7,"error":[{result}]}}"#),
                format!(r#"{{"id":7,"result":{result}}}"#),
                format!(r#" {{ "result" : {result} , "id" : 7 }}"#),
            ] {
                assert_eq!(
                    parse_limited(&text),
                    Some(json!({ "id": 7, "error": error })),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn only_the_too_deep_tools_of_a_list_are_marked() {
        let deep = nested(300);
        let text = format!(
            r#"{{"id":1,"result":{{"tools":[{{"name":"a","inputSchema":{{}}}},{{"x":{deep},"inputSchema":{{"y":{deep},"z":[]}},"name":"b"}},{{"name":"c"}}],"nextCursor":"2"}}}}"#
        );
        let tools = json!([
            { "name": "a", "inputSchema": {} },
            { TOO_DEEP_KEY: true, "name": "b" },
            { "name": "c" },
        ]);
        let expected = json!({ "id": 1, "result": { "tools": tools, "nextCursor": "2" } });
        assert_eq!(parse_limited(&text), Some(expected));
    }

    #[test]
    fn errors_keep_messages_requests_keep_methods_and_batches_keep_other_items() {
        let deep = nested(300);
        let text = format!(
            r#"[{{"error":{{"code":-1,"message":"no","data":{deep}}},"id":1}},{{"id":2,"result":{{"a":{deep}}}}},{{"id":3,"method":"ping","params":{{"a":{deep}}}}},{{"id":4,"result":{{}}}}]"#
        );
        let why = json!({ "code": 0, "message": "The answer is nested deeper than 128 levels." });
        let expected = json!([
            { "error": { "code": -1, "message": "no", "data": null }, "id": 1 },
            { "id": 2, "error": why },
            { "id": 3, "method": "ping", "params": null },
            { "id": 4, "result": {} },
        ]);
        assert_eq!(parse_limited(&text), Some(expected));
    }

    #[test]
    fn truncated_or_non_json_text_is_unchanged() {
        for text in [
            "[".repeat(1_000_000),
            "{\"result\":".repeat(1_000_000),
            "]".repeat(1_000),
            format!("{{\"result\":{}", nested(300)).replace("]]", "]"),
            "\"".to_owned(),
            "{\"a\\".to_owned(),
            String::new(),
        ] {
            assert_eq!(limit_nesting(&text), None);
        }
    }
}
