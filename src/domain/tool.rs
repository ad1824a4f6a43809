//! Tools that servers offer, and calls of them.

pub use super::progress::ToolProgress;
use super::{ArgumentPattern, Arguments, CallId, ServerId};
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt;
use std::time::Duration;

/// Stands at the left edge above what a server says of its tool. Everything else around
/// it is indented, so that no server can write this line itself.
pub const SERVER_TEXT_HEADING: &str = "The server says of this tool:";
/// Left of every row of a server's words.
pub const QUOTE_PREFIX: &str = "  | ";

/// What a server says about a tool's manners: shown, never obeyed (S7.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ToolAnnotations {
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: Option<bool>,
}

impl ToolAnnotations {
    /// What was said, in words; nothing where nothing was.
    pub fn labels(&self) -> Vec<&'static str> {
        let said = [
            (self.read_only, "read-only", "changes things"),
            (self.destructive, "destructive", "not destructive"),
            (self.idempotent, "idempotent", "not idempotent"),
            (self.open_world, "reaches the outside", "stays inside"),
        ];
        said.into_iter()
            .filter_map(|(said, yes, no)| said.map(|said| if said { yes } else { no }))
            .collect()
    }
}

/// The hash of a tool's definition as its server sent it.
#[derive(Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Pin(String);

impl Pin {
    /// One that was written down.
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
    /// The server's own JSON, key order kept.
    pub input_schema: Map<String, Value>,
    pub annotations: ToolAnnotations,
    /// All else of its definition, annotations as they were sent among it.
    #[serde(skip)]
    pub extra: Map<String, Value>,
    pub pin: Pin,
    /// Bytes of its name, its description and its schema as compact JSON. Counted
    /// once: the screen shows it in every frame.
    #[serde(skip)]
    pub bytes: usize,
}

