//! The events that the scanner emits, and the buffer that collects them.

use super::code_context::CodeContext;
use super::whitespace_holdback::WhitespaceHoldback;
use crate::domain::{Arguments, ServerId};
use std::borrow::Cow;

/// An event of the scanned stream. Joining the raw texts of all events gives the stream. Chunk
/// boundaries only affect whether adjacent text, thinking or markers are one event or several.
#[derive(Debug, Clone, PartialEq)]
pub enum ScanEvent {
    Text(String),
    Thinking(String),
    Call(TextCall),
    /// Text that is certainly meant as a call, but cannot be run.
    UnusableCall(UnusableCall),
    /// All text of this reply so far was thinking, and its calls must not be run.
    TextWasThinking,
    /// Tags, fences, separators, and whitespace around them. Not shown.
    Marker(String),
}

impl ScanEvent {
    /// The event's text in the stream.
    pub fn raw(&self) -> &str {
        match self {
            Self::Text(raw) | Self::Thinking(raw) | Self::Marker(raw) => raw,
            Self::Call(call) => &call.raw,
            Self::UnusableCall(call) => &call.raw,
            Self::TextWasThinking => "",
        }
    }
}

/// A call to an available tool, with the tool name resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct TextCall {
    /// `None` if several servers have the tool and the call names none of them.
    pub server: Option<ServerId>,
    pub tool: String,
    pub arguments: Arguments,
    /// The form's label in the approval dialog, such as `JSON`.
    pub form: &'static str,
    /// The call was invalid as written, but its meaning was clear.
    pub was_repaired: bool,
    /// False if the call ended only because the reply ended, so something may be missing.
    pub has_end: bool,
    /// The call as the model wrote it; shown if the user treats the call as text (`t`).
    pub raw: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct UnusableCall {
    pub raw: String,
    pub reason: String,
}

/// The events that have not been taken yet. Adjacent texts are joined.
#[derive(Debug)]
pub(super) struct ScanOutput {
    events: Vec<ScanEvent>,
    /// The whitespace withheld until the next event decides whether it is shown.
    holdback: Option<WhitespaceHoldback>,
    /// The Markdown code around the end of the shown text.
    pub(super) code: CodeContext,
    pub(super) has_text: bool,
    /// An event was emitted, even if only a marker.
    has_output: bool,
}

impl Default for ScanOutput {
    fn default() -> Self {
        Self {
            events: Vec::new(),
            holdback: Some(WhitespaceHoldback::new(false)),
            code: CodeContext::default(),
            has_text: false,
            has_output: false,
        }
    }
}

impl ScanOutput {
    pub(super) fn take_events(&mut self) -> Vec<ScanEvent> {
        std::mem::take(&mut self.events)
    }

    /// Whether the stream has contained only whitespace so far.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_output
    }

    /// Whether only whitespace and separators have followed the start of the stream, a call, a
    /// marker or thinking.
    pub(super) fn is_holding_whitespace(&self) -> bool {
        self.holdback.is_some()
    }

    pub(super) fn is_after_call(&self) -> bool {
        self.holdback
            .as_ref()
            .is_some_and(WhitespaceHoldback::is_after_call)
    }

    /// Called at the end of anything that is not text.
    pub(super) fn start_holdback(&mut self, is_after_call: bool) {
        self.end_holdback();
        self.holdback = Some(WhitespaceHoldback::new(is_after_call));
    }

    /// Emits the withheld whitespace as a marker. Called if no text follows it.
    pub(super) fn end_holdback(&mut self) {
        if let Some(holdback) = self.holdback.take() {
            self.append_marker(holdback.withheld());
        }
    }

    pub(super) fn push(&mut self, event: ScanEvent) {
        self.end_holdback();
        self.has_output = true;
        self.events.push(event);
    }

    pub(super) fn push_marker(&mut self, raw: &str) {
        self.end_holdback();
        self.append_marker(raw);
    }

    fn append_marker(&mut self, raw: &str) {
        self.has_output |= !raw.is_empty();
        match self.events.last_mut() {
            _ if raw.is_empty() => {}
            Some(ScanEvent::Marker(last)) => last.push_str(raw),
            _ => self.events.push(ScanEvent::Marker(raw.to_owned())),
        }
    }

    /// Emits `text` to be shown. Returns false if all of it was withheld as whitespace.
    pub(super) fn push_text(&mut self, text: &str) -> bool {
        let text = self.release_whitespace(text);
        if text.is_empty() {
            return false;
        }
        self.code.push(&text);
        self.has_text = true;
        self.has_output = true;
        match self.events.last_mut() {
            Some(ScanEvent::Text(last)) => last.push_str(&text),
            _ => self.events.push(ScanEvent::Text(text.into_owned())),
        }
        true
    }

    pub(super) fn push_thinking(&mut self, text: &str) {
        let text = self.release_whitespace(text);
        if text.is_empty() {
            return;
        }
        match self.events.last_mut() {
            Some(ScanEvent::Thinking(last)) => last.push_str(&text),
            _ => self.events.push(ScanEvent::Thinking(text.into_owned())),
        }
    }

    /// Withholds whitespace at the start of `text`. If other text follows it, ends the holdback and
    /// returns that text, after the part of the withheld whitespace that is shown.
    fn release_whitespace<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let Some(holdback) = &mut self.holdback else {
            return text.into();
        };
        let Some(text_start) = text.find(|c| !holdback.withhold(c)) else {
            return "".into();
        };
        let Some(holdback) = self.holdback.take() else {
            return text.into();
        };
        let (hidden, shown) = holdback.split_before_text();
        self.append_marker(hidden);
        [shown, &text[text_start..]].concat().into()
    }
}
