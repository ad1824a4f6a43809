//! What was decided for longer than one call: the list behind `/trust`.

pub mod describe;
pub mod layer;
pub mod view;
