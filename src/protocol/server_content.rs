//! Commands and events about server prompts and resources. A resource is attached with
//! `Command::Attach`.

use crate::domain::attachment::AttachedResource;
use crate::domain::{ArgumentCompletion, LoadedPrompt, Notice, QueryId, ServerId};
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerContentCommand {
    /// The user opened a list: outdated lists are requested again.
    Refresh,
    LoadPrompt {
        query: QueryId,
        server: ServerId,
        prompt: String,
        /// Names and values; empty values are left out.
        arguments: Vec<(String, String)>,
    },
    /// Answered by [`ServerContentEvent::ArgumentCompleted`], unless a later request replaces it.
    CompleteArgument {
        query: QueryId,
        completion: ArgumentCompletion,
    },
    /// Asks the server of an attached resource to report its changes. Each needs one
    /// `UnfollowResource`, unless the conversation is closed.
    FollowResource(AttachedResource),
    UnfollowResource(AttachedResource),
}

#[derive(Debug, Clone, PartialEq)]
pub enum ServerContentEvent {
    PromptLoaded {
        query: QueryId,
        result: Result<Arc<LoadedPrompt>, Notice>,
    },
    ArgumentCompleted {
        query: QueryId,
        values: Arc<Vec<String>>,
    },
}
