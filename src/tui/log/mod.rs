//! The log and the trace of the last answer.

pub mod state;
pub mod view;
