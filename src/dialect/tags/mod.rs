//! Calls between tags whose values are bare text (DIALECTS 18 to 21 and 25). The
//! forms differ in their tags alone: `grammar` lists them, `parser` recognizes all
//! of them in the stream, `arguments` makes typed arguments of what was found.

mod arguments;
mod closing;
mod grammar;
mod opening;
mod parser;
mod value;
mod value_whitespace;
mod xml;

pub(super) use opening::{open, open_named};
