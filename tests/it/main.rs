//! Every test that needs no process of its own: one binary, so that it is linked once.
//! `terminal`, `two_instances`, `soak`, `interop` and `conformance` stand beside it.

#[path = "../support/mod.rs"]
mod support;

mod answers;
mod cli;
mod config;
mod dialect;
mod docs;
mod engine;
mod humble_ai_cli_home;
mod journeys;
mod mcp;
mod mcp_cli;
mod mcp_http;
mod models_cli;
mod probe_cli;
mod providers;
mod screens;
mod simulation;
mod store;
mod text;
mod tidy;
