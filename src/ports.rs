//! Traits through which one adapter uses another without importing it.

use tokio::io::DuplexStream;

/// An MCP server inside this program. `mcp` connects to it as to any other server; `serve`
/// implements it.
pub trait LocalServer: Send + Sync {
    /// Starts a session and returns the client's end of the stream. Dropping that end closes the
    /// session.
    fn connect(&self) -> DuplexStream;
}
