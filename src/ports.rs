//! Traits through which one adapter uses another without importing it.

use crate::domain::{BuiltInSettings, ModelConfig, Notice};
use futures::future::BoxFuture;
use tokio::io::DuplexStream;

/// An MCP server inside this program. `mcp` connects to it as to any other server; `serve`
/// implements it.
pub trait LocalServer: Send + Sync {
    /// Starts a session and returns the client's end of the stream. Dropping that end closes the
    /// session.
    fn connect(&self) -> DuplexStream;

    /// Replaces the settings of the server's tools. Calls in progress keep the earlier ones.
    fn configure(&self, settings: &BuiltInSettings);
}

/// Asks a language model for one answer. `provider` implements it.
pub trait Completion: Send + Sync {
    /// Sends `prompt` alone and collects the answer. Dropping the future closes the connection.
    ///
    /// # Errors
    /// The server cannot be reached, rejects the request, or stops in the middle.
    fn complete(
        &self,
        request: CompletionRequest,
    ) -> BoxFuture<'static, Result<CompletedText, Notice>>;
}

pub struct CompletionRequest {
    pub model: ModelConfig,
    pub prompt: String,
    /// Called with the number of characters received so far, thinking included.
    pub on_progress: Box<dyn Fn(usize) + Send + Sync>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletedText {
    /// Without the model's thinking.
    pub text: String,
    /// The answer reached a token limit.
    pub is_cut_off: bool,
}
