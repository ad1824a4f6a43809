//! The trait that every built-in tool implements, and the inputs of its calls.

use super::fetch_page::network::Network;
use super::http_service::ServiceClients;
use crate::domain::{BuiltInSettings, ToolProgress};
use crate::ports::{Completion, NoteService};
use futures::future::BoxFuture;
use rmcp::model::JsonObject;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::mpsc;

/// One tool. Implementations have no state of their own.
pub trait BuiltInTool: Send + Sync {
    fn name(&self) -> &'static str;

    fn definition(&self) -> Tool;

    /// Whether the settings contain everything that the tool needs.
    fn is_usable(&self, _settings: &BuiltInSettings) -> bool {
        true
    }

    /// Runs the tool. Dropping the future cancels the call.
    ///
    /// # Errors
    /// A text for the model, which describes the problem and the next step.
    fn call<'a>(&self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<Value, String>>;
}

/// The parts of a definition that differ from tool to tool.
pub struct ToolDescription {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// JSON schemas of objects.
    pub input_schema: Value,
    pub output_schema: Value,
    /// Whether the tool changes nothing.
    pub is_read_only: bool,
    /// Whether repeating a call has no further effect and gives the same result.
    pub is_idempotent: bool,
    /// Whether the tool reaches beyond this machine.
    pub is_open_world: bool,
}

/// The definition of a tool. Users' grants are pinned to definitions: after a change, each user is
/// asked again.
pub fn definition(tool: ToolDescription) -> Tool {
    let input_schema = Arc::new(object(tool.input_schema));
    Tool::new(tool.name, tool.description, input_schema)
        .with_title(tool.title)
        .with_raw_output_schema(Arc::new(object(tool.output_schema)))
        .with_annotations(
            // No built-in tool changes or deletes existing data.
            ToolAnnotations::new()
                .read_only(tool.is_read_only)
                .destructive(false)
                .idempotent(tool.is_idempotent)
                .open_world(tool.is_open_world),
        )
}

/// The inputs of one call.
pub struct ToolInvocation<'a> {
    pub arguments: &'a JsonObject,
    /// The settings when the call started.
    pub settings: Arc<BuiltInSettings>,
    pub services: &'a Services,
    pub progress: ProgressReporter,
}

/// Access to the network, to language models and to notes.
pub struct Services {
    pub http: ServiceClients,
    pub network: Network,
    pub completion: Arc<dyn Completion>,
    pub notes: Arc<dyn NoteService>,
}

impl Services {
    pub fn new(completion: Arc<dyn Completion>, notes: Arc<dyn NoteService>) -> Self {
        Self {
            http: ServiceClients::default(),
            network: Network::system(),
            completion,
            notes,
        }
    }
}

/// Receives the progress of a call.
#[derive(Debug, Clone)]
pub struct ProgressReporter(Option<mpsc::Sender<ToolProgress>>);

impl ProgressReporter {
    /// Reports that do not fit into the channel are dropped.
    pub fn new(sender: mpsc::Sender<ToolProgress>) -> Self {
        Self(Some(sender))
    }

    /// For callers that did not ask for progress.
    pub fn ignored() -> Self {
        Self(None)
    }

    pub fn report(&self, done: f64, total: Option<f64>, message: &str) {
        if let Some(sender) = &self.0 {
            // Progress is only a hint: a slow reader must not slow the tool down.
            let _ = sender.try_send(ToolProgress::new(done, total, Some(message)));
        }
    }
}

/// The fields of a JSON object; empty for any other value.
pub fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(fields) => fields,
        _ => JsonObject::new(),
    }
}
