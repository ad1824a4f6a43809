//! Calls between tags whose values are bare text (DIALECTS 18 to 21 and 25). The
//! forms differ in their tags alone: `grammar` lists them, `follow` recognises all
//! of them in the stream, `arguments` makes typed arguments of what was found.

mod arguments;
mod end;
mod follow;
mod grammar;
mod head;
mod layout;
mod markup;
mod value;

pub(super) use head::{open, open_named};
