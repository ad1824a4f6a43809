//! The tour of `humble demo`: one line above the message that teaches the keys in turn.

pub mod progress;
pub mod state;
pub mod step_text;
