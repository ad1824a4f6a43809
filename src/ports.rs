//! What one adapter needs of another, as traits, so that none imports another.

use tokio::io::DuplexStream;

/// A server that runs inside this program: `mcp` connects to it as to any other,
/// `serve` is it.
pub trait LocalServer: Send + Sync {
    /// Starts one session of the server and returns the client's end. The session
    /// ends when that end is dropped.
    fn connect(&self) -> DuplexStream;
}
