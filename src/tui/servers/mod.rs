//! MCP servers: the pane, its commands, and what a server wrote to stderr.

pub mod commands;
pub mod state;
pub mod stderr_log;
pub mod view;
