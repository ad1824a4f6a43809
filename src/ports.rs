//! Traits through which one adapter uses another without importing it.

use tokio::io::DuplexStream;

/// A server inside this program. `mcp` connects to it like any other server; `serve`
/// implements it.
pub trait LocalServer: Send + Sync {
    /// Starts a session and returns the client's end. Dropping it ends the session.
    fn connect(&self) -> DuplexStream;
}
