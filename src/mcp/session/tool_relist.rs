//! Keeps the list of a server's tools up to date while a session is open.

use crate::domain::Notice;
use crate::mcp::hub_event::HubEvent;
use crate::mcp::session::decode::ListedTools;
use crate::mcp::session::{self, McpSession};
use crate::mcp::supervisor::ServerSupervisor;
use crate::mcp::supervisor::status::describe_tool_changes;
use crate::text::Clean;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Changes to a tool list within this time are handled together.
const RELIST_DELAY: Duration = Duration::from_millis(200);
/// A list that changes again within this time is requested after a growing delay.
const RELIST_QUIET_PERIOD: Duration = Duration::from_secs(40);
const RELIST_DELAY_MAX: Duration = Duration::from_secs(30);

impl ServerSupervisor {
    /// Requests the tools again when the server reports a change, and when a turn begins after the
    /// lifetime of the last list. `ttl` is the lifetime of the first list.
    pub async fn maintain_tools(&self, session: &McpSession, mut ttl: Option<Duration>) {
        let (mut delay, mut listed_at) = (RELIST_DELAY, None::<Instant>);
        let mut valid_since = Instant::now();
        loop {
            tokio::select! {
                () = session.shared.tools_changed.notified() => {}
                () = self.wait_for_stale_tools(valid_since, ttl) => {}
            }
            // Some servers report a change after every list request, which would cause an endless
            // loop of requests.
            delay = match listed_at {
                Some(listed_at) if listed_at.elapsed() < RELIST_QUIET_PERIOD => {
                    (delay * 2).min(RELIST_DELAY_MAX)
                }
                _ => RELIST_DELAY,
            };
            sleep(delay).await;
            listed_at = Some(Instant::now());
            match session::list_tools(&session.peer).await {
                Ok(listed) => {
                    (valid_since, ttl) = (Instant::now(), listed.ttl);
                    self.apply_tool_list(session, listed).await;
                }
                Err(why) => {
                    let server = Clean::name(self.state.borrow().config.id.as_str());
                    let text =
                        format!("The tools of server `{server}` could not be listed again: {why}.");
                    let notice = Notice::warning(text);
                    self.send(HubEvent::Noticed(notice)).await;
                }
            }
        }
    }

    /// Waits for a turn that begins after the lifetime of the list.
    async fn wait_for_stale_tools(&self, valid_since: Instant, ttl: Option<Duration>) {
        loop {
            self.tool_use.notified().await;
            if ttl.is_some_and(|ttl| valid_since.elapsed() >= ttl) {
                return;
            }
        }
    }

    async fn apply_tool_list(&self, session: &McpSession, mut listed: ListedTools) {
        session.shared.param_headers.register_tools(&mut listed);
        let (before, server) = {
            let state = self.state.borrow();
            (state.tools.clone(), state.config.id.clone())
        };
        let change = describe_tool_changes(&before, &listed.tools);
        if change.is_none() && listed.omitted == self.state.borrow().omitted_tools {
            return;
        }
        self.state.send_modify(|state| {
            state.tools = Arc::new(listed.tools);
            state.omitted_tools = listed.omitted;
        });
        self.report().await;
        if let Some(change) = change {
            let server = Clean::name(server.as_str());
            let notice = Notice::info(format!("Server `{server}` changed its tools: {change}."));
            self.send(HubEvent::Noticed(notice)).await;
        }
    }
}
