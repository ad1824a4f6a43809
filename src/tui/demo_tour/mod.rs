//! The tour of `humble demo`: teaches the keys step by step, in one line above the message editor.
//! Apart from typing prompts for the user, it only observes: the user may do anything in any order,
//! and each step counts whenever it is done.

pub mod progress;
pub mod state;
pub mod step_text;
