//! Dialog bodies for a changed tool definition and for a server's instructions. All changes and
//! all instructions are shown, and different texts never look the same.

use crate::domain::ServerId;
use crate::domain::trust::{DiffSection, DiffSign, PinChange};
use crate::text::Clean;
use crate::text::highlight::Token;
use crate::text::lines::split_lines;
use crate::text::markdown::{StyleRole, TextStyle};
use crate::tui::dialog::body_settings::{push_prefixed_rows, to_lines};
use crate::tui::widgets::painter::wrapped_rows;
use crate::tui::widgets::styled_line::StyledLine;

/// The differences from the accepted definition, section by section.
pub fn pin_change_rows(change: &PinChange, columns: u16) -> Vec<StyledLine> {
    let server = Clean::name(change.server.as_str());
    let tool = Clean::name(&change.tool.name);
    let since = change.since_clause();
    let mut intro = server;
    intro.append(&Clean::from_static(" has changed  "));
    intro.append(&tool);
    let end = format!("  {since}. It is withheld until you decide.");
    intro.append(&Clean::single_line(&end));
    let mut rows = to_lines(wrapped_rows(&intro, columns));
    let mut sections = change.sections();
    // Changed sections first. Without an accepted definition, every section counts as changed.
    if change.accepted.definition.is_some() {
        sections.sort_by_key(|section| section.lines.is_empty());
    }
    for section in sections {
        rows.push(StyledLine::default());
        section_rows(&mut rows, &section, columns);
    }
    rows
}

fn section_rows(rows: &mut Vec<StyledLine>, section: &DiffSection, columns: u16) {
    let dim = TextStyle::from_role(StyleRole::Dim);
    let name = Clean::unambiguous_line(&section.name);
    push_prefixed_rows(rows, "  ", &name, columns, TextStyle::default());
    if section.lines.is_empty() {
        push_prefixed_rows(rows, "    ", &Clean::from_static("unchanged"), columns, dim);
    }
    for (sign, line) in &section.folded() {
        let (lead, style) = match sign {
            DiffSign::Same => ("    ", TextStyle::default()),
            DiffSign::Removed => ("  - ", removed_style()),
            DiffSign::Added => ("  + ", added_style()),
            DiffSign::Folded => ("  … ", dim),
        };
        let line = Clean::unambiguous_line(line);
        push_prefixed_rows(rows, lead, &line, columns, style);
    }
}

pub fn removed_style() -> TextStyle {
    TextStyle::from_role(StyleRole::Token(Token::Removed))
}

pub fn added_style() -> TextStyle {
    TextStyle::from_role(StyleRole::Token(Token::Added))
}

/// A server's instructions, each line after a marker, so that none can be mistaken for our own text.
pub fn instruction_rows(server: &ServerId, text: &str, columns: u16) -> Vec<StyledLine> {
    let mut intro = Clean::name(server.as_str());
    intro.append(&Clean::from_static(
        " wants to send the model these instructions. The server wrote them, and they influence \
         how the model uses every tool:",
    ));
    let mut rows = to_lines(wrapped_rows(&intro, columns));
    rows.push(StyledLine::default());
    for line in split_lines(text) {
        let line = Clean::unambiguous(line);
        push_prefixed_rows(&mut rows, "  | ", &line, columns, TextStyle::default());
    }
    rows
}
