//! Settings: the home folder, `config.json`, `mcp-servers.json` and the system
//! prompt. Reading never fails: what cannot be used is a banner, and the rest
//! works. Writing changes one value and no other byte of a file.

mod add;
mod document;
mod edit;
mod error;
mod fields;
mod home;
mod listing;
mod models;
mod near;
mod prompt;
mod save;
mod servers;
mod settings;
mod variables;

pub use add::{
    Served, add_model, key_variables, local_ollama, local_ollama_with, model_servers, server_of,
    understand,
};
pub use error::ConfigError;
pub use home::Home;
pub use prompt::read_system_prompt;
pub use save::{set_active_model, set_server_enabled, set_tool_enabled, set_tool_mode};
pub use servers::{BUILT_IN, read_servers, read_servers_with, server_secrets};
pub use settings::{Settings, read_settings, read_settings_with};
pub use variables::Variables;

use crate::domain::Banner;

/// What was read, and what is to be said about it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading<T> {
    pub value: T,
    pub banners: Vec<Banner>,
}
