//! Calls as JSON: an object, an array of objects, or either in a wrapper. An object is given up at
//! the first key that no call has. The rest of it passes through as text, so a call quoted deep
//! inside an example is not run.

use super::json_call::{self, JsonObject};
use super::recognizer::{
    Advance, BoxedRecognizer, FormEnd, OpeningContext, PassThroughStatus, RecognizedForm,
    Recognizer,
};
use super::scan_event::ScanEvent;
use super::unterminated_json::{JsonProgress, UnclosedString, UnterminatedJson};
use crate::domain::{ToolLookup, Toolset};
use crate::text::{JsonEvent, JsonScanner, lenient_json};
use std::ops::Range;

/// Longer arrays are data.
const ELEMENTS_MAX: usize = 64;

pub(super) fn open(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    if !matches!(opening.marker, '{' | '[') || opening.offered.is_empty() {
        return None;
    }
    let mut json = JsonRecognizer {
        form: opening.wrapper.map_or("JSON", |wrapper| wrapper.form),
        is_tagged: opening.wrapper.is_some_and(|wrapper| wrapper.is_certain),
        ..JsonRecognizer::default()
    };
    json.scanner.push(opening.marker);
    json.levels.push(JsonLevel::new(opening.marker == '['));
    Some(Box::new(json))
}

#[derive(Debug, Default)]
struct JsonRecognizer {
    scanner: JsonScanner,
    /// Outermost open containers, as long as their keys belong to the call and not to its
    /// arguments.
    levels: Vec<JsonLevel>,
    /// Finished elements of the outer array, as byte ranges of the body.
    elements: Vec<ArrayElement>,
    element_start: usize,
    evidence: CallEvidence,
    /// Set once the JSON is invalid; from there, only braces are counted to find the end.
    unterminated: Option<UnterminatedJson>,
    unclosed: UnclosedString,
    /// End of the call if it ended without a closing brace.
    end: Option<usize>,
    form: &'static str,
    /// In a wrapper that always means a call, so any keys are accepted.
    is_tagged: bool,
}

#[derive(Debug)]
struct JsonLevel {
    array: bool,
    /// A container that opens in this level is a level too.
    wraps: bool,
}

impl JsonLevel {
    fn new(array: bool) -> Self {
        Self {
            array,
            wraps: array,
        }
    }
}

#[derive(Debug)]
struct ArrayElement {
    at: Range<usize>,
    unmistakable: bool,
}

/// Evidence so far that the current object is a call.
#[derive(Debug, Default)]
struct CallEvidence {
    names_tool: bool,
    name_follows: bool,
    has_arguments: bool,
}

impl CallEvidence {
    fn unmistakable(&self) -> bool {
        self.names_tool && self.has_arguments
    }
}

impl Recognizer for JsonRecognizer {
    fn step(&mut self, c: char, body: &str, offered: &Toolset) -> Advance {
        if self.unterminated.is_some() {
            return self.step_unterminated(c, body, offered);
        }
        let in_string = self.scanner.is_in_string();
        let end_of_call = self.unclosed.push(c, body, in_string);
        if self.is_unmistakable() && end_of_call.is_some() {
            self.end = end_of_call;
            return Advance::Reject;
        }
        let at_level = self.scanner.depth() == self.levels.len();
        match self.scanner.push(c) {
            JsonEvent::Opened { is_array } => self.on_open(is_array, at_level, body),
            JsonEvent::Closed => {
                self.on_close(body.len());
                if self.is_data_list(body, offered) {
                    Advance::PassThrough
                } else {
                    Advance::Hold
                }
            }
            JsonEvent::Key if at_level => self.key(offered),
            JsonEvent::StringEnd if at_level && self.evidence.name_follows => {
                let name = self.scanner.last_string().unwrap_or_default();
                self.evidence.names_tool = offered.resolve(None, name) != ToolLookup::Unknown;
                self.evidence.name_follows = false;
                Advance::Hold
            }
            // The array contains something other than objects. After a call, such an element is
            // only an invalid call.
            JsonEvent::StringStart | JsonEvent::LiteralStart
                if at_level && self.in_array() && !self.has_call() =>
            {
                Advance::PassThrough
            }
            JsonEvent::ValueEnd => self.on_value_end(body, offered),
            JsonEvent::Invalid if self.is_unmistakable() && !self.is_between_elements() => {
                let before = &body[..body.len() - c.len_utf8()];
                self.unterminated = Some(UnterminatedJson::new(self.scanner.depth(), before));
                self.step_unterminated(c, body, offered)
            }
            JsonEvent::Invalid => Advance::Reject,
            _ => Advance::Hold,
        }
    }

