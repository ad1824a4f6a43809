//! `humble` chats with a language model in the terminal, and lets it use tools of
//! MCP servers once the user has approved each call.
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
//! adapters never one another (`tests/it/tidy` holds this).
//!
//! | floor | modules | |
//! |---|---|---|
//! | 0 | [`text`], [`domain`], [`dialect`], [`sync`] | values and rules; no I/O |
//! | 1 | [`protocol`], [`ports`], [`files`], [`http_util`] | the two channels; what adapters need of each other; atomic file writes; what all HTTP shares |
//! | 2 | [`config`], [`store`], [`provider`], [`mcp`], [`serve`], [`log`] | adapters |
//! | 3 | [`engine`] | the actor, the turn, approval, the model's context |
//! | 4 | [`tui`], [`headless`] | front ends |
//! | 5 | [`app`], [`cli`], [`demo`] | composition; the script of `humble demo` |
//!
//! # Where things are
//!
//! | in | is |
//! |---|---|
//! | `text` | sanitizing what comes from outside (`sanitize`, with the one table of hidden characters in `invisible`), graphemes and wrapping, `markdown/` (the text of an answer to wrapped rows), `highlight/`, lenient JSON and Python readers, token estimates |
//! | `domain` | the types that every floor shares: sessions, transcripts, tools, prompts, notices and their `advice`, `trust/` (rules, pins, patterns), `schema/` (arguments against a tool's schema), `compaction` (what `/compact` asks for and what is sent after it), `redact` (what a log must not show), `probe` (results and verdict) |
//! | `dialect` | tool calls that models write as text: `recognizer` is the contract, `registry` lists every recognizer (`wrapper` for JSON between tags such as `<tool_call>`, `tags/` for XML forms, `pythonic/`, `special_token`, `harmony`, `gemma`), `scan` runs them over a stream, `tool_prompt` explains the tools to a model |
//! | `config` | the user's files: `settings` and `models` (`config.json`), `servers` (`mcp-servers.json`), `trust/` (`trust.json`), `watch` (notices edits from outside), `review/` (whether such an edit applies by itself or needs consent), `json_edit` (rewrites only what changed) |
//! | `store` | the only place that knows the JSON of saved sessions (`format`, `metadata`, `message_codec`), the crash journal's file (`journal`), prompt history |
//! | `provider` | one adapter for each kind of model server, the shared wire layer (`http`, `stream`, `chat_completions`), `parameter_fallback` (what to leave out when a server refuses it), `error_messages` |
//! | `mcp` | the MCP client: `hub` (all servers), `supervisor` (one server's life), `run` (process and handshake), `session`, `stdio_transport`, `http/` |
//! | `serve` | the built-in tools, one file each |
//! | `engine` | `actor/` (select loop and routing), `turn/` (the pure state machine of one turn), `turn_driver/` (runs a turn against a provider), `context/` (assembling a request and fitting it into the model's context), `models/` (select, add, list, pull), `trust/` (pins, instructions, stored decisions), `approval` (the only maker of an approved call), `injection_guard/` (calls copied from untrusted text), `persist/` (session writer, journal writer, crash recovery), `sessions/` (the open conversation and its branches), `settings/` (what is in force, and its reload), `probe/` |
//! | `headless` | `humble ask` and the words of the other commands on standard output and standard error |
//! | `tui` | `keymap/` (every key and command), `layer` (the contract of whatever opens over the chat), `update/` (routing of inputs), `view/` (the frame around the features), one folder a feature: `chat/`, `composer/` (the message), `dialog/` (questions of the engine; approvals; `granting`: nothing runs that was not drawn), `servers/`, `models/`, `sessions/`, `trust/`, `log/`, `demo_tour/`; beside them `widgets/` (`list` with its filter, text field, picker, text viewer), `input/` (decoding keys), `terminal/` (frames to bytes, signals) |
//! | `app` | what each command line starts; `watchdog` ends a program that hangs |
//!
//! # What must never be
//!
//! - A tool that runs without an [`engine::approval::ApprovedCall`].
//! - Text from outside on a terminal that is not a [`text::Clean`].
//! - A wait without a deadline, a task without an owner, a list from outside
//!   without a bound.
//! - Work per frame or per token that grows with the conversation.
//! - A file of the user's replaced by something that was not read first.
//!
//! # The journey of one key
//!
//! Enter → [`tui::update`] applies `Started` to its own transcript and returns
//! `Send(Submit)` → the actor begins a [`engine::turn::Turn`], whose driver opens a
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
pub mod http_util;
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

/// The fixtures that unit tests and integration tests share speak of the crate by its name.
#[cfg(test)]
extern crate self as humble;
#[cfg(test)]
#[path = "../tests/support/fixtures.rs"]
mod fixtures;
