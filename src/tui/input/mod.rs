//! Terminal input: key normalization, bursts, terminal replies, unbracketed pastes and key
//! repeat.

pub mod decode;
pub mod key_repeat;
pub mod paste;
