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

/// The label of each form, as the dialog shows it.
#[cfg(test)]
pub(super) fn labels() -> impl Iterator<Item = &'static str> {
    let grammars = grammar::TAG_GRAMMARS.iter().chain([&grammar::GLM]);
    grammars.map(|grammar| grammar.form)
}
