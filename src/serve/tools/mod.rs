//! The tools of the built-in MCP server, one file each. To add one, implement [`BuiltInTool`] in
//! a new file and list it in [`TOOLS`].

mod arguments;
mod fetch_page;
mod get_cat_fact;
mod get_time;
mod get_weather;
mod http_service;
mod ollama_chat;
mod say_hello;

use crate::domain::{Arguments, BuiltInSettings, ToolProgress};
use crate::ports::Completion;
use crate::sync::lock_ignoring_poison;
use futures::future::BoxFuture;
use http_service::HttpClients;
use rmcp::model::Tool;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// All tools, in the order in which they are listed.
const TOOLS: &[&dyn BuiltInTool] = &[
    &get_time::GetTime,
    &get_weather::GetWeather,
    &ollama_chat::OllamaChat,
    &say_hello::SayHello,
    &get_cat_fact::GetCatFact,
    &fetch_page::FetchPage,
];

/// One tool. Implementations have no state of their own.
trait BuiltInTool: Send + Sync {
    fn name(&self) -> &'static str;

    /// The definition for `tools/list`.
    fn definition(&self) -> Tool;

    /// Runs the tool. Dropping the future cancels the call.
    ///
    /// # Errors
    /// A text for the model: what happened, and what it can do.
    fn call<'a>(&self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<Value, String>>;
}

/// The inputs of one call.
struct ToolInvocation<'a> {
    arguments: &'a Arguments,
    /// The settings when the call started.
    settings: Arc<BuiltInSettings>,
    services: &'a Services,
    progress: ProgressReporter,
}

/// Access to the world outside.
struct Services {
    http: HttpClients,
    network: fetch_page::Network,
    completion: Arc<dyn Completion>,
}

/// The built-in tools and their settings. Cheap to clone; clones share the settings.
#[derive(Clone)]
pub struct BuiltInTools {
    shared: Arc<Shared>,
    /// Names of tools that are neither listed nor run.
    withheld: Arc<[&'static str]>,
}

struct Shared {
    settings: Mutex<Arc<BuiltInSettings>>,
    services: Services,
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolFailure {
    /// No tool has this name, or it is withheld.
    UnknownTool,
    /// A text for the model: what happened, and what it can do.
    Failed(String),
    /// The caller cancelled the call. Nobody waits for a response.
    Cancelled,
}

impl BuiltInTools {
    pub fn new(settings: BuiltInSettings, completion: Arc<dyn Completion>) -> Self {
        let shared = Shared {
            settings: Mutex::new(Arc::new(settings)),
            services: Services {
                http: HttpClients::default(),
                network: fetch_page::Network::system(),
                completion,
            },
        };
        Self {
            shared: Arc::new(shared),
            withheld: Arc::new([]),
        }
    }

    /// The same tools without those for which `is_withheld` returns true.
    #[must_use]
    pub fn without(mut self, is_withheld: impl Fn(&str) -> bool) -> Self {
        let names = TOOLS.iter().map(|tool| tool.name());
        self.withheld = names.filter(|name| is_withheld(name)).collect();
        self
    }

    /// Replaces the settings of this and all clones. Calls in progress keep the earlier ones.
    pub fn configure(&self, settings: BuiltInSettings) {
        *lock_ignoring_poison(&self.shared.settings) = Arc::new(settings);
    }

    /// The definitions for `tools/list`, always in the same order.
    pub fn definitions(&self) -> Vec<Tool> {
        self.offered().map(BuiltInTool::definition).collect()
    }

    /// Runs a tool and returns its structured content, a JSON object. Dropping the future, or
    /// `cancelled`, stops the work, including requests to services.
    ///
    /// # Errors
    /// See [`ToolFailure`].
    pub async fn call(
        &self,
        name: &str,
        arguments: &Arguments,
        progress: ProgressReporter,
        cancelled: CancellationToken,
    ) -> Result<Value, ToolFailure> {
        let tool = self.offered().find(|tool| tool.name() == name);
        let tool = tool.ok_or(ToolFailure::UnknownTool)?;
        let settings = Arc::clone(&lock_ignoring_poison(&self.shared.settings));
        let result = tool.call(ToolInvocation {
            arguments,
            settings,
            services: &self.shared.services,
            progress,
        });
        match cancelled.run_until_cancelled(result).await {
            Some(result) => result.map_err(ToolFailure::Failed),
            None => Err(ToolFailure::Cancelled),
        }
    }

    fn offered(&self) -> impl Iterator<Item = &'static dyn BuiltInTool> {
        let tools = TOOLS.iter().copied();
        tools.filter(|tool| !self.withheld.contains(&tool.name()))
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

    fn report(&self, done: f64, total: Option<f64>, message: &str) {
        if let Some(sender) = &self.0 {
            // Progress is only a hint: a slow reader must not slow the tool down.
            let _ = sender.try_send(ToolProgress::new(done, total, Some(message)));
        }
    }
}

/// The fields of a JSON object; empty for any other value.
fn object(value: Value) -> Arguments {
    match value {
        Value::Object(fields) => fields,
        _ => Arguments::new(),
    }
}
