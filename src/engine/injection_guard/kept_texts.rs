//! The untrusted texts of a conversation. Bounded. A text is kept longer than requests contain it.

use super::kept_text::KeptText;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;

/// Bytes kept per conversation.
const TEXTS_BYTES_MAX: usize = 4 << 20;

/// Oldest first.
#[derive(Debug, Default)]
pub(super) struct KeptTexts {
    texts: VecDeque<(u64, Arc<KeptText>)>,
    bytes: usize,
    /// For the hash of each text's identity, the last request that contains it.
    requests: HashMap<u64, u64>,
    hasher: RandomState,
    request: u64,
    /// A text of the current request had to be dropped.
    is_incomplete: bool,
}

impl KeptTexts {
    pub(super) fn begin_request(&mut self) {
        self.request += 1;
        self.is_incomplete = false;
    }

    pub(super) fn is_incomplete(&self) -> bool {
        self.is_incomplete
    }

    /// Adds the text that `make` returns, unless one with this identity is known: each request repeats
    /// the texts of the one before.
    pub(super) fn add(&mut self, identity: impl Hash, make: impl FnOnce() -> KeptText) {
        self.add_shared(identity, || Arc::new(make()));
    }

    pub(super) fn add_shared(&mut self, identity: impl Hash, get: impl FnOnce() -> Arc<KeptText>) {
        let hash = self.hasher.hash_one(identity);
        if self.requests.insert(hash, self.request).is_some() {
            return;
        }
        let text = get();
        self.bytes += text.bytes();
        self.texts.push_back((hash, text));
        while self.bytes > TEXTS_BYTES_MAX
            && let Some((hash, oldest)) = self.texts.pop_front()
        {
            self.bytes -= oldest.bytes();
            self.is_incomplete |= self.requests.remove(&hash) == Some(self.request);
        }
    }

    pub(super) fn snapshot(&self) -> Vec<Arc<KeptText>> {
        let texts = self.texts.iter();
        texts.map(|(_, text)| Arc::clone(text)).collect()
    }

    /// Those that may reach another conversation.
    pub(super) fn of_message(&self) -> Self {
        let mut texts = Self::default();
        for text in self.snapshot() {
            if text.is_in_message {
                texts.add_shared(text.as_str(), || Arc::clone(&text));
            }
        }
        texts
    }
}
