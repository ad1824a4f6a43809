//! How models are taught to call tools, and how their calls are read back out of
//! a stream of text. Pure.

pub mod scan;
pub mod teach;
