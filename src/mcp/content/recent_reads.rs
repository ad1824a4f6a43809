//! A cache of recently read resources: attaching one again before its lifetime ends needs no request
//! to its server. Bounded in number and size.

use crate::mcp::content::result::ResourceContents;
use crate::sync::lock_ignoring_poison;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::Instant;

/// Maximum number of cached resources of a server; the oldest one is dropped first.
const READS_MAX: usize = 8;
/// Larger resources are not cached.
const READ_BYTES_MAX: usize = 1 << 20;

#[derive(Debug, Default)]
pub struct RecentReads(Mutex<VecDeque<RecentRead>>);

#[derive(Debug)]
struct RecentRead {
    uri: String,
    contents: Vec<ResourceContents>,
    valid_until: Instant,
}

impl RecentReads {
    pub fn add(&self, uri: &str, contents: &[ResourceContents], ttl: Duration) {
        let bytes: usize = contents.iter().map(|part| part.bytes.len()).sum();
        self.remove(uri);
        if ttl.is_zero() || bytes > READ_BYTES_MAX {
            return;
        }
        let mut reads = lock_ignoring_poison(&self.0);
        if reads.len() == READS_MAX {
            reads.pop_front();
        }
        reads.push_back(RecentRead {
            uri: uri.to_owned(),
            contents: contents.to_vec(),
            valid_until: Instant::now() + ttl,
        });
    }

    /// The contents, if they are still valid.
    pub fn get(&self, uri: &str) -> Option<Vec<ResourceContents>> {
        let mut reads = lock_ignoring_poison(&self.0);
        let now = Instant::now();
        reads.retain(|read| read.valid_until > now);
        let read = reads.iter().find(|read| read.uri == uri)?;
        Some(read.contents.clone())
    }

    /// Drops the contents of a resource that has changed.
    pub fn remove(&self, uri: &str) {
        lock_ignoring_poison(&self.0).retain(|read| read.uri != uri);
    }

    pub fn clear(&self) {
        lock_ignoring_poison(&self.0).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(bytes: usize) -> Vec<ResourceContents> {
        vec![ResourceContents {
            name: "r".to_owned(),
            bytes: vec![b'x'; bytes],
        }]
    }

    #[tokio::test(start_paused = true)]
    async fn a_resource_is_kept_for_its_lifetime_unless_it_changes() {
        let reads = RecentReads::default();
        let minute = Duration::from_secs(60);
        reads.add("a", &contents(3), minute);
        reads.add("b", &contents(3), Duration::ZERO);
        reads.add("c", &contents(READ_BYTES_MAX + 1), minute);
        assert_eq!(reads.get("a"), Some(contents(3)));
        assert_eq!((reads.get("b"), reads.get("c")), (None, None));
        tokio::time::advance(minute).await;
        assert_eq!(reads.get("a"), None);
        reads.add("a", &contents(3), minute);
        reads.remove("a");
        assert_eq!(reads.get("a"), None);
        for n in 0..100 {
            reads.add(&n.to_string(), &contents(1), minute);
        }
        assert_eq!(lock_ignoring_poison(&reads.0).len(), READS_MAX);
    }
}
