//! What was decided for longer than one call: the list behind `/trust`.

pub mod keys;
pub mod state;
pub mod view;
