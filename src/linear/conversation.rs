//! Commands on the open conversation: ask again, edit, undo, continue, branches, privacy.

use super::pending::PendingReply;
use super::state::{INPUT_PROMPT, Linear};
use super::turn::REPLACED_NOTICE;
use crate::domain::{EntryBody, LastPrompt, Notice, Prompt, PromptKind, WaitReason};
use crate::front_end::conversation_state::{ReplacementTurn, TitleSource, title_of};
use crate::protocol::Command;

impl Linear {
    /// Sends the last prompt again. An answer stays as another branch.
    pub fn retry(&mut self) {
        if self.transcript.wait_reason() == Some(WaitReason::Retrying) {
            return self.send(Command::SendNow);
        }
        if self.has_to_wait() {
            return;
        }
        if self.transcript.is_last_summary_answered() == Some(false) {
            return self.request_summary();
        }
        let Some(last) = self.transcript.last_prompt() else {
            return self.say("Nothing to retry yet.");
        };
        let (text, kind) = (last.text.to_owned(), last.kind);
        let attachments = last.attachments.to_vec();
        let prompt = match kind {
            PromptKind::Continue => Prompt::continuation(),
            _ => self.retried_prompt(text),
        };
        self.submit(prompt.with_attachments(attachments));
    }

    /// Continues a turn that an earlier run left waiting for the tasks of its calls.
    pub fn resume_turn(&mut self, prompt: Prompt) {
        self.conversation.is_opening = false;
        let retried = self.retried_prompt(prompt.text);
        self.submit(
            retried
                .with_attachments(prompt.attachments)
                .resuming_calls(),
        );
    }

    fn retried_prompt(&mut self, text: String) -> Prompt {
        match self.replacement_prompt(text) {
            prompt if prompt.kind == PromptKind::Ask => prompt.with_kind(PromptKind::Retry),
            replacement => replacement,
        }
    }

    /// A prompt that replaces the last turn if that was answered or was itself a replacement. The
    /// conversation changes only once the new answer arrives.
    fn replacement_prompt(&mut self, text: String) -> Prompt {
        let mut prompt = Prompt::new(text);
        let last = self.conversation.last_prompt.as_ref();
        prompt.bypasses_agents =
            last.is_some_and(|last| last.bypasses_agents && last.text == prompt.text);
        // A failed continuation belongs to the answer above it.
        let has_answer = |last: LastPrompt| last.is_answered || last.kind == PromptKind::Continue;
        let replaced_by_last = self.transcript.turns_replaced_by_last();
        let is_replacement =
            self.transcript.last_prompt().is_some_and(has_answer) || replaced_by_last.is_some();
        let replaced = self.transcript.last_typed_prompt();
        let Some(replaced) = replaced.filter(|_| is_replacement) else {
            return prompt;
        };
        self.conversation.replacement = Some(ReplacementTurn {
            notice: REPLACED_NOTICE,
            title: title_of(replaced).to_owned(),
        });
        prompt.replacing(replaced_by_last.unwrap_or(1))
    }

    /// Prints the last prompt and asks for the text that replaces it.
    pub fn edit_last(&mut self) {
        if self.has_to_wait() {
            return;
        }
        let Some(prompt) = self.transcript.last_typed_prompt() else {
            return self.say("Nothing to edit yet.");
        };
        let prompt = prompt.to_owned();
        let attachments = self.transcript.last_attachments().to_vec();
        self.say(&format!("Your last message:\n{prompt}"));
        self.ask_text("New text (empty: keep it): ", move |linear, text| {
            if text.trim().is_empty() {
                return linear.say("Nothing was changed.");
            }
            let prompt = linear.replacement_prompt(text);
            linear.submit(prompt.with_attachments(attachments));
        });
    }

    pub fn continue_answer(&mut self) {
        if self.has_to_wait() {
            return;
        }
        match self.conversation.is_last_answer_truncated {
            true => self.submit(Prompt::continuation()),
            false => self.say("Nothing to continue: the last answer was not truncated."),
        }
    }

    /// Undoes the last turn, or removes a summary that came after it.
    pub fn undo(&mut self) {
        if self.has_to_wait() {
            return;
        }
        if let Some(prompt) = self.queue.pop_front() {
            self.send(Command::AddToHistory(prompt.text));
            return self.say("The queued prompt was dropped.");
        }
        if let Some(is_complete) = self.transcript.is_last_summary_answered() {
            self.transcript.remove_last_summary();
            if is_complete {
                self.send(Command::DropSummary);
                self.say("Summary removed. The model gets the earlier messages again.");
            }
            return;
        }
        let Some(last) = self.transcript.last_prompt() else {
            return self.say("Nothing to undo yet.");
        };
        let prompt = Prompt::new(last.text).with_kind(last.kind);
        let is_answered = last.is_answered;
        self.transcript.remove_last_prompt();
        self.conversation.has_undone_turn = true;
        self.conversation.is_last_answer_truncated = false;
        self.conversation.last_prompt = None;
        if self.transcript.entries().is_empty()
            && self.conversation.title_source == TitleSource::FirstAnswered
        {
            self.conversation.title_source = TitleSource::Unanswered;
        }
        let notice = Notice::info("Undone.");
        match is_answered {
            true => {
                self.conversation.has_branches = true;
                self.send(Command::Rewind);
                self.notify(notice.with_advice("/branches restores the whole turn."));
            }
            false => {
                self.send(Command::DropCancelled(prompt));
                self.notify(notice);
            }
        }
        self.print_last_turn();
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

    pub fn list_branches(&mut self, argument: &str) {
        self.pending = PendingReply::Branches(argument.to_owned());
        self.send_if_idle(Command::ListBranches {
            turns_from_end: None,
        });
    }

    pub fn set_private(&mut self, argument: &str) {
        match argument {
            "" | "on" => self.send(Command::SetPrivate(true)),
            "off" => self.send(Command::SetPrivate(false)),
            _ => self.say("Usage: /private [off]"),
        }
    }
}
