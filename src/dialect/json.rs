//! Calls as JSON: an object, an array of objects, or either in a wrapper. At the first key that no
//! call has, the rest of the JSON passes through as text, so a call quoted deep inside an example
//! is not run.

use super::invalid_json::{InvalidJson, JsonProgress, UnclosedString};
use super::json_call::{self, JsonObject};
use super::recognizer::{
    Advance, BoxedRecognizer, FormEnd, OpeningContext, PassThroughStatus, RecognizedForm,
    Recognizer,
};
use super::scan_event::ScanEvent;
use crate::domain::{ToolLookup, Toolset};
use crate::text::{JsonEvent, JsonScanner, lenient_json};
use std::ops::Range;

/// Arrays with more elements are data.
const ELEMENTS_MAX: usize = 64;

pub(super) fn open(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    if !matches!(opening.first_char, '{' | '[') || opening.offered.is_empty() {
        return None;
    }
    let mut json = JsonRecognizer {
        form: opening.wrapper.map_or("JSON", |wrapper| wrapper.form),
        is_wrapped: opening.wrapper.is_some_and(|wrapper| wrapper.is_certain),
        ..JsonRecognizer::default()
    };
    json.scanner.push(opening.first_char);
    json.levels.push(JsonLevel::new(opening.first_char == '['));
    Some(Box::new(json))
}

#[derive(Debug, Default)]
struct JsonRecognizer {
    scanner: JsonScanner,
    /// The open containers from the outermost inward, except those inside the arguments of a call.
    levels: Vec<JsonLevel>,
    /// The complete elements of the innermost array in `levels`.
    elements: Vec<ArrayElement>,
    element_start: usize,
    evidence: CallEvidence,
    /// Set once the JSON is invalid. From there on, only brackets are counted to find the end.
    invalid_json: Option<InvalidJson>,
    unclosed_string: UnclosedString,
    /// The end of the call, if it ended without a closing brace.
    end: Option<usize>,
    form: &'static str,
    /// In a wrapper that always means a call, so any keys are accepted.
    is_wrapped: bool,
}

#[derive(Debug)]
struct JsonLevel {
    is_array: bool,
    /// A container that opens inside this one is added to the levels.
    tracks_children: bool,
}

impl JsonLevel {
    fn new(is_array: bool) -> Self {
        Self {
            is_array,
            tracks_children: is_array,
        }
    }
}

#[derive(Debug)]
struct ArrayElement {
    /// In bytes of the body.
    range: Range<usize>,
    is_unmistakable: bool,
}

#[derive(Debug, Default)]
struct CallEvidence {
    names_tool: bool,
    /// The last key was one for the tool's name, which must follow as its value.
    expects_name: bool,
    has_arguments: bool,
}

impl CallEvidence {
    fn is_unmistakable(&self) -> bool {
        self.names_tool && self.has_arguments
    }
}

impl Recognizer for JsonRecognizer {
    fn step(&mut self, c: char, body: &str, offered: &Toolset) -> Advance {
        if self.invalid_json.is_some() {
            return self.step_invalid_json(c, body, offered);
        }
        let is_in_string = self.scanner.is_in_string();
        let end_of_call = self.unclosed_string.push(c, body, is_in_string);
        if self.is_unmistakable() && end_of_call.is_some() {
            self.end = end_of_call;
            return Advance::Reject;
        }
        let is_at_tracked_level = self.scanner.depth() == self.levels.len();
        match self.scanner.push(c) {
            JsonEvent::Opened { is_array } => self.on_open(is_array, is_at_tracked_level, body),
            JsonEvent::Closed => {
                self.on_close(body.len());
                if self.is_data_array(body, offered) {
                    Advance::PassThrough
                } else {
                    Advance::Hold
                }
            }
            JsonEvent::Key if is_at_tracked_level => self.on_key(offered),
            JsonEvent::StringEnd if is_at_tracked_level && self.evidence.expects_name => {
                let name = self.scanner.last_string().unwrap_or_default();
                self.evidence.names_tool = offered.resolve(None, name) != ToolLookup::Unknown;
                self.evidence.expects_name = false;
                Advance::Hold
            }
            // An array that begins with anything but an object is data. After a call, such an
            // element is ignored.
            JsonEvent::StringStart | JsonEvent::LiteralStart
                if is_at_tracked_level
                    && self.is_in_array()
                    && !self.has_unmistakable_element() =>
            {
                Advance::PassThrough
            }
            JsonEvent::ValueEnd => self.on_value_end(body, offered),
            JsonEvent::Invalid if self.is_unmistakable() && !self.is_between_elements() => {
                let before = &body[..body.len() - c.len_utf8()];
                self.invalid_json = Some(InvalidJson::new(self.scanner.depth(), before));
                self.step_invalid_json(c, body, offered)
            }
            JsonEvent::Invalid => Advance::Reject,
            _ => Advance::Hold,
        }
    }

