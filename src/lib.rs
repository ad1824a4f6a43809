//! `humble`: chat with a language model in the terminal, with tools that ask first.
pub mod app;
pub mod cli;
pub mod config;
pub mod dialect;
pub mod domain;
pub mod engine;
pub mod files;
pub mod headless;
pub mod log;
pub mod mcp;
pub mod ports;
pub mod protocol;
pub mod provider;
pub mod serve;
pub mod store;
pub mod text;
pub mod tui;
