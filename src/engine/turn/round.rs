//! Reading one reply: text and thinking as they stream, and what its end means.

use super::loop_detector::{Repeats, Repetition};
use super::reply_text::Words;
use super::{
    CallOrigin, Carry, Effect, Failure, Input, Notice, PieceId, PieceKind, ProposedCall, ReplyEnd,
    RoundEnd, StateKind, Turn, TurnEnd, TurnEvent, Wait,
};
use crate::domain::Advice;
use crate::protocol::Ask;

/// Calls of one reply that are taken for calls; what follows them is text. Each of them is
/// resolved, checked and asked about.
const CALLS_MAX: usize = 256;

/// What has come of the reply under way.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// All text of this round: the answer, unless a call follows.
    pub(super) words: Words,
    /// The piece that the next delta of its kind goes to.
    open: Option<(PieceId, PieceKind)>,
    pub(super) asked: Vec<Asked>,
    /// What the model must see again with the calls of this round.
    pub(super) carry: Option<Carry>,
    /// All thinking of this round.
    thinking: String,
    text_repeats: Repeats,
    thinking_repeats: Repeats,
    /// The user was told that this reply repeats itself.
    is_repeat_noted: bool,
}

/// Something that the model asked for, usable or not, in order.
#[derive(Debug, Clone)]
pub(super) enum Asked {
    /// `place` is where it stood in the words of the reply.
    Call { call: ProposedCall, place: usize },
    Unusable {
        raw: String,
        place: usize,
        why: String,
    },
}

impl Turn {
    pub(super) fn reply(&mut self, input: Input) {
        match input {
            Input::Loading => {
                if self.state == StateKind::Waiting {
                    self.emit(TurnEvent::Waiting {
                        wait: Wait::ModelLoading,
                    });
                }
            }
            Input::Idle { seconds } => {
                // A slow first token is no fault: the model may be loading.
                if self.state == StateKind::Streaming {
                    self.open_ask(StateKind::Stalled, Ask::Stalled { seconds });
                }
            }
            Input::Noted(notice) => self.note(notice),
            Input::Usage(usage) => {
                self.usage.input = usage.input.or(self.usage.input);
                self.round_usage(usage.output);
            }
            Input::ReplyEnded(end) => {
                self.close_ask();
                self.reply_ended(end);
            }
            part => {
                self.close_ask();
                self.state = StateKind::Streaming;
                self.part(part);
            }
        }
    }

    fn part(&mut self, part: Input) {
        match part {
            Input::Text(text) => {
                self.delta(PieceKind::Text, text);
                self.check_repeats();
            }
            Input::Thinking(text) => {
                self.round.thinking.push_str(&text);
                self.round.words.thinking();
                self.delta(PieceKind::Thinking, text);
                self.check_repeats();
            }
            Input::TextWasThinking => self.text_was_thinking(),
            Input::Mark(mark) => self.round.words.mark(&mark),
            Input::Call(ProposedCall { raw, .. }) | Input::Unusable { raw, .. }
                if self.round.asked.len() >= CALLS_MAX =>
            {
                self.delta(PieceKind::Text, raw);
            }
            Input::Call(call) => {
                let place = self.round.words.take_out(&call.raw);
                self.round.asked.push(Asked::Call { call, place });
            }
            Input::StartedOver => self.start_over(),
            Input::Carry(carry) => self.round.carry = Some(carry),
            Input::Unusable { raw, why } => {
                let place = self.round.words.take_out(&raw);
                self.round.asked.push(Asked::Unusable { raw, place, why });
            }
            _ => {}
        }
    }

    fn round_usage(&mut self, output: Option<u64>) {
        if let Some(tokens) = output {
            self.usage.output = Some(self.usage.output.unwrap_or(0) + tokens);
        }
    }

