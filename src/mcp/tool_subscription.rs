//! A modern server reports changes only through a subscription: a request that stays open. This
//! module keeps a subscription to tool list changes open.

use super::session::McpSession;
use rmcp::model::{
    ClientRequest, SubscriptionFilter, SubscriptionsListenRequest, SubscriptionsListenRequestParams,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use std::future::pending;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Delay before reopening a subscription; doubles each time.
const DELAY_FIRST: Duration = Duration::from_secs(1);
const DELAY_MAX: Duration = Duration::from_secs(60);
/// A subscription that stayed open this long resets the delay.
const HEALTHY_AFTER: Duration = Duration::from_secs(60);

/// Listens until dropped. Before each further subscription, it also triggers a new tool list,
/// because changes in between may have been missed.
pub async fn listen_for_tool_changes(session: &McpSession) {
    let mut delay = DELAY_FIRST;
    loop {
        let started_at = Instant::now();
        match run_subscription(session).await {
            // The server does not support this subscription, so retrying is pointless.
            Err(ServiceError::McpError(error)) => {
                tracing::debug!("subscribing to tool changes failed: {}", error.message);
                return pending().await;
            }
            Err(ServiceError::TransportClosed) => return pending().await,
            Ok(()) | Err(_) => {}
        }
        if started_at.elapsed() >= HEALTHY_AFTER {
            delay = DELAY_FIRST;
        }
        sleep(delay).await;
        delay = (delay * 2).min(DELAY_MAX);
        session.shared.tools_changed.notify_one();
    }
}

/// Runs one subscription until it ends. The changes themselves arrive through the inbox.
async fn run_subscription(session: &McpSession) -> Result<(), ServiceError> {
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let request = ClientRequest::SubscriptionsListenRequest(SubscriptionsListenRequest::new(
        SubscriptionsListenRequestParams::new(filter),
    ));
    let options = PeerRequestOptions::no_options();
    let handle = session
        .peer
        .send_request_with_option(request, options)
        .await?;
    match handle.rx.await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(ServiceError::TransportClosed),
    }
}
