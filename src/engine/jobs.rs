//! Results of background jobs, grouped by the owner that receives them.

use super::new_servers::NewServerResult;
use super::persist::session_writer::ConversationSeq;
use super::persist::unfinished::{RecoveryScan, ResumedConversation};
use super::server_requests::open::OpenServerRequest;
use crate::config::{ConfigError, ConfigLoad, NotesFolder};
use crate::domain::attachment::FoundFiles;
use crate::domain::{
    Banner, Dialect, IndexProgress, ModelConfig, ModelRef, NotePaths, Notice, OpenNote,
    PromptTemplates, QueryId, SampledAnswer, Session, SessionId,
};
use crate::protocol::{ContextShares, Event};
use crate::store::{LookupError, StoreError, TrashedSession};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug)]
pub(super) enum JobResult {
    Nothing,
    Events(Vec<Event>),
    FilesFound(QueryId, FoundFiles),
    Sessions(SessionsResult),
    Recovery(RecoveryResult),
    Settings(SettingsResult),
    /// Settings that are already active were written to their file.
    ConfigWritten(Result<(), ConfigError>),
    /// A switch of a server or tool, such as "Server x is off", is in effect but not saved.
    SwitchNotSaved(String, ConfigError),
    /// Writing a settings file panicked.
    ConfigWritePanicked,
    /// The number of servers that were added to `mcp-servers.json`.
    ServersAdded(Result<usize, ConfigError>),
    NewServer(NewServerResult),
    ModelAdded(Box<ModelConfig>, Result<(), ConfigError>),
    DialectSaved(ModelRef, Dialect, Result<(), ConfigError>),
    /// The uncalibrated token estimates of a conversation.
    SessionEstimated(ConversationSeq, ContextShares),
    NoteFound(Result<OpenNote, Notice>),
    /// The notes whose paths match this fragment.
    NotePathsFound(String, Result<NotePaths, Notice>),
    /// The result of opening the page of a server's request in the browser.
    PageOpened(OpenServerRequest, Result<(), String>),
    /// The model's answer for a server, or why there is none.
    Sampled(OpenServerRequest, Result<SampledAnswer, Notice>),
    /// The home folder was prepared again. These banners report its remaining problems.
    HomePrepared(Vec<Banner>),
}

#[derive(Debug)]
pub(super) enum SessionsResult {
    Opened(Result<Box<Session>, StoreError>),
    /// The session selected on the command line.
    InitialOpened(Result<Result<Box<Session>, StoreError>, LookupError>),
    Deleted {
        id: SessionId,
        title: String,
        result: Result<TrashedSession, StoreError>,
    },
    /// The session that was deleted last is back.
    Restored {
        id: SessionId,
        title: String,
    },
    Listed(Box<Event>, IndexProgress),
    Indexed(IndexProgress),
    Searched(Box<Event>),
    /// A free title for a copy of this conversation.
    CopyTitled(ConversationSeq, String),
}

#[derive(Debug)]
pub(super) enum RecoveryResult {
    Scanned(RecoveryScan),
    Opened(Box<ResumedConversation>),
    NotOpened(StoreError),
}

#[derive(Debug)]
pub(super) enum SettingsResult {
    /// The files were read again; true if the user requested the reload.
    Reread(Box<ConfigLoad>, PromptTemplates, bool),
    /// Reading the files panicked.
    NotReread,
    PromptRead(Result<Option<Arc<str>>, ConfigError>),
    PromptReplaced(Result<PathBuf, ConfigError>),
    NotesFolderChecked(Result<NotesFolder, Notice>),
    NotesFolderSaved(Result<PathBuf, Notice>),
}

impl JobResult {
    pub(super) fn notice(notice: Notice) -> Self {
        Self::Events(vec![Event::NoticePosted(notice)])
    }

    pub(super) fn is_config_write(&self) -> bool {
        matches!(
            self,
            Self::ConfigWritten(_)
                | Self::ConfigWritePanicked
                | Self::SwitchNotSaved(..)
                | Self::ServersAdded(_)
                | Self::NewServer(_)
                | Self::ModelAdded(..)
                | Self::DialectSaved(..)
                | Self::Settings(SettingsResult::NotesFolderSaved(_))
        )
    }
}
