//! The browser of earlier conversations.

pub mod layer;
pub mod view;
