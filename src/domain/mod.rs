//! Layer 0: values and rules. Performs no I/O, never waits and does not depend on a front
//! end. Every other module may import it.

pub mod advice;
mod branches;
pub mod compaction;
pub mod facts;
pub mod id;
pub mod message;
pub mod model;
pub mod model_catalog;
pub mod notice;
pub mod persona;
pub mod probe;
pub mod progress;
mod provider_kind;
pub mod redact;
pub mod reply_trace;
pub mod schema;
pub mod secrets;
pub mod server;
pub mod server_log;
pub mod session;
pub mod settings_change;
pub mod tool;
pub mod toolset;
pub mod transcript;
pub mod trust;
pub mod turn;

pub use advice::Advice;
pub use facts::{Catalogue, ModelFacts, ServerModel};
pub use id::{AskId, CallId, PieceId, QueryId, ServerId, SessionId, TurnId};
pub use message::{CallMessage, Carry, Message, ResultMessage};
pub use model::{Dialect, ModelConfig, ModelRef, Think, ToolMode};
pub use model_catalog::{CatalogState, ModelCatalog, ModelServer, NewModel, Pull, ServerCatalog};
pub use notice::{Banner, BannerCause, Notice, Severity};
pub use persona::{Persona, PersonaSummary};
pub use progress::{Measure, Progress};
pub use provider_kind::ProviderKind;
pub use redact::Redactor;
pub use schema::{ArgumentCheck, SchemaCheck};
pub use server::{Launch, LaunchId, Server, ServerConfig, ServerStatus};
pub use server_log::{ServerLine, ServerLog};
pub use session::{Branch, SavedMessage, Session, SessionSummary};
pub use settings_change::{Change, Weight};
pub use tool::{
    Annotations, CallOrigin, Decision, Pin, QuotedIn, Tool, ToolCall, ToolOutcome, ToolState,
};
pub use toolset::{Offered, OfferedTool, Resolved};
pub use transcript::{Body, Entry, LastPrompt, Transcript};
pub use trust::{Grant, Pattern, PinChange, Trust, Trusted};
pub use turn::{PieceKind, Prompt, PromptKind, RoundEnd, TurnEnd, TurnEvent, Usage, Wait};

/// The arguments of a call: a JSON object in the model's key order.
pub type Arguments = serde_json::Map<String, serde_json::Value>;
