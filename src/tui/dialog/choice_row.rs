//! The question and its choices, below the body: `Call now? (Y/N)   y run  n stop …`. They wrap
//! onto as few rows as possible. A separate page has the lasting choices.

use crate::text::grapheme::width;
use crate::tui::dialog::dialog_text::DialogText;
use crate::tui::dialog::state::{Dialog, DialogChoice, DialogPage};
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;

/// Maximum number of rows of choices; further choices are only on the page of all choices.
const ROWS_MAX: u16 = 4;
/// Columns between two choices, and between the question and the first choice.
const GAP_COLUMNS: u16 = 2;

/// A key of the row below the body.
pub(super) struct ChoiceItem {
    /// Index of the choice; `None` for keys that open a page or belong to one.
    pub choice: Option<usize>,
    opens: Option<DialogPage>,
    pub key: String,
    pub label: String,
}

impl ChoiceItem {
    fn columns(&self) -> u16 {
        let label = match self.label.is_empty() {
            true => 0,
            false => width(&self.label) + 1,
        };
        (width(&self.key) + label) as u16
    }
}

/// The keys below the body, most important first: on the page of values, the keys of that page; on
/// any other page, the choices and the keys that open pages.
pub(super) fn items(text: &DialogText) -> Vec<ChoiceItem> {
    if text.page == DialogPage::Values {
        return values_items(text);
    }
    let item = |(index, choice): (usize, &DialogChoice)| ChoiceItem {
        choice: Some(index),
        opens: None,
        key: choice.shown_key().to_string(),
        label: choice.short.clone(),
    };
    let choices = text.choices.iter().enumerate();
    let shown = choices.filter(|(_, choice)| !choice.action.is_lasting());
    let mut items: Vec<ChoiceItem> = shown.map(item).collect();
    let page = |key: &str, label: &str, opens| ChoiceItem {
        choice: None,
        opens: Some(opens),
        key: key.to_owned(),
        label: label.to_owned(),
    };
    let keys = &text.page_keys;
    if !keys.lasting.is_empty() && text.choices.iter().any(|choice| choice.action.is_lasting()) {
        // Inserted before the choices that may appear only while the dialog is open, so that nothing
        // else moves when they do.
        let at = items.iter().position(|item| {
            let choice = item.choice.and_then(|index| text.choices.get(index));
            choice.is_some_and(|choice| choice.action.comes_later())
        });
        items.insert(
            at.unwrap_or(items.len()),
            page(&keys.lasting, &text.lasting_label, DialogPage::Lasting),
        );
    }
    let has_longer_label =
        |choice: &DialogChoice| !choice.label.eq_ignore_ascii_case(&choice.short);
    if !keys.details.is_empty() && text.choices.iter().any(has_longer_label) {
        items.push(page(&keys.details, "", DialogPage::Details));
    }
    items
}

fn values_items(text: &DialogText) -> Vec<ChoiceItem> {
    let item = |(key, label): (&str, &str)| ChoiceItem {
        choice: None,
        opens: None,
        key: key.to_owned(),
        label: label.to_owned(),
    };
    let keys = [
        (text.page_keys.choose.as_str(), "edit"),
        (text.page_keys.back.as_str(), "back"),
        ("1-9", "edit that one"),
        ("0", "all as JSON"),
    ];
    keys.into_iter().map(item).collect()
}

/// The number of rows that the question and the choices take.
pub fn choice_rows(text: &DialogText, columns: u16) -> u16 {
    let places = flow(text, &items(text), columns);
    places.last().map_or(1, |(_, y)| y + 1).min(ROWS_MAX)
}

/// The column and row of each choice. The last one, such as `?`, is never alone on its row.
fn flow(text: &DialogText, items: &[ChoiceItem], columns: u16) -> Vec<(u16, u16)> {
    let indent = 2.min(columns);
    let (mut x, mut y) = (indent + width(&text.question) as u16 + GAP_COLUMNS + 1, 0);
    let mut places: Vec<(u16, u16)> = Vec::new();
    for item in items {
        let needed = item.columns();
        if x + needed > columns && x > indent {
            (x, y) = (indent, y + 1);
        }
        places.push((x, y));
        x += needed + GAP_COLUMNS;
    }
    if let ([.., before, last], [.., item, _]) = (places.as_mut_slice(), items)
        && before.1 < last.1
    {
        *before = (indent, last.1);
        last.0 = indent + item.columns() + GAP_COLUMNS;
    }
    places
}

pub fn draw(text: &DialogText, dialog: &Dialog, area: Rect, pen: &mut Painter) {
    let items = items(text);
    let indent = 2.min(area.width);
    let columns = area.width.saturating_sub(indent);
    let bold = pen.theme.bold;
    pen.put_truncated(area.x + indent, area.y, &text.question, bold, columns);
    let (key_style, label_style) = match dialog.accepts_keys {
        true => (pen.theme.accent, pen.theme.plain),
        false => (pen.theme.dim, pen.theme.dim),
    };
    let places = flow(text, &items, area.width);
    for (item, (x, y)) in items.iter().zip(places) {
        if y >= area.height {
            break;
        }
        let (x, y) = (area.x + x, area.y + y);
        let columns = area.right().saturating_sub(x);
        let is_open = item.opens == Some(text.page);
        let used = pen.put(x, y, &item.key, key_style, columns);
        pen.put_truncated(x + used + 1, y, &item.label, label_style, columns - used);
        let is_selected = item.choice.is_some() && item.choice == dialog.highlighted_choice();
        if is_selected || is_open {
            let cells = Rect::new(x, y, item.columns().min(columns), 1);
            let selection = pen.theme.selection;
            pen.set_style(cells, selection);
        }
    }
}
