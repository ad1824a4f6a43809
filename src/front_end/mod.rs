//! What the screen and `--linear` share: the state that the engine last reported, texts about servers,
//! calls and decisions, advice in terms of slash commands, and the shutdown of the engine.

pub mod advice;
pub mod call_summary;
pub mod call_text;
pub mod conversation_state;
pub mod engine_state;
pub mod server_text;
pub mod shutdown;
pub mod trust_text;
pub mod undo;
