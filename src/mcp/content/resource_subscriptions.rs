//! Subscriptions to the resources that the user has attached: their server reports when one of them
//! changes. Legacy servers take one request per resource; modern ones take a list of them in a
//! request that stays open.

use crate::domain::Notice;
use crate::mcp::content::capabilities::ContentCapabilities;
use crate::mcp::content::list_subscription::run_subscription;
use crate::mcp::hub_event::HubEvent;
use crate::mcp::session::McpSession;
use crate::mcp::supervisor::ServerSupervisor;
use crate::text::Clean;
use rmcp::model::{
    ClientRequest, Request, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::ServiceError;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

const SUBSCRIBE_TIMEOUT: Duration = Duration::from_secs(10);
/// Delay before a modern server's ended subscription is opened again.
const REOPEN_DELAY: Duration = Duration::from_secs(10);

impl ServerSupervisor {
    /// Keeps the subscriptions of a session open, and reports changed resources.
    pub async fn maintain_subscriptions(
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

    /// Subscribes to each attached resource once per session, until it is no longer attached.
    async fn subscribe_to_resources(&self, session: &McpSession) {
        let mut subscribed: Vec<String> = Vec::new();
        loop {
            let uris = self.followed_resources.uris();
            for uri in subscribed.iter().filter(|uri| !uris.contains(uri)) {
                let params = UnsubscribeRequestParams::new(uri);
                let request = ClientRequest::UnsubscribeRequest(Request::new(params));
                request_subscription(session, request).await;
            }
            for uri in uris.iter().filter(|uri| !subscribed.contains(uri)) {
                let params = SubscribeRequestParams::new(uri);
                let request = ClientRequest::SubscribeRequest(Request::new(params));
                request_subscription(session, request).await;
            }
            subscribed = uris;
            self.followed_resources.attachments_changed.notified().await;
            self.show_changed_resources().await;
        }
    }

    /// Keeps one subscription to all attached resources open.
    async fn listen_to_resources(&self, session: &McpSession) {
        loop {
            let uris = self.followed_resources.uris();
            if uris.is_empty() {
                self.followed_resources.attachments_changed.notified().await;
                self.show_changed_resources().await;
                continue;
            }
            let filter = SubscriptionFilter::builder().resource_subscriptions(uris);
            tokio::select! {
                () = self.followed_resources.attachments_changed.notified() => {
                    self.show_changed_resources().await;
                }
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
        let updated_resources = &session.shared.updated_resources;
        loop {
            updated_resources.reported.notified().await;
            let reported = updated_resources.take();
            reported
                .iter()
                .for_each(|uri| self.recent_reads.remove(uri));
            let new = self.followed_resources.mark_changed(reported);
            if new.is_empty() {
                continue;
            }
            self.show_changed_resources().await;
            let server = self.state.borrow().config.id.clone();
            let server = Clean::name(server.as_str());
            for uri in new {
                let uri = Clean::single_line(&uri);
                let text = format!(
                    "Resource `{uri}` of server `{server}` has changed since you attached it."
                );
                let notice = Notice::info(text);
                let notice = notice.with_advice("Attach it again to use its new contents.");
                self.send(HubEvent::Noticed(notice)).await;
            }
        }
    }

    async fn show_changed_resources(&self) {
        let changed = self.followed_resources.changed();
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

/// Sends a request about a single subscription. A failure is only logged, because the resource is
/// attached either way.
async fn request_subscription(session: &McpSession, request: ClientRequest) {
    let answer = session.peer.send_request(request);
    if let Ok(Err(error)) = timeout(SUBSCRIBE_TIMEOUT, answer).await {
        tracing::debug!("changing the subscription to a resource failed: {error}");
    }
}
