//! The open reply of a model: converts its parts into inputs of the turn, using the dialect
//! scanner. Dropping it closes the connection.

use super::reply_trace::ReplyTracer;
use crate::dialect::scan::{CallScanner, ScanEvent};
use crate::domain::{CallOrigin, Dialect, Notice, PromptKind, Toolset};
use crate::engine::turn::{ProposedCall, ReplyEnd, ReplyFailure, TurnInput};
use crate::provider::{EndReason, NativeCall, ProviderError, ReplyStream, StreamPart};
use futures::StreamExt;
use std::sync::Arc;

pub(super) struct OpenReply {
    stream: ReplyStream,
    /// `None` once the reply has ended.
    scanner: Option<CallScanner>,
    toolset: Arc<Toolset>,
    dialect: Dialect,
    /// Set only for a continuation, until the first text or thinking.
    leading_whitespace: Option<LeadingWhitespace>,
}

/// Whitespace at the start of a reply. The scanner drops it, but a continuation of an earlier
/// answer needs it between two words.
#[derive(Default)]
struct LeadingWhitespace {
    text: String,
    /// Other text has followed.
    is_complete: bool,
}

impl LeadingWhitespace {
    fn collect(&mut self, text: &str) {
        if !self.is_complete {
            let rest = text.trim_start();
            self.text.push_str(&text[..text.len() - rest.len()]);
            self.is_complete = !rest.is_empty();
        }
    }
}

impl OpenReply {
    pub fn new(
        stream: ReplyStream,
        offered: Arc<Toolset>,
        dialect: Dialect,
        kind: PromptKind,
    ) -> Self {
        Self {
            stream,
            scanner: Some(CallScanner::new(Arc::clone(&offered))),
            toolset: offered,
            dialect,
            leading_whitespace: (kind == PromptKind::Continue).then(LeadingWhitespace::default),
        }
    }

    fn restore_whitespace(&mut self, mut inputs: Vec<TurnInput>) -> Vec<TurnInput> {
        for input in &mut inputs {
            match input {
                TurnInput::Text(text) => {
                    if let Some(whitespace) = self.leading_whitespace.take() {
                        *text = whitespace.text + text.trim_start();
                    }
                }
                TurnInput::Thinking(_) => self.leading_whitespace = None,
                _ => {}
            }
        }
        inputs
    }

    /// The next part from the server; `None` after the end. Cancel-safe.
    pub async fn next(&mut self) -> Option<Result<StreamPart, ProviderError>> {
        self.stream.next().await
    }

    /// The last input of a reply is always [`TurnInput::ReplyEnded`].
    pub(super) fn read_part(
        &mut self,
        part: Option<Result<StreamPart, ProviderError>>,
        tracer: &mut ReplyTracer,
    ) -> Vec<TurnInput> {
        match part {
            Some(Ok(StreamPart::Heartbeat)) => vec![TurnInput::Heartbeat],
            Some(Ok(StreamPart::Notice(notice))) => vec![TurnInput::Noted(notice)],
            Some(Ok(StreamPart::Usage(usage))) => vec![TurnInput::Usage(usage)],
            Some(Ok(StreamPart::Thinking(text))) => {
                tracer.record_thinking(&text);
                vec![TurnInput::Thinking(text)]
            }
            Some(Ok(StreamPart::Call(call))) => {
                tracer.record_call(&call);
                vec![TurnInput::Call(native_call(call))]
            }
            Some(Ok(StreamPart::Text(text))) => {
                tracer.record_text(&text);
                if let Some(whitespace) = &mut self.leading_whitespace {
                    whitespace.collect(&text);
                }
                let events = self.scanner.as_mut().map(|scanner| scanner.push(&text));
                let inputs = self.to_inputs(events.unwrap_or_default(), tracer);
                self.restore_whitespace(inputs)
            }
            Some(Ok(StreamPart::ReasoningEcho(echo))) => vec![TurnInput::ReasoningEcho(echo)],
            Some(Ok(StreamPart::StartedOver)) => {
                self.scanner = Some(CallScanner::new(self.toolset.clone()));
                tracer.restart_reply();
                vec![TurnInput::ReplyRestarted]
            }
            Some(Ok(StreamPart::End(reason))) => self.finish(Ok(reason), tracer),
            Some(Err(error)) => {
                let failure = ReplyFailure {
                    notice: error.notice(),
                    is_transient: error.is_transient() && !error.has_partial_reply,
                    retry_after: error.retry_after(),
                };
                self.finish(Err(failure), tracer)
            }
            // Providers themselves report that a stream ended early; this is a fallback.
            None => {
                let notice = Notice::failure("The model's reply ended too early.");
                self.finish(Err(notice.into()), tracer)
            }
        }
    }

