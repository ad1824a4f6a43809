//! Tools offered by servers, and calls to them.

mod call_origin;

pub use call_origin::{CallOrigin, QuoteSource, QuotedPassage};

pub use super::progress::ToolProgress;
pub use super::standing_permission::StandingPermission;
use super::{Arguments, CallId, CallTask, ServerId};
use crate::text::json_changes::JsonChange;
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The heading above a server's description of its tool.
pub const SERVER_DESCRIPTION_HEADING: &str = "The server describes this tool:";
/// The prefix of each line of text quoted from a server.
pub const QUOTE_PREFIX: &str = "  | ";

/// A server's hints about a tool's behavior. Shown but, except for the built-in server, never
/// relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ToolAnnotations {
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: Option<bool>,
}

impl ToolAnnotations {
    /// The labels of the hints that are present.
    pub fn labels(&self) -> Vec<&'static str> {
        let hints = [
            (self.read_only, "read-only", "writes"),
            (self.destructive, "destructive", "not destructive"),
            (self.idempotent, "idempotent", "not idempotent"),
            (self.open_world, "reaches the network", "stays local"),
        ];
        hints
            .into_iter()
            .filter_map(|(hint, yes, no)| hint.map(|hint| if hint { yes } else { no }))
            .collect()
    }
}

/// The hash of a tool's definition as its server sent it.
#[derive(Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Pin(String);