    pub(super) fn delta(&mut self, kind: PieceKind, text: String) {
        if text.is_empty() {
            return;
        }
        let piece = match self.round.open {
            Some((piece, open)) if open == kind => piece,
            _ => {
                let piece = PieceId(self.ids.pieces.mint());
                self.round.open = Some((piece, kind));
                piece
            }
        };
        if kind == PieceKind::Text {
            self.round.words.push(piece, &text);
        }
        self.emit(TurnEvent::Delta { piece, kind, text });
    }

    fn text_was_thinking(&mut self) {
        self.round.open = None;
        self.round.text_repeats = Repeats::default();
        for piece in self.round.words.were_thinking() {
            self.emit(TurnEvent::Reclassified {
                piece,
                to: PieceKind::Thinking,
            });
        }
        let from_text = |asked: &mut Asked| match asked {
            Asked::Call { call, .. } => call.origin != CallOrigin::Native,
            Asked::Unusable { .. } => true,
        };
        let thought_of: Vec<Asked> = self.round.asked.extract_if(.., from_text).collect();
        for asked in thought_of {
            let (Asked::Call {
                call: ProposedCall { raw, .. },
                ..
            }
            | Asked::Unusable { raw, .. }) = asked;
            self.delta(PieceKind::Thinking, raw);
        }
        // What the provider's own field held stays asked for; its place is gone.
        for asked in &mut self.round.asked {
            if let Asked::Call { call, place } = asked {
                *place = self.round.words.take_out(&call.raw);
            }
        }
        self.round.open = None;
    }

    /// The server, or a proxy before it, asked the model anew by itself. The words so
    /// far stay visible as a round that broke.
    fn start_over(&mut self) {
        self.emit(TurnEvent::RoundEnded {
            end: RoundEnd::Broken,
        });
        self.note(Notice::info("The server began its answer anew."));
        self.begin_round();
    }

    fn reply_ended(&mut self, end: Result<ReplyEnd, Failure>) {
        match end {
            Err(failure) => {
                if let Some(after) = self.pause_after(&failure) {
                    return self.retry_after(after, failure);
                }
                self.emit(TurnEvent::RoundEnded {
                    end: RoundEnd::Broken,
                });
                let notice = failure.notice;
                self.end(TurnEnd::Failed { notice });
            }
            // Whoever would not go on does not stand by what was asked for before.
            Ok(ReplyEnd { refused: true, .. }) => {
                self.round.asked.clear();
                self.not_whole("The model would not write the summary.");
                self.refused();
            }
            Ok(end) if !self.round.asked.is_empty() => {
                self.emit(TurnEvent::RoundEnded {
                    end: RoundEnd::Calls,
                });
                if end.cut {
                    self.doubt_last_call();
                }
                self.propose();
            }
            Ok(end) => {
                if end.cut {
                    self.not_whole("The summary was cut by the limit of tokens.");
                }
                self.answer(end.cut);
            }
        }
    }

    /// What was said before the refusal is the answer, if anything was.
    fn refused(&mut self) {
        if self.state == StateKind::Ended || !self.round.words.text().trim().is_empty() {
            return self.answer(false);
        }
        self.emit(TurnEvent::RoundEnded {
            end: RoundEnd::Broken,
        });
        let notice = Notice::failure(format!("{} gave no answer.", self.setup.model));
        self.end(TurnEnd::Failed { notice });
    }

    /// A summary that is not whole must not take the place of what it was made of.
    fn not_whole(&mut self, what: &str) {
        if self.setup.instruction.is_some() {
            self.emit(TurnEvent::RoundEnded {
                end: RoundEnd::Broken,
            });
            let notice = Notice::failure(what)
                .because("Nothing is replaced by it.")
                .advise(Advice::RetryCompact);
            self.end(TurnEnd::Failed { notice });
        }
    }

