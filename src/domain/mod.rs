//! Layer 0: values and rules. Performs no I/O, never waits and does not depend on a front
//! end. Every other module may import it.

pub mod advice;
mod arguments;
pub mod attachment;
pub mod audience;
mod branches;
pub mod built_in;
pub mod compaction;
pub mod date;
mod decision;
pub mod elicitation;
mod host_scope;
pub mod id;
mod key_settings;
pub mod message;
pub mod model;
pub mod model_catalog;
pub mod model_info;
pub mod new_server;
pub mod notes;
pub mod notice;
pub mod persona;
pub mod probe;
pub mod progress;
mod prompt_template;
mod provider_kind;
mod recent_commands;
pub mod redact;
pub mod registry;
pub mod reply_trace;
pub mod resource_link;
pub mod sampling;
pub mod schema;
pub mod secrets;
pub mod server;
pub mod server_address;
pub mod server_content;
pub mod server_log;
pub mod server_request;
mod server_task;
pub mod session;
pub mod session_export;
mod session_query;
pub mod settings_change;
pub mod sign_in;
mod standing_permission;
pub mod starting_servers;
pub mod theme;
pub mod tool;
pub mod toolset;
pub mod transcript;
pub mod trust;
pub mod turn;
mod unsent_text;
mod uri_template;

pub use advice::Advice;
pub use arguments::{Arguments, DIGITS_MARK};
pub use attachment::{AttachedImage, Attachment, ImageSupport};
pub use built_in::{BuiltInSettings, FetchHost, OllamaTarget};
pub use decision::Decision;
pub use elicitation::{ElicitationForm, UrlElicitation};
pub use host_scope::HostScope;
pub use id::{AskId, CallId, LaunchId, PieceId, QueryId, ServerId, SessionId, TurnId};
pub use key_settings::{KeyEntry, KeySettings};
pub use message::{Message, ReasoningEcho, ToolCallMessage, ToolResultMessage};
pub use model::{Dialect, ModelConfig, ModelRef, Think, ToolMode};
pub use model_catalog::{
    CatalogState, ModelCatalog, ModelServer, NewModel, NewModelServer, NewServerError,
    NewServerField, Pull, ServerCatalog,
};
pub use model_info::{ListedModel, ModelInfo, ModelList};
pub use new_server::{
    ImportPlan, ImportSource, NewServer, NewServerLaunch, ReplacedSecret, ServerCandidate,
    SkippedServer, parse_add_command, variables_of,
};
pub use notes::{
    AgentResult, CreatedNote, FoundNote, FoundNotes, NotePaths, NoteSummary, NotesSettings,
    OpenNote, SummarySource, SummaryTask, VaultStatus, WrittenNote,
};
pub use notice::{Banner, BannerCause, Notice, Severity};
pub use persona::{Persona, PersonaSummary};
pub use progress::{ProgressAmount, ToolProgress};
pub use prompt_template::{PromptTemplate, PromptTemplates, TemplateBody};
pub use provider_kind::ProviderKind;
pub use recent_commands::RecentCommands;
pub use redact::{PieceRedactor, SecretRegistry};
pub use sampling::{
    SampledAnswer, SampledCall, SamplingMessage, SamplingPart, SamplingRequest, SamplingSection,
};
pub use schema::{ArgumentCheck, SchemaCheck, check_value};
pub use secrets::ConfigSecrets;
pub use server::{LaunchConfig, Server, ServerConfig, ServerStatus};
pub use server_content::{
    ArgumentCompletion, ArgumentOwner, ContentArgument, LoadedPrompt, ResourceTemplate,
    ServerContent, ServerPrompt, ServerResource,
};
pub use server_log::{ServerLog, ServerLogLine};
pub use server_request::{ServerRequest, ServerRequestId, ServerRequestReply};
pub use server_task::{CallTask, ServerTask, TaskProtocol};
pub use session::{Branch, IndexProgress, SavedMessage, Session, SessionPreview, SessionSummary};
pub use session_export::{ExportFormat, ExportPart};
pub use session_query::{InvalidFilter, SessionQuery};
pub use settings_change::{ChangeImpact, SettingsChange};
pub use sign_in::SignInRequest;
pub use tool::{
    CallOrigin, Pin, QuoteSource, QuotedPassage, Tool, ToolAnnotations, ToolCall, ToolOutcome,
    ToolState,
};
pub use toolset::{OfferedTool, ToolLookup, Toolset};
pub use transcript::{
    CANCELLED_NOTE, EntryBody, LastPrompt, StopMark, Transcript, TranscriptEntry,
};
pub use trust::{ArgumentPattern, PinChange, ToolIdentity, Trust, TrustEntry};
pub use turn::{
    PieceKind, PrefixUsage, Prompt, PromptKind, RoundEnd, TurnEnd, TurnEvent, Usage, WaitReason,
};
pub use unsent_text::{EditedPrompt, UnsentFile, UnsentPrompt, UnsentText};
pub use uri_template::{UriTemplate, VARIABLES_MAX};
