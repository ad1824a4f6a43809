//! A numbered list for picking one row, as in `/persona`. Zero picks none.

use crate::domain::Notice;
use crate::domain::theme::ThemeChoice;
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::tui::keymap::layers::LayerKey;
use crate::tui::layer::{
    Handled, Layer, LayerArea, PickedItem, SharedUiState, UiContext, UiRequest,
};
use crate::tui::widgets::list::{ListKey, ListRow, ListTitle, SearchList, column_width};
use crate::tui::widgets::number_entry::{NumberEntry, NumberKey};
use crate::tui::widgets::painter::Painter;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;

const GAP: u16 = 2;

#[derive(Debug)]
pub struct PickerRow {
    item: PickedItem,
    name: Clean,
    /// A description or a state, beside the name.
    note: Clean,
}

impl PickerRow {
    pub fn new(item: PickedItem, name: &str, note: &str) -> Self {
        Self {
            item,
            name: Clean::single_line(name),
            note: Clean::single_line(note),
        }
    }

    /// `words` are lower case.
    fn matches(&self, words: &[&str]) -> bool {
        let text = format!("{} {}", self.name.as_str(), self.note.as_str()).to_lowercase();
        words.iter().all(|word| text.contains(word))
    }
}

#[derive(Debug)]
pub struct Picker {
    title: &'static str,
    none_label: &'static str,
    rows: Vec<PickerRow>,
    list: SearchList,
    number_entry: NumberEntry,
}

#[derive(Debug, Clone, Copy)]
enum Listed<'a> {
    Row(usize, &'a PickerRow),
    /// Number 0: nothing is picked.
    Zero,
}

/// Zero is last, and listed only without a filter.
fn listed<'a>(rows: &'a [PickerRow], filter: &str) -> Vec<Listed<'a>> {
    let filter = filter.to_lowercase();
    let words: Vec<&str> = filter.split_whitespace().collect();
    let zero = words.is_empty().then_some(Listed::Zero);
    let rows = rows.iter().enumerate();
    let found = rows.filter(|(_, row)| row.matches(&words));
    let found = found.map(|(index, row)| Listed::Row(index, row));
    found.chain(zero).collect()
}

impl Picker {
    pub fn new(
        title: &'static str,
        none_label: &'static str,
        rows: impl IntoIterator<Item = PickerRow>,
    ) -> Self {
        Self {
            title,
            none_label,
            rows: rows.into_iter().collect(),
            list: SearchList::default(),
            number_entry: NumberEntry::default(),
        }
    }

    /// Preselects this row, if any.
    pub fn starting_at(mut self, row: Option<usize>) -> Self {
        self.list.select(row.unwrap_or(0));
        self
    }

    /// Opens the list. With an argument, which must be a number, picks that row at once instead.
    pub fn pick_or_open(self, argument: &str, cx: &mut UiContext) {
        if argument.is_empty() {
            return cx.open(self);
        }
        match argument.parse::<usize>() {
            Ok(0) => cx.notify(Notice::info("Nothing was changed.")),
            Ok(number) if number <= self.rows.len() => {
                cx.request(UiRequest::Pick(self.rows[number - 1].item.clone()));
            }
            _ => {
                let count = self.rows.len();
                cx.notify(Notice::warning(format!(
                    "Please enter a number from 0 to {count}."
                )));
            }
        }
    }

    /// Digits pick while the filter is empty, at once unless a longer number begins with them.
    /// `None` if the key is not part of a number.
    fn number_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Option<Handled> {
        if !self.list.is_unfiltered() {
            return None;
        }
        let count = self.rows.len();
        match self.number_entry.key(key, count, cx.shared.keymap) {
            NumberKey::Unhandled => return None,
            NumberKey::Discarded => {}
            NumberKey::Typed(number) => {
                let row = number.checked_sub(1).unwrap_or(count);
                self.list.select(row);
            }
            NumberKey::Chosen(number) => {
                let row = number.checked_sub(1).and_then(|at| self.rows.get(at));
                if let Some(row) = row {
                    cx.request(UiRequest::Pick(row.item.clone()));
                }
                return Some(Handled::Closed);
            }
        }
        Some(Handled::Consumed)
    }
}

