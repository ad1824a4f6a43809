//! The message editor, its history and queue, and the draft of unsent text.

pub mod argument_values;
pub mod commands;
pub mod completion;
pub mod completion_view;
pub mod draft;
pub mod history;
pub mod queue;
mod set_aside;
pub mod state;
