//! The built-in MCP server `humble`: inside the program over an in-memory transport, and for other
//! clients over stdio and HTTP. Never writes to stdout, except for the protocol over stdio.

mod calls;
mod handler;
pub mod http;
mod message;
mod open_requests;
mod queue_transport;
pub mod stdio;
mod tools;

use crate::domain::BuiltInSettings;
use crate::ports::LocalServer;
use rmcp::service::ServiceExt;
use tokio::io::{DuplexStream, duplex};

pub use calls::{CallLimits, CallLog, CallRunner};
pub use handler::BuiltInHandler;
pub use tools::{BuiltInTools, ProgressReporter, ToolFailure};

/// Capacity of the in-memory pipe in each direction.
const BUFFER_BYTES: usize = 64 << 10;

/// Connects clients to the built-in server.
#[derive(Clone)]
pub struct BuiltInServer(CallRunner);

impl BuiltInServer {
    pub fn new(tools: BuiltInTools) -> Self {
        Self(CallRunner::new(
            tools.usable(),
            CallLimits::default(),
            CallLog::Quiet,
        ))
    }
}

impl LocalServer for BuiltInServer {
    fn connect(&self) -> DuplexStream {
        let (client, server) = duplex(BUFFER_BYTES);
        let handler = BuiltInHandler::new(self.0.refreshed(), "memory");
        // The task ends when the client's end of the pipe is dropped.
        tokio::spawn(async move {
            match handler.serve(server).await {
                Ok(running) => {
                    let _ = running.waiting().await;
                }
                Err(error) => tracing::debug!("session of the built-in server failed: {error}"),
            }
        });
        client
    }

    fn configure(&self, settings: &BuiltInSettings) {
        self.0.tools().configure(settings.clone());
    }
}
