//! Results of background jobs, by the owner that each goes to.

use super::injection_guard::UntrustedText;
use super::persist::session_writer::ConversationSeq;
use super::persist::unfinished::{RecoveryScan, ResumedConversation};
use crate::config::{ConfigError, ConfigLoad};
use crate::domain::{Banner, Dialect, ModelConfig, ModelRef, Session, SessionId};
use crate::protocol::Event;
use crate::store::{LookupError, StoreError};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug)]
pub(super) enum JobResult {
    Nothing,
    Events(Vec<Event>),
    Sessions(SessionsResult),
    Recovery(RecoveryResult),
    Settings(SettingsResult),
    /// A write of settings that are in force already.
    ConfigWritten(Result<(), ConfigError>),
    ModelAdded(Box<ModelConfig>, Result<(), ConfigError>),
    DialectStored(ModelRef, Dialect, Result<(), ConfigError>),
    /// The tokens that a conversation takes, by the weights.
    SessionEstimated(ConversationSeq, u64),
    /// The saved messages of an opened conversation, read for calls.
    MessagesRead(ConversationSeq, Arc<UntrustedText>),
    /// The home was prepared once more, since it seems to be writable now.
    HomePrepared(Vec<Banner>),
}

#[derive(Debug)]
pub(super) enum SessionsResult {
    Opened(Result<Box<Session>, StoreError>),
    /// The session that the command line names.
    InitialOpened(Result<Result<Box<Session>, StoreError>, LookupError>),
    Deleted(SessionId, Result<(), StoreError>),
}

#[derive(Debug)]
pub(super) enum RecoveryResult {
    Scanned(RecoveryScan),
    Opened(Box<ResumedConversation>),
}

#[derive(Debug)]
pub(super) enum SettingsResult {
    /// The files were read again; true where the user asked for that.
    Reread(Box<ConfigLoad>, bool),
    PromptRead(Result<Option<Arc<str>>, ConfigError>),
    PromptReplaced(Result<PathBuf, ConfigError>),
}

impl JobResult {
    pub(super) fn is_config_write(&self) -> bool {
        matches!(
            self,
            Self::ConfigWritten(_) | Self::ModelAdded(..) | Self::DialectStored(..)
        )
    }
}