impl Tool {
    /// Takes a tool from its definition, whose `name` and object `inputSchema`
    /// must be there. The pin covers the whole definition, also parts that this
    /// program does not know.
    pub fn from_definition(definition: &Value) -> Result<Self, String> {
        let text = |key: &str| definition.get(key).and_then(Value::as_str);
        let name = text("name").ok_or("a tool without a name")?;
        let schema = definition
            .get("inputSchema")
            .and_then(Value::as_object)
            .ok_or_else(|| format!("tool `{name}` has no inputSchema"))?;
        let notes = definition.get("annotations");
        let hint = |key: &str| {
            notes
                .and_then(|notes| notes.get(key))
                .and_then(Value::as_bool)
        };
        let parts = [name.len(), text("description").map_or(0, str::len)];
        let schema_bytes = serde_json::to_string(schema).map_or(0, |schema| schema.len());
        let members = definition.as_object().into_iter().flatten();
        let is_shown = |key: &str| match key {
            "name" | "inputSchema" => true,
            "title" | "description" => text(key).is_some(),
            _ => false,
        };
        let rest = members.filter(|(key, _)| !is_shown(key));
        Ok(Self {
            extra: rest
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
            bytes: parts.iter().sum::<usize>() + schema_bytes,
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

    /// The names of arguments that the schema requires.
    pub fn required_arguments(&self) -> impl Iterator<Item = &str> {
        self.input_schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
    }
}

/// SHA-256 of `value` as compact JSON with sorted keys, in hexadecimal: two
/// definitions that differ in key order alone are one.
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

/// How the call came: in the provider's own field, or read from text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum CallOrigin {
    Native,
    /// `form` is the label that the dialog shows; `repaired` says that the JSON
    /// was not valid as written.
    Text {
        form: &'static str,
        repaired: bool,
    },
}

/// Where the words of a call stood before the model wrote them: such a call always
/// asks (S6.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QuoteSource {
    ToolResult,
    /// In what came with the prompt through a pipe.
    Context,
    /// In an earlier message of a conversation that was opened again.
    Earlier,
}

impl QuoteSource {
    /// After the words "the call".
    pub fn clause(self) -> &'static str {
        match self {
            Self::ToolResult => "stands in a tool result",
            Self::Context => "stands in the piped-in text",
            Self::Earlier => "stands in an earlier message",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolCall {
    pub id: CallId,
    pub server: ServerId,
    pub tool: String,
    pub arguments: Arguments,
    /// What the model asked for, where the person edited it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original: Option<Arguments>,
    pub origin: CallOrigin,
    /// The earlier successful call of this turn that this one repeats (S5.4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<CallId>,
    /// The model may have taken it from there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quoted: Option<QuoteSource>,
    /// Its arguments could not be checked against the tool's schema: the server decides.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_unchecked: bool,
    /// Other forms in which the same message holds the same call: it is one (S5.4).
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub also_as: Box<[&'static str]>,
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

/// How a call ended. Every call ends in exactly one of these.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum ToolOutcome {
    Succeeded {
        text: String,
        elapsed: Duration,
    },
    /// The tool itself reported an error (`isError`).
    Failed {
        text: String,
        elapsed: Duration,
    },
    /// The server could not be reached, died, or broke the protocol. The tool may have run.
    Unreachable {
        why: String,
        elapsed: Duration,
    },
    TimedOut {
        elapsed: Duration,
    },
    /// The person refused; the turn ends.
    Refused,
    /// The person denied it, perhaps with a word to the model, which goes on.
    Denied {
        #[serde(rename = "word")]
        message: Option<String>,
    },
    /// The person ruled the tool out for good; the model goes on.
    Never,
    /// The turn was interrupted.
    Interrupted,
    /// The person cancelled this call alone while it ran; the turn goes on.
    Cancelled {
        elapsed: Duration,
    },
    /// The result of an earlier equal call was given instead.
    Reused {
        of: CallId,
    },
    /// It never ran, for this reason, which the model is told.
    NotRun {
        why: String,
    },
    /// The person said that this is text and no call.
    WasText,
}

impl ToolCall {
    /// As much of the call as a session keeps: what was called and how it ended, without texts.
    pub fn without_results(&self) -> Self {
        let state = match &self.state {
            ToolState::Done(outcome) => ToolState::Done(outcome.without_text()),
            other => other.clone(),
        };
        Self {
            id: CallId(0),
            server: self.server.clone(),
            tool: self.tool.clone(),
            arguments: self.arguments.clone(),
            original: self.original.clone(),
            origin: CallOrigin::Native,
            repeats: None,
            quoted: None,
            is_unchecked: false,
            also_as: Box::default(),
            state,
        }
    }
}

impl CallOrigin {
    /// What the form is called in which the model wrote the call.
    pub fn form(&self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Text { form, .. } => form,
        }
    }
}

impl ToolOutcome {
    /// Did it run and end in an error (S5.5)?
    pub fn is_error(&self) -> bool {
        matches!(
            self,
            Self::Failed { .. } | Self::Unreachable { .. } | Self::TimedOut { .. }
        )
    }

    /// The same end without the words that came with it.
    fn without_text(&self) -> Self {
        let text = String::new();
        match *self {
            Self::Succeeded { elapsed, .. } => Self::Succeeded { text, elapsed },
            Self::Failed { elapsed, .. } => Self::Failed { text, elapsed },
            Self::Unreachable { elapsed, .. } => Self::Unreachable { why: text, elapsed },
            Self::TimedOut { elapsed } => Self::TimedOut { elapsed },
            Self::Cancelled { elapsed } => Self::Cancelled { elapsed },
            Self::Denied { .. } => Self::Denied { message: None },
            Self::Reused { .. } => Self::Reused { of: CallId(0) },
            Self::NotRun { .. } => Self::NotRun { why: text },
            Self::Refused => Self::Refused,
            Self::Never => Self::Never,
            Self::Interrupted => Self::Interrupted,
            Self::WasText => Self::WasText,
        }
    }

    /// How long it ran, where it ran.
    pub fn elapsed(&self) -> Option<Duration> {
        match self {
            Self::Succeeded { elapsed, .. }
            | Self::Failed { elapsed, .. }
            | Self::Unreachable { elapsed, .. }
            | Self::TimedOut { elapsed }
            | Self::Cancelled { elapsed } => Some(*elapsed),
            _ => None,
        }
    }
}

/// What a person decides about one call (S7.2).
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    Run,
    /// Run, and this tool from now on, until the program ends.
    RunForSession,
    /// Run, and this tool always.
    RunAlways,
    /// Run, and every tool that its server has now, always.
    RunWholeServer,
    /// Run, and this tool always while its arguments match.
    RunMatching {
        pattern: ArgumentPattern,
    },
    /// Never this tool; the model goes on.
    Never,
    /// The turn ends and the model is not asked again.
    Refuse,
    Deny {
        message: Option<String>,
    },
    Edit {
        arguments: Arguments,
    },
    /// Give the model the result of the earlier equal call.
    ReuseResult,
    /// It was no call: show it as text.
    TreatAsText,
}
