//! Rewinds turns, switches branches and renames the conversation. Methods that change its messages
//! must not be called while a turn is running. A method that returns a `bool` returns true if the
//! session changed and must be saved.

use super::Conversation;
use crate::domain::{Advice, Branch, Notice, Prompt, WrittenNote};
use crate::engine::cx::EngineCx;
use crate::protocol::{BranchSummary, Event, SavedSessionEvent, bounded_line};
use crate::text::grapheme;
use jiff::Timestamp;
use std::sync::Arc;

/// Limits of a title, in grapheme clusters and in bytes. Both are needed, because a single
/// cluster may contain any number of combining marks.
const TITLE_CLUSTERS_MAX: usize = 1_000;
const TITLE_BYTES_MAX: usize = 32 * 1024;

impl Conversation {
    /// Moves the last answered turn into a branch.
    pub fn rewind(&mut self) -> bool {
        let last_prompt = self.session.last_prompt_index();
        if let Some(index) = last_prompt {
            self.session.rewind(index, Timestamp::now());
        }
        last_prompt.is_some()
    }

    /// The notes that the last answered turn created and that may still be removed.
    pub fn notes_of_last_turn(&self) -> Vec<WrittenNote> {
        let last_prompt = self.session.last_prompt_index();
        let metadata = &self.session.metadata;
        last_prompt.map_or_else(Vec::new, |first| metadata.written_notes(first))
    }

    /// The names of the notes that the last `count` answered turns created and that may still be
    /// removed.
    pub fn note_names_of_last_turns(&self, count: usize) -> Vec<String> {
        let first = self.session.nth_last_prompt_index(count);
        let notes = first.map(|first| self.session.metadata.written_notes(first));
        let names = notes.into_iter().flatten().map(|written| written.note);
        names.collect()
    }

    /// Like [`Self::notes_of_last_turn`], but also releases the notes: undoing the turn again no
    /// longer removes them.
    pub fn take_notes_of_last_turn(&mut self) -> Vec<WrittenNote> {
        let last_prompt = self.session.last_prompt_index();
        let metadata = &mut self.session.metadata;
        last_prompt.map_or_else(Vec::new, |first| metadata.take_written_notes(first))
    }

    /// Removes the last cancelled turn if it has this prompt, which went back to the message editor.
    pub fn drop_cancelled(&mut self, prompt: &Prompt) -> bool {
        let message_count = self.session.messages.len();
        let prompt = self.answered_prompt(prompt.kind, prompt.typed_text());
        self.session
            .metadata
            .remove_last_cancelled(message_count, &prompt)
    }

    /// Lists all branches, or those that leave the active one at the `turns_from_end`-th last prompt.
    pub fn list_branches(&self, turns_from_end: Option<usize>, cx: &mut EngineCx) {
        let branches: Vec<&Branch> = match turns_from_end {
            Some(turn) => self.session.branches_at(turn),
            None => self.session.branches.iter().collect(),
        };
        let summaries = branches.into_iter().rev().map(summarize).collect();
        cx.outbox.push(Event::BranchesListed(summaries));
    }

    /// Reports how many other branches there are at each prompt. Not needed after opening a
    /// conversation, because [`Event::SessionOpened`] includes its branches.
    pub fn report_branch_counts(&self, cx: &mut EngineCx) {
        if !self.session.branches.is_empty() {
            let counts = self.session.branch_counts();
            cx.outbox.push(Event::BranchesCounted(counts));
        }
    }

    /// Shows the conversation again, because the active branch has changed.
    pub(super) fn show_again(&self, cx: &mut EngineCx) {
        let session = Arc::new(self.session.clone());
        cx.outbox.push(Event::SessionOpened(session));
    }

    pub fn switch_branch(&mut self, wanted: &BranchSummary, cx: &mut EngineCx) -> bool {
        let branches = &self.session.branches;
        let Some(index) = branches
            .iter()
            .position(|branch| summarize(branch) == *wanted)
        else {
            cx.notice(Notice::warning("That branch no longer exists."));
            return false;
        };
        let fork_index = branches[index].fork_index;
        self.session.switch_branch(index, Timestamp::now());
        self.show_again(cx);
        let mut notice = Notice::info("Switched to the other branch.");
        let notes = self.session.metadata.released_notes(fork_index);
        if !notes.is_empty() {
            let notes = notes.join(", ");
            notice =
                notice.with_reason(format!("Notes that it created are not restored: {notes}."));
        }
        cx.notice(notice.with_advice(Advice::ListBranches));
        true
    }

    /// Replaces the answer of the `turns_from_end`-th last turn with the user's own text.
    pub fn replace_answer(
        &mut self,
        turns_from_end: usize,
        answer: &str,
        cx: &mut EngineCx,
    ) -> bool {
        let now = Timestamp::now();
        if !self.session.replace_answer(turns_from_end, answer, now) {
            let notice = Notice::warning("That answer is no longer in the conversation.");
            cx.notice(notice);
            return false;
        }
        self.show_again(cx);
        let notice = Notice::info("The edited answer is in a new branch. Nothing was sent.");
        cx.notice(notice.with_advice(Advice::ListBranches));
        true
    }

    /// Sets the title. Returns the event that confirms it once it is saved; `None` if `title` is
    /// blank.
    pub fn rename(&mut self, title: &str, cx: &mut EngineCx) -> Option<Event> {
        let requested = title.trim();
        if requested.is_empty() {
            cx.notice(Notice::info("The title is missing.").with_advice(Advice::SetTitle));
            return None;
        }
        let title = bounded_title(requested);
        self.set_title(title);
        cx.outbox.push(Event::SessionRenamed(title.to_owned()));
        if title.len() < requested.len() {
            let kept_count = grapheme::clusters(title).count();
            let message =
                format!("The title was too long: its first {kept_count} characters are kept.");
            return Some(Event::NoticePosted(Notice::warning(message)));
        }
        Some(Event::SavedSession(SavedSessionEvent::Renamed {
            session: None,
            title: title.to_owned(),
        }))
    }
}

pub(super) fn bounded_title(title: &str) -> &str {
    grapheme::bounded_prefix(title, TITLE_CLUSTERS_MAX, TITLE_BYTES_MAX)
}

fn summarize(branch: &Branch) -> BranchSummary {
    let bounded = |line: &str| bounded_line(line).to_owned();
    let first_turn = branch.turns.iter().next();
    BranchSummary {
        first_prompt_line: bounded(branch.first_prompt_line()),
        first_answer_line: bounded(branch.first_answer_line()),
        model: first_turn.map_or_else(String::new, |turn| bounded(&turn.model)),
        answered_at: first_turn.and_then(|turn| turn.ended_at),
        shared_messages: branch.fork_index,
        own_messages: branch.messages.len(),
        left_at: branch.left_at,
    }
}
