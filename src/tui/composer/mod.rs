//! The message being typed, and the draft of it that is kept on exit.

pub mod draft;
pub mod view;
