//! Checks that the text of a turn is saved once, in the right way.

use super::invariant_checker::{Invariant, Verdict};
use humble::domain::{PieceId, PieceKind, TurnEnd, TurnEvent};
use humble::engine::turn::TurnEffect;

/// The text of the running round, and what has been saved.
#[derive(Default)]
pub struct SavedText {
    text: Vec<(PieceId, String)>,
    /// The answers that were saved, and whether the user stopped them.
    answers: Vec<(String, bool)>,
    partial_answers: Vec<String>,
}

impl SavedText {
    pub fn observe_save(&mut self, effect: &TurnEffect) {
        match effect {
            TurnEffect::SaveAnswer {
                answer, is_stopped, ..
            } => self.answers.push((answer.clone(), *is_stopped)),
            TurnEffect::SavePartialAnswer { text } => self.partial_answers.push(text.clone()),
            _ => {}
        }
    }

    pub fn observe_event(&mut self, event: &TurnEvent) -> Verdict {
        match event {
            // After a reclassification, all text so far was thinking.
            TurnEvent::RoundStarted { .. } | TurnEvent::Reclassified { .. } => self.text.clear(),
            TurnEvent::Delta {
                kind: PieceKind::Text,
                piece,
                text,
            } => match self.text.last_mut().filter(|(last, _)| last == piece) {
                Some((_, last)) => last.push_str(text),
                None => self.text.push((*piece, text.clone())),
            },
            TurnEvent::Restored { piece, text } => {
                let current = self.text.iter_mut().find(|(id, _)| id == piece);
                match current {
                    Some((_, current)) => text.clone_into(current),
                    None => return Err((Invariant::TextIsKept, "unknown piece".to_owned())),
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The text of the last round is the answer of a stopped turn. Other turns without an answer keep
    /// it as a partial answer, and a turn with a call that may have run is kept even without text.
    pub fn check_saves(&self, end: &TurnEnd, may_have_run: bool) -> Verdict {
        let text: String = self.text.iter().map(|(_, text)| text.as_str()).collect();
        let is_blank = text.trim().is_empty();
        let is_stopped = matches!(end, TurnEnd::Cancelled | TurnEnd::Stopped);
        let stopped = (is_stopped && !is_blank).then(|| (text.clone(), true));
        let is_answered = matches!(end, TurnEnd::Answered { .. });
        let has_nothing = is_blank && !may_have_run;
        let expected = if is_answered || stopped.is_some() || has_nothing {
            Vec::new()
        } else {
            vec![text.clone()]
        };
        let expected_count = usize::from(is_answered || stopped.is_some());
        if self.answers.len() > expected_count || (is_answered && self.answers.is_empty()) {
            let details = format!("{:?}", self.answers);
            return Err((Invariant::OneSavePerAnswer, details));
        }
        let is_marked = self.answers.iter().any(|(_, is_stopped)| *is_stopped);
        if is_marked != stopped.is_some() || is_stopped && !self.answers.iter().eq(&stopped) {
            let details = format!("{:?} of {text:?}", self.answers);
            return Err((Invariant::StoppedTextIsTheAnswer, details));
        }
        if self.partial_answers != expected {
            let details = format!("{:?} of {text:?}", self.partial_answers);
            return Err((Invariant::TextIsKept, details));
        }
        Ok(())
    }
}
