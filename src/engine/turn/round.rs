//! Reads one reply: streams text and thinking, and handles its end.

use super::loop_detector::{LoopDetector, Repetition};
use super::reply_text::ReplyText;
use super::{
    CallOrigin, ModelAnswer, Notice, PieceId, PieceKind, ProposedCall, ReasoningEcho, ReplyEnd,
    ReplyFailure, RoundEnd, Turn, TurnEffect, TurnEnd, TurnEvent, TurnInput, TurnState, WaitReason,
};
use crate::domain::Advice;

/// Maximum number of calls in one reply, each of which may need approval. Further ones are treated
/// as text.
const CALLS_MAX: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Round {
    /// The text of this round, which is the answer if the reply contains no call.
    pub(super) reply_text: ReplyText,
    /// The piece that the next delta of the same kind is appended to.
    open_piece: Option<(PieceId, PieceKind)>,
    pub(super) requested_calls: Vec<RequestedCall>,
    /// Provider data that must be sent back with this round's calls.
    pub(super) reasoning_echo: Option<ReasoningEcho>,
    /// The reply contains more than signs that the connection is alive.
    has_token: bool,
    thinking: String,
    /// The reply contains thinking, which may have looked like text at first.
    has_thought: bool,
    text_loop_detector: LoopDetector,
    thinking_loop_detector: LoopDetector,
    has_noted_repetition: bool,
}

#[derive(Debug, Clone)]
pub(super) enum RequestedCall {
    /// `span` identifies the call's text in [`ReplyText`].
    Call { call: ProposedCall, span: usize },
    Unusable {
        raw: String,
        span: usize,
        why: String,
    },
}

impl Turn {
    pub(super) fn handle_reply_input(&mut self, input: TurnInput) {
        match input {
            TurnInput::Loading => {
                if self.state == TurnState::Waiting {
                    self.emit(TurnEvent::Waiting {
                        wait: WaitReason::ModelLoading,
                    });
                }
            }
            TurnInput::Idle { seconds } => {
                // A slow first token is normal: the model may be loading.
                if self.state == TurnState::Streaming && self.round.has_token {
                    self.open_ask(TurnState::Stalled, crate::questions::stalled(seconds));
                }
            }
            TurnInput::Noted(notice) => self.note(notice),
            TurnInput::Usage(usage) => {
                self.usage = self.usage.followed_by(usage);
            }
            TurnInput::ReplyEnded(end) => {
                self.close_ask();
                self.finish_reply(end);
            }
            part => {
                // The reply continues, so the question of whether to keep waiting is moot.
                self.close_ask();
                self.state = TurnState::Streaming;
                self.round.has_token |= part != TurnInput::Heartbeat;
                self.handle_reply_part(part);
            }
        }
    }

    fn handle_reply_part(&mut self, part: TurnInput) {
        match part {
            TurnInput::Text(text) => {
                self.emit_delta(PieceKind::Text, text);
                self.check_repetition();
            }
            TurnInput::Thinking(text) => {
                self.round.has_thought |= !text.trim().is_empty();
                self.round.thinking.push_str(&text);
                self.round.reply_text.mark_thinking();
                self.emit_delta(PieceKind::Thinking, text);
                self.check_repetition();
            }
            TurnInput::TextWasThinking => self.reclassify_text_as_thinking(),
            TurnInput::Markup(markup) => self.round.reply_text.push_markup(&markup),
            TurnInput::Call(ProposedCall { raw, .. }) | TurnInput::UnusableCall { raw, .. }
                if self.round.requested_calls.len() >= CALLS_MAX =>
            {
                self.emit_delta(PieceKind::Text, raw);
            }
            TurnInput::Call(call) => {
                let span = self.round.reply_text.extract(&call.raw);
                self.round
                    .requested_calls
                    .push(RequestedCall::Call { call, span });
            }
            TurnInput::ReplyRestarted => self.restart_reply(),
            TurnInput::ReasoningEcho(echo) => self.round.reasoning_echo = Some(echo),
            TurnInput::UnusableCall { raw, why } => {
                let span = self.round.reply_text.extract(&raw);
                self.round
                    .requested_calls
                    .push(RequestedCall::Unusable { raw, span, why });
            }
            _ => {}
        }
    }

    pub(super) fn emit_delta(&mut self, kind: PieceKind, text: String) {
        if text.is_empty() {
            return;
        }
        let piece = match self.round.open_piece {
            Some((piece, open_kind)) if open_kind == kind => piece,
            _ => {
                let piece = PieceId(self.ids.pieces.next_id());
                self.round.open_piece = Some((piece, kind));
                piece
            }
        };
        if kind == PieceKind::Text {
            self.round.reply_text.push(piece, &text);
        }
        self.emit(TurnEvent::Delta { piece, kind, text });
    }

