//! Terminal input: keys as the keymap spells them, bursts, replies of the terminal, pastes
//! without brackets, key repeat.

pub mod decode;
pub mod key_repeat;
pub mod paste;