impl Layer for Picker {
    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        if let Some(handled) = self.number_key(key, cx) {
            return handled;
        }
        let listed = listed(&self.rows, &self.list.filter());
        let handled = self.list.key(key, listed.len(), None, cx.shared.keymap);
        if handled != ListKey::Unhandled(LayerKey::Confirm) {
            return handled.handled();
        }
        match listed.get(self.list.selected(listed.len())) {
            Some(Listed::Row(_, row)) => cx.request(UiRequest::Pick(row.item.clone())),
            Some(Listed::Zero) => {}
            None => return Handled::Consumed,
        }
        Handled::Closed
    }

    fn previewed_theme(&self) -> Option<&ThemeChoice> {
        let listed = listed(&self.rows, &self.list.filter());
        match listed.get(self.list.selected(listed.len()))? {
            Listed::Row(_, row) => match &row.item {
                PickedItem::Theme(choice) => Some(choice),
                _ => None,
            },
            Listed::Zero => None,
        }
    }

    fn paste(&mut self, text: &str, _: &mut UiContext) -> Handled {
        self.list.paste(text);
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, _: SharedUiState) {
        let count = listed(&self.rows, &self.list.filter()).len();
        self.list.step(rows, count);
    }

    fn click(&mut self, at: Position, cx: &mut UiContext) -> Handled {
        match self.list.click(at, cx.shared.keymap) {
            Some(enter) => self.handle_key(enter, cx),
            None => Handled::Consumed,
        }
    }

    fn popup_rows(&self, _: SharedUiState) -> Option<u16> {
        // The filter and row zero.
        let rows = u16::try_from(self.rows.len()).unwrap_or(u16::MAX);
        Some(rows.saturating_add(2))
    }

    fn draw(&mut self, area: LayerArea, _: SharedUiState, pen: &mut Painter) -> Option<Position> {
        let title = ListTitle {
            title: self.title,
            total: self.rows.len() + 1,
            empty: "",
            shows_empty_when_filtered: false,
        };
        let columns = NumberedColumns::new(&self.rows);
        let found = listed(&self.rows, &self.list.filter());
        let none_label = self.none_label;
        let draw_row = |listed: &Listed, row: &ListRow, pen: &mut Painter| match listed {
            Listed::Row(index, shown) => columns.draw(*index + 1, shown, row, pen),
            Listed::Zero => columns.draw_name(0, none_label, row, pen),
        };
        self.list.draw(area.popup, &title, &found, pen, draw_row)
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let count = listed(&self.rows, &self.list.filter()).len();
        let mut hints = self.list.hints(count, "choose", Vec::new(), shared.keymap);
        if self.list.is_unfiltered() {
            hints.insert(1, "0-9 number".to_owned());
        }
        hints
    }
}

/// Widths of the columns, the same for each row.
struct NumberedColumns {
    number: u16,
    name: u16,
    note: u16,
}

impl NumberedColumns {
    fn new(rows: &[PickerRow]) -> Self {
        Self {
            number: rows.len().to_string().len() as u16,
            name: column_width(rows.iter().map(|row| row.name.as_str()), u16::MAX),
            note: column_width(rows.iter().map(|row| row.note.as_str()), u16::MAX),
        }
    }

    /// Draws the number and returns the columns after it.
    fn put_number(&self, number: usize, row: &ListRow, pen: &mut Painter) -> (u16, u16) {
        let (area, dim) = (row.text_area(), pen.theme.dim);
        let number = format!("{number:>columns$}", columns = self.number.into());
        pen.put(area.x, area.y, &number, dim, area.width);
        let used = (self.number + GAP).min(area.width);
        (area.x + used, area.width - used)
    }

    fn draw_name(&self, number: usize, name: &str, row: &ListRow, pen: &mut Painter) {
        let (x, columns) = self.put_number(number, row, pen);
        pen.put_words(x, row.line.y, name, row.style, columns);
    }

    /// Draws name and note. The note keeps its columns, such as a server's state; the selected
    /// row omits it rather than truncate its name.
    fn draw(&self, number: usize, shown: &PickerRow, row: &ListRow, pen: &mut Painter) {
        let name = shown.name.as_str();
        let (x, columns) = self.put_number(number, row, pen);
        let beside = |note: u16| columns.saturating_sub(note.saturating_add(GAP));
        let room = match beside(self.note) {
            aligned if aligned >= columns / 3 => aligned,
            // Too narrow for aligned notes: each one takes what it needs.
            _ => beside(width(shown.note.as_str()) as u16).max(columns / 4),
        };
        let name_columns = self.name.min(room);
        let y = row.line.y;
        let fits_alone = width(name) <= columns.into();
        if row.is_selected && fits_alone && width(name) > name_columns.into() {
            pen.put_truncated(x, y, name, row.style, columns);
            return;
        }
        let drawn = pen.put_truncated(x, y, name, row.style, name_columns);
        let is_aligned = beside(self.note) >= columns / 3;
        let used = if is_aligned { name_columns } else { drawn };
        let used = (used + GAP).min(columns);
        let dim = pen.theme.dim;
        pen.put_words(x + used, y, shown.note.as_str(), dim, columns - used);
    }
}
