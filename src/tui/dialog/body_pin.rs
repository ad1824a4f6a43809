//! What a dialog says about a tool that changed, and about what a server wants the
//! model to be told: all of it, with everything hidden made visible.

use crate::domain::ServerId;
use crate::domain::trust::{PinChange, Section, Sign};
use crate::text::Clean;
use crate::text::lines::split_lines;
use crate::tui::dialog::body_settings::marked;
use crate::tui::widgets::painter::{one_line, rows_of};

/// The difference, part by part.
pub fn change_rows(change: &PinChange, columns: u16) -> Vec<String> {
    let (server, tool) = (&change.server, &change.tool.name);
    let since = change.since_words();
    let said = format!("{server} has changed  {tool}  {since}.");
    let mut rows = rows_of(&one_line(&said), columns);
    let mut sections = change.sections();
    // What changed comes first; where nothing is known of before, all of it did.
    if change.accepted.definition.is_some() {
        sections.sort_by_key(|section| section.lines.is_empty());
    }
    for section in sections {
        rows.push(String::new());
        section_rows(&mut rows, &section, columns);
    }
    rows
}

fn section_rows(rows: &mut Vec<String>, section: &Section, columns: u16) {
    marked(rows, "  ", &one_line(&section.name), columns);
    if section.lines.is_empty() {
        marked(rows, "    ", &Clean::from_static("unchanged"), columns);
    }
    for (sign, line) in &section.folded() {
        let lead = match sign {
            Sign::Same => "    ",
            Sign::Removed => "  - ",
            Sign::Added => "  + ",
            Sign::Folded => "  … ",
        };
        marked(rows, lead, &one_line(line), columns);
    }
}

/// A server's own words, each line behind a sign, so that none can pass for ours.
pub fn instruction_rows(server: &ServerId, text: &str, columns: u16) -> Vec<String> {
    let said = format!(
        "{server} wants the model to be told this. It is the server's own word, and steers \
         what the model does with every tool:"
    );
    let mut rows = rows_of(&one_line(&said), columns);
    rows.push(String::new());
    for line in split_lines(text) {
        marked(&mut rows, "  | ", &Clean::escaped(line), columns);
    }
    rows
}
