//! `humble` chats with a language model in the terminal, and lets it use tools of
//! MCP servers once a person has approved each call.
//!
//! # Bird's eye
//!
//! A front end draws; one background actor, the engine, owns the model streams,
//! the server sessions and the conversation. They speak over two channels
//! ([`protocol::Command`], [`protocol::Event`]) and share nothing else. Two cores
//! are pure: [`tui::update`] and [`engine::turn::Turn::step`] take an input, change
//! their own state and return effects as data.
//!
//! # Floors
//!
//! A module names its own floor's modules or those below, never one above, and
//! adapters never one another (`tests/tidy.rs` holds this).
//!
//! | floor | modules | |
//! |---|---|---|
//! | 0 | [`sync`], [`text`], [`domain`], [`dialect`] | values and rules, each naming only those before it; no I/O |
//! | 1 | [`protocol`], [`ports`], [`files`], [`web`] | the two channels; what adapters need of each other; writing files safely; what all HTTP shares |
//! | 2 | [`config`], [`store`], [`provider`], [`mcp`], [`serve`], [`log`] | adapters |
//! | 3 | [`engine`] | the actor, the turn, approval, the model's context |
//! | 4 | [`tui`], [`headless`] | front ends |
//! | 5 | [`app`], [`cli`], [`demo`] | composition; the script of `humble demo` |
//!
//! # What must never be
//!
//! - A tool that runs without an [`engine::approval::ApprovedCall`].
//! - Text from outside on a terminal that is not a [`text::Clean`].
//! - A wait without a deadline, a task without an owner, a list from outside
//!   without a bound.
//! - Work per frame or per token that grows with the conversation.
//! - A file of the person's replaced by something that was not read first.
//!
//! # The journey of one key
//!
//! Enter → [`tui::update`] applies `Started` to its own transcript and returns
//! `Send(Submit)` → the actor begins a [`engine::turn::Turn`], whose effects open a
//! request → parts of the reply pass through [`dialect::scan`] into the turn →
//! a call becomes [`protocol::Ask::Approve`] → the dialog is drawn because the ask
//! is open → `y` returns `Send(Answer)` → the turn emits `Run` with an approved
//! call → [`mcp::Hub`] runs it → its result goes back to the model → the answer ends
//! the turn → one save.

#![forbid(unsafe_code)]

pub mod app;
pub mod cli;
pub mod config;
pub mod demo;
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
pub mod sync;
pub mod text;
pub mod tui;
pub mod web;

/// The fixtures that unit tests and integration tests share speak of the crate by its name.
#[cfg(test)]
extern crate self as humble;
#[cfg(test)]
#[path = "../tests/support/fixtures.rs"]
mod fixtures;
