//! Records the raw replies of a turn and the calls read from them for the log pane, within
//! limits. It never records headers or addresses.

use crate::dialect::scan::ScanEvent;
use crate::domain::reply_trace::{TraceKind, TraceLine};
use crate::domain::{CallId, ToolCall, ToolOutcome, ToolState};
use crate::provider::NativeCall;
use serde_json::{Value, json};
use std::collections::VecDeque;

/// Maximum bytes kept of a reply's stream, and separately of its scan events.
const REPLY_BYTES_MAX: usize = 256 << 10;
/// Maximum number of replies kept per turn.
const REPLIES_MAX: usize = 12;
/// Maximum number of parts, and of calls, kept per reply.
const PARTS_MAX: usize = 4_000;
/// Maximum length of a line. Longer ones are split, because lines are wrapped on every redraw.
const LINE_BYTES_MAX: usize = 400;

/// The replies of one turn.
#[derive(Debug, Clone, Default)]
pub struct ReplyTracer {
    replies: VecDeque<TracedReply>,
    /// Number of replies so far, including those no longer kept.
    reply_count: usize,
}

#[derive(Debug, Clone, Default)]
struct TracedReply {
    number: usize,
    model: String,
    /// The parts as the server sent them.
    stream: TraceParts,
    /// The parts as the dialect scanner split them.
    scanned: TraceParts,
    /// The description of each call, including its state.
    calls: Vec<(CallId, String)>,
    end: String,
}

#[derive(Debug, Clone, Default)]
struct TraceParts {
    parts: Vec<TracePart>,
    bytes: usize,
    /// Number of bytes dropped because of the limits.
    omitted_bytes: usize,
}

#[derive(Debug, Clone)]
struct TracePart {
    kind: TraceKind,
    text: String,
    note: String,
}

impl TraceParts {
    fn push(&mut self, kind: TraceKind, text: &str, note: String) {
        let bytes_left = REPLY_BYTES_MAX.saturating_sub(self.bytes);
        let kept = &text[..text.floor_char_boundary(bytes_left)];
        self.omitted_bytes += text.len() - kept.len();
        self.bytes += kept.len();
        let is_full = self.parts.len() >= PARTS_MAX;
        let can_extend_last =
            note.is_empty() && matches!(kind, TraceKind::Text | TraceKind::Thinking);
        match self.parts.last_mut() {
            Some(last) if can_extend_last && last.kind == kind && last.note.is_empty() => {
                last.text.push_str(kept);
            }
            _ if is_full => self.omitted_bytes += kept.len(),
            _ if kept.is_empty() && note.is_empty() => {}
            _ => self.parts.push(TracePart {
                kind,
                text: kept.to_owned(),
                note,
            }),
        }
    }
}

impl ReplyTracer {
    pub(super) fn begin_reply(&mut self, model: &str) {
        self.reply_count += 1;
        if self.replies.len() == REPLIES_MAX {
            self.replies.pop_front();
        }
        self.replies.push_back(TracedReply {
            number: self.reply_count,
            model: model.to_owned(),
            ..TracedReply::default()
        });
    }

    fn push_streamed(&mut self, kind: TraceKind, text: &str) {
        if let Some(reply) = self.replies.back_mut() {
            reply.stream.push(kind, text, String::new());
        }
    }

    pub(super) fn record_text(&mut self, text: &str) {
        self.push_streamed(TraceKind::Text, text);
    }

    /// Records thinking from the provider's separate field.
    pub(super) fn record_thinking(&mut self, text: &str) {
        self.push_streamed(TraceKind::Thinking, text);
        self.push_scanned(TraceKind::Thinking, text, String::new());
    }

    pub(super) fn record_call(&mut self, call: &NativeCall) {
        let arguments = match &call.arguments {
            Ok(arguments) => Value::from(arguments.clone()),
            Err(raw) => Value::String(raw.clone()),
        };
        let call_json = json!({"id": call.id, "name": call.name, "arguments": arguments});
        self.push_streamed(TraceKind::Call, &call_json.to_string());
        let note = "in the provider's own field".to_owned();
        self.push_scanned(TraceKind::Call, &call.name, note);
    }

