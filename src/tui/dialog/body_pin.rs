//! Dialog bodies for a changed tool definition and for a server's instructions. Both are
//! shown in full, with invisible characters escaped.

use crate::domain::ServerId;
use crate::domain::trust::{DiffSection, DiffSign, PinChange};
use crate::text::Clean;
use crate::text::lines::split_lines;
use crate::tui::dialog::body_settings::push_prefixed_rows;
use crate::tui::widgets::painter::{single_line, wrapped_rows};

/// The difference to the accepted definition, section by section.
pub fn pin_change_rows(change: &PinChange, columns: u16) -> Vec<String> {
    let (server, tool) = (&change.server, &change.tool.name);
    let since = change.since_clause();
    let intro = format!("{server} has changed  {tool}  {since}.");
    let mut rows = wrapped_rows(&single_line(&intro), columns);
    let mut sections = change.sections();
    // Changed sections first. Without an accepted definition, every section counts as changed.
    if change.accepted.definition.is_some() {
        sections.sort_by_key(|section| section.lines.is_empty());
    }
    for section in sections {
        rows.push(String::new());
        section_rows(&mut rows, &section, columns);
    }
    rows
}

fn section_rows(rows: &mut Vec<String>, section: &DiffSection, columns: u16) {
    push_prefixed_rows(rows, "  ", &single_line(&section.name), columns);
    if section.lines.is_empty() {
        push_prefixed_rows(rows, "    ", &Clean::from_static("unchanged"), columns);
    }
    for (sign, line) in &section.folded() {
        let lead = match sign {
            DiffSign::Same => "    ",
            DiffSign::Removed => "  - ",
            DiffSign::Added => "  + ",
            DiffSign::Folded => "  … ",
        };
        push_prefixed_rows(rows, lead, &single_line(line), columns);
    }
}

/// A server's instructions, each line behind a sign, so that none can pass for our text.
pub fn instruction_rows(server: &ServerId, text: &str, columns: u16) -> Vec<String> {
    let intro = format!(
        "{server} wants to send the model these instructions. The server wrote them, and they \
         influence how the model uses every tool:"
    );
    let mut rows = wrapped_rows(&single_line(&intro), columns);
    rows.push(String::new());
    for line in split_lines(text) {
        push_prefixed_rows(&mut rows, "  | ", &Clean::escaped(line), columns);
    }
    rows
}
