//! The message editor, its history and queue, and the draft saved on exit.

pub mod commands;
pub mod draft;
pub mod history;
pub mod state;
