//! The blocks of a question as wrapped rows, for the screen and for output line by line.

use crate::domain::Notice;
use crate::domain::tool::QUOTE_PREFIX;
use crate::domain::trust::DiffSign;
use crate::protocol::Block;
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::text::highlight::Token;
use crate::text::markdown::{StyleRole, TextStyle};
use crate::text::styled_line::StyledLine;
use crate::text::wrap::wrapped_rows;

const CODE_INDENT: &str = "  ";
const WARNING: &str = "Warning: ";
/// Columns between a label and its value.
const LABEL_GAP: usize = 2;
const VALUE_COLUMNS_MIN: u16 = 8;

/// The rows of all blocks except those with a view of their own, which are calls and the fields of
/// forms. A blank row separates two blocks. `notice_line` adds the advice to a notice.
pub fn block_rows(
    blocks: &[Block],
    columns: u16,
    notice_line: fn(&Notice) -> String,
) -> Vec<StyledLine> {
    let mut rows = Vec::new();
    for block in blocks {
        if matches!(block, Block::Calls(_) | Block::Form(_)) {
            continue;
        }
        if !rows.is_empty() {
            rows.push(StyledLine::default());
        }
        push_block(&mut rows, block, columns, notice_line);
    }
    rows
}

fn push_block(
    rows: &mut Vec<StyledLine>,
    block: &Block,
    columns: u16,
    notice_line: fn(&Notice) -> String,
) {
    match block {
        Block::Paragraph(text) => push_text(rows, "", text, columns),
        Block::Notice(notice) => {
            push_text(rows, "", &Clean::single_line(&notice_line(notice)), columns);
        }
        Block::Warning(text) => push_labeled(rows, (WARNING, true), text, columns),
        Block::Quoted { heading, text } => {
            push_heading(rows, heading, columns);
            push_text(rows, QUOTE_PREFIX, text, columns);
        }
        Block::Code { heading, text } => {
            push_heading(rows, heading, columns);
            push_text(rows, CODE_INDENT, text, columns);
        }
        Block::Diff { heading, lines } => {
            push_heading(rows, heading, columns);
            for (sign, line) in lines {
                push_diff_line(rows, *sign, line, columns);
            }
        }
        Block::Pairs(pairs) => {
            let labels = pairs.iter().map(|(label, _)| width(label));
            let label_columns = labels.max().unwrap_or(0) + LABEL_GAP;
            for (label, value) in pairs {
                let label = format!("{label:label_columns$}");
                push_labeled(rows, (&label, false), value, columns);
            }
        }
        Block::Table { rows: table, lines } => {
            let fits = |row: &Clean| width(row.as_str()) <= usize::from(columns);
            let shown = if table.iter().all(fits) { table } else { lines };
            shown
                .iter()
                .for_each(|row| push_text(rows, "", row, columns));
        }
        Block::Calls(_) | Block::Form(_) => {}
    }
}

fn push_heading(rows: &mut Vec<StyledLine>, heading: &Clean, columns: u16) {
    if !heading.is_empty() {
        push_text(rows, "", heading, columns);
    }
}

/// Appends a text with a mark before each of its rows.
pub fn push_text(rows: &mut Vec<StyledLine>, mark: &str, text: &Clean, columns: u16) {
    let room = columns.saturating_sub(mark.len() as u16).max(1);
    let wrapped = wrapped_rows(text, room).into_iter();
    rows.extend(wrapped.map(|row| StyledLine::from(format!("{mark}{row}"))));
}

/// Appends a label and a text with a hanging indent. The one of them that matters is bold: the label of
/// a warning, the value of a pair.
fn push_labeled(
    rows: &mut Vec<StyledLine>,
    (label, is_label_bold): (&str, bool),
    text: &Clean,
    columns: u16,
) {
    let indent = width(label);
    let room = columns.saturating_sub(indent as u16).max(VALUE_COLUMNS_MIN);
    for (index, text) in wrapped_rows(text, room).into_iter().enumerate() {
        let mut row = StyledLine::default();
        match (index, is_label_bold) {
            (0, true) => row.push_bold(label),
            (0, false) => row.push_plain(label),
            _ => row.pad_to(indent),
        }
        match is_label_bold {
            true => row.push_plain(text),
            false => row.push_bold(text),
        }
        rows.push(row);
    }
}

fn push_diff_line(rows: &mut Vec<StyledLine>, sign: DiffSign, line: &Clean, columns: u16) {
    let style = match sign {
        DiffSign::Same => TextStyle::default(),
        DiffSign::Removed => TextStyle::from_role(StyleRole::Token(Token::Removed)),
        DiffSign::Added => TextStyle::from_role(StyleRole::Token(Token::Added)),
        DiffSign::Folded => TextStyle::from_role(StyleRole::Dim),
    };
    let lead = format!("  {} ", sign.glyph());
    let indent = " ".repeat(width(&lead));
    let room = columns.saturating_sub(indent.len() as u16).max(1);
    for (index, text) in wrapped_rows(line, room).into_iter().enumerate() {
        let lead = if index == 0 { &lead } else { &indent };
        let mut row = StyledLine::default();
        row.push(format!("{lead}{text}"), style);
        rows.push(row);
    }
}
