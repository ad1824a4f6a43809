//! The command palette: all commands, filtered as the user types.

use crate::text::grapheme::width;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::keymap::{Action, Binding, BindingGroup, BindingScope, Chord, TABLE, layers};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext, UiRequest};
use crate::tui::widgets::list::{ListRow, SearchList};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::window::{content_area, draw_window};
use crossterm::event::KeyEvent;
use ratatui::layout::Position;

/// Width of the key column, which is shown in lists of at least `KEY_FROM` columns.
const KEY_COLUMNS: u16 = 9;
const KEY_FROM: u16 = 74;
/// Width of the command column, which is shown in lists of at least `COMMAND_FROM` columns.
const COMMAND_COLUMNS: u16 = 16;
const COMMAND_FROM: u16 = 50;

#[derive(Debug, Default)]
pub struct Palette(SearchList);

/// Whether the palette offers a binding: it has a command, or its key works everywhere and
/// neither moves, interrupts nor opens the palette.
fn is_offered(binding: &Binding) -> bool {
    let is_global_task = binding.scope == BindingScope::Always
        && binding.group != BindingGroup::Moving
        && !matches!(binding.action, Action::Interrupt | Action::Commands);
    binding.command.is_some() || is_global_task
}

/// One binding for each action that matches the filter. Texts that contain the filter come
/// before texts that only contain its letters in order; each group keeps the order of `TABLE`.
fn matching_commands(filter: &str) -> Vec<&'static Binding> {
    let wanted = filter.trim().to_lowercase();
    let mut seen: Vec<Action> = Vec::new();
    let mut matches = Vec::new();
    for binding in TABLE.iter().filter(|binding| is_offered(binding)) {
        if seen.contains(&binding.action) {
            continue;
        }
        seen.push(binding.action);
        let text = searched_text(binding);
        if text.contains(&wanted) {
            matches.push((0, binding));
        } else if contains_in_order(&text, &wanted) {
            matches.push((1, binding));
        }
    }
    matches.sort_by_key(|(rank, _)| *rank);
    matches.into_iter().map(|(_, binding)| binding).collect()
}

/// The description, and the commands of the action with their aliases.
fn searched_text(binding: &Binding) -> String {
    let aliases = TABLE.iter().filter(|row| row.action == binding.action);
    let commands: Vec<&str> = aliases.filter_map(|row| row.command).collect();
    format!("{} {}", binding.description, commands.join(" ")).to_lowercase()
}

fn contains_in_order(text: &str, wanted: &str) -> bool {
    let mut letters = text.chars();
    wanted
        .chars()
        .all(|wanted| letters.any(|letter| letter == wanted))
}

/// Draws a command: description, command and key, as far as the width allows. The selected row
/// omits the command rather than truncate its description.
fn draw_command(binding: &Binding, row: &ListRow, pen: &mut Painter) {
    let (line, dim) = (row.line, pen.theme.dim);
    let mut end = line.right();
    let description_columns = width(binding.description) as u16;
    let description_fits = |end: u16| line.x + 2 + description_columns < end;
    if line.width >= KEY_FROM {
        end -= KEY_COLUMNS;
        let key = binding.keys.first();
        let key = key.map_or_else(String::new, Chord::to_string);
        pen.put(end, line.y, &key, dim, KEY_COLUMNS);
    }
    if line.width >= COMMAND_FROM && (!row.is_selected || description_fits(end - COMMAND_COLUMNS)) {
        end -= COMMAND_COLUMNS;
        let command = binding.command.unwrap_or_default();
        pen.put(end, line.y, command, dim, COMMAND_COLUMNS);
        end -= 1;
    }
    let columns = end.saturating_sub(line.x + 2);
    pen.put_truncated(line.x + 2, line.y, binding.description, row.style, columns);
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
            let matches = matching_commands(&self.0.filter());
            if let Some(binding) = matches.get(self.0.selected(matches.len())) {
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
        let matches = matching_commands(&self.0.filter());
        let inner = content_area(area.popup);
        let note = self.0.count_note(matches.len(), inner, &pen.glyphs);
        let area = draw_window(area.popup, "Commands", &note, pen);
        let cursor = self.0.draw(&matches, area, pen, |binding, row, pen| {
            draw_command(binding, row, pen);
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