    fn push_scanned(&mut self, kind: TraceKind, text: &str, note: String) {
        if let Some(reply) = self.replies.back_mut() {
            reply.scanned.push(kind, text, note);
        }
    }

    pub(super) fn record_scan_event(&mut self, event: &ScanEvent) {
        let (kind, note) = match event {
            ScanEvent::Text(_) => (TraceKind::Text, String::new()),
            ScanEvent::Thinking(_) => (TraceKind::Thinking, String::new()),
            ScanEvent::Marker(_) => (TraceKind::Markup, String::new()),
            ScanEvent::Call(call) => {
                let mut note = format!("read as {}", call.form);
                if call.was_repaired {
                    note.push_str(", repaired");
                }
                if !call.has_end {
                    note.push_str(", its end missing");
                }
                (TraceKind::Call, note)
            }
            ScanEvent::UnusableCall(call) => (TraceKind::InvalidCall, call.reason.clone()),
            ScanEvent::TextWasThinking => {
                let note = "all text before this was thinking";
                (TraceKind::Note, note.to_owned())
            }
        };
        self.push_scanned(kind, event.raw(), note);
    }

    pub(super) fn restart_reply(&mut self) {
        let model = self.replies.back().map(|reply| reply.model.clone());
        self.end_reply("restarted by the server");
        self.begin_reply(&model.unwrap_or_default());
    }

    pub(super) fn end_reply(&mut self, label: &str) {
        if let Some(reply) = self.replies.back_mut() {
            label.clone_into(&mut reply.end);
        }
    }

    pub(super) fn record_call_state(&mut self, call: &ToolCall) {
        let mut recorded = self
            .replies
            .iter_mut()
            .rev()
            .flat_map(|reply| reply.calls.iter_mut());
        let description = describe_call(call);
        match recorded.find(|(id, _)| *id == call.id) {
            Some((_, recorded)) => *recorded = description,
            None => {
                if let Some(reply) = self.replies.back_mut()
                    && reply.calls.len() < PARTS_MAX
                {
                    reply.calls.push((call.id, description));
                }
            }
        }
    }

    pub fn lines(&self) -> Vec<TraceLine> {
        let mut lines = Vec::new();
        let omitted_count = self.reply_count - self.replies.len();
        if omitted_count > 0 {
            let text = match omitted_count {
                1 => "1 earlier reply is not shown".to_owned(),
                count => format!("{count} earlier replies are not shown"),
            };
            heading(&mut lines, text);
        }
        for reply in &self.replies {
            heading(
                &mut lines,
                format!("Reply {} from {}", reply.number, reply.model),
            );
            heading(&mut lines, "As the server sent it:".to_owned());
            push_parts(&mut lines, &reply.stream);
            if !reply.end.is_empty() {
                note(&mut lines, &format!("end: {}", reply.end));
            }
            heading(&mut lines, "As it was split:".to_owned());
            push_parts(&mut lines, &reply.scanned);
            if !reply.calls.is_empty() {
                heading(&mut lines, "The outcome of its calls:".to_owned());
            }
            for (_, description) in &reply.calls {
                note(&mut lines, description);
            }
        }
        lines
    }
}

fn describe_call(call: &ToolCall) -> String {
    let mut description = format!("{} on {}, {}", call.tool, call.server, call.origin.form());
    if !call.merged_forms.is_empty() {
        let forms = call.merged_forms.join(", ");
        description.push_str(&format!(", counted once although also written as {forms}"));
    }
    if let Some(quoted) = call.quoted {
        description.push_str("; ");
        description.push_str(quoted.clause());
    }
    if call.repeats.is_some() {
        description.push_str("; the same call as before");
    }
    let state = match &call.state {
        ToolState::Proposed => "proposed",
        ToolState::AwaitingApproval => "needs approval",
        ToolState::Running { .. } => "running",
        ToolState::Done(ToolOutcome::Succeeded { .. }) => "ran",
        ToolState::Done(ToolOutcome::WasText) => "treated as text",
        ToolState::Done(ToolOutcome::Reused { .. }) => "reused the first result",
        ToolState::Done(outcome) if outcome.is_error() => "failed",
        ToolState::Done(_) => "not run",
    };
    format!("{description}: {state}")
}

