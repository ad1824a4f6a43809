//! Records the raw replies of a turn and the calls read from them, within limits, for the log
//! pane. Text only: headers and addresses never get here.

use crate::dialect::scan::ScanEvent;
use crate::domain::reply_trace::{TraceKind, TraceLine};
use crate::domain::{CallId, ToolCall, ToolOutcome, ToolState};
use crate::provider::NativeCall;
use serde_json::{Value, json};
use std::collections::VecDeque;

/// Bytes kept of a reply's stream, and separately of its scanned parts.
const REPLY_BYTES_MAX: usize = 256 << 10;
/// Replies kept per turn.
const REPLIES_MAX: usize = 12;
/// Parts and calls kept per reply.
const PARTS_MAX: usize = 4_000;
/// Lines are limited because they are wrapped on every redraw.
const LINE_BYTES_MAX: usize = 400;

/// The replies of the last turn.
#[derive(Debug, Clone, Default)]
pub struct ReplyTracer {
    replies: VecDeque<TracedReply>,
    count: usize,
}

#[derive(Debug, Clone, Default)]
struct TracedReply {
    number: usize,
    model: String,
    stream: TraceParts,
    scanned: TraceParts,
    /// Its calls, with the state of each.
    calls: Vec<(CallId, String)>,
    end: String,
}

#[derive(Debug, Clone, Default)]
struct TraceParts {
    parts: Vec<TracePart>,
    bytes: usize,
    /// Bytes beyond the limit.
    omitted_bytes: usize,
}

#[derive(Debug, Clone)]
struct TracePart {
    kind: TraceKind,
    text: String,
    note: String,
}

impl TraceParts {
    fn add(&mut self, sort: TraceKind, text: &str, note: String) {
        let room = REPLY_BYTES_MAX.saturating_sub(self.bytes);
        let kept = &text[..text.floor_char_boundary(room)];
        self.omitted_bytes += text.len() - kept.len();
        self.bytes += kept.len();
        let is_full = self.parts.len() >= PARTS_MAX;
        let is_continuation =
            note.is_empty() && matches!(sort, TraceKind::Text | TraceKind::Thinking);
        match self.parts.last_mut() {
            Some(last) if is_continuation && last.kind == sort && last.note.is_empty() => {
                last.text.push_str(kept);
            }
            _ if is_full => self.omitted_bytes += kept.len(),
            _ if kept.is_empty() && note.is_empty() => {}
            _ => self.parts.push(TracePart {
                kind: sort,
                text: kept.to_owned(),
                note,
            }),
        }
    }
}

impl ReplyTracer {
    pub(super) fn begin_reply(&mut self, model: &str) {
        self.count += 1;
        if self.replies.len() == REPLIES_MAX {
            self.replies.pop_front();
        }
        self.replies.push_back(TracedReply {
            number: self.count,
            model: model.to_owned(),
            ..TracedReply::default()
        });
    }

