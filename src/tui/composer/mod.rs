//! The message being typed, its history and queue, and the draft that is kept on exit.

pub mod commands;
pub mod draft;
pub mod history;
pub mod state;
