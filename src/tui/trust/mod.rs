//! What was decided for longer than one call: the list behind `/trust`.

pub mod layer;
pub mod view;
pub mod words;
