//! The MCP client. `hub` owns one `supervisor` per configured server; a supervisor owns the session
//! and the process. Calls that arrive here are already approved; nothing here decides which call
//! may run.

mod backoff;
mod call;
mod cancelled_requests;
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
mod nesting_limit;
mod process;
mod progress_router;
mod result_text;
mod run;
mod run_remote;
mod server_requests;
mod session;
mod session_outcome;
mod session_shared;
mod startup;
mod status;
mod stderr;
mod stdio_transport;
mod supervisor;
mod tool_list;
mod tool_subscription;

pub use call::{CallResult, McpCall};
pub use hub::Hub;
pub use hub_event::HubEvent;
pub use process::ProcessGroups;
