//! The browser for saved conversations.

pub mod layer;
pub mod view;
