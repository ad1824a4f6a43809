//! Lists a server's prompts, resources and resource templates after its session has opened, and
//! again when they change. A server without the capability is never asked.

use crate::domain::{Notice, ServerContent};
use crate::mcp::content::capabilities::ContentCapabilities;
use crate::mcp::content::decode::{ContentList, ContentListBuilder, ListedItem};
use crate::mcp::hub_event::HubEvent;
use crate::mcp::session::{McpSession, error_clause, is_modern, raw_result};
use crate::mcp::supervisor::ServerSupervisor;
use crate::mcp::supervisor::status::describe_name_changes;
use crate::text::Clean;
use rmcp::model::{
    ClientRequest, ErrorCode, ListPromptsRequest, ListResourceTemplatesRequest,
    ListResourcesRequest, PaginatedRequestParams,
};
use rmcp::service::ServiceError;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Time limit for all pages of all lists.
const LISTING_TIMEOUT: Duration = Duration::from_secs(30);
/// Changes within this time are handled together.
const RELIST_DELAY: Duration = Duration::from_millis(300);
/// A list that changes again within this time is requested after a growing delay.
const RELIST_QUIET_PERIOD: Duration = Duration::from_secs(40);
const RELIST_DELAY_MAX: Duration = Duration::from_secs(30);
/// How long a list stays valid if the server neither states a lifetime nor reports changes.
const TTL_DEFAULT: Duration = Duration::from_secs(60);

struct ListedContent {
    content: ServerContent,
    ttl: Option<Duration>,
}

impl ServerSupervisor {
    /// Keeps the lists up to date for as long as the session lasts.
    pub async fn maintain_content(&self, session: &McpSession, capabilities: ContentCapabilities) {
        if !capabilities.has_any() {
            return std::future::pending().await;
        }
        let mut delay = RELIST_DELAY;
        let mut is_first = true;
        loop {
            let listed_at = Instant::now();
            let listed = list_content(session, capabilities).await;
            let ttl = match (listed.ttl, capabilities.reports_all_changes()) {
                (Some(ttl), _) => Some(ttl),
                (None, true) => None,
                (None, false) => Some(TTL_DEFAULT),
            };
            self.apply_content(listed.content, is_first).await;
            is_first = false;
            tokio::select! {
                () = session.shared.content_changed.notified() => {}
                () = self.wait_for_stale_use(listed_at, ttl) => {}
            }
            // Some servers report a change after every list request, which would cause an endless
            // loop of requests.
            delay = match listed_at.elapsed() < RELIST_QUIET_PERIOD {
                true => (delay * 2).min(RELIST_DELAY_MAX),
                false => RELIST_DELAY,
            };
            sleep(delay).await;
        }
    }

    /// Waits until the user opens an expired list.
    async fn wait_for_stale_use(&self, listed_at: Instant, ttl: Option<Duration>) {
        loop {
            self.content_use.notified().await;
            if ttl.is_some_and(|ttl| listed_at.elapsed() >= ttl) {
                return;
            }
        }
    }

    async fn apply_content(&self, mut content: ServerContent, is_first: bool) {
        content.changed = self.followed_resources.changed();
        let (before, server) = {
            let state = self.state.borrow();
            (state.content.clone(), state.config.id.clone())
        };
        if *before == content {
            return;
        }
        let changes = describe_content_changes(&before, &content).filter(|_| !is_first);
        self.state
            .send_modify(|state| state.content = Arc::new(content));
        self.report().await;
        let server = Clean::name(server.as_str());
        for change in changes.into_iter().flatten() {
            let notice = Notice::info(format!("Server `{server}` changed its {change}."));
            self.send(HubEvent::Noticed(notice)).await;
        }
    }
}

/// A clause for each of the lists of prompts and resources whose keys changed, such as
/// ``prompts: added `a` ``; `None` if neither did.
fn describe_content_changes(before: &ServerContent, after: &ServerContent) -> Option<Vec<String>> {
    let prompts = |content: &ServerContent| names(&content.prompts);
    let resources = |content: &ServerContent| names(&content.resources);
    let changes = [
        (
            "prompts",
            describe_name_changes(&prompts(before), &prompts(after)),
        ),
        (
            "resources",
            describe_name_changes(&resources(before), &resources(after)),
        ),
    ];
    let changes: Vec<String> = changes
        .into_iter()
        .filter_map(|(list, change)| Some(format!("{list}: {}", change?)))
        .collect();
    (!changes.is_empty()).then_some(changes)
}

fn names<T: ListedItem>(items: &[T]) -> Vec<String> {
    items.iter().map(|item| item.key().to_owned()).collect()
}

async fn list_content(session: &McpSession, capabilities: ContentCapabilities) -> ListedContent {
    let deadline = Instant::now() + LISTING_TIMEOUT;
    let prompts = match capabilities.has_prompts {
        true => list_all(session, deadline, prompts_request).await,
        false => empty_list(),
    };
    let (resources, templates) = match capabilities.has_resources {
        true => (
            list_all(session, deadline, resources_request).await,
            list_all(session, deadline, templates_request).await,
        ),
        false => (empty_list(), empty_list()),
    };
    let ttls = [prompts.ttl, resources.ttl, templates.ttl];
    let mut omitted = prompts.omitted;
    omitted.extend(resources.omitted);
    omitted.extend(templates.omitted);
    ListedContent {
        ttl: ttls.into_iter().flatten().min(),
        content: ServerContent {
            prompts: prompts.items,
            resources: resources.items,
            templates: templates.items,
            completes_arguments: capabilities.completes_arguments,
            changed: BTreeSet::new(),
            omitted,
        },
    }
}

fn empty_list<T>() -> ContentList<T> {
    ContentList {
        items: Vec::new(),
        omitted: Vec::new(),
        ttl: None,
    }
}

fn prompts_request(params: PaginatedRequestParams) -> ClientRequest {
    ClientRequest::ListPromptsRequest(ListPromptsRequest::with_param(params))
}

fn resources_request(params: PaginatedRequestParams) -> ClientRequest {
    ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(params))
}

fn templates_request(params: PaginatedRequestParams) -> ClientRequest {
    let request = ListResourceTemplatesRequest::with_param(params);
    ClientRequest::ListResourceTemplatesRequest(request)
}

/// Requests all pages of a list until the deadline. A failure is reported as an omission,
/// unless the server lacks the method; the pages before it are kept.
async fn list_all<T: ListedItem>(
    session: &McpSession,
    deadline: Instant,
    request: fn(PaginatedRequestParams) -> ClientRequest,
) -> ContentList<T> {
    let mut builder = ContentListBuilder::new(is_modern(&session.peer));
    let mut cursor = None;
    let failure = loop {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let sending = session.peer.send_request(request(params));
        let left = deadline.saturating_duration_since(Instant::now());
        let answer = match timeout(left, sending).await {
            Ok(answer) => raw_result(answer),
            Err(_) => break Some(format!("no answer within {} s", LISTING_TIMEOUT.as_secs())),
        };
        match answer {
            // Many servers have resources, but no templates.
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                break None;
            }
            Err(error) => break Some(error_clause(&error)),
            Ok(page) => match builder.add_page(&page) {
                Ok(None) => break None,
                Ok(next) => cursor = next,
                Err(why) => break Some(why),
            },
        }
    };
    let mut list = builder.finish();
    if let Some(why) = failure {
        let omission = format!("{}s that could not be listed: {why}", T::NOUN);
        list.omitted.push(omission);
    }
    list
}
