//! Identities. Numbers are minted by one side only (turns and queries by the
//! front end, the rest by the engine), so that two never mean different things.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

macro_rules! number {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

number! {
    /// From a prompt to its final answer. Minted by the front end.
    TurnId,
    /// One request for a tool. Minted by the engine: ids of providers may be
    /// missing or used twice, and an approval must never reach a later call.
    CallId,
    /// One question to the person.
    AskId,
    /// One run of streamed text or thinking.
    PieceId,
    /// One query of the front end; an answer to an older one is dropped.
    QueryId,
}

macro_rules! text {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn new(text: impl AsRef<str>) -> Self {
                Self(Arc::from(text.as_ref()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }
    )*};
}

text! {
    /// The key of a server in `mcp-servers.json`, as it stands there.
    ServerId,
    /// The file name of a session, with `.json`, without its folder.
    SessionId,
}

/// Mints the numbers of one kind, from 1 on.
#[derive(Debug, Clone, Default)]
pub struct IdGenerator(u64);

impl IdGenerator {
    /// The next number is `first`.
    pub fn starting_at(first: u64) -> Self {
        Self(first.saturating_sub(1))
    }

    pub fn next_id(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}
