//! Settings: the home folder, `config.json`, `mcp-servers.json`, `trust.json`, personas and
//! the system prompt. Reading never fails: unusable parts become banners and the rest is
//! used. Writing changes one value and no other byte of a file.

mod add_model;
mod add_server;
mod edits;
mod error;
mod fields;
mod home;
mod json_document;
mod json_edit;
mod models;
mod narrowed;
mod permissions_check;
mod personas;
mod review;
mod server_entries;
mod servers;
mod settings;
mod snapshot;
mod system_prompt;
mod trust;
mod variables;
mod watch;

pub use add_model::{
    KnownServer, add_model, is_host_unread, key_variables, local_ollama, local_ollama_with,
    model_manager, model_servers, understand,
};
pub use add_server::{NewServer, Reach, add_server, secrets_in_the_open, understand_server};
pub use edits::{
    set_active_model, set_server_enabled, set_tool_calls, set_tool_enabled, set_tool_mode,
};
pub use error::{ConfigError, while_running};
pub use home::{DEFAULT_SYSTEM_PROMPT, Home};
pub use narrowed::narrowed;
pub use personas::{all_personas, find_persona, read_personas};
pub use review::{Memory, Weighed, is_same_leave, taken, use_of, weigh};
pub use servers::{BUILT_IN, read_servers, read_servers_with, server_secrets};
pub use settings::{Settings, read_settings, read_settings_with};
pub use snapshot::{Known, Read};
pub use system_prompt::{older_system_prompt, read_system_prompt, replace_system_prompt};
pub use trust::{Pinned, TrustEdit, TrustQueue, read_trust, update_trust};
pub use variables::Variables;
pub use watch::Watcher;

use crate::domain::Banner;

/// A loaded file, with banners about its problems.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading<T> {
    pub value: T,
    pub banners: Vec<Banner>,
    /// The whole file is unusable, and `value` is the default.
    pub failed: bool,
}
