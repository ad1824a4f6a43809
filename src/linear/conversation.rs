//! The open conversation: resuming and editing its last turn, and its branches.

use super::pending::PendingReply;
use super::state::{INPUT_PROMPT, Linear};
use crate::domain::{Attachment, EntryBody, Prompt};
use crate::protocol::Command;
use std::sync::Arc;

impl Linear {
    /// Continues a turn that an earlier run left waiting for the tasks of its calls.
    pub fn resume_turn(&mut self, prompt: Prompt) {
        self.conversation.is_opening = false;
        let conversation = &self.conversation;
        let retried = conversation.retried_prompt(&self.transcript, prompt.text);
        self.submit(
            retried
                .with_attachments(prompt.attachments)
                .resuming_calls(),
        );
    }

    /// Prints the last prompt and asks for the text that replaces it.
    pub fn edit_prompt(&mut self, prompt: &str, attachments: Vec<Arc<Attachment>>) {
        self.say(&format!("Your last message:\n{prompt}"));
        self.ask_text("New text (empty: keep it): ", move |linear, text| {
            if text.trim().is_empty() {
                return linear.say("Nothing was changed.");
            }
            let conversation = &linear.conversation;
            let prompt = conversation.replacement_prompt(&linear.transcript, text);
            linear.submit(prompt.with_attachments(attachments));
        });
    }

    /// Prints the last prompt and its answer, after the conversation has changed.
    pub fn print_last_turn(&mut self) {
        let entries = self.transcript.entries();
        let start = entries.iter().rposition(
            |entry| matches!(&entry.body, EntryBody::Prompt { kind, .. } if kind.is_typed()),
        );
        let Some(start) = start else { return };
        let mut lines = Vec::new();
        for entry in &entries[start..] {
            match &entry.body {
                EntryBody::Prompt { kind, text, .. } if kind.is_typed() => {
                    lines.push(format!("{INPUT_PROMPT}{text}"));
                }
                EntryBody::Text { model, text, .. } => lines.push(format!("{model}: {text}")),
                _ => {}
            }
        }
        self.say("The last turn:");
        lines.iter().for_each(|line| self.say(line));
    }

    pub fn list_branches(&mut self, argument: String) {
        self.pending = PendingReply::Branches(argument);
        self.send(Command::ListBranches {
            turns_from_end: None,
        });
    }
}