impl Pin {
    /// Restores a stored hash.
    pub fn from_hash(hash: impl Into<String>) -> Self {
        Self(hash.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pin({})", &self.0[..8.min(self.0.len())])
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tool {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    /// The server's JSON, in its key order.
    pub input_schema: Map<String, Value>,
    pub annotations: ToolAnnotations,
    /// The rest of the definition, including the original annotations.
    #[serde(skip)]
    pub extra: Map<String, Value>,
    pub pin: Pin,
    /// The combined size of name, description and schema as compact JSON. Computed only once,
    /// because it is shown in every frame.
    #[serde(skip)]
    pub bytes: usize,
}

impl Tool {
    /// Parses a definition, which must have a `name` and an object `inputSchema`. The pin
    /// covers the whole definition, including unknown parts.
    pub fn from_definition(definition: &Value) -> Result<Self, String> {
        let text = |key: &str| definition.get(key).and_then(Value::as_str);
        let name = text("name").ok_or("a tool without a name")?;
        let schema = definition
            .get("inputSchema")
            .and_then(Value::as_object)
            .ok_or_else(|| format!("tool `{name}` has no inputSchema"))?;
        let annotations = definition.get("annotations");
        let hint = |key: &str| {
            annotations
                .and_then(|annotations| annotations.get(key))
                .and_then(Value::as_bool)
        };
        let text_bytes = name.len() + text("description").map_or(0, str::len);
        let schema_bytes = serde_json::to_string(schema).map_or(0, |schema| schema.len());
        let members = definition.as_object().into_iter().flatten();
        let has_own_field = |key: &str| match key {
            "name" | "inputSchema" => true,
            "title" | "description" => text(key).is_some(),
            _ => false,
        };
        let extra = members.filter(|(key, _)| !has_own_field(key));
        Ok(Self {
            extra: extra
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
            bytes: text_bytes + schema_bytes,
            name: name.to_owned(),
            title: text("title").map(str::to_owned),
            description: text("description").map(str::to_owned),
            input_schema: schema.clone(),
            annotations: ToolAnnotations {
                read_only: hint("readOnlyHint"),
                destructive: hint("destructiveHint"),
                idempotent: hint("idempotentHint"),
                open_world: hint("openWorldHint"),
            },
            pin: Pin(canonical_hash(definition)),
        })
    }

    pub fn required_arguments(&self) -> impl Iterator<Item = &str> {
        self.input_schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
    }
}

/// Hex SHA-256 of `value` as compact JSON with sorted keys, so key order does not matter.
pub fn canonical_hash(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                let mut keys: Vec<_> = map.iter().collect();
                keys.sort_by_key(|(key, _)| *key);
                keys.into_iter()
                    .map(|(key, value)| (key.clone(), sorted(value)))
                    .collect::<Map<_, _>>()
                    .into()
            }
            Value::Array(items) => items.iter().map(sorted).collect(),
            other => other.clone(),
        }
    }
    let digest = Sha256::digest(sorted(value).to_string().as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolCall {
    pub id: CallId,
    pub server: ServerId,
    pub tool: String,
    pub arguments: Arguments,
    /// The model's original arguments, if the user edited them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original: Option<Arguments>,
    pub origin: CallOrigin,
    /// The earlier successful call of this turn that this call repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<CallId>,
    /// The untrusted text from which the model may have copied the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quoted: Option<QuoteSource>,
    /// The text around the place from which it may have been copied; empty if unknown.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub quoted_passage: Arc<str>,
    /// The arguments could not be checked against the schema; the server decides.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_unchecked: bool,
    /// Differences between the JSON that the model wrote and the parsed arguments.
    #[serde(skip)]
    pub json_changes: Box<[JsonChange]>,
    /// The forms of identical calls in the same message, which were merged into this one.
    #[serde(rename = "also_as", skip_serializing_if = "<[_]>::is_empty")]
    pub merged_forms: Box<[&'static str]>,
    /// Why the call ran without asking. Only for display.
    #[serde(skip)]
    pub permission: Option<StandingPermission>,
    /// Where images and sounds of the result were saved. Only for display.
    #[serde(skip)]
    pub saved_files: Box<[PathBuf]>,
    /// The parts of the result that are not for the model. Only for display.
    #[serde(skip)]
    pub user_text: Box<str>,
    /// The task that the server runs for the call.
    #[serde(skip)]
    pub task: Option<Box<CallTask>>,
    pub state: ToolState,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolState {
    Proposed,
    AwaitingApproval,
    Running { progress: Option<ToolProgress> },
    Done(ToolOutcome),
}

/// How a call ended. Every call has exactly one outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum ToolOutcome {
    Succeeded {
        text: String,
        elapsed: Duration,
    },
    /// The tool reported an error (`isError`).
    Failed {
        text: String,
        elapsed: Duration,
    },
    /// The server could not be reached, died or violated the protocol. The tool may have
    /// run.
    Unreachable {
        why: String,
        elapsed: Duration,
    },
    TimedOut {
        elapsed: Duration,
    },
    /// The user refused the call, which ends the turn.
    Refused,
    /// The user denied the call, optionally with a message to the model; the turn continues.
    Denied {
        #[serde(rename = "word")]
        message: Option<String>,
    },
    /// The user blocked the tool permanently; the turn continues.
    Never,
    /// The turn was stopped or the program ended while the call ran. The tool may have done its work.
    Interrupted,
    /// The user cancelled this call while it ran; the turn continues.
    Cancelled {
        elapsed: Duration,
    },
    /// The user left this call running as a task; the turn continues without its result.
    Left {
        elapsed: Duration,
    },
    /// The result of an earlier identical call was used instead.
    Reused {
        of: CallId,
    },
    /// The call did not run, for this reason, which the model receives.
    NotRun {
        why: String,
    },
    /// The user declared the call to be plain text.
    WasText,
}

impl ToolCall {
    /// Where the call may have been copied from, with the text around it.
    pub fn quoted_sentence(&self) -> Option<String> {
        let clause = self.quoted?.clause();
        let passage = Some(self.quoted_passage.trim()).filter(|text| !text.is_empty())?;
        // Nothing of ours follows: quotation marks would not show where the passage ends.
        Some(format!("It {clause}: {passage}"))
    }

    /// Whether arguments were changed to fit the schema.
    pub fn has_repaired_arguments(&self) -> bool {
        let mut changes = self.json_changes.iter();
        changes.any(|change| {
            matches!(
                change,
                JsonChange::JsonInString { .. } | JsonChange::LeftOut { .. }
            )
        })
    }

    /// Whether the tool may have done its work, or a part of it.
    pub fn may_have_run(&self) -> bool {
        match &self.state {
            ToolState::Running { .. } => true,
            ToolState::Done(outcome) => {
                outcome.elapsed().is_some() || *outcome == ToolOutcome::Interrupted
            }
            ToolState::Proposed | ToolState::AwaitingApproval => false,
        }
    }

    /// Whether the server may still be running the call as a task, because the turn or the program
    /// ended before its result arrived.
    pub fn has_open_task(&self) -> bool {
        self.task.is_some() && self.state == ToolState::Done(ToolOutcome::Interrupted)
    }

    /// The part of a call that sessions store: the call and its outcome, without result texts.
    pub fn without_results(&self) -> Self {
        let state = match &self.state {
            ToolState::Done(outcome) => ToolState::Done(outcome.without_text()),
            unfinished => unfinished.clone(),
        };
        Self {
            original: self.original.clone(),
            task: self.task.clone(),
            ..Self::stored(
                self.server.clone(),
                self.tool.clone(),
                self.arguments.clone(),
                state,
            )
        }
    }

    /// A call as sessions store it. The caller assigns an id for display.
    pub fn stored(server: ServerId, tool: String, arguments: Arguments, state: ToolState) -> Self {
        Self {
            id: CallId(0),
            server,
            tool,
            arguments,
            original: None,
            origin: CallOrigin::Native,
            repeats: None,
            quoted: None,
            quoted_passage: Arc::default(),
            is_unchecked: false,
            json_changes: Box::default(),
            merged_forms: Box::default(),
            permission: None,
            saved_files: Box::default(),
            user_text: Box::default(),
            task: None,
            state,
        }
    }
}

impl ToolOutcome {
    /// Whether the call ran and ended in an error.
    pub fn is_error(&self) -> bool {
        matches!(
            self,
            Self::Failed { .. } | Self::Unreachable { .. } | Self::TimedOut { .. }
        )
    }

    fn without_text(&self) -> Self {
        let text = String::new();
        match *self {
            Self::Succeeded { elapsed, .. } => Self::Succeeded { text, elapsed },
            Self::Failed { elapsed, .. } => Self::Failed { text, elapsed },
            Self::Unreachable { elapsed, .. } => Self::Unreachable { why: text, elapsed },
            Self::TimedOut { elapsed } => Self::TimedOut { elapsed },
            Self::Cancelled { elapsed } => Self::Cancelled { elapsed },
            Self::Left { elapsed } => Self::Left { elapsed },
            Self::Denied { .. } => Self::Denied { message: None },
            Self::Reused { .. } => Self::Reused { of: CallId(0) },
            Self::NotRun { .. } => Self::NotRun { why: text },
            Self::Refused => Self::Refused,
            Self::Never => Self::Never,
            Self::Interrupted => Self::Interrupted,
            Self::WasText => Self::WasText,
        }
    }

    /// The run time, if known.
    pub fn elapsed(&self) -> Option<Duration> {
        match self {
            Self::Succeeded { elapsed, .. }
            | Self::Failed { elapsed, .. }
            | Self::Unreachable { elapsed, .. }
            | Self::TimedOut { elapsed }
            | Self::Cancelled { elapsed }
            | Self::Left { elapsed } => Some(*elapsed),
            _ => None,
        }
    }
}