    /// The limit of tokens may have cut the last call before its arguments were whole:
    /// `{}` would then mean something that nobody asked for. What was read from text
    /// knows whether its form had ended; it comes last, though it may have stood before
    /// a call in the provider's own field.
    fn doubt_last_call(&mut self) {
        for asked in self.round.asked.iter_mut().rev() {
            let Asked::Call { call, .. } = asked else {
                break;
            };
            let is_native = call.origin == CallOrigin::Native;
            call.cut = is_native || !call.whole;
            if !call.cut || is_native {
                break;
            }
        }
        self.note(
            Notice::warning("The reply was cut by the limit of tokens.")
                .advise("The model's `options` can raise the limit."),
        );
    }

    /// The text of this round is the final answer.
    pub(super) fn answer(&mut self, cut: bool) {
        if self.state == StateKind::Ended {
            return;
        }
        let end = if cut {
            RoundEnd::Length
        } else {
            RoundEnd::Answer
        };
        self.emit(TurnEvent::RoundEnded { end });
        let text = std::mem::take(&mut self.round.words).text().into_owned();
        if text.trim().is_empty() {
            let model = &self.setup.model;
            let notice = if cut {
                Notice::failure(format!("{model} used up its tokens before it answered."))
                    .advise("Raise the limit in the model's `options`, or set `think` to false.")
                    .advise(Advice::Retry)
            } else {
                Notice::failure(format!("{model} sent an empty answer.")).advise(Advice::Retry)
            };
            self.end(TurnEnd::Failed { notice });
            return;
        }
        if cut {
            self.note(
                Notice::warning("The answer was cut by the limit of tokens.")
                    .advise(Advice::Continue)
                    .advise("The model's `options` can raise the limit."),
            );
        }
        self.end(TurnEnd::Answered { text, cut });
    }

    /// Tells the user, once per reply, that the model repeats itself, and stops it where it
    /// would never end. Everything that came is kept.
    fn check_repeats(&mut self) {
        let round = &mut self.round;
        let text = round.text_repeats.look(round.words.streamed());
        let thinking = round.thinking_repeats.look(&round.thinking);
        match text.max(thinking) {
            Repetition::None => {}
            Repetition::Noted if self.round.is_repeat_noted => {}
            Repetition::Noted => self.note_repeats(),
            Repetition::Endless { times } => self.stop_repeats(times),
        }
    }

    fn note_repeats(&mut self) {
        self.round.is_repeat_noted = true;
        let model = &self.setup.model;
        self.note(Notice::info(format!("{model} repeats itself.")).advise(Advice::Stop));
    }

    fn stop_repeats(&mut self, times: usize) {
        self.round.asked.clear();
        self.effects.push(Effect::DropRequest);
        let text = self.round.words.text().into_owned();
        let is_blank = text.trim().is_empty();
        let end = match is_blank {
            true => RoundEnd::Broken,
            false => RoundEnd::Answer,
        };
        self.emit(TurnEvent::RoundEnded { end });
        let repeated = format!("{} repeated the same block {times} times", self.setup.model);
        if is_blank {
            let notice = Notice::failure(format!("{repeated} while it thought, and was stopped."))
                .advise(Advice::Retry)
                .advise("Another wording or `think` off often helps.");
            return self.end(TurnEnd::Failed { notice });
        }
        if self.setup.instruction.is_some() {
            let notice = Notice::failure(format!("{repeated}, and was stopped."))
                .because("Nothing is replaced by this summary.")
                .advise(Advice::RetryCompact);
            return self.end(TurnEnd::Failed { notice });
        }
        self.note(
            Notice::warning(format!("{repeated}, and was stopped."))
                .because("Everything that came is kept.")
                .advise(Advice::Retry),
        );
        self.end(TurnEnd::Answered { text, cut: false });
    }

    /// Drops the open request and sends it again.
    pub(super) fn ask_again(&mut self) {
        self.effects.push(Effect::DropRequest);
        self.emit(TurnEvent::RoundEnded {
            end: RoundEnd::Broken,
        });
        self.note(Notice::info(
            "The connection was dropped; the model is asked again.",
        ));
        self.request();
    }
}
