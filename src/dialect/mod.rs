//! Describes tools to models in the system message, and parses the tool calls and thinking in their
//! text. Pure: no I/O. Each module for a family of call forms implements
//! `recognizer::Recognizer` and is listed in `registry`. Only `scan` decides which text is withheld.

mod code_context;
mod gemma;
mod harmony;
mod invalid_json;
mod json;
mod json_arguments;
mod json_call;
mod markers;
pub mod only_call;
mod pythonic;
mod recognizer;
mod registry;
pub mod scan;
mod scan_event;
pub mod schema_coercion;
mod special_token;
mod stripped_harmony;
mod tags;
mod thinking_tags;
mod tool_code;
pub mod tool_prompt;
mod whitespace_holdback;
mod wrapper;
