//! A numbered list for picking one row, as in `/persona`. Zero keeps the current value.

use crate::domain::Notice;
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use crate::tui::keymap::layers;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::{
    Handled, Layer, LayerArea, PickedItem, SharedUiState, UiContext, UiRequest,
};
use crate::tui::widgets::list::rows_in_view;
use crate::tui::widgets::number_entry::{NumberEntry, NumberKey};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::window::draw_window;
use crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};

#[derive(Debug)]
pub struct Picker {
    title: &'static str,
    none_label: &'static str,
    rows: Vec<(PickedItem, String)>,
    /// Index of the selected row; the number of rows selects zero.
    selected: usize,
    number_entry: NumberEntry,
}

impl Picker {
    pub fn new(
        title: &'static str,
        zero: &'static str,
        rows: impl IntoIterator<Item = (PickedItem, String)>,
    ) -> Self {
        Self {
            title,
            none_label: zero,
            rows: rows.into_iter().collect(),
            selected: 0,
            number_entry: NumberEntry::default(),
        }
    }

    /// Preselects this row, if any.
    pub fn starting_at(mut self, row: Option<usize>) -> Self {
        self.selected = row.unwrap_or(0);
        self
    }

    /// Picks at once if the command had a number; otherwise opens the list.
    pub fn pick_or_open(self, argument: &str, cx: &mut UiContext) {
        if argument.is_empty() {
            return cx.open(self);
        }
        match argument.parse::<usize>() {
            Ok(0) => cx.notify(Notice::info("Nothing was changed.")),
            Ok(number) if number <= self.rows.len() => {
                cx.request(UiRequest::Pick(self.rows[number - 1].0.clone()));
            }
            _ => {
                let count = self.rows.len();
                cx.notify(Notice::warning(format!(
                    "Please enter a number from 0 to {count}."
                )));
            }
        }
    }

    /// The picked row: a digit picks at once if no longer number starts with it; Enter
    /// picks the selected row. The index after the last row is zero.
    fn picked_row(&mut self, key: KeyEvent) -> Option<usize> {
        let count = self.rows.len();
        let row = |number: usize| number.checked_sub(1).unwrap_or(count);
        match self.number_entry.key(key, count) {
            NumberKey::Chosen(number) => Some(row(number)),
            NumberKey::Typed(number) => {
                self.selected = row(number);
                None
            }
            NumberKey::Discarded => None,
            NumberKey::Unhandled => {
                let is_enter =
                    layers::find_key(key, &[KeyContext::Picker]) == Some(LayerKey::Confirm);
                is_enter.then_some(self.selected)
            }
        }
    }

    /// Fits the label into `room` columns. A server's name is truncated so that its state,
    /// after the last two spaces, stays visible.
    fn fitted_label(&self, index: usize, label: &str, room: usize, more: &str) -> String {
        let is_server = matches!(self.rows.get(index), Some((PickedItem::Server(_), _)));
        let state = label
            .rsplit_once("  ")
            .filter(|_| is_server && width(label) > room);
        let Some((name, state)) = state else {
            return label.to_owned();
        };
        let kept = truncate_to_width(name, room.saturating_sub(width(state) + 3));
        format!("{kept}{more}  {state}")
    }
}

impl Layer for Picker {
    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let Some(number) = self.picked_row(key) else {
            return Handled::PassedOn;
        };
        if let Some((picked, _)) = self.rows.get(number) {
            cx.request(UiRequest::Pick(picked.clone()));
        }
        Handled::Closed
    }

    fn scroll(&mut self, rows: isize, _: SharedUiState) {
        self.selected = self
            .selected
            .saturating_add_signed(rows)
            .min(self.rows.len());
    }

    fn popup_rows(&self, _: SharedUiState) -> Option<u16> {
        Some(
            u16::try_from(self.rows.len())
                .unwrap_or(u16::MAX)
                .saturating_add(2),
        )
    }

    fn draw(&mut self, area: LayerArea, _: SharedUiState, pen: &mut Painter) -> Option<Position> {
        let numbers = self.rows.len().to_string().len();
        let labels: Vec<Clean> = self
            .rows
            .iter()
            .map(|(_, row)| Clean::single_line(row))
            .collect();
        let area = draw_window(area.popup, self.title, "", pen);
        // The zero row is below the list and never scrolls away.
        let taken = if area.height > 4 { 2 } else { 1 };
        let list = Rect {
            height: area.height.saturating_sub(taken),
            ..area
        };
        let in_rows = self.selected.min(labels.len().saturating_sub(1));
        let room = usize::from(area.width).saturating_sub(numbers + 4);
        for row in rows_in_view(labels.len(), Some(in_rows), list, pen) {
            let (index, y) = (row.index, row.line.y);
            let label = self.fitted_label(index, labels[index].as_str(), room, pen.glyphs.more);
            draw_row(
                self.selected == index,
                index + 1,
                numbers,
                &label,
                area,
                y,
                pen,
            );
        }
        if area.height > 0 {
            let is_zero = self.selected == labels.len();
            draw_row(
                is_zero,
                0,
                numbers,
                self.none_label,
                area,
                area.bottom() - 1,
                pen,
            );
        }
        None
    }

    fn hints(&self, _: SharedUiState) -> Vec<String> {
        vec![
            "0-9 choose".to_owned(),
            layers::hint(KeyContext::Picker, LayerKey::Confirm, "select"),
            "Esc close".to_owned(),
        ]
    }
}

fn draw_row(
    selected: bool,
    number: usize,
    numbers: usize,
    label: &str,
    area: Rect,
    y: u16,
    pen: &mut Painter,
) {
    let style = if selected {
        pen.theme.accent
    } else {
        pen.theme.plain
    };
    let mark = if selected { pen.glyphs.cursor } else { " " };
    let words = format!("{mark} {number:>numbers$}  {label}");
    pen.put_truncated(area.x, y, &words, style, area.width);
}
