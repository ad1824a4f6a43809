//! The command palette: all commands, filtered as the user types.

use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::keymap::{Action, Binding, Chord, TABLE, layers};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext, UiRequest};
use crate::tui::widgets::list::SearchList;
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::window::draw_window;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;

#[derive(Debug, Default)]
pub struct Palette(SearchList);

/// The commands whose text contains the letters of the filter in order.
fn matching_commands(filter: &str) -> Vec<&'static Binding> {
    let wanted = filter.trim().to_lowercase();
    let mut seen: Vec<Action> = Vec::new();
    TABLE
        .iter()
        .filter(|binding| {
            let listed = binding.command.is_some() || binding.name == "editor";
            if !listed || seen.contains(&binding.action) {
                return false;
            }
            seen.push(binding.action);
            let searched = format!(
                "{} {}",
                binding.description,
                binding.command.unwrap_or_default()
            );
            contains_in_order(&searched.to_lowercase(), &wanted)
        })
        .collect()
}

fn contains_in_order(text: &str, wanted: &str) -> bool {
    let mut letters = text.chars();
    wanted
        .chars()
        .all(|wanted| letters.any(|letter| letter == wanted))
}

impl Layer for Palette {
    fn action(&self) -> Option<Action> {
        Some(Action::Commands)
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        if layers::row_step(key).is_some() {
            return Handled::PassedOn;
        }
        if layers::find_key(key, &[KeyContext::InputLine]) == Some(LayerKey::Confirm) {
            let found = matching_commands(&self.0.filter());
            if let Some(binding) = found.get(self.0.selected(found.len())) {
                cx.request(UiRequest::RunAction(binding.action));
            }
            return Handled::Closed;
        }
        self.0.search_key(key)
    }

    fn paste(&mut self, text: &str, _: &mut UiContext) -> Handled {
        self.0.paste(text);
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, _: SharedUiState) {
        self.0.step(rows, matching_commands(&self.0.filter()).len());
    }

    fn popup_rows(&self, _: SharedUiState) -> Option<u16> {
        Some(matching_commands("").len() as u16 + 2)
    }

    fn draw(&mut self, area: LayerArea, _: SharedUiState, pen: &mut Painter) -> Option<Position> {
        let found = matching_commands(&self.0.filter());
        let area = draw_window(area.popup, "Commands", &found.len().to_string(), pen);
        let cursor = self.0.draw(&found, area, pen, |binding, row, pen| {
            let (line, dim) = (row.line, pen.theme.dim);
            let mut end = line.right();
            if line.width >= 50 {
                let key = binding.keys.first();
                let key = key.map_or_else(String::new, Chord::to_string);
                pen.put(end - 8, line.y, &key, dim, 8);
                let command = binding.command.unwrap_or_default();
                pen.put(end - 26, line.y, command, dim, 17);
                end -= 27;
            }
            let columns = end.saturating_sub(line.x + 2);
            pen.put_truncated(line.x + 2, line.y, binding.description, row.style, columns);
        });
        Some(cursor)
    }

    fn hints(&self, _: SharedUiState) -> Vec<String> {
        vec![
            layers::hint(KeyContext::InputLine, LayerKey::Confirm, "run"),
            layers::hint(KeyContext::InputLine, LayerKey::Back, "close"),
        ]
    }
}
