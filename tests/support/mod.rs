//! What tests share: servers, terminals, homes and conversations.

pub mod bench;
pub mod chat;
pub mod dice;
pub mod fixtures;
pub mod home;
pub mod mcp_desk;
pub mod model_server;
pub mod notice;
pub mod picture;
pub mod pty;
pub mod scanned;
pub mod shell_server;
pub mod story;
pub mod workshop;