    /// Ends the reply. Returns the inputs for text that the scanner still held back, and for the
    /// end itself.
    fn finish(
        &mut self,
        end: Result<EndReason, ReplyFailure>,
        tracer: &mut ReplyTracer,
    ) -> Vec<TurnInput> {
        let Some(scanner) = self.scanner.take() else {
            return Vec::new();
        };
        let inputs = self.to_inputs(scanner.finish(), tracer);
        let mut inputs = self.restore_whitespace(inputs);
        tracer.end_reply(match &end {
            Ok(reason) => trace_label(reason),
            Err(failure) => &failure.notice.what,
        });
        if let Ok(reason) = &end {
            inputs.extend(reason.notice().map(TurnInput::Noted));
        }
        inputs.push(TurnInput::ReplyEnded(end.map(|reason| ReplyEnd {
            is_truncated: reason == EndReason::Length,
            is_refused: reason.is_refusal(),
        })));
        inputs
    }

    fn to_inputs(&self, events: Vec<ScanEvent>, tracer: &mut ReplyTracer) -> Vec<TurnInput> {
        events
            .iter()
            .for_each(|event| tracer.record_scan_event(event));
        let to_input = |event| to_input(event, self.dialect);
        events.into_iter().map(to_input).collect()
    }
}

fn trace_label(reason: &EndReason) -> &str {
    match reason {
        EndReason::Stop => "stop",
        EndReason::ToolCalls => "tool calls",
        EndReason::Length => "token limit",
        EndReason::Refused { .. } => "refused",
        EndReason::ContentFilter => "content filter",
        EndReason::ContextFull => "context full",
        EndReason::Paused => "paused",
        EndReason::StopSequence => "stop sequence",
        EndReason::OutOfResources => "server out of resources",
        EndReason::Other(name) => name,
    }
}

fn to_input(event: ScanEvent, dialect: Dialect) -> TurnInput {
    match event {
        ScanEvent::Marker(markup) => TurnInput::Markup(markup),
        ScanEvent::Text(text) => TurnInput::Text(text),
        ScanEvent::Thinking(text) => TurnInput::Thinking(text),
        ScanEvent::TextWasThinking => TurnInput::TextWasThinking,
        ScanEvent::UnusableCall(call) => TurnInput::UnusableCall {
            raw: call.raw,
            why: call.reason,
        },
        ScanEvent::Call(call) => TurnInput::Call(ProposedCall {
            wire_id: None,
            server: call.server.map(|server| server.to_string()),
            name: call.tool,
            arguments: Ok(call.arguments),
            origin: CallOrigin::Text {
                form: call.form,
                repaired: call.was_repaired,
                is_taught: dialect.taught_form() == Some(call.form),
            },
            has_end: call.has_end,
            is_truncated: false,
            raw: call.raw,
        }),
    }
}

fn native_call(call: NativeCall) -> ProposedCall {
    let arguments = match &call.arguments {
        Ok(_) if !call.raw_arguments.is_empty() => call.raw_arguments,
        Ok(arguments) => arguments.to_json(),
        Err(raw) => raw.clone(),
    };
    ProposedCall {
        raw: format!("{}({arguments})", call.name),
        wire_id: call.id,
        server: None,
        name: call.name,
        arguments: call.arguments,
        origin: CallOrigin::Native,
        has_end: true,
        is_truncated: false,
    }
}
