//! Settings: the home folder, `config.json`, `mcp-servers.json`, `trust.json`, personas and
//! the system prompt. Reading never fails: unusable parts become banners and the rest is
//! used. Writing changes only the affected values and no other byte of a file, except that
//! `trust.json` is reformatted.

mod add_model;
mod add_server;
mod built_in;
mod disabled_tools;
mod edits;
mod error;
mod fields;
mod home;
mod json_document;
mod json_edit;
mod keys;
mod markdown_files;
mod models;
mod native_calls;
mod notes;
mod oauth_settings;
mod permissions_check;
mod personas;
mod prompt_templates;
mod registry_url;
mod rejected_edits;
mod repeated_keys;
mod review;
mod roots;
mod server_entries;
mod servers;
mod settings;
mod snapshot;
mod system_prompt;
mod themes;
mod tightened_permissions;
mod token_file;
mod tool_diet;
mod trust;
mod ui_settings;
mod unknown_keys;
mod variables;
mod watch;

pub use add_model::{
    KnownServer, add_model, is_ollama_host_invalid, key_variables, local_ollama, local_ollama_with,
    model_servers, parse_new_model, parse_new_server, server_for_pulls,
};
pub use add_server::{add_servers, plaintext_secret_names, preview_server, written_launches};
pub use built_in::BuiltInSection;
pub use edits::{
    set_active_model, set_always_offered, set_notes_vault, set_server_enabled,
    set_server_variables, set_theme, set_tool_calls, set_tool_enabled, set_tool_mode,
};
pub use error::{ConfigError, banner_while_running, started_without_file};
pub use home::{DEFAULT_SYSTEM_PROMPT, Home};
pub use native_calls::take_native_calls_notice;
pub use notes::{NotesFolder, NotesSection};
pub use personas::{all_personas, find_persona, read_personas};
pub use prompt_templates::read_prompt_templates;
pub use rejected_edits::{FileEntries, RejectedEdit, RejectedEntry};
pub use review::{
    EarlierEntries, SettingsReview, apply_consented, grants_same_permissions, model_use_change,
    model_use_entry, review_changes,
};
pub use servers::{BUILT_IN_SERVER, read_servers, read_servers_with};
pub use settings::{Settings, read_settings, read_settings_with};
pub use snapshot::{ConfigLoad, ConfigSnapshot};
pub use system_prompt::{outdated_system_prompt, read_system_prompt, replace_system_prompt};
pub use tightened_permissions::tightened_permissions_notices;
pub use token_file::read_token_file;
pub use trust::{PinnedTool, TrustEdit, TrustQueue, read_trust, restoring_edits, update_trust};
pub use ui_settings::UiSettings;
pub use unknown_keys::unused_keys;
pub use variables::VariableLookup;
pub use watch::SettingsWatcher;

use crate::domain::Banner;

/// A loaded file, with banners about its problems.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded<T> {
    pub value: T,
    pub banners: Vec<Banner>,
    /// The whole file is unusable, so nothing in `value` comes from it.
    pub is_unusable: bool,
}
