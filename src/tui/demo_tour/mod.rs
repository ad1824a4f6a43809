//! The tour of `humble demo`: one line above the message that teaches the keys step by step.
//! It only observes: the user may do anything in any order, and each step counts whenever it
//! is done.

pub mod progress;
pub mod state;
pub mod step_text;
