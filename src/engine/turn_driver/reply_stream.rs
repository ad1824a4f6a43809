//! One open request to a model: its stream of parts, read through the dialect
//! scanner into the turn's inputs. Dropping it closes the connection.

use super::reply_trace::ReplyTracer;
use crate::dialect::scan::{Piece, Scanner};
use crate::domain::{CallOrigin, Notice, Offered, PromptKind};
use crate::engine::turn::{Failure, Input, ProposedCall, ReplyEnd};
use crate::provider::{EndReason, NativeCall, ProviderError, ReplyStream, StreamPart};
use futures::StreamExt;
use std::sync::Arc;

pub(super) struct OpenReply {
    stream: ReplyStream,
    /// Gone once the reply ended.
    scanner: Option<Scanner>,
    offered: Arc<Offered>,
    seam: Option<Seam>,
}

/// White space at the beginning of a reply. The scanner drops it, but where the reply goes
/// on with an earlier answer it separates two words.
#[derive(Default)]
struct Seam {
    white: String,
    /// Something else has come since.
    is_over: bool,
}

impl Seam {
    fn read(&mut self, text: &str) {
        if !self.is_over {
            let behind = text.trim_start();
            self.white.push_str(&text[..text.len() - behind.len()]);
            self.is_over = !behind.is_empty();
        }
    }
}

impl OpenReply {
    pub fn new(stream: ReplyStream, offered: Arc<Offered>, kind: PromptKind) -> Self {
        Self {
            stream,
            scanner: Some(Scanner::new(offered.clone())),
            offered,
            seam: (kind == PromptKind::Continue).then(Seam::default),
        }
    }

    /// Puts the white space back before the first words.
    fn joined(&mut self, mut inputs: Vec<Input>) -> Vec<Input> {
        for input in &mut inputs {
            match input {
                Input::Text(text) => {
                    if let Some(seam) = self.seam.take() {
                        *text = seam.white + text.trim_start();
                    }
                }
                Input::Thinking(_) => self.seam = None,
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
    pub(super) fn read(
        &mut self,
        part: Option<Result<StreamPart, ProviderError>>,
        tracer: &mut ReplyTracer,
    ) -> Vec<Input> {
        match part {
            Some(Ok(StreamPart::Heartbeat)) => vec![Input::Alive],
            Some(Ok(StreamPart::Notice(notice))) => vec![Input::Noted(notice)],
            Some(Ok(StreamPart::Usage(usage))) => vec![Input::Usage(usage)],
            Some(Ok(StreamPart::Thinking(text))) => {
                tracer.thinking(&text);
                vec![Input::Thinking(text)]
            }
            Some(Ok(StreamPart::Call(call))) => {
                tracer.call(&call);
                vec![Input::Call(native(call))]
            }
            Some(Ok(StreamPart::Text(text))) => {
                tracer.text(&text);
                if let Some(seam) = &mut self.seam {
                    seam.read(&text);
                }
                let pieces = self.scanner.as_mut().map(|scanner| scanner.push(&text));
                self.joined(inputs(pieces.unwrap_or_default(), tracer))
            }
            Some(Ok(StreamPart::Carry(carry))) => vec![Input::Carry(carry)],
            Some(Ok(StreamPart::StartedOver)) => {
                self.scanner = Some(Scanner::new(self.offered.clone()));
                tracer.started_over();
                vec![Input::StartedOver]
            }
            Some(Ok(StreamPart::End(reason))) => self.end(Ok(reason), tracer),
            Some(Err(fault)) => {
                let failure = Failure {
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

    fn end(&mut self, end: Result<EndReason, Failure>, tracer: &mut ReplyTracer) -> Vec<Input> {
        let Some(scanner) = self.scanner.take() else {
            return Vec::new();
        };
        let mut inputs = self.joined(inputs(scanner.finish(), tracer));
        tracer.ended(match &end {
            Ok(reason) => trace_words(reason),
            Err(failure) => &failure.notice.what,
        });
        if let Ok(reason) = &end {
            inputs.extend(reason.notice().map(Input::Noted));
        }
        inputs.push(Input::ReplyEnded(end.map(|reason| ReplyEnd {
            cut: reason == EndReason::Length,
            refused: reason.is_refusal(),
        })));
        inputs
    }
}

fn inputs(pieces: Vec<Piece>, tracer: &mut ReplyTracer) -> Vec<Input> {
    pieces.iter().for_each(|piece| tracer.piece(piece));
    pieces.into_iter().map(input).collect()
}

/// How the trace names a reply's end.
fn trace_words(reason: &EndReason) -> &str {
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

fn input(piece: Piece) -> Input {
    match piece {
        Piece::Mark(mark) => Input::Mark(mark),
        Piece::Text(text) => Input::Text(text),
        Piece::Thinking(text) => Input::Thinking(text),
        Piece::TextWasThinking => Input::TextWasThinking,
        Piece::Unusable(call) => Input::Unusable {
            raw: call.raw,
            why: call.why,
        },
        Piece::Call(call) => Input::Call(ProposedCall {
            wire_id: None,
            server: Some(call.server.to_string()),
            name: call.tool,
            arguments: Ok(call.arguments),
            origin: CallOrigin::Text {
                form: call.form,
                repaired: call.repaired,
            },
            whole: call.whole,
            cut: false,
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
        whole: true,
        cut: false,
    }
}
