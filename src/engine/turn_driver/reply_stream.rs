//! One open request to a model: its stream of parts, read through the dialect
//! scanner into the turn's inputs. Dropping it closes the connection.

use super::reply_trace::ReplyTracer;
use crate::dialect::scan::{CallScanner, ScanEvent};
use crate::domain::{CallOrigin, Notice, PromptKind, Toolset};
use crate::engine::turn::{ProposedCall, ReplyEnd, ReplyFailure, TurnInput};
use crate::provider::{EndReason, NativeCall, ProviderError, ReplyStream, StreamPart};
use futures::StreamExt;
use std::sync::Arc;

pub(super) struct OpenReply {
    stream: ReplyStream,
    /// Gone once the reply ended.
    scanner: Option<CallScanner>,
    toolset: Arc<Toolset>,
    leading_whitespace: Option<LeadingWhitespace>,
}

/// White space at the beginning of a reply. The scanner drops it, but where the reply goes
/// on with an earlier answer it separates two words.
#[derive(Default)]
struct LeadingWhitespace {
    text: String,
    /// Something else has come since.
    is_complete: bool,
}

impl LeadingWhitespace {
    fn collect(&mut self, text: &str) {
        if !self.is_complete {
            let behind = text.trim_start();
            self.text.push_str(&text[..text.len() - behind.len()]);
            self.is_complete = !behind.is_empty();
        }
    }
}

impl OpenReply {
    pub fn new(stream: ReplyStream, offered: Arc<Toolset>, kind: PromptKind) -> Self {
        Self {
            stream,
            scanner: Some(CallScanner::new(offered.clone())),
            toolset: offered,
            leading_whitespace: (kind == PromptKind::Continue).then(LeadingWhitespace::default),
        }
    }

    /// Puts the white space back before the first words.
    fn restore_whitespace(&mut self, mut inputs: Vec<TurnInput>) -> Vec<TurnInput> {
        for input in &mut inputs {
            match input {
                TurnInput::Text(text) => {
                    if let Some(seam) = self.leading_whitespace.take() {
                        *text = seam.text + text.trim_start();
                    }
                }
                TurnInput::Thinking(_) => self.leading_whitespace = None,
                _ => {}
            }
        }
        inputs
    }

    /// The next thing the server says; None after the end. Safe to drop while it
    /// waits.
    pub async fn next(&mut self) -> Option<Result<StreamPart, ProviderError>> {
        self.stream.next().await
    }

    /// What one part means to the turn. The last input of a reply is always
    /// [`Input::ReplyEnded`].
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
                tracer.thinking(&text);
                vec![TurnInput::Thinking(text)]
            }
            Some(Ok(StreamPart::Call(call))) => {
                tracer.call(&call);
                vec![TurnInput::Call(native(call))]
            }
            Some(Ok(StreamPart::Text(text))) => {
                tracer.text(&text);
                if let Some(seam) = &mut self.leading_whitespace {
                    seam.collect(&text);
                }
                let pieces = self.scanner.as_mut().map(|scanner| scanner.push(&text));
                self.restore_whitespace(to_inputs(pieces.unwrap_or_default(), tracer))
            }
            Some(Ok(StreamPart::Carry(carry))) => vec![TurnInput::OpaqueReasoning(carry)],
            Some(Ok(StreamPart::StartedOver)) => {
                self.scanner = Some(CallScanner::new(self.toolset.clone()));
                tracer.reply_restarted();
                vec![TurnInput::ReplyRestarted]
            }
            Some(Ok(StreamPart::End(reason))) => self.end(Ok(reason), tracer),
            Some(Err(fault)) => {
                let failure = ReplyFailure {
                    notice: fault.notice(),
                    is_transient: fault.is_transient() && !fault.has_partial_reply,
                    retry_after: fault.retry_after(),
                };
                self.end(Err(failure), tracer)
            }
            // The provider reports a cut itself; this is for one that does not.
            None => {
                let notice = Notice::failure("The model's reply ended too early.");
                self.end(Err(notice.into()), tracer)
            }
        }
    }

    fn end(
        &mut self,
        end: Result<EndReason, ReplyFailure>,
        tracer: &mut ReplyTracer,
    ) -> Vec<TurnInput> {
        let Some(scanner) = self.scanner.take() else {
            return Vec::new();
        };
        let mut inputs = self.restore_whitespace(to_inputs(scanner.finish(), tracer));
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
}

fn to_inputs(pieces: Vec<ScanEvent>, tracer: &mut ReplyTracer) -> Vec<TurnInput> {
    pieces
        .iter()
        .for_each(|piece| tracer.record_scan_event(piece));
    pieces.into_iter().map(to_input).collect()
}

/// How the trace names a reply's end.
fn trace_label(reason: &EndReason) -> &str {
    match reason {
        EndReason::Stop => "stop",
        EndReason::ToolCalls => "asks for tools",
        EndReason::Length => "the limit of tokens",
        EndReason::Refused { .. } => "refused",
        EndReason::ContentFilter => "content filter",
        EndReason::ContextFull => "the context was full",
        EndReason::Paused => "paused",
        EndReason::StopSequence => "stop sequence",
        EndReason::OutOfResources => "the server ran out of resources",
        EndReason::Other(name) => name,
    }
}

fn to_input(piece: ScanEvent) -> TurnInput {
    match piece {
        ScanEvent::Marker(mark) => TurnInput::Markup(mark),
        ScanEvent::Text(text) => TurnInput::Text(text),
        ScanEvent::Thinking(text) => TurnInput::Thinking(text),
        ScanEvent::TextWasThinking => TurnInput::TextWasThinking,
        ScanEvent::UnusableCall(call) => TurnInput::UnusableCall {
            raw: call.raw,
            why: call.reason,
        },
        ScanEvent::Call(call) => TurnInput::Call(ProposedCall {
            wire_id: None,
            server: Some(call.server.to_string()),
            name: call.tool,
            arguments: Ok(call.arguments),
            origin: CallOrigin::Text {
                form: call.form,
                repaired: call.was_repaired,
            },
            is_terminated: call.is_terminated,
            is_truncated: false,
            raw: call.raw,
        }),
    }
}

fn native(call: NativeCall) -> ProposedCall {
    let arguments = match &call.arguments {
        Ok(arguments) => serde_json::Value::from(arguments.clone()).to_string(),
        Err(raw) => raw.clone(),
    };
    ProposedCall {
        raw: format!("{}({arguments})", call.name),
        wire_id: call.id,
        server: None,
        name: call.name,
        arguments: call.arguments,
        origin: CallOrigin::Native,
        is_terminated: true,
        is_truncated: false,
    }
}
