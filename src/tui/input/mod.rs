//! Terminal input: key normalization, bursts, terminal replies, unbracketed pastes, key
//! repeat, and keys that come too late.

pub mod decode;
pub mod key_repeat;
pub mod paste;
pub mod spent_keys;
