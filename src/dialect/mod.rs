//! Explains tools to models in the system message, and reads their calls back out of a stream of
//! text. Pure. Each family of call forms is one file that implements `recognizer::Recognizer` and
//! is listed in `registry`; `scan` alone decides which text is held back.

mod code_context;
mod gemma;
mod harmony;
mod json;
mod json_arguments;
mod json_call;
mod markers;
mod pythonic;
mod recognizer;
mod registry;
pub mod scan;
mod scan_event;
pub mod schema_coercion;
mod special_token;
mod tags;
mod thinking_tags;
mod tool_code;
pub mod tool_prompt;
mod unterminated_json;
mod whitespace_holdback;
mod wrapper;
