//! A numbered list for picking one row, as in `/persona`. Zero picks none.

use crate::commands::PickRow;
use crate::domain::Notice;
use crate::domain::theme::ThemeChoice;
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::tui::layer::{Handled, PickedItem, SharedUiState, UiContext, UiRequest};
use crate::tui::widgets::list::{ListRow, SearchList, column_width};
use crate::tui::widgets::list_layer::{ListKind, ListSource};
use crate::tui::widgets::number_entry::{NumberEntry, NumberKey};
use crate::tui::widgets::painter::Painter;
use crossterm::event::KeyEvent;

const GAP: u16 = 2;

#[derive(Debug)]
pub struct PickerRow {
    item: PickedItem,
    name: Clean,
    /// A description or a state, beside the name.
    note: Clean,
}

impl From<PickRow> for PickerRow {
    fn from(row: PickRow) -> Self {
        let (name, note) = (row.name.clone(), row.note.clone());
        Self::new(PickedItem::Row(Box::new(row)), &name, &note)
    }
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
    columns: NumberedColumns,
    first_selected: usize,
    number_entry: NumberEntry,
}

impl Picker {
    pub fn new(
        title: &'static str,
        none_label: &'static str,
        rows: impl IntoIterator<Item = PickerRow>,
    ) -> Self {
        let rows: Vec<PickerRow> = rows.into_iter().collect();
        Self {
            title,
            none_label,
            columns: NumberedColumns::new(&rows),
            rows,
            first_selected: 0,
            number_entry: NumberEntry::default(),
        }
    }

    /// Preselects this row, if any.
    pub fn starting_at(mut self, row: Option<usize>) -> Self {
        self.first_selected = row.unwrap_or(0);
        self
    }

    /// Opens the list. With an argument, which must be a number, picks that row at once instead.
    pub fn pick_or_open(self, argument: &str, cx: &mut UiContext) {
        if argument.is_empty() {
            return self.open(cx);
        }
        let count = self.rows.len();
        match argument.parse::<usize>() {
            Ok(0) => cx.notify(Notice::info("Nothing was changed.")),
            Ok(number) if number <= count => self.pick(number.checked_sub(1), cx),
            _ => cx.notify(Notice::warning(format!(
                "Please enter a number from 0 to {count}."
            ))),
        }
    }

    fn pick(&self, row: Option<usize>, cx: &mut UiContext) {
        if let Some(row) = row.and_then(|row| self.rows.get(row)) {
            cx.request(UiRequest::Pick(row.item.clone()));
        }
    }
}

impl ListSource for Picker {
    /// `None` is number 0: nothing is picked.
    type Row<'a> = Option<usize>;

    fn kind(&self) -> ListKind {
        ListKind {
            action: None,
            title: self.title,
            enter: "choose",
        }
    }

    fn first_selected(&self) -> usize {
        self.first_selected
    }

    /// Zero is last, and listed only without a filter.
    fn rows(&self, words: &[&str], _: SharedUiState) -> Vec<Option<usize>> {
        let zero = words.is_empty().then_some(None);
        let found = (0..self.rows.len()).filter(|row| self.rows[*row].matches(words));
        found.map(Some).chain(zero).collect()
    }

    fn total(&self, _: SharedUiState) -> usize {
        self.rows.len() + 1
    }

    fn draw_row(&self, listed: &Option<usize>, row: &ListRow, _: SharedUiState, pen: &mut Painter) {
        match *listed {
            Some(at) => self.columns.draw(at + 1, &self.rows[at], row, pen),
            None => self.columns.draw_name(0, self.none_label, row, pen),
        }
    }

    fn choose(&mut self, row: Option<usize>, cx: &mut UiContext) -> Handled {
        self.pick(row, cx);
        Handled::Closed
    }

    /// Digits pick while the filter is empty, at once unless a longer number begins with them.
    fn own_key(&mut self, key: KeyEvent, list: &mut SearchList, cx: &mut UiContext) -> Handled {
        if !list.is_unfiltered() {
            return Handled::PassedOn;
        }
        let count = self.rows.len();
        match self.number_entry.key(key, count, cx.shared.keymap) {
            NumberKey::Unhandled => return Handled::PassedOn,
            NumberKey::Discarded => {}
            NumberKey::Typed(number) => list.select(number.checked_sub(1).unwrap_or(count)),
            NumberKey::Chosen(number) => return self.choose(number.checked_sub(1), cx),
        }
        Handled::Consumed
    }

    fn own_hint(&self, list: &SearchList) -> Option<String> {
        list.is_unfiltered().then(|| "0-9 number".to_owned())
    }

    fn previewed_theme(&self, list: &SearchList, shared: SharedUiState) -> Option<&ThemeChoice> {
        let rows = self.listed(list, shared);
        let selected = *rows.get(list.selected(rows.len()))?;
        match &self.rows[selected?].item {
            PickedItem::Theme(choice) => Some(choice),
            _ => None,
        }
    }
}

/// Widths of the columns, the same for each row.
#[derive(Debug)]
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