    fn pass(&mut self, c: char) -> PassThroughStatus {
        // A newline inside a string probably means a missing quote. Stop passing through, or later
        // calls would be lost.
        if self.invalid_json.is_some() || c == '\n' && self.scanner.is_in_string() {
            return PassThroughStatus::Outside;
        }
        match self.scanner.push(c) {
            JsonEvent::ValueEnd => PassThroughStatus::Ends,
            JsonEvent::Invalid => PassThroughStatus::Outside,
            _ => PassThroughStatus::Inside,
        }
    }

    fn unconsumed_bytes(&self, body: &str) -> usize {
        self.end.map_or(0, |end_of_call| body.len() - end_of_call)
    }

    /// A missing bracket at the end of an array is tolerated; a truncated call is not.
    fn finish(&mut self, body: &str, offered: &Toolset, end: FormEnd) -> Option<RecognizedForm> {
        let mut events = self.read_elements(body, offered);
        let end_of_call = self.end.or_else(|| self.unclosed_string.end_of_json(body));
        if let Some(end_of_call) = end_of_call.filter(|_| self.is_unmistakable()) {
            let raw = &body[self.element_start..end_of_call];
            let why = match lenient_json::parse(raw) {
                Ok(_) => json_call::CUT_OFF.to_owned(),
                Err(why) => format!("its JSON cannot be read: {why}"),
            };
            events.push(json_call::unusable_call(raw, why));
            return Some(RecognizedForm::Calls(events));
        }
        let is_in_element = self.levels.iter().any(|level| level.is_array) && !self.is_in_array();
        let is_cut_off = self.is_wrapped && end == FormEnd::Stream && !self.is_in_array();
        if is_cut_off || self.evidence.is_unmistakable() || is_in_element && !events.is_empty() {
            events.push(json_call::unusable_call(
                &body[self.element_start..],
                json_call::CUT_OFF,
            ));
        } else if let Some(last) = self.elements.last().filter(|_| !events.is_empty()) {
            // Anything but punctuation after the last call, such as an unclosed JSON comment, is prose.
            let tail = &body[last.range.end..];
            if tail.contains(|c: char| !c.is_whitespace() && !",]}".contains(c)) {
                events.push(ScanEvent::Text(tail.to_owned()));
            }
        }
        (!events.is_empty()).then_some(RecognizedForm::Calls(events))
    }
}

impl JsonRecognizer {
    fn is_unmistakable(&self) -> bool {
        self.is_wrapped || self.evidence.is_unmistakable()
    }

    /// Whether the array is data: its first element is not a call.
    fn is_data_array(&self, body: &str, offered: &Toolset) -> bool {
        let is_plain_array = self.levels.len() == 1 && self.is_in_array() && !self.is_wrapped;
        is_plain_array && self.elements.len() == 1 && self.read_elements(body, offered).is_empty()
    }

    fn has_unmistakable_element(&self) -> bool {
        self.elements.iter().any(|element| element.is_unmistakable)
    }

    /// Whether an array element has ended and no other one has begun.
    fn is_between_elements(&self) -> bool {
        self.is_in_array() && !self.elements.is_empty()
    }

    fn is_in_array(&self) -> bool {
        self.levels.last().is_some_and(|level| level.is_array)
    }

