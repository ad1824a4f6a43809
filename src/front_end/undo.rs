//! `/undo`: takes back the last turn, or a summary that came after it.

use super::conversation_state::{ConversationState, TitleSource};
use crate::domain::{Notice, Prompt, Transcript};
use crate::protocol::Command;

/// What was undone, and the command that tells the engine.
#[derive(Debug)]
pub enum Undone {
    Nothing(Notice),
    /// Without a command if the summary was never complete.
    Summary(Option<Command>),
    Turn {
        prompt: Prompt,
        command: Command,
        /// Whether the turn was part of the conversation, which keeps it as a branch.
        was_answered: bool,
    },
}

pub const SUMMARY_REMOVED: &str = "Summary removed. The model gets the earlier messages again.";

/// Removes the last turn or summary from what the user sees.
pub fn undo(conversation: &mut ConversationState, transcript: &mut Transcript) -> Undone {
    if let Some(is_complete) = transcript.is_last_summary_answered() {
        transcript.remove_last_summary();
        conversation.turn_removed(transcript);
        return Undone::Summary(is_complete.then_some(Command::DropSummary));
    }
    let Some(last) = transcript.last_prompt() else {
        return Undone::Nothing(nothing_to_undo(conversation));
    };
    let prompt = Prompt::new(last.text).with_kind(last.kind);
    let was_answered = last.is_answered;
    transcript.remove_last_prompt();
    conversation.has_undone_turn = true;
    conversation.has_branches |= was_answered;
    conversation.turn_removed(transcript);
    let command = match was_answered {
        true => Command::Rewind,
        false => Command::DropCancelled(prompt.clone()),
    };
    Undone::Turn {
        prompt,
        command,
        was_answered,
    }
}

fn nothing_to_undo(conversation: &ConversationState) -> Notice {
    let nothing = Notice::info("Nothing left to undo.");
    match (conversation.has_branches, conversation.has_undone_turn) {
        (true, _) => nothing.with_advice("/branches restores undone turns."),
        (false, true) => nothing,
        (false, false) => Notice::info("Nothing to undo yet."),
    }
}

impl ConversationState {
    fn turn_removed(&mut self, transcript: &Transcript) {
        self.is_last_answer_truncated = false;
        self.last_prompt = None;
        let is_empty = transcript.entries().is_empty();
        if is_empty && self.title_source == TitleSource::FirstAnswered {
            self.title_source = TitleSource::Unanswered;
        }
    }
}
