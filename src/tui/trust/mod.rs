//! Stored permissions and withheld tools: the list behind `/trust`.

pub mod layer;
pub mod view;
