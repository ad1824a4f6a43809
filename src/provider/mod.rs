//! The wire layer: requests to model servers and what their streams say.

pub mod error;
pub mod part;

pub use error::Fault;
pub use part::{EndReason, NativeCall, Request, StreamPart};
