//! One open request to a model: its stream of parts, read through the dialect
//! scanner into the turn's inputs. Dropping it drops the connection.

use super::turn::{Failure, Input, ProposedCall, ReplyEnd};
use crate::dialect::scan::{Piece, Scanner};
use crate::domain::{CallOrigin, Notice, Offered};
use crate::provider::{EndReason, Fault, NativeCall, ReplyStream, StreamPart};
use futures::StreamExt;
use std::sync::Arc;

pub struct Reply {
    stream: ReplyStream,
    /// Gone once the reply ended.
    scanner: Option<Scanner>,
    offered: Arc<Offered>,
}

impl Reply {
    pub fn new(stream: ReplyStream, offered: Arc<Offered>) -> Self {
        Self {
            stream,
            scanner: Some(Scanner::new(offered.clone())),
            offered,
        }
    }

    /// The next thing the server says; None after the end. Safe to drop while it
    /// waits.
    pub async fn next(&mut self) -> Option<Result<StreamPart, Fault>> {
        self.stream.next().await
    }

    /// What one part means to the turn. The last input of a reply is always
    /// [`Input::ReplyEnded`].
    pub fn read(&mut self, part: Option<Result<StreamPart, Fault>>) -> Vec<Input> {
        match part {
            Some(Ok(StreamPart::Heartbeat)) => vec![Input::Alive],
            Some(Ok(StreamPart::Notice(notice))) => vec![Input::Noted(notice)],
            Some(Ok(StreamPart::Usage(usage))) => vec![Input::Usage(usage)],
            Some(Ok(StreamPart::Thinking(text))) => vec![Input::Thinking(text)],
            Some(Ok(StreamPart::Call(call))) => vec![Input::Call(native(call))],
            Some(Ok(StreamPart::Text(text))) => match &mut self.scanner {
                Some(scanner) => scanner.push(&text).into_iter().map(input).collect(),
                None => Vec::new(),
            },
            Some(Ok(StreamPart::Carry(carry))) => vec![Input::Carry(carry)],
            Some(Ok(StreamPart::StartedOver)) => {
                self.scanner = Some(Scanner::new(self.offered.clone()));
                vec![Input::StartedOver]
            }
            Some(Ok(StreamPart::End(reason))) => self.end(Ok(reason)),
            Some(Err(fault)) => self.end(Err(Failure {
                notice: fault.notice(),
                is_transient: fault.is_transient() && !fault.after_words,
                retry_after: fault.retry_after(),
            })),
            // The provider reports a cut itself; this is for one that does not.
            None => {
                let notice = Notice::failure("The model's reply ended too early.");
                self.end(Err(notice.into()))
            }
        }
    }

    fn end(&mut self, end: Result<EndReason, Failure>) -> Vec<Input> {
        let Some(scanner) = self.scanner.take() else {
            return Vec::new();
        };
        let mut inputs: Vec<Input> = scanner.finish().into_iter().map(input).collect();
        if let Ok(reason) = &end {
            inputs.extend(reason.notice().map(Input::Noted));
        }
        inputs.push(Input::ReplyEnded(end.map(|reason| ReplyEnd {
            cut: reason == EndReason::Length,
            refused: is_refusal(&reason),
        })));
        inputs
    }
}

/// OpenAI and Mistral name a filter where Anthropic says that it refuses.
fn is_refusal(reason: &EndReason) -> bool {
    match reason {
        EndReason::Refused { .. } => true,
        EndReason::Other(reason) => reason == "content_filter",
        _ => false,
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
