//! Looks for the files that a message mentions, before the message is sent.

use crate::domain::QueryId;

/// Maximum number of mentions that are looked up.
pub const MENTIONS_MAX: usize = 64;
const TYPED_MAX: usize = 64;

/// Each stage belongs to one revision of the message; a later edit starts over.
#[derive(Debug, Default)]
pub struct MentionCheck {
    stage: CheckStage,
    /// Paths that were typed after `@`, key by key.
    typed: Vec<String>,
    /// The revision that was checked last, and how many of its files could not be read.
    unread: (u64, usize),
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum CheckStage {
    #[default]
    NotAsked,
    /// The engine looks for the files.
    Looking { query: QueryId, revision: u64 },
    /// The message is sent once its files have been read.
    Reading { revision: u64 },
    /// Mentions that name no file remain text.
    Finished { revision: u64 },
}

impl MentionCheck {
    /// Records a path whose last character was typed, if the rest was typed too.
    pub fn record_typed_path(&mut self, path: &str) {
        let mut rest = path.chars();
        rest.next_back();
        if !path.is_empty() && !self.was_typed(rest.as_str()) {
            return;
        }
        match self.typed.last_mut() {
            Some(last) if path.starts_with(last.as_str()) => path.clone_into(last),
            _ => self.typed.push(path.to_owned()),
        }
        if self.typed.len() > TYPED_MAX {
            self.typed.remove(0);
        }
    }

    /// Whether the user typed this path. Pasted text may mention files without the user noticing.
    pub fn was_typed(&self, path: &str) -> bool {
        self.typed.iter().any(|typed| typed.starts_with(path))
    }

    pub fn begin(&mut self, query: QueryId, revision: u64) {
        self.stage = CheckStage::Looking { query, revision };
    }

    /// Whether this message was checked already.
    pub fn was_checked(&self, revision: u64) -> bool {
        use CheckStage::{Finished, Reading};
        self.stage == Reading { revision } || self.stage == Finished { revision }
    }

    pub fn is_looking(&self, revision: u64) -> bool {
        matches!(self.stage, CheckStage::Looking { revision: asked, .. } if asked == revision)
    }

    /// Ends the search. Returns false if it was about an earlier text.
    pub fn finish(&mut self, query: QueryId, revision: u64) -> bool {
        let is_current = self.stage == CheckStage::Looking { query, revision };
        if is_current {
            self.stage = CheckStage::Finished { revision };
        }
        is_current
    }

    /// Records that the message is to be sent once its files have been read.
    pub fn send_when_read(&mut self, revision: u64) {
        self.stage = CheckStage::Reading { revision };
    }

    pub fn is_reading(&self, revision: u64) -> bool {
        self.stage == CheckStage::Reading { revision }
    }

    /// Records a file that could not be read, and leaves it to the user to send the message. Returns
    /// how many files the message could not get. A message that was not checked yet stays unchecked,
    /// because a mention of the file must not be sent as if the file were attached: 0.
    pub fn record_unread(&mut self, revision: u64) -> usize {
        if !self.was_checked(revision) {
            return 0;
        }
        self.stage = CheckStage::Finished { revision };
        let before = match self.unread {
            (counted, count) if counted == revision => count,
            _ => 0,
        };
        self.unread = (revision, before + 1);
        before + 1
    }

    /// Leaves it to the user to send the message.
    pub fn cancel(&mut self, revision: u64) {
        self.stage = CheckStage::Finished { revision };
    }
}
