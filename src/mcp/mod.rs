//! The MCP client. `hub` owns one `supervisor` per configured server; a supervisor owns the session
//! and the process. Calls that arrive here are already approved; nothing here decides which call
//! may run.

mod call;
mod content;
mod error;
mod http;
mod hub;
mod hub_event;
mod oauth;
mod server_requests;
mod session;
mod stdio;
mod supervisor;
mod tasks;

pub use call::{CallResult, McpCall};
pub use content::prompt::{PromptContents, PromptFile};
pub use content::result::ResourceContents;
pub use hub::Hub;
pub use hub_event::HubEvent;
pub use oauth::{CredentialFile, OAuthError, SignIn, SignInProgress};
pub use stdio::process::ProcessGroups;
