//! Terminal input: cutting bytes into sequences, what sequences stand for, key normalization, bursts,
//! unbracketed pastes, key repeat, and keys that come too late.

pub mod decode;
pub mod key_repeat;
mod kitty_keys;
mod mouse;
pub mod paste;
pub mod sequences;
pub mod spent_keys;
pub mod tokenizer;
