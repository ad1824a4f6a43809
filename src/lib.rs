//! `humble` chats with language models in the terminal and lets them call MCP tools with the user's
//! approval.
//!
//! # Overview
//!
//! A front end draws; one background actor, the engine, owns the model streams, the server
//! sessions and the conversation. They communicate over two channels
//! ([`protocol::Command`], [`protocol::Event`]) and share nothing else. Two state machines perform
//! no I/O: [`tui::update`] and [`engine::turn::Turn::step`] take an input, change their own
//! state and return effects as data.
//!
//! # Layers
//!
//! A module may use modules of its own layer or lower ones, but adapters may not use each
//! other (enforced by `tests/it/tidy`).
//!
//! | layer | modules | |
//! |---|---|---|
//! | 0 | [`text`], [`domain`], [`dialect`], [`sync`] | values and rules; no I/O |
//! | 1 | [`protocol`], [`ports`], [`files`], [`http_util`], [`browser`], [`search`], [`questions`] | the two channels; traits between adapters; atomic file writes; shared HTTP code; opening an address; the search index |
//! | 2 | [`attachments`], [`config`], [`store`], [`provider`], [`mcp`], [`import`], [`registry`], [`notes`], [`serve`], [`log`] | adapters |
//! | 3 | [`engine`] | the actor, the turn, approval, the model's context |
//! | 4 | [`front_end`], [`commands`], [`tui`], [`headless`], [`linear`] | front ends, and what the screen and `linear` share |
//! | 5 | [`app`], [`cli`], [`demo`] | composition; the `humble demo` script |
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | `text` | sanitizing untrusted text (`sanitize`; the only table of hidden characters is in `invisible`), graphemes and wrapping, `markdown/` (renders answers as wrapped rows), `highlight/`, lenient JSON and Python readers, token estimates |
//! | `domain` | types shared by every layer: sessions, transcripts, tools, prompts, notices and their `advice`, `trust/` (rules, pins, patterns), `schema/` (validation of tool arguments), `compaction` (the `/compact` prompt and the history sent afterwards), `redact` (removes secrets from logs), `probe` (results and verdict) |
//! | `dialect` | tool calls that models write as text: `recognizer` is the trait, `registry` lists every recognizer (`wrapper` for JSON between tags such as `<tool_call>`, `tags/` for XML forms, `pythonic/`, `special_token`, `harmony`, `gemma`), `scan` runs them over a stream, `tool_prompt` explains the tools to a model |
//! | `config` | the user's files: `settings` and `models` (`config.json`), `servers` (`mcp-servers.json`), `trust/` (`trust.json`), `watch` (detects external edits), `review/` (whether an edit applies immediately or needs consent), `json_edit` (rewrites only the changed value) |
//! | `attachments` | reads files that are attached to prompts (`reader`, `format`), images from the clipboard, and finds files by part of their path (`finder`) |
//! | `store` | the only code that knows the JSON of saved sessions (`format`, `metadata`, `message_codec`), the crash journal (`journal`), prompt history |
//! | `provider` | one adapter per kind of model server, the code that they share (`http_provider`, `server_client`, `reply_stream`, `chat_completions/`), `parameter_fallback` (drops parameters that a server rejects), `error_messages` |
//! | `mcp` | the MCP client: `hub` (all servers), `supervisor` (one server's lifecycle), `run` (process and handshake), `session`, `stdio_transport`, `http/`, `oauth/` (sign-in and tokens) |
//! | `import` | the MCP servers in other clients' files: `clients` (the locations of the files), `document` (JSON with comments, TOML, YAML), `entry`, `secrets` (replaced by variables), `plan` (names) |
//! | `registry` | the client of an MCP registry: `client` (requests), `server` (its answers), `package` (the pinned command of a package) |
//! | `search` | full-text and vector search in an embedded database: `terms` (queries, pairs of Korean, Chinese and Japanese characters), `index`, `vectors`, `query` (ranking), `snippet` |
//! | `notes` | a folder of Markdown notes: `vault` (the note files; nothing outside the folder is read or written), `note` (title and chunks), `indexer`, `notebook` (create, search, summarize), `intent` (requests in ordinary language) |
//! | `serve` | the built-in tools, one per file in `tools/`, and the server that offers them: in memory, `stdio/` and `http/` |
//! | `engine` | `actor/` (select loop and routing), `turn/` (the pure state machine of one turn), `turn_driver/` (runs a turn against a provider), `context/` (assembling a request and fitting it into the model's context), `models/` (select, add, list, pull), `trust/` (pins, instructions, stored decisions), `approval` (the only constructor of an approved call), `injection_guard/` (calls copied from untrusted text), `persist/` (session writer, journal writer, crash recovery), `sessions/` (the open conversation and its branches), `settings/` (the active settings and their reload), `agents/` (prompts that act on notes), `tool_offer/` (the choice of tools for each request), `server_requests/` (servers' requests to the user and the model), `probe/` |
//! | `headless` | `humble ask`, and the output of the other commands |
//! | `front_end` | what the screen and `linear` share: the state that the engine last reported, texts, advice, the shutdown |
//! | `commands` | the slash commands: one row each, with its function |
//! | `questions` | what each question to the user says, its choices, and its blocks as rows |
//! | `linear` | the chat without the screen: `state` (typed lines and prompts), `turn` (prints a turn), `ask` (questions), `commands`; a line is never changed after it was printed |
//! | `tui` | `keymap/` (every key), `layer` (the trait implemented by everything that opens over the chat), `update/` (routing of inputs), `view/` (the frame around the features), one folder per feature: `chat/`, `composer/` (the message editor), `dialog/` (the engine's questions and approvals; `read_before_run` ensures that no call runs before it has been drawn), `servers/`, `models/`, `sessions/`, `trust/`, `log/`, `demo_tour/`; and `widgets/` (`list` with its filter, text field, picker, text viewer), `input/` (bytes to keys), `terminal/` (frames to bytes, reading, signals) |
//! | `app` | startup for each subcommand; `watchdog` terminates a hung process |
//!
//! # Invariants
//!
//! - No call by a model runs without an [`engine::approval::ApprovedCall`].
//! - Untrusted text reaches the terminal only as [`text::Clean`].
//! - Every wait has a deadline, every task has an owner, and every list from outside has a size limit.
//! - Work per frame or per token does not grow with the conversation.
//! - A user's file is never replaced without being read first.
//!
//! # From a key press to a saved answer
//!
//! Enter → [`tui::update`] applies `Started` to its own transcript and returns
//! `Send(Submit)` → the actor starts a [`engine::turn::Turn`], and its driver sends a
//! request → parts of the reply pass through [`dialect::scan`] into the turn →
//! a call becomes [`questions::approve`] → the dialog appears because the ask
//! is open → `y` returns `Send(Answer)` → the turn emits `Run` with an approved
//! call → [`mcp::Hub`] runs it → the result goes back to the model → the answer ends the
//! turn → the session is saved once.

#![forbid(unsafe_code)]

pub mod app;
pub mod attachments;
pub mod browser;
pub mod cli;
pub mod commands;
pub mod config;
pub mod demo;
pub mod dialect;
pub mod domain;
pub mod engine;
pub mod files;
pub mod front_end;
pub mod headless;
pub mod http_util;
pub mod import;
pub mod linear;
pub mod log;
pub mod mcp;
pub mod notes;
pub mod ports;
pub mod protocol;
pub mod provider;
pub mod questions;
pub mod registry;
pub mod search;
pub mod serve;
pub mod store;
pub mod sync;
pub mod text;
pub mod tui;

/// Lets fixtures shared by unit and integration tests refer to this crate as `humble`.
#[cfg(test)]
extern crate self as humble;
#[cfg(test)]
#[path = "../tests/support/argument_reader.rs"]
mod argument_reader;
#[cfg(test)]
#[path = "../tests/support/fixtures.rs"]
mod fixtures;
