//! The MCP client. `hub` owns one `supervisor` per configured server; a supervisor owns the session
//! and the process. Calls that arrive here are already approved; nothing here decides which call
//! may run.

mod backoff;
mod call;
mod call_exchange;
mod cancelled_requests;
mod client_capabilities;
mod content_capabilities;
mod content_decode;
mod content_list;
mod content_request;
mod content_result;
mod decode;
mod detection_cache;
mod endpoint;
mod environment;
mod error;
mod fallback_handshake;
mod flood_guard;
mod http;
mod hub;
mod hub_event;
mod inbox;
mod lifetime;
mod list_subscription;
mod nesting_limit;
mod oauth;
mod open_request;
mod process;
mod progress_router;
mod recent_reads;
mod resource_subscriptions;
mod result_text;
mod roots;
mod run;
mod run_remote;
mod server_requests;
mod session;
mod session_outcome;
mod session_shared;
mod startup;
mod status;
mod stderr;
mod stderr_hints;
mod stdio_transport;
mod subscribed_resources;
mod supervisor;
mod tasks;
mod tool_list;
mod tool_relist;

pub use call::{CallResult, EarlierTask, McpCall};
pub use content_result::{PromptContents, ResourceContents};
pub use hub::Hub;
pub use hub_event::HubEvent;
pub use oauth::{CredentialFile, OAuthError, SignIn, SignInProgress};
pub use process::ProcessGroups;
