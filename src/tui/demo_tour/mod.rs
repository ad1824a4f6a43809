//! The tour of `humble demo`: one line above the message that teaches the keys in turn.

pub mod state;
pub mod watch;
pub mod words;
