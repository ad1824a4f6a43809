//! Reads YAML as JSON values. Anchors and aliases are refused: a few lines of them can expand to
//! gigabytes. Scalars stay strings, except null.

use super::document::{DEPTH_MAX, SyntaxError};
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// An unfinished list, or a mapping with the key whose value is still missing.
enum OpenNode {
    List(Vec<Value>),
    Mapping(Map<String, Value>, Option<String>),
}

/// The only document of `text`; null if there is none. Several are refused.
pub(super) fn parse(text: &str) -> Result<Value, SyntaxError> {
    let mut open: Vec<OpenNode> = Vec::new();
    let mut documents = 0;
    let mut root = Value::Null;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| SyntaxError {
            line: error.marker().line(),
            problem: "the syntax is wrong here".to_owned(),
        })?;
        let fail = |problem: &str| SyntaxError {
            line: span.start.line(),
            problem: problem.to_owned(),
        };
        let finished = match event {
            Event::Alias(_) | Event::Scalar(_, _, 1.., _) => return Err(fail(ANCHORS_REFUSED)),
            Event::SequenceStart(1.., _) | Event::MappingStart(1.., _) => {
                return Err(fail(ANCHORS_REFUSED));
            }
            Event::Scalar(text, style, ..) => Some(scalar(&text, style)),
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() >= DEPTH_MAX => {
                return Err(fail(&format!(
                    "it is nested deeper than {DEPTH_MAX} levels"
                )));
            }
            Event::SequenceStart(..) => {
                open.push(OpenNode::List(Vec::new()));
                None
            }
            Event::MappingStart(..) => {
                open.push(OpenNode::Mapping(Map::new(), None));
                None
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(OpenNode::into_value),
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return Err(fail("it contains several documents"));
                }
                None
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => None,
        };
        let Some(value) = finished else {
            continue;
        };
        match open.last_mut() {
            Some(container) => container
                .add(value)
                .map_err(|()| fail("a key is not a string"))?,
            None => root = value,
        }
    }
    Ok(root)
}

const ANCHORS_REFUSED: &str = "anchors and aliases (`&`, `*`) are not accepted";

fn scalar(text: &str, style: ScalarStyle) -> Value {
    let is_null = matches!(text, "" | "~" | "null" | "Null" | "NULL");
    match is_null && style == ScalarStyle::Plain {
        true => Value::Null,
        false => Value::from(text),
    }
}

impl OpenNode {
    /// Fails if a key is not a string.
    fn add(&mut self, value: Value) -> Result<(), ()> {
        match self {
            Self::List(items) => items.push(value),
            Self::Mapping(map, key) => match (key.take(), value) {
                (Some(key), value) => {
                    map.insert(key, value);
                }
                (None, Value::String(text)) => *key = Some(text),
                (None, _) => return Err(()),
            },
        }
        Ok(())
    }

    fn into_value(self) -> Value {
        match self {
            Self::List(items) => Value::Array(items),
            Self::Mapping(map, _) => Value::Object(map),
        }
    }
}
