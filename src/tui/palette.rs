//! The command palette: all commands, filtered as the user types.

use crate::text::grapheme::width;
use crate::tui::keymap::layers::LayerKey;
use crate::tui::keymap::{Action, Binding, BindingGroup, BindingScope, Chord, TABLE};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext, UiRequest};
use crate::tui::widgets::list::{ListKey, ListRow, ListTitle, SearchList};
use crate::tui::widgets::painter::Painter;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;

/// Width of the key column, which is shown in lists of at least `KEY_FROM` columns.
const KEY_COLUMNS: u16 = 9;
const KEY_FROM: u16 = 72;
/// Width of the command column, which is shown in lists of at least `COMMAND_FROM` columns.
const COMMAND_COLUMNS: u16 = 16;
const COMMAND_FROM: u16 = 48;

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

/// One binding for each action that matches all words of the filter. Bindings in which each word
/// starts a word come first, those found only by other words last; each group keeps the order of
/// `TABLE`.
fn matching_commands(filter: &str) -> Vec<&'static Binding> {
    let filter = filter.to_lowercase();
    let wanted: Vec<&str> = filter.split_whitespace().collect();
    let mut seen: Vec<Action> = Vec::new();
    let mut matches = Vec::new();
    for binding in TABLE.iter().filter(|binding| is_offered(binding)) {
        if seen.contains(&binding.action) {
            continue;
        }
        seen.push(binding.action);
        let ranks = wanted.iter().map(|word| match_rank(binding, word));
        if let Some(ranks) = ranks.collect::<Option<Vec<_>>>() {
            matches.push((ranks.into_iter().max(), binding));
        }
    }
    matches.sort_by_key(|(rank, _)| *rank);
    matches.into_iter().map(|(_, binding)| binding).collect()
}

/// How well a binding matches a word; lower is better.
fn match_rank(binding: &Binding, wanted: &str) -> Option<u8> {
    let shown = shown_text(binding);
    if has_word_start(&shown, wanted) {
        Some(0)
    } else if shown.contains(wanted) {
        Some(1)
    } else if has_word_start(binding.search_words, wanted) {
        Some(2)
    } else {
        None
    }
}

/// The description, and the commands of the action with their aliases.
fn shown_text(binding: &Binding) -> String {
    let aliases = TABLE.iter().filter(|row| row.action == binding.action);
    let commands: Vec<&str> = aliases.filter_map(|row| row.command).collect();
    format!("{} {}", binding.description, commands.join(" ")).to_lowercase()
}

fn has_word_start(text: &str, wanted: &str) -> bool {
    let is_separator = |letter: char| !letter.is_alphanumeric() && letter != '/';
    let mut words = text.split(is_separator);
    words.any(|word| word.starts_with(wanted) || word.trim_start_matches('/').starts_with(wanted))
}

/// Draws a command: description, command and key, as far as the width allows. The selected row
/// omits the command rather than truncate its description.
fn draw_command(binding: &Binding, row: &ListRow, pen: &mut Painter) {
    let (area, dim) = (row.text_area(), pen.theme.dim);
    let mut end = area.right();
    let fits_before =
        |end: u16| usize::from(end.saturating_sub(area.x)) > width(binding.description);
    if area.width >= KEY_FROM {
        end -= KEY_COLUMNS;
        let key = binding.keys.first();
        let key = key.map_or_else(String::new, Chord::to_string);
        pen.put(end, area.y, &key, dim, KEY_COLUMNS);
    }
    if area.width >= COMMAND_FROM && (!row.is_selected || fits_before(end - COMMAND_COLUMNS)) {
        end -= COMMAND_COLUMNS;
        let command = binding.command.unwrap_or_default();
        pen.put(end, area.y, command, dim, COMMAND_COLUMNS);
        end -= 1;
    }
    let columns = end.saturating_sub(area.x);
    pen.put_words(area.x, area.y, binding.description, row.style, columns);
}

impl Layer for Palette {
    fn action(&self) -> Option<Action> {
        Some(Action::Commands)
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let matches = matching_commands(&self.0.filter());
        let handled = self.0.key(key, matches.len(), None);
        if handled != ListKey::Unhandled(LayerKey::Confirm) {
            return handled.handled();
        }
        let Some(binding) = matches.get(self.0.selected(matches.len())) else {
            return Handled::Consumed;
        };
        cx.request(match binding.command_that_needs_argument() {
            Some(command) => UiRequest::TypeCommand(command),
            None => UiRequest::RunAction(binding.action),
        });
        Handled::Closed
    }

    fn paste(&mut self, text: &str, _: &mut UiContext) -> Handled {
        self.0.paste(text);
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, _: SharedUiState) {
        self.0.step(rows, matching_commands(&self.0.filter()).len());
    }

    fn click(&mut self, at: Position, cx: &mut UiContext) -> Handled {
        match self.0.click(at) {
            Some(enter) => self.handle_key(enter, cx),
            None => Handled::Consumed,
        }
    }

    fn popup_rows(&self, _: SharedUiState) -> Option<u16> {
        Some(matching_commands("").len() as u16 + 1)
    }

    fn draw(&mut self, area: LayerArea, _: SharedUiState, pen: &mut Painter) -> Option<Position> {
        let matches = matching_commands(&self.0.filter());
        let title = ListTitle {
            title: "Commands",
            total: matching_commands("").len(),
            empty: "",
            is_loading: false,
        };
        self.0
            .draw(area.popup, &title, &matches, pen, |binding, row, pen| {
                draw_command(binding, row, pen);
            })
    }

    fn hints(&self, _: SharedUiState) -> Vec<String> {
        let count = matching_commands(&self.0.filter()).len();
        self.0.hints(count, "run", Vec::new())
    }
}
