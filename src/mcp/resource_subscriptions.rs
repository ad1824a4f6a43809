//! Subscriptions to the resources that the user has attached: their server reports when one of them
//! changes. Legacy servers take one request per resource; modern ones take a list of them in a
//! request that stays open.

use super::content_capabilities::ContentCapabilities;
use super::hub_event::HubEvent;
use super::list_subscription::run_subscription;
use super::session::McpSession;
use super::supervisor::ServerSupervisor;
use crate::domain::Notice;
use crate::sync::lock_ignoring_poison;
use crate::text::Clean;
use rmcp::model::{ClientRequest, Request, SubscribeRequestParams, SubscriptionFilter};
use rmcp::service::ServiceError;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

/// Maximum number of subscribed resources of a server; the oldest one is forgotten first.
const SUBSCRIBED_MAX: usize = 32;
/// Longer URIs are not subscribed to.
const URI_BYTES_MAX: usize = 4 << 10;
/// Maximum number of reported URIs that wait to be handled.
const REPORTED_MAX: usize = 64;
const SUBSCRIBE_TIMEOUT: Duration = Duration::from_secs(10);
/// Delay before a modern server's ended subscription is opened again.
const REOPEN_DELAY: Duration = Duration::from_secs(10);

/// The attached resources of a server. They outlast its sessions.
#[derive(Debug, Default)]
pub struct ResourceSubscriptions {
    state: Mutex<SubscriptionState>,
    /// A resource was attached.
    attached: Notify,
}

#[derive(Debug, Default)]
struct SubscriptionState {
    /// Oldest first.
    uris: VecDeque<String>,
    /// Those that have changed since they were attached.
    changed: BTreeSet<String>,
}

impl ResourceSubscriptions {
    /// Records that the user attached the resource, with its contents of now.
    pub fn note_attached(&self, uri: &str) {
        if uri.len() > URI_BYTES_MAX {
            return;
        }
        {
            let mut state = lock_ignoring_poison(&self.state);
            state.uris.retain(|old| old != uri);
            state.uris.push_back(uri.to_owned());
            if state.uris.len() > SUBSCRIBED_MAX
                && let Some(oldest) = state.uris.pop_front()
            {
                state.changed.remove(&oldest);
            }
            state.changed.remove(uri);
        }
        self.attached.notify_one();
    }

    fn uris(&self) -> Vec<String> {
        let state = lock_ignoring_poison(&self.state);
        state.uris.iter().cloned().collect()
    }

    /// The attached resources that have changed since.
    pub fn changed(&self) -> BTreeSet<String> {
        lock_ignoring_poison(&self.state).changed.clone()
    }

    /// Marks those of the URIs that are attached. Returns the ones that were not marked before.
    fn mark_changed(&self, reported: HashSet<String>) -> Vec<String> {
        let mut state = lock_ignoring_poison(&self.state);
        let mut new: Vec<String> = reported.into_iter().collect();
        new.retain(|uri| state.uris.contains(uri) && !state.changed.contains(uri));
        new.sort();
        state.changed.extend(new.iter().cloned());
        new
    }
}

/// The URIs of `notifications/resources/updated` that have not been handled yet.
#[derive(Debug, Default)]
pub struct ReportedResources {
    uris: Mutex<HashSet<String>>,
    reported: Notify,
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

    fn take(&self) -> HashSet<String> {
        std::mem::take(&mut lock_ignoring_poison(&self.uris))
    }
}

impl ServerSupervisor {
    /// Keeps the subscriptions of a session open, and reports changed resources.
    pub(super) async fn maintain_subscriptions(
        &self,
        session: &McpSession,
        capabilities: ContentCapabilities,
        is_modern: bool,
    ) {
        if !capabilities.reports_resource_updates {
            return pending().await;
        }
        let subscribing = async {
            match is_modern {
                true => self.listen_to_resources(session).await,
                false => self.subscribe_to_resources(session).await,
            }
        };
        tokio::select! {
            () = subscribing => {}
            () = self.report_changed_resources(session) => {}
        }
    }