fn heading(lines: &mut Vec<TraceLine>, text: String) {
    lines.push(TraceLine {
        kind: TraceKind::Heading,
        starts_entry: true,
        text,
    });
}

fn note(lines: &mut Vec<TraceLine>, text: &str) {
    push_text(lines, TraceKind::Note, text);
}

fn push_parts(lines: &mut Vec<TraceLine>, parts: &TraceParts) {
    if parts.parts.is_empty() {
        note(lines, "nothing");
    }
    for part in &parts.parts {
        push_text(lines, part.kind, &part.text);
        if !part.note.is_empty() {
            note(lines, &part.note);
        }
    }
    if parts.omitted_bytes > 0 {
        note(
            lines,
            &format!("{} more bytes are not shown", parts.omitted_bytes),
        );
    }
}

fn push_text(lines: &mut Vec<TraceLine>, kind: TraceKind, text: &str) {
    let mut starts_entry = true;
    let text = text.strip_suffix('\n').unwrap_or(text);
    for line in text.split('\n') {
        let mut rest = line;
        loop {
            let end = rest.floor_char_boundary(LINE_BYTES_MAX);
            let (first, remainder) = rest.split_at(end);
            lines.push(TraceLine {
                kind,
                starts_entry: std::mem::take(&mut starts_entry),
                text: first.to_owned(),
            });
            rest = remainder;
            if rest.is_empty() {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered_lines(tracer: &ReplyTracer) -> Vec<String> {
        tracer.lines().iter().map(TraceLine::to_text).collect()
    }

    #[test]
    fn streamed_text_is_one_part_and_keeps_its_line_breaks() {
        let mut tracer = ReplyTracer::default();
        tracer.begin_reply("m");
        for text in ["안", "녕\n", "\nx"] {
            tracer.record_text(text);
            tracer.record_scan_event(&ScanEvent::Text(text.to_owned()));
        }
        tracer.end_reply("stop");
        let stream = ["text  안녕", "      ", "      x"];
        let expected = [
            &["Reply 1 from m", "As the server sent it:"][..],
            &stream,
            &["      end: stop", "As it was split:"],
            &stream,
        ];
        assert_eq!(rendered_lines(&tracer), expected.concat());
    }

    #[test]
    fn trace_is_bounded_and_reports_omitted_bytes() {
        let mut tracer = ReplyTracer::default();
        for _ in 0..REPLIES_MAX + 3 {
            tracer.begin_reply("m");
            for _ in 0..40 {
                tracer.record_text(&"가".repeat(10_000));
            }
            for _ in 0..PARTS_MAX + 5 {
                tracer.record_scan_event(&ScanEvent::Marker("x".to_owned()));
            }
        }
        let kept_bytes: usize = tracer
            .replies
            .iter()
            .map(|reply| reply.stream.bytes + reply.scanned.bytes)
            .sum();
        assert!(
            kept_bytes <= REPLIES_MAX * 2 * REPLY_BYTES_MAX,
            "{kept_bytes}"
        );
        let lines = rendered_lines(&tracer);
        assert_eq!(lines[0], "3 earlier replies are not shown");
        let omission = |bytes: usize| format!("      {bytes} more bytes are not shown");
        // Characters of three bytes are not split.
        let kept_bytes = REPLY_BYTES_MAX - REPLY_BYTES_MAX % 3;
        let omitted_bytes = 1_200_000 - kept_bytes;
        assert!(lines.contains(&omission(omitted_bytes)), "{omitted_bytes}");
        assert!(lines.contains(&omission(5)));
        let longest = tracer.lines().iter().map(|line| line.text.len()).max();
        assert!(longest <= Some(LINE_BYTES_MAX));
    }
}