    fn stream(&mut self, sort: TraceKind, text: &str) {
        if let Some(reply) = self.replies.back_mut() {
            reply.stream.add(sort, text, String::new());
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.stream(TraceKind::Text, text);
    }

    /// Thinking in the provider's separate field.
    pub(super) fn thinking(&mut self, text: &str) {
        self.stream(TraceKind::Thinking, text);
        self.add_piece(TraceKind::Thinking, text, String::new());
    }

    pub(super) fn call(&mut self, call: &NativeCall) {
        let arguments = match &call.arguments {
            Ok(arguments) => Value::Object(arguments.clone()),
            Err(raw) => Value::String(raw.clone()),
        };
        let shown = json!({"id": call.id, "name": call.name, "arguments": arguments});
        self.stream(TraceKind::Call, &shown.to_string());
        let note = "in the provider's own field".to_owned();
        self.add_piece(TraceKind::Call, &call.name, note);
    }

    fn add_piece(&mut self, sort: TraceKind, text: &str, note: String) {
        if let Some(reply) = self.replies.back_mut() {
            reply.scanned.add(sort, text, note);
        }
    }

    pub(super) fn record_scan_event(&mut self, piece: &ScanEvent) {
        let (sort, note) = match piece {
            ScanEvent::Text(_) => (TraceKind::Text, String::new()),
            ScanEvent::Thinking(_) => (TraceKind::Thinking, String::new()),
            ScanEvent::Marker(_) => (TraceKind::Markup, String::new()),
            ScanEvent::Call(call) => {
                let mut note = format!("read as {}", call.form);
                if call.was_repaired {
                    note.push_str(", repaired");
                }
                if !call.is_terminated {
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
        self.add_piece(sort, piece.raw(), note);
    }

    pub(super) fn reply_restarted(&mut self) {
        let model = self.replies.back().map(|reply| reply.model.clone());
        self.end_reply("restarted by the server");
        self.begin_reply(&model.unwrap_or_default());
    }

    pub(super) fn end_reply(&mut self, how: &str) {
        if let Some(reply) = self.replies.back_mut() {
            how.clone_into(&mut reply.end);
        }
    }

    /// Records the state of a call, replacing its earlier state.
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

    /// The whole trace, line by line.
    pub fn lines(&self) -> Vec<TraceLine> {
        let mut lines = Vec::new();
        let left_out = self.count - self.replies.len();
        if left_out > 0 {
            heading(
                &mut lines,
                format!("{left_out} earlier replies are not shown"),
            );
        }
        for reply in &self.replies {
            heading(
                &mut lines,
                format!("Reply {} of {}", reply.number, reply.model),
            );
            heading(&mut lines, "As the server sent it:".to_owned());
            push_parts(&mut lines, &reply.stream);
            if !reply.end.is_empty() {
                note(&mut lines, &format!("end: {}", reply.end));
            }
            heading(&mut lines, "As it was cut into pieces:".to_owned());
            push_parts(&mut lines, &reply.scanned);
            if !reply.calls.is_empty() {
                heading(&mut lines, "What became of its calls:".to_owned());
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
        description.push_str(&format!("; also written as {forms}: one call"));
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
    push(lines, TraceKind::Note, text);
}

fn push_parts(lines: &mut Vec<TraceLine>, parts: &TraceParts) {
    if parts.parts.is_empty() {
        note(lines, "nothing");
    }
    for part in &parts.parts {
        push(lines, part.kind, &part.text);
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

fn push(lines: &mut Vec<TraceLine>, sort: TraceKind, text: &str) {
    let mut begins = true;
    let text = text.strip_suffix('\n').unwrap_or(text);
    for line in text.split('\n') {
        let mut rest = line;
        loop {
            let end = rest.floor_char_boundary(LINE_BYTES_MAX);
            let (first, more) = rest.split_at(end);
            lines.push(TraceLine {
                kind: sort,
                starts_entry: std::mem::take(&mut begins),
                text: first.to_owned(),
            });
            rest = more;
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
            tracer.text(text);
            tracer.record_scan_event(&ScanEvent::Text(text.to_owned()));
        }
        tracer.end_reply("stop");
        let stream = ["text  안녕", "      ", "      x"];
        let expected = [
            &["Reply 1 of m", "As the server sent it:"][..],
            &stream,
            &["      end: stop", "As it was cut into pieces:"],
            &stream,
        ];
        assert_eq!(rendered_lines(&tracer), expected.concat());
    }

    #[test]
    fn trace_is_bounded_and_reports_what_it_omits() {
        let mut tracer = ReplyTracer::default();
        for _ in 0..REPLIES_MAX + 3 {
            tracer.begin_reply("m");
            for _ in 0..40 {
                tracer.text(&"가".repeat(10_000));
            }
            for _ in 0..PARTS_MAX + 5 {
                tracer.record_scan_event(&ScanEvent::Marker("x".to_owned()));
            }
        }
        let kept: usize = tracer
            .replies
            .iter()
            .map(|reply| reply.stream.bytes + reply.scanned.bytes)
            .sum();
        assert!(kept <= REPLIES_MAX * 2 * REPLY_BYTES_MAX, "{kept}");
        let lines = rendered_lines(&tracer);
        assert_eq!(lines[0], "3 earlier replies are not shown");
        let left_out = |bytes: usize| format!("      {bytes} more bytes are not shown");
        let beyond = 1_200_000 - REPLY_BYTES_MAX;
        // A character is not split.
        let beyond = beyond + REPLY_BYTES_MAX % 3;
        assert!(lines.contains(&left_out(beyond)), "{beyond}");
        assert!(lines.contains(&left_out(5)));
        let longest = tracer.lines().iter().map(|line| line.text.len()).max();
        assert!(longest <= Some(LINE_BYTES_MAX));
    }
}
