//! The untrusted texts of a conversation. Bounded. A text is kept longer than requests contain it.

use super::kept_text::KeptText;
use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// Bytes kept per conversation. The newest text is kept whole, however long it is.
const TEXTS_BYTES_MAX: usize = 4 << 20;

/// Oldest first.
#[derive(Debug, Default)]
pub(super) struct KeptTexts {
    texts: VecDeque<Arc<KeptText>>,
    bytes: usize,
    /// Of the texts, because each request repeats those of the one before.
    hashes: HashSet<u64>,
    hasher: RandomState,
}

impl KeptTexts {
    pub(super) fn add(&mut self, text: KeptText) {
        if text.is_blank() || !self.hashes.insert(self.hash(&text)) {
            return;
        }
        self.bytes += text.bytes();
        self.texts.push_back(Arc::new(text));
        while self.bytes > TEXTS_BYTES_MAX && self.texts.len() > 1 {
            if let Some(oldest) = self.texts.pop_front() {
                self.bytes -= oldest.bytes();
                self.hashes.remove(&self.hash(&oldest));
            }
        }
    }

    fn hash(&self, text: &KeptText) -> u64 {
        self.hasher.hash_one(text.identity())
    }

    pub(super) fn snapshot(&self) -> Vec<Arc<KeptText>> {
        self.texts.iter().cloned().collect()
    }
}
