//! All integration tests that need no separate test process, in one binary so that they are
//! linked once. `terminal`, `two_instances`, `soak`, `load` and `interop` are separate binaries.

#[path = "../support/mod.rs"]
mod support;

mod answers;
mod attachments;
mod cli;
mod config;
mod dialect;
mod docs;
mod doctor_cli;
mod engine;
mod humble_ai_cli_home;
mod journeys;
mod mcp;
mod mcp_cli;
mod mcp_http;
mod models_cli;
mod notes;
mod oauth;
mod probe_cli;
mod providers;
mod scoped_subscriber;
mod screens;
mod search;
mod serve;
mod sessions_cli;
mod simulation;
mod store;
mod text;
mod tidy;
mod tools;
