//! MCP servers: the pane, its commands, and the stderr viewer.

pub mod commands;
mod failure_notice;
pub mod sign_in;
pub mod state;
pub mod stderr_log;
pub mod view;
pub mod viewer;
