//! The followed resources of a server, which the user has attached, and those that the server
//! reported as changed. Both are bounded.

use crate::sync::lock_ignoring_poison;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Mutex;
use tokio::sync::Notify;

/// Maximum number of followed resources per server; the oldest one is dropped first.
const FOLLOWED_MAX: usize = 32;
/// Resources with longer URIs are not followed.
const URI_BYTES_MAX: usize = 4 << 10;
/// Maximum number of reported URIs that wait to be handled.
const REPORTED_MAX: usize = 64;

/// A server's attached resources. They outlast its sessions.
#[derive(Debug, Default)]
pub struct FollowedResources {
    state: Mutex<FollowedState>,
    /// Notified when a resource is attached or detached.
    pub attachments_changed: Notify,
}

#[derive(Debug, Default)]
struct FollowedState {
    /// Oldest first.
    followed: VecDeque<FollowedResource>,
    /// The URIs of followed resources that have changed since they were attached.
    changed: BTreeSet<String>,
}

#[derive(Debug)]
struct FollowedResource {
    uri: String,
    /// How many times it is attached.
    count: usize,
}

impl FollowedState {
    /// Returns how many times the resource was attached.
    fn take(&mut self, uri: &str) -> usize {
        let index = self.followed.iter().position(|it| it.uri == uri);
        let taken = index.and_then(|index| self.followed.remove(index));
        taken.map_or(0, |taken| taken.count)
    }
}

impl FollowedResources {
    /// Records that the user attached the resource with its current contents.
    pub fn follow(&self, uri: &str) {
        if uri.len() > URI_BYTES_MAX {
            return;
        }
        {
            let mut state = lock_ignoring_poison(&self.state);
            let count = state.take(uri) + 1;
            let uri = uri.to_owned();
            state.changed.remove(&uri);
            state.followed.push_back(FollowedResource { uri, count });
            if state.followed.len() > FOLLOWED_MAX
                && let Some(oldest) = state.followed.pop_front()
            {
                state.changed.remove(&oldest.uri);
            }
        }
        self.attachments_changed.notify_one();
    }

    /// Records that the user removed the resource from the message.
    pub fn unfollow(&self, uri: &str) {
        {
            let mut state = lock_ignoring_poison(&self.state);
            let followed = state.followed.iter_mut().find(|it| it.uri == uri);
            match followed {
                Some(followed) if followed.count > 1 => followed.count -= 1,
                _ => {
                    state.take(uri);
                    state.changed.remove(uri);
                }
            }
        }
        self.attachments_changed.notify_one();
    }

    /// Records that the user left the conversation.
    pub fn unfollow_all(&self) {
        *lock_ignoring_poison(&self.state) = FollowedState::default();
        self.attachments_changed.notify_one();
    }

    pub fn uris(&self) -> Vec<String> {
        let state = lock_ignoring_poison(&self.state);
        state.followed.iter().map(|it| it.uri.clone()).collect()
    }

    /// The resources that have changed since they were attached.
    pub fn changed(&self) -> BTreeSet<String> {
        lock_ignoring_poison(&self.state).changed.clone()
    }

    /// Marks those of the URIs that are attached. Returns the ones that were not marked before.
    pub fn mark_changed(&self, reported: HashSet<String>) -> Vec<String> {
        let mut state = lock_ignoring_poison(&self.state);
        let mut new: Vec<String> = reported.into_iter().collect();
        let is_followed = |uri: &String| state.followed.iter().any(|it| it.uri == *uri);
        new.retain(|uri| is_followed(uri) && !state.changed.contains(uri));
        new.sort();
        state.changed.extend(new.iter().cloned());
        new
    }
}

/// The URIs of `notifications/resources/updated` that have not been handled yet.
#[derive(Debug, Default)]
pub struct ReportedResources {
    uris: Mutex<HashSet<String>>,
    pub reported: Notify,
}

impl ReportedResources {
    /// Excess URIs are dropped: a server may send any number.
    pub fn add(&self, uri: &str) {
        let mut uris = lock_ignoring_poison(&self.uris);
        if uri.len() <= URI_BYTES_MAX && uris.len() < REPORTED_MAX {
            uris.insert(uri.to_owned());
            drop(uris);
            self.reported.notify_one();
        }
    }

    pub fn take(&self) -> HashSet<String> {
        std::mem::take(&mut lock_ignoring_poison(&self.uris))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(uris: &[&str]) -> HashSet<String> {
        uris.iter().map(|uri| (*uri).to_owned()).collect()
    }

    #[test]
    fn only_attached_resources_are_marked_and_each_is_reported_once() {
        let followed = FollowedResources::default();
        followed.follow("a");
        assert_eq!(followed.mark_changed(reported(&["a", "b"])), ["a"]);
        assert!(followed.mark_changed(reported(&["a"])).is_empty());
        assert_eq!(followed.changed(), BTreeSet::from(["a".to_owned()]));
        followed.follow("a");
        assert!(followed.changed().is_empty());
        assert_eq!(followed.mark_changed(reported(&["a"])), ["a"]);
    }

    #[test]
    fn a_resource_that_is_attached_twice_is_followed_until_both_are_removed() {
        let followed = FollowedResources::default();
        for uri in ["a", "b", "a"] {
            followed.follow(uri);
        }
        followed.unfollow("a");
        assert_eq!(followed.uris(), ["b", "a"]);
        followed.mark_changed(reported(&["a"]));
        followed.unfollow("a");
        assert_eq!(followed.uris(), ["b"]);
        assert!(followed.changed().is_empty());
        followed.unfollow("a");
        followed.unfollow_all();
        assert!(followed.uris().is_empty());
    }

    #[test]
    fn followed_resources_and_reports_are_bounded() {
        let followed = FollowedResources::default();
        let updates = ReportedResources::default();
        for n in 0..1_000 {
            followed.follow(&format!("note://{n}"));
            updates.add(&format!("note://{n}"));
        }
        followed.follow(&"x".repeat(URI_BYTES_MAX + 1));
        let uris = followed.uris();
        assert_eq!(uris.len(), FOLLOWED_MAX);
        assert_eq!(uris.last().map(String::as_str), Some("note://999"));
        assert_eq!(updates.take().len(), REPORTED_MAX);
    }
}
