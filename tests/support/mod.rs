//! Shared test support: servers, terminals, homes and harnesses.

pub mod argument_reader;
pub mod attachment_files;
pub mod auth_server;
pub mod chat;
pub mod cli;
pub mod damaged_file;
pub mod dialog_frames;
pub mod engine_harness;
pub mod fixtures;
pub mod home;
pub mod hub_harness;
pub mod in_memory_server;
pub mod model_server;
pub mod notice_text;
pub mod pty;
pub mod scan_invariants;
pub mod screen_harness;
pub mod screen_svg;
pub mod shell_server;
pub mod test_rng;