    /// Turns all text of the round so far into thinking, including calls that were read from it.
    fn reclassify_text_as_thinking(&mut self) {
        self.round.has_thought = true;
        self.round.open_piece = None;
        self.round.text_loop_detector = LoopDetector::default();
        for piece in self.round.reply_text.take_as_thinking() {
            self.emit(TurnEvent::Reclassified {
                piece,
                to: PieceKind::Thinking,
            });
        }
        let is_from_text = |requested: &mut RequestedCall| match requested {
            RequestedCall::Call { call, .. } => call.origin != CallOrigin::Native,
            RequestedCall::Unusable { .. } => true,
        };
        let discarded: Vec<RequestedCall> = self
            .round
            .requested_calls
            .extract_if(.., is_from_text)
            .collect();
        for requested in discarded {
            let (RequestedCall::Call {
                call: ProposedCall { raw, .. },
                ..
            }
            | RequestedCall::Unusable { raw, .. }) = requested;
            self.emit_delta(PieceKind::Thinking, raw);
        }
        // Native calls stay requested, and get new spans in the empty text.
        for requested in &mut self.round.requested_calls {
            if let RequestedCall::Call { call, span } = requested {
                *span = self.round.reply_text.extract(&call.raw);
            }
        }
        self.round.open_piece = None;
    }

    /// Starts a new round, because the server or a proxy restarted the reply. The text so far
    /// stays visible as a failed round.
    fn restart_reply(&mut self) {
        self.emit(TurnEvent::RoundEnded {
            end: RoundEnd::Broken,
        });
        self.note(Notice::info("The server restarted its answer."));
        self.reset_round();
    }

    fn finish_reply(&mut self, end: Result<ReplyEnd, ReplyFailure>) {
        match end {
            Err(failure) => {
                if let Some(pause) = self.retry_pause(&failure) {
                    return self.schedule_retry(pause, failure);
                }
                self.emit(TurnEvent::RoundEnded {
                    end: RoundEnd::Broken,
                });
                let notice = failure.notice;
                self.end(TurnEnd::Failed { notice });
            }
            // A refusal invalidates the calls requested before it.
            Ok(ReplyEnd {
                is_refused: true, ..
            }) => {
                self.round.requested_calls.clear();
                self.fail_incomplete_summary("The model refused to write the summary.");
                self.finish_refused_reply();
            }
            Ok(end) if !self.round.requested_calls.is_empty() => {
                self.emit(TurnEvent::RoundEnded {
                    end: RoundEnd::Calls,
                });
                if end.is_truncated {
                    self.mark_truncated_calls();
                }
                self.propose_calls();
            }
            Ok(end) => {
                if end.is_truncated {
                    self.fail_incomplete_summary("The summary was cut off at the token limit.");
                }
                self.finish_with_answer(end.is_truncated);
            }
        }
    }

    /// Ends a refused reply: the text before the refusal is the answer, if there is any.
    fn finish_refused_reply(&mut self) {
        if self.state == TurnState::Ended || !self.round.reply_text.text().trim().is_empty() {
            return self.finish_with_answer(false);
        }
        self.emit(TurnEvent::RoundEnded {
            end: RoundEnd::Broken,
        });
        let notice = Notice::failure(format!("{} gave no answer.", self.setup.model));
        self.end(TurnEnd::Failed { notice });
    }

    /// Fails the turn if it was to write a summary: an incomplete summary must not replace the
    /// messages it covers.
    fn fail_incomplete_summary(&mut self, what: &str) {
        if self.setup.prompt_override.is_some() {
            self.emit(TurnEvent::RoundEnded {
                end: RoundEnd::Broken,
            });
            let notice = Notice::failure(what)
                .with_reason("The conversation is unchanged.")
                .with_advice(Advice::RetryCompact);
            self.end(TurnEnd::Failed { notice });
        }
    }

    /// Marks calls that the token limit may have cut off, because a call with incomplete arguments
    /// must not run. That may be the last native call, and every call in text whose form is not
    /// terminated. Such calls in text come last in the list, even if they precede native calls in
    /// the reply.
    fn mark_truncated_calls(&mut self) {
        for requested in self.round.requested_calls.iter_mut().rev() {
            let RequestedCall::Call { call, .. } = requested else {
                break;
            };
            let is_native = call.origin == CallOrigin::Native;
            call.is_truncated = is_native || !call.has_end;
            if !call.is_truncated || is_native {
                break;
            }
        }
        self.note(
            Notice::warning("The reply was cut off at the token limit.")
                .with_advice("The model's `options` in config.json can raise the limit."),
        );
    }

