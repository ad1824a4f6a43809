//! The browser for saved conversations.

pub mod layer;
pub mod preview;
pub mod view;
