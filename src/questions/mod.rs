//! The questions to the user: what each says, its choices and their keys. The owner of a question asks
//! it with a function of this folder and handles the answer; the front ends show what they get.

mod models;
pub mod rows;
mod server_requests;
mod settings;
mod trust;
mod turn;
mod unfinished;

pub use models::*;
pub use server_requests::*;
pub use settings::*;
pub use trust::*;
pub use turn::*;
pub use unfinished::*;

use crate::protocol::UserChoice as C;
use crate::protocol::{Block, ChoiceRow, Question};
use crate::text::Clean;

const fn row(choice: C, key: char, short: &'static str, label: &'static str) -> ChoiceRow {
    ChoiceRow {
        choice,
        key,
        alias: ' ',
        short,
        label,
    }
}

const fn with_alias(row: ChoiceRow, alias: char) -> ChoiceRow {
    ChoiceRow { alias, ..row }
}

const STOP_TURN: ChoiceRow = row(C::Stop, 'n', "stop", "Stop this turn");

/// A question that `humble ask` answers with [`C::Stop`], and that need not be read to its end.
fn question(
    kind: &'static str,
    title: &'static str,
    prompt: &'static str,
    choices: &'static [ChoiceRow],
    blocks: Vec<Block>,
) -> Question {
    Question {
        kind,
        title: Clean::from_static(title),
        prompt,
        blocks,
        choices,
        default: Some(C::Stop),
        read_first: false,
        server: None,
        address: None,
    }
}

/// Words of our own. What comes from outside must be on one line.
fn paragraph(text: &str) -> Block {
    Block::Paragraph(Clean::escaped(text))
}

/// Text from outside below a heading of our own; nothing if it is blank.
fn code(heading: &'static str, text: &str) -> Option<Block> {
    let code = || Block::Code {
        heading: Clean::from_static(heading),
        text: Clean::escaped(text),
    };
    (!text.trim().is_empty()).then(code)
}

#[cfg(test)]
mod tests;
