//! The tools of the built-in MCP server, one file each. To add one, implement [`tool::BuiltInTool`]
//! in a new file and list it in [`TOOLS`].

mod arguments;
mod fetch_page;
mod get_cat_fact;
mod get_time;
mod get_weather;
mod http_service;
mod notes;
mod ollama_chat;
mod say_hello;
mod tool;

use crate::domain::BuiltInSettings;
use crate::ports::{Completion, NoteService};
use crate::sync::lock_ignoring_poison;
use rmcp::model::JsonObject;
use rmcp::model::Tool;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;
use tool::{BuiltInTool, Services, ToolInvocation};

pub use tool::ProgressReporter;

/// In the order in which they are listed.
const TOOLS: &[&dyn BuiltInTool] = &[
    &get_time::GetTime,
    &get_weather::GetWeather,
    &ollama_chat::OllamaChat,
    &say_hello::SayHello,
    &get_cat_fact::GetCatFact,
    &fetch_page::FetchPage,
    &notes::CreateNote,
    &notes::SearchNotes,
    &notes::SummarizeNotes,
];

/// The built-in tools and their settings. Cheap to clone; clones share the settings.
#[derive(Clone)]
pub struct BuiltInTools {
    shared: Arc<Shared>,
    /// Names of tools that are neither listed nor run.
    withheld: Arc<[&'static str]>,
    /// Tools whose required setting is missing are left out.
    only_usable: bool,
}

struct Shared {
    settings: Mutex<Arc<BuiltInSettings>>,
    services: Services,
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolFailure {
    /// No tool has this name, or it is withheld or not usable.
    UnknownTool,
    /// A text for the model, which describes the problem and the next step.
    Failed(String),
    /// The caller cancelled the call. Nobody waits for a response.
    Cancelled,
}

impl BuiltInTools {
    pub fn new(
        settings: BuiltInSettings,
        completion: Arc<dyn Completion>,
        notes: Arc<dyn NoteService>,
    ) -> Self {
        let shared = Shared {
            settings: Mutex::new(Arc::new(settings)),
            services: Services::new(completion, notes),
        };
        Self {
            shared: Arc::new(shared),
            withheld: Arc::new([]),
            only_usable: false,
        }
    }

    /// The same tools without those whose required setting is missing.
    #[must_use]
    pub fn usable(mut self) -> Self {
        self.only_usable = true;
        self
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
        let settings = self.settings();
        let offered = self.offered(&settings);
        offered.map(BuiltInTool::definition).collect()
    }

    /// Runs a tool and returns its structured content, a JSON object. Dropping the future, or
    /// cancelling `cancelled`, stops the work, including requests to services.
    ///
    /// # Errors
    /// See [`ToolFailure`].
    pub async fn call(
        &self,
        name: &str,
        arguments: &JsonObject,
        progress: ProgressReporter,
        cancelled: CancellationToken,
    ) -> Result<Value, ToolFailure> {
        let settings = self.settings();
        let tool = self.offered(&settings).find(|tool| tool.name() == name);
        let tool = tool.ok_or(ToolFailure::UnknownTool)?;
        let schema = tool.definition().input_schema;
        let arguments = arguments::with_strings(arguments, &schema);
        let result = tool.call(ToolInvocation {
            arguments: &arguments,
            settings,
            services: &self.shared.services,
            progress,
        });
        match cancelled.run_until_cancelled(result).await {
            Some(result) => result.map_err(ToolFailure::Failed),
            None => Err(ToolFailure::Cancelled),
        }
    }

    fn settings(&self) -> Arc<BuiltInSettings> {
        Arc::clone(&lock_ignoring_poison(&self.shared.settings))
    }

    fn offered(
        &self,
        settings: &BuiltInSettings,
    ) -> impl Iterator<Item = &'static dyn BuiltInTool> {
        let tools = TOOLS.iter().copied();
        tools.filter(|tool| {
            let is_usable = !self.only_usable || tool.is_usable(settings);
            is_usable && !self.withheld.contains(&tool.name())
        })
    }
}
