//! A server as a child process: its start, its environment, its pipes and its stderr.

pub mod environment;
pub mod process;
pub mod startup;
pub mod stderr;
pub mod stderr_hints;
pub mod transport;
