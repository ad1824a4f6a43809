//! Terminal input: cutting bytes into sequences, what sequences stand for, key normalization, bursts,
//! unbracketed pastes and key repeat.

pub mod decode;
pub mod key_repeat;
mod kitty_keys;
mod mouse;
pub mod paste;
pub mod sequences;
pub mod tokenizer;