    /// Subscribes to each attached resource once per session.
    async fn subscribe_to_resources(&self, session: &McpSession) {
        let mut requested = HashSet::new();
        loop {
            for uri in self.subscriptions.uris() {
                if requested.insert(uri.clone()) {
                    let params = SubscribeRequestParams::new(uri);
                    let request = ClientRequest::SubscribeRequest(Request::new(params));
                    let answer = session.peer.send_request(request);
                    if let Ok(Err(error)) = timeout(SUBSCRIBE_TIMEOUT, answer).await {
                        tracing::debug!("subscribing to a resource failed: {error}");
                    }
                }
            }
            self.subscriptions.attached.notified().await;
            self.show_changed_resources().await;
        }
    }

    /// Keeps one subscription to all attached resources open.
    async fn listen_to_resources(&self, session: &McpSession) {
        loop {
            let uris = self.subscriptions.uris();
            if uris.is_empty() {
                self.subscriptions.attached.notified().await;
                continue;
            }
            let filter = SubscriptionFilter::builder().resource_subscriptions(uris);
            tokio::select! {
                () = self.subscriptions.attached.notified() => self.show_changed_resources().await,
                ended = run_subscription(session, filter.build()) => match ended {
                    Err(ServiceError::McpError(_) | ServiceError::TransportClosed) => {
                        return pending().await;
                    }
                    Ok(()) | Err(_) => sleep(REOPEN_DELAY).await,
                },
            }
        }
    }

    async fn report_changed_resources(&self, session: &McpSession) {
        let reported = &session.shared.updated_resources;
        loop {
            reported.reported.notified().await;
            let new = self.subscriptions.mark_changed(reported.take());
            if new.is_empty() {
                continue;
            }
            self.show_changed_resources().await;
            let server = self.state.borrow().config.id.clone();
            let server = Clean::name(server.as_str());
            for uri in new {
                let uri = Clean::single_line(&self.redactors().all.redact(&uri)).to_string();
                let what = format!(
                    "Resource `{uri}` of server `{server}` has changed since you attached it."
                );
                let notice = Notice::info(what);
                let notice = notice.with_advice("Attach it again to use its new contents.");
                self.send(HubEvent::Noticed(notice)).await;
            }
        }
    }

    /// Lists the changed resources as such.
    async fn show_changed_resources(&self) {
        let changed = self.subscriptions.changed();
        let is_shown = self.state.borrow().content.changed == changed;
        if is_shown {
            return;
        }
        self.state.send_modify(|state| {
            Arc::make_mut(&mut state.content).changed = changed;
        });
        self.report().await;
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
        let subscriptions = ResourceSubscriptions::default();
        subscriptions.note_attached("a");
        assert_eq!(subscriptions.mark_changed(reported(&["a", "b"])), ["a"]);
        assert!(subscriptions.mark_changed(reported(&["a"])).is_empty());
        assert_eq!(subscriptions.changed(), BTreeSet::from(["a".to_owned()]));
        subscriptions.note_attached("a");
        assert!(subscriptions.changed().is_empty());
        assert_eq!(subscriptions.mark_changed(reported(&["a"])), ["a"]);
    }

    #[test]
    fn subscriptions_and_reports_are_bounded() {
        let subscriptions = ResourceSubscriptions::default();
        let updates = ReportedResources::default();
        for n in 0..1_000 {
            subscriptions.note_attached(&format!("note://{n}"));
            updates.add(&format!("note://{n}"));
        }
        subscriptions.note_attached(&"x".repeat(URI_BYTES_MAX + 1));
        let uris = subscriptions.uris();
        assert_eq!(uris.len(), SUBSCRIBED_MAX);
        assert_eq!(uris.last().map(String::as_str), Some("note://999"));
        assert_eq!(updates.take().len(), REPORTED_MAX);
    }
}