    pub(super) fn finish_with_answer(&mut self, is_truncated: bool) {
        if self.state == TurnState::Ended {
            return;
        }
        let end = if is_truncated {
            RoundEnd::Length
        } else {
            RoundEnd::Answer
        };
        self.emit(TurnEvent::RoundEnded { end });
        let text = self.round.reply_text.text().into_owned();
        if text.trim().is_empty() {
            let notice = self.no_answer_notice(is_truncated);
            self.end(TurnEnd::Failed { notice });
            return;
        }
        if is_truncated {
            self.note(
                Notice::warning("The answer was cut off at the token limit.")
                    .with_advice(Advice::Continue)
                    .with_advice("The model's `options` in config.json can raise the limit."),
            );
        }
        self.end_with_answer(ModelAnswer { text, is_truncated });
    }

    fn no_answer_notice(&self, is_truncated: bool) -> Notice {
        let model = &self.setup.model;
        let has_thought = self.round.has_thought;
        let notice = match (is_truncated, has_thought) {
            (true, _) => Notice::failure(format!(
                "{model} reached the token limit before it answered."
            ))
            .with_advice("Raise the limit in the model's `options`."),
            (false, true) => Notice::failure(format!("{model} only thought and did not answer."))
                .with_advice(Advice::Retry),
            (false, false) => {
                Notice::failure(format!("{model} sent an empty answer.")).with_advice(Advice::Retry)
            }
        };
        self.advise_against_thinking(notice)
    }

    /// Adds the advice to switch thinking off if the reply contains any and the model takes the
    /// setting.
    fn advise_against_thinking(&self, notice: Notice) -> Notice {
        match self.round.has_thought && self.setup.may_think {
            true => notice.with_advice(Advice::StopThinking),
            false => notice,
        }
    }

    /// Notifies the user once per reply that the model repeats itself, and stops a reply that
    /// would not end. All received text is kept.
    fn check_repetition(&mut self) {
        let round = &mut self.round;
        let in_text = round
            .text_loop_detector
            .check(round.reply_text.streamed_text());
        let in_thinking = round.thinking_loop_detector.check(&round.thinking);
        match in_text.max(in_thinking) {
            Repetition::None => {}
            Repetition::Noted if self.round.has_noted_repetition => {}
            Repetition::Noted => self.note_repetition(),
            Repetition::Endless { repeats } => self.stop_repetition(repeats),
        }
    }

    fn note_repetition(&mut self) {
        self.round.has_noted_repetition = true;
        let model = &self.setup.model;
        self.note(Notice::info(format!("{model} repeats itself.")).with_advice(Advice::Stop));
    }

    fn stop_repetition(&mut self, repeats: usize) {
        self.round.requested_calls.clear();
        self.effects.push(TurnEffect::DropRequest);
        let text = self.round.reply_text.text().into_owned();
        let is_blank = text.trim().is_empty();
        let end = match is_blank {
            true => RoundEnd::Broken,
            false => RoundEnd::Answer,
        };
        self.emit(TurnEvent::RoundEnded { end });
        let repeated = format!(
            "{} repeated the same block {repeats} times",
            self.setup.model
        );
        if is_blank {
            let notice = Notice::failure(format!("{repeated} while thinking and was stopped."))
                .with_advice(Advice::Retry)
                .with_advice("Rephrase the prompt.");
            let notice = self.advise_against_thinking(notice);
            return self.end(TurnEnd::Failed { notice });
        }
        if self.setup.prompt_override.is_some() {
            let notice = Notice::failure(format!("{repeated} and was stopped."))
                .with_reason("The conversation is unchanged.")
                .with_advice(Advice::RetryCompact);
            return self.end(TurnEnd::Failed { notice });
        }
        self.note(
            Notice::warning(format!("{repeated} and was stopped."))
                .with_reason("The text so far is kept.")
                .with_advice(Advice::Retry),
        );
        // No agent may use a text that was stopped in the middle.
        let is_truncated = self.agent_takes_answer();
        self.end_with_answer(ModelAnswer { text, is_truncated });
    }

    pub(super) fn resend_request(&mut self) {
        self.effects.push(TurnEffect::DropRequest);
        self.emit(TurnEvent::RoundEnded {
            end: RoundEnd::Broken,
        });
        self.note(Notice::info(
            "Closed the connection. The request is sent again.",
        ));
        self.start_round();
    }
}