    fn pass(&mut self, c: char) -> PassThroughStatus {
        // A newline in a string of an example is more likely a missing quote. Stop passing through,
        // or later calls would be lost.
        if self.unterminated.is_some() || c == '\n' && self.scanner.is_in_string() {
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

    /// A missing bracket at the end is forgiven; a truncated call is not.
    fn finish(&mut self, body: &str, offered: &Toolset, end: FormEnd) -> Option<RecognizedForm> {
        let mut pieces = self.read_elements(body, offered);
        let end_of_call = self.end.or_else(|| self.unclosed.end_of_json(body));
        if let Some(end_of_call) = end_of_call.filter(|_| self.is_unmistakable()) {
            let raw = &body[self.element_start..end_of_call];
            let why = match lenient_json::parse(raw) {
                Ok(_) => json_call::CUT_OFF.to_owned(),
                Err(why) => format!("its JSON cannot be read: {why}"),
            };
            pieces.push(json_call::unusable_call(raw, why));
            return Some(RecognizedForm::Calls(pieces));
        }
        let in_element = self.levels.iter().any(|level| level.array) && !self.in_array();
        let is_cut_off = self.is_tagged && end == FormEnd::Stream && !self.in_array();
        if is_cut_off || self.evidence.unmistakable() || in_element && !pieces.is_empty() {
            pieces.push(json_call::unusable_call(
                &body[self.element_start..],
                json_call::CUT_OFF,
            ));
        } else if let Some(last) = self.elements.last().filter(|_| !pieces.is_empty()) {
            // An unclosed comment is prose after the calls.
            let tail = &body[last.at.end..];
            if tail.contains(|c: char| !c.is_whitespace() && !",]}".contains(c)) {
                pieces.push(ScanEvent::Text(tail.to_owned()));
            }
        }
        (!pieces.is_empty()).then_some(RecognizedForm::Calls(pieces))
    }
}

impl JsonRecognizer {
    fn is_unmistakable(&self) -> bool {
        self.is_tagged || self.evidence.unmistakable()
    }

    /// The first element decides: if it is not a call, the array is data.
    fn is_data_list(&self, body: &str, offered: &Toolset) -> bool {
        let in_list = self.levels.len() == 1 && self.in_array() && !self.is_tagged;
        in_list && self.elements.len() == 1 && self.read_elements(body, offered).is_empty()
    }

    fn has_call(&self) -> bool {
        self.elements.iter().any(|element| element.unmistakable)
    }

    /// In an array, after an element.
    fn is_between_elements(&self) -> bool {
        self.in_array() && !self.elements.is_empty()
    }

    fn in_array(&self) -> bool {
        self.levels.last().is_some_and(|level| level.array)
    }

    fn on_open(&mut self, array: bool, at_level: bool, body: &str) -> Advance {
        let Some(parent) = self.levels.last() else {
            return Advance::Reject;
        };
        if !at_level || !parent.wraps {
            return Advance::Hold;
        }
        if parent.array {
            if array || self.elements.len() == ELEMENTS_MAX {
                return Advance::PassThrough;
            }
            self.element_start = body.len() - 1;
            self.evidence = CallEvidence::default();
        }
        self.levels.push(JsonLevel::new(array));
        Advance::Hold
    }

    /// Handles a closed container; `end` is the byte after it.
    fn on_close(&mut self, end: usize) {
        if self.scanner.depth() >= self.levels.len() {
            return;
        }
        self.levels.truncate(self.scanner.depth());
        if self.in_array() {
            let head = std::mem::take(&mut self.evidence);
            self.elements.push(ArrayElement {
                at: self.element_start..end,
                unmistakable: head.unmistakable(),
            });
        }
    }

    fn key(&mut self, offered: &Toolset) -> Advance {
        let known = self
            .scanner
            .last_string()
            .filter(|key| json_call::is_call_key(key, offered));
        let (Some(key), Some(level)) = (known, self.levels.last_mut()) else {
            // An unknown key after the name and the arguments does not undo the call.
            return if self.is_tagged {
                self.evidence.name_follows = false;
                if let Some(level) = self.levels.last_mut() {
                    level.wraps = false;
                }
                Advance::Hold
            } else {
                Advance::PassThrough
            };
        };
        level.wraps = json_call::is_wrapper_key(key);
        self.evidence.name_follows = json_call::is_name_key(key);
        self.evidence.has_arguments |= json_call::is_arguments_key(key);
        Advance::Hold
    }

    fn on_value_end(&mut self, body: &str, offered: &Toolset) -> Advance {
        let mut pieces = self.read_elements(body, offered);
        if self.elements.is_empty() && body.starts_with('{') {
            let object = JsonObject {
                raw: body,
                unmistakable: self.evidence.unmistakable(),
                is_array_element: false,
                is_tagged: self.is_tagged,
                form: self.form,
                is_terminated: true,
            };
            pieces.extend(json_call::parse_call(&object, offered));
        }
        if pieces.is_empty() {
            Advance::Text
        } else {
            Advance::Found(RecognizedForm::Calls(pieces))
        }
    }

    /// Parses each element separately, so an invalid one does not drop its siblings. Empty if no
    /// element is a call.
    fn read_elements(&self, body: &str, offered: &Toolset) -> Vec<ScanEvent> {
        let read: Vec<_> = self
            .elements
            .iter()
            .map(|element| {
                let object = JsonObject {
                    raw: &body[element.at.clone()],
                    unmistakable: element.unmistakable,
                    is_array_element: true,
                    is_tagged: self.is_tagged,
                    form: self.form,
                    is_terminated: true,
                };
                (object.raw, json_call::parse_call(&object, offered))
            })
            .collect();
        if read.iter().all(|(_, piece)| piece.is_none()) {
            return Vec::new();
        }
        read.into_iter()
            .map(|(raw, piece)| {
                piece.unwrap_or_else(|| json_call::unusable_call(raw, "it is not a call"))
            })
            .collect()
    }

    /// Counts braces to the end of the invalid object, then continues with the rest of its array.
    fn step_unterminated(&mut self, c: char, body: &str, offered: &Toolset) -> Advance {
        let Some(unterminated) = &mut self.unterminated else {
            return Advance::Reject;
        };
        let array = self.levels.iter().rposition(|level| level.array);
        let rest = array.map_or(0, |at| at + 1);
        match unterminated.push(c, body, rest) {
            JsonProgress::Incomplete => return Advance::Hold,
            JsonProgress::EndedBefore(at) => {
                self.end = Some(at);
                return Advance::Reject;
            }
            JsonProgress::Complete => {}
        }
        self.unterminated = None;
        self.scanner.resume(rest);
        if rest > 0 {
            self.on_close(body.len());
            return Advance::Hold;
        }
        self.on_value_end(body, offered)
    }
}
