//! The log layer: program log and trace of the last answer.

pub mod state;
pub mod view;
