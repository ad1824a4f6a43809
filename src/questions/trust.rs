//! Questions about what a server says: a changed tool, and instructions for the model. All of it is
//! shown, and different texts never look the same.

use super::{C, question, row};
use crate::domain::ServerId;
use crate::domain::trust::{DiffSection, DiffSign, PinChange};
use crate::protocol::{Block, ChoiceRow, Question};
use crate::text::Clean;

// No `a` for accepting: in an approval, it only shows the lasting choices.
pub(super) const PIN_CHANGED: &[ChoiceRow] = &[
    row(C::Accept, 'y', "accept", "Accept the new definition"),
    row(C::Stop, 'n', "keep withheld", "Keep it withheld"),
    row(C::Never, '9', "never", "Never run this tool"),
];

pub(super) const INSTRUCTIONS: &[ChoiceRow] = &[
    row(
        C::SendAlways,
        'y',
        "send from now on",
        "Send them from now on",
    ),
    row(
        C::SendUntilExit,
        'o',
        "until I quit",
        "Send them until I quit",
    ),
    row(C::Stop, 'n', "do not send", "Do not send them"),
];

/// Whether to accept the changed definition of a tool. Shows the differences from the accepted one,
/// section by section.
pub fn pin_changed(change: &PinChange) -> Question {
    let [tool, server] = [&change.tool.name, change.server.as_str()].map(Clean::name);
    let intro = format!(
        "{server} has changed {tool} {}. It is withheld until you decide.",
        change.since_clause()
    );
    let mut sections = change.sections();
    // Changed sections first. Without an accepted definition, every section counts as changed.
    if change.accepted.definition.is_some() {
        sections.sort_by_key(|section| section.lines.is_empty());
    }
    let intro = Block::Paragraph(Clean::single_line(&intro));
    let blocks = [intro].into_iter().chain(sections.iter().map(diff));
    let [tool, server] = [&change.tool.name, change.server.as_str()].map(Clean::quoted_if_needed);
    Question {
        title: Clean::single_line(&format!("{tool} on {server} has changed")),
        default: None,
        read_first: true,
        ..question(
            "pin_changed",
            "",
            "Accept the change?",
            PIN_CHANGED,
            blocks.collect(),
        )
    }
}

fn diff(section: &DiffSection) -> Block {
    let mut lines: Vec<(DiffSign, Clean)> = section
        .folded()
        .iter()
        .map(|(sign, line)| (*sign, Clean::unambiguous_line(line)))
        .collect();
    if lines.is_empty() {
        lines.push((DiffSign::Same, Clean::from_static("unchanged")));
    }
    Block::Diff {
        heading: Clean::unambiguous_line(&section.name),
        lines,
    }
}

/// Whether to send a server's instructions to the model.
pub fn instructions(server: &ServerId, text: &str) -> Question {
    let mut intro = Clean::name(server.as_str());
    intro.append(&Clean::from_static(
        " wants to send the model these instructions. The server wrote them, and they influence how the \
         model uses every tool:",
    ));
    let blocks = vec![
        Block::Paragraph(intro),
        Block::Quoted {
            heading: Clean::default(),
            text: Clean::unambiguous(text),
        },
    ];
    Question {
        default: None,
        read_first: true,
        ..question(
            "instructions",
            "Instructions",
            "Send them to the model?",
            INSTRUCTIONS,
            blocks,
        )
    }
}
