//! Client of an MCP registry, such as registry.modelcontextprotocol.io: finds servers, and turns an
//! entry into a server that can be added. Nobody reviews the entries, so a package becomes only a
//! command of a fixed form with a pinned version.

mod client;
mod error;
mod package;
mod remote;
mod server;
mod template;

pub use client::Registry;
pub use error::RegistryError;
pub use server::RegistryServer;
