//! Taking turns back, and going over to another branch (S9.5). A turn is over before
//! either happens; each change is written like an answer is.

use super::Open;
use super::actor::{Actor, Done};
use crate::domain::{Banner, Branch, CONTINUE, Notice, Session};
use crate::protocol::{BranchSummary, Event};
use crate::store::{NotFound, StoreError, beside};
use crate::text::grapheme;
use jiff::Timestamp;
use serde_json::json;
use std::sync::Arc;

const OPENED: &str = "--session";
/// Grapheme clusters kept of a title that the user gives, and their bytes: a single
/// cluster may hold any number of combining marks.
const TITLE_CLUSTERS_MAX: usize = 1_000;
const TITLE_BYTES_MAX: usize = 32 * 1024;
/// Characters of a branch's first prompt in the list of branches.
const WORDS_CHARS_MAX: usize = 200;

impl Actor {
    /// The last answered turn becomes a branch.
    pub(super) fn take_back(&mut self) {
        if self.is_busy() {
            return;
        }
        if let Some(at) = self.session.last_prompt() {
            self.session.rewind(at, Timestamp::now());
            self.write();
            self.weigh_session();
        }
    }

    /// The newest words without an answer were taken off the screen.
    pub(super) fn drop_cancelled(&mut self, prompt: &str) {
        if self.is_busy() {
            return;
        }
        let after = self.session.messages.len();
        let prompt = self.asked_as(prompt);
        if beside::drop_cancelled(&mut self.session.humble, after, &prompt) {
            self.write();
        }
    }

    /// The prompt that a turn answers: `/continue` stands for the last one.
    pub(super) fn asked_as(&self, prompt: &str) -> String {
        let last = self.session.last_prompt().filter(|_| prompt == CONTINUE);
        let last = last.map(|at| &*self.session.messages[at].content);
        last.unwrap_or(prompt).to_owned()
    }

    pub(super) fn list_branches(&mut self) {
        let branches = self.session.branches.iter().rev().map(summary).collect();
        self.outbox.push(Event::BranchesListed(branches));
    }

    pub(super) fn switch_branch(&mut self, wanted: &BranchSummary) {
        if self.is_busy() {
            return;
        }
        let branches = &self.session.branches;
        let Some(index) = branches.iter().position(|one| summary(one) == *wanted) else {
            return self.notice(Notice::warning("That branch is not there any more."));
        };
        self.session.switch(index, Timestamp::now());
        self.session.notes = beside::read(&self.session.humble);
        self.write();
        let session = Arc::new(self.session.clone());
        self.outbox.push(Event::SessionOpened(session));
        self.weigh_session();
        self.notice(Notice::info("This is the other branch now.").advise("/branches leads back."));
    }

    pub(super) fn rename_session(&mut self, title: &str) {
        let whole = title.trim();
        if whole.is_empty() {
            return self.notice(Notice::info("Say the title behind it: /rename TITLE."));
        }
        let title = grapheme::head(whole, TITLE_CLUSTERS_MAX, TITLE_BYTES_MAX);
        self.session.humble.insert("title".to_owned(), json!(title));
        self.write();
        self.outbox.push(Event::SessionRenamed(title.to_owned()));
        if title.len() < whole.len() {
            let kept = grapheme::clusters(title).count();
            let what = format!("The title was too long: its first {kept} characters are kept.");
            self.notice(Notice::warning(what));
        }
    }

    /// Changes of the conversation wait for the turn's end, and this says so.
    pub(super) fn is_busy(&mut self) -> bool {
        let busy = self.turn.is_some();
        if busy {
            self.notice(Notice::info("The present turn is still under way."));
        }
        busy
    }

    /// Opens what the command line asks for, while the first frame is drawn.
    pub(super) fn open_first(&mut self) {
        let Some(open) = self.options.open.clone() else {
            return;
        };
        let sessions = Arc::clone(&self.sessions);
        self.jobs.spawn_blocking(move || {
            let found = match &open {
                Open::Latest => sessions.latest(),
                Open::Named(name) => sessions.find(name),
            };
            Done::Continued(found.map(|id| sessions.open(&id)))
        });
    }

    pub(super) fn continued(&mut self, found: Result<Result<Session, StoreError>, NotFound>) {
        let notice = match found {
            Ok(Ok(session)) => return self.begin_session(session),
            Ok(Err(fault)) => fault.notice(),
            Err(NotFound::Nothing) => {
                self.begin_session(Session::new(self.model_name()));
                let notice = Notice::info("There is no conversation to continue yet.");
                return self.notice(notice.because("This is a new one."));
            }
            Err(unknown) => unknown.notice(),
        };
        self.set_banner(Banner::new(OPENED, notice));
    }
}

fn summary(branch: &Branch) -> BranchSummary {
    BranchSummary {
        words: branch.words().chars().take(WORDS_CHARS_MAX).collect(),
        at: branch.at,
        messages: branch.messages.len(),
        left_at: branch.left_at,
    }
}
