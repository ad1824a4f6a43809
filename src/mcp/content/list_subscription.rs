//! A modern server reports changes only through a subscription: a request that stays open. This
//! module keeps a subscription to changed lists open. For a legacy server over HTTP, it requests the
//! lists again after an interruption.

use crate::mcp::call::open_request::CancelOnDrop;
use crate::mcp::content::capabilities::ContentCapabilities;
use crate::mcp::session::McpSession;
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
/// How long the server stream of a remote server may take to open before its lists are requested
/// again.
const SERVER_STREAM_DELAY: Duration = Duration::from_secs(1);

/// Requests all lists again shortly after the session opens, and each time the server stream is
/// reopened. Over HTTP, a change reported while the stream is closed is lost.
pub async fn relist_after_reconnects(session: &McpSession) {
    sleep(SERVER_STREAM_DELAY).await;
    loop {
        session.shared.tools_changed.notify_one();
        session.shared.content_changed.notify_one();
        session.shared.stream_reopened.notified().await;
    }
}

/// Listens until dropped. After each new subscription but the first, all lists are requested again,
/// because changes in between were missed.
pub async fn listen_for_changes(
    session: &McpSession,
    reports_tool_changes: bool,
    content: ContentCapabilities,
) {
    let mut filter = SubscriptionFilter::builder();
    if reports_tool_changes {
        filter = filter.tools_list_changed();
    }
    if content.reports_prompt_changes {
        filter = filter.prompts_list_changed();
    }
    if content.reports_resource_changes {
        filter = filter.resources_list_changed();
    }
    let filter = filter.build();
    let mut delay = DELAY_FIRST;
    let mut is_first = true;
    loop {
        let started_at = Instant::now();
        let ended = tokio::select! {
            // The request to subscribe is sent first.
            biased;
            ended = run_subscription(session, filter.clone()) => ended,
            never = relist_once(session), if !is_first => never,
        };
        is_first = false;
        match ended {
            // The server does not support this subscription, so retrying is pointless.
            Err(ServiceError::McpError(error)) => {
                tracing::debug!("subscribing to changed lists failed: {}", error.message);
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
    }
}

/// Requests all lists again, and never returns.
async fn relist_once<T>(session: &McpSession) -> T {
    session.shared.tools_changed.notify_one();
    session.shared.content_changed.notify_one();
    pending().await
}

/// Runs one subscription until it ends, and cancels it if dropped. The changes themselves arrive
/// through the inbox.
pub async fn run_subscription(
    session: &McpSession,
    filter: SubscriptionFilter,
) -> Result<(), ServiceError> {
    let request = ClientRequest::SubscriptionsListenRequest(SubscriptionsListenRequest::new(
        SubscriptionsListenRequestParams::new(filter),
    ));
    let options = PeerRequestOptions::no_options();
    let handle = session
        .peer
        .send_request_with_option(request, options)
        .await?;
    let mut open_request = CancelOnDrop::new(session, handle.id.clone());
    let answer = handle.rx.await;
    open_request.is_answered = true;
    match answer {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(ServiceError::TransportClosed),
    }
}