    fn on_open(&mut self, is_array: bool, is_at_tracked_level: bool, body: &str) -> Advance {
        let Some(parent) = self.levels.last() else {
            return Advance::Reject;
        };
        if !is_at_tracked_level || !parent.tracks_children {
            return Advance::Hold;
        }
        if parent.is_array {
            if is_array || self.elements.len() == ELEMENTS_MAX {
                return Advance::PassThrough;
            }
            self.element_start = body.len() - 1;
            self.evidence = CallEvidence::default();
        }
        self.levels.push(JsonLevel::new(is_array));
        Advance::Hold
    }

    fn on_close(&mut self, end: usize) {
        if self.scanner.depth() >= self.levels.len() {
            return;
        }
        self.levels.truncate(self.scanner.depth());
        if self.is_in_array() {
            let evidence = std::mem::take(&mut self.evidence);
            self.elements.push(ArrayElement {
                range: self.element_start..end,
                is_unmistakable: evidence.is_unmistakable(),
            });
        }
    }

    fn on_key(&mut self, offered: &Toolset) -> Advance {
        let call_key = self
            .scanner
            .last_string()
            .filter(|key| json_call::is_call_key(key, offered));
        let (Some(key), Some(level)) = (call_key, self.levels.last_mut()) else {
            // In a wrapper that always means a call, unknown keys are tolerated.
            return if self.is_wrapped {
                self.evidence.expects_name = false;
                if let Some(level) = self.levels.last_mut() {
                    level.tracks_children = false;
                }
                Advance::Hold
            } else {
                Advance::PassThrough
            };
        };
        level.tracks_children = json_call::is_wrapper_key(key);
        self.evidence.expects_name = json_call::is_name_key(key);
        self.evidence.has_arguments |= json_call::is_arguments_key(key);
        Advance::Hold
    }

    fn on_value_end(&mut self, body: &str, offered: &Toolset) -> Advance {
        let mut events = self.read_elements(body, offered);
        if self.elements.is_empty() && body.starts_with('{') {
            let object = JsonObject {
                raw: body,
                is_unmistakable: self.evidence.is_unmistakable(),
                is_array_element: false,
                is_wrapped: self.is_wrapped,
                form: self.form,
                has_end: true,
            };
            events.extend(json_call::parse_call(&object, offered));
        }
        if events.is_empty() {
            Advance::Text
        } else {
            Advance::Found(RecognizedForm::Calls(events))
        }
    }

    /// Parses each element separately, so an invalid one does not drop its siblings. Empty if no
    /// element is a call.
    fn read_elements(&self, body: &str, offered: &Toolset) -> Vec<ScanEvent> {
        let elements: Vec<_> = self
            .elements
            .iter()
            .map(|element| {
                let object = JsonObject {
                    raw: &body[element.range.clone()],
                    is_unmistakable: element.is_unmistakable,
                    is_array_element: true,
                    is_wrapped: self.is_wrapped,
                    form: self.form,
                    has_end: true,
                };
                (object.raw, json_call::parse_call(&object, offered))
            })
            .collect();
        if elements.iter().all(|(_, event)| event.is_none()) {
            return Vec::new();
        }
        elements
            .into_iter()
            .map(|(raw, event)| {
                event.unwrap_or_else(|| json_call::unusable_call(raw, "it is not a call"))
            })
            .collect()
    }

    /// Counts brackets to the end of the invalid object, then continues with the rest of its array.
    fn step_invalid_json(&mut self, c: char, body: &str, offered: &Toolset) -> Advance {
        let Some(invalid_json) = &mut self.invalid_json else {
            return Advance::Reject;
        };
        let array = self.levels.iter().rposition(|level| level.is_array);
        let outer_depth = array.map_or(0, |index| index + 1);
        match invalid_json.push(c, body, outer_depth) {
            JsonProgress::Incomplete => return Advance::Hold,
            JsonProgress::EndedBefore(end) => {
                self.end = Some(end);
                return Advance::Reject;
            }
            JsonProgress::Complete => {}
        }
        self.invalid_json = None;
        self.scanner.resume(outer_depth);
        if outer_depth > 0 {
            self.on_close(body.len());
            return Advance::Hold;
        }
        self.on_value_end(body, offered)
    }
}
