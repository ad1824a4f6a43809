//! MCP servers: the pane and its commands, the full-screen viewer, sign-in, and the stderr log.

pub mod commands;
mod failure_notice;
pub mod sign_in;
pub mod state;
pub mod stderr_log;
pub mod variables;
pub mod view;
pub mod viewer;
