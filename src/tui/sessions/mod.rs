//! The browser of earlier conversations.

pub mod keys;
pub mod state;
pub mod view;
