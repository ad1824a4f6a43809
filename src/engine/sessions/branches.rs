//! Takes turns back, goes over to other branches and renames. No turn is under way when any of
//! that happens. What changed is still to be written: true says so.

use super::Conversation;
use crate::domain::{Advice, Branch, Notice, Prompt};
use crate::engine::cx::EngineCx;
use crate::protocol::{BranchSummary, Event};
use crate::text::grapheme;
use jiff::Timestamp;
use std::sync::Arc;

/// Grapheme clusters kept of a title that the user gives, and their bytes: a single
/// cluster may hold any number of combining marks.
const TITLE_CLUSTERS_MAX: usize = 1_000;
const TITLE_BYTES_MAX: usize = 32 * 1024;
/// Characters of a branch's first prompt in the list of branches.
const WORDS_CHARS_MAX: usize = 200;

impl Conversation {
    /// The last answered turn becomes a branch.
    pub fn rewind(&mut self) -> bool {
        let last = self.session.last_prompt_index();
        if let Some(at) = last {
            self.session.rewind(at, Timestamp::now());
        }
        last.is_some()
    }

    /// The newest words without an answer were taken off the screen.
    pub fn drop_cancelled(&mut self, prompt: &Prompt) -> bool {
        let after = self.session.messages.len();
        let prompt = self.answered_prompt(prompt.kind, prompt.typed_text());
        self.session.metadata.remove_last_cancelled(after, &prompt)
    }

    pub fn list_branches(&self, cx: &mut EngineCx) {
        let branches = self.session.branches.iter().rev().map(summary).collect();
        cx.outbox.push(Event::BranchesListed(branches));
    }

    pub fn switch_branch(&mut self, wanted: &BranchSummary, cx: &mut EngineCx) -> bool {
        let branches = &self.session.branches;
        let Some(index) = branches.iter().position(|one| summary(one) == *wanted) else {
            cx.notice(Notice::warning("That branch is not there any more."));
            return false;
        };
        self.session.switch_branch(index, Timestamp::now());
        let session = Arc::new(self.session.clone());
        cx.outbox.push(Event::SessionOpened(session));
        cx.notice(Notice::info("This is the other branch now.").with_advice(Advice::ListBranches));
        true
    }

    pub fn rename(&mut self, title: &str, cx: &mut EngineCx) -> bool {
        let whole = title.trim();
        if whole.is_empty() {
            cx.notice(Notice::info("A title is missing.").with_advice(Advice::SetTitle));
            return false;
        }
        let title = grapheme::bounded_prefix(whole, TITLE_CLUSTERS_MAX, TITLE_BYTES_MAX);
        self.session.metadata.title = Some(title.to_owned());
        cx.outbox.push(Event::SessionRenamed(title.to_owned()));
        if title.len() < whole.len() {
            let kept = grapheme::clusters(title).count();
            let what = format!("The title was too long: its first {kept} characters are kept.");
            cx.notice(Notice::warning(what));
        }
        true
    }
}

fn summary(branch: &Branch) -> BranchSummary {
    BranchSummary {
        first_prompt_line: branch
            .first_prompt_line()
            .chars()
            .take(WORDS_CHARS_MAX)
            .collect(),
        shared_messages: branch.fork_index,
        own_messages: branch.messages.len(),
        left_at: branch.left_at,
    }
}
