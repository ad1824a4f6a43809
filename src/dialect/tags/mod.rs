//! Calls in tags, with plain text as values. The forms differ only in their tags: `grammar` lists
//! them, `parser` recognizes all of them in the stream, and `arguments` converts the values.

mod arguments;
mod closing;
mod grammar;
mod opening;
mod parser;
mod value;
mod value_whitespace;
mod xml;

pub(super) use opening::{open, open_named};

/// The forms' labels in the approval dialog.
#[cfg(test)]
pub(super) fn labels() -> impl Iterator<Item = &'static str> {
    let grammars = grammar::TAG_GRAMMARS.iter().chain([&grammar::GLM]);
    grammars.map(|grammar| grammar.form)
}
