//! The command palette: all commands and prompt templates, filtered as the user types.

mod matching;

use crate::text::grapheme::width;
use crate::tui::attachments::choice;
use crate::tui::keymap::layers::LayerKey;
use crate::tui::keymap::{Action, BindingScope};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext, UiRequest};
use crate::tui::panes::Focus;
use crate::tui::templates;
use crate::tui::widgets::list::{ListKey, ListRow, ListTitle, SearchList};
use crate::tui::widgets::painter::Painter;
use crossterm::event::KeyEvent;
use matching::{PaletteEntry, entry_count, matching_entries};
use ratatui::layout::Position;

/// Width of the key column, which is shown in lists of at least `KEY_LIST_COLUMNS_MIN` columns.
const KEY_COLUMNS: u16 = 9;
const KEY_LIST_COLUMNS_MIN: u16 = 72;
/// Width of the command column, which is shown in lists of at least `COMMAND_LIST_COLUMNS_MIN`
/// columns.
const COMMAND_COLUMNS: u16 = 16;
const COMMAND_LIST_COLUMNS_MIN: u16 = 48;

#[derive(Debug, Default)]
pub struct Palette(SearchList);

/// Draws a command: description, command and key, as far as the width allows. The selected row
/// omits the command rather than truncate its description.
fn draw_entry(entry: PaletteEntry, row: &ListRow, shared: SharedUiState, pen: &mut Painter) {
    let (area, dim) = (row.text_area(), pen.theme.dim);
    let description = entry.description();
    let mut end = area.right();
    let fits_before =
        |end: u16| usize::from(end.saturating_sub(area.x)) > width(description.as_str());
    if area.width >= KEY_LIST_COLUMNS_MIN {
        end -= KEY_COLUMNS;
        let key = match entry {
            // A key of the panes does something else in the message.
            PaletteEntry::Binding(binding)
                if binding.scope == BindingScope::Pane && shared.focus == Focus::Message =>
            {
                None
            }
            PaletteEntry::Binding(binding) => shared.keymap.key_name(binding.action),
            PaletteEntry::Template(_) => None,
        };
        pen.put(end, area.y, &key.unwrap_or_default(), dim, KEY_COLUMNS);
    }
    if area.width >= COMMAND_LIST_COLUMNS_MIN
        && (!row.is_selected || fits_before(end - COMMAND_COLUMNS))
    {
        end -= COMMAND_COLUMNS;
        let command = entry.command();
        pen.put_truncated(end, area.y, command.as_str(), dim, COMMAND_COLUMNS - 1);
        end -= 1;
    }
    let columns = end.saturating_sub(area.x);
    pen.put_words(area.x, area.y, description.as_str(), row.style, columns);
}

fn run_entry(entry: PaletteEntry, cx: &mut UiContext) {
    cx.request(UiRequest::RememberCommand(entry.recent_name()));
    match entry {
        PaletteEntry::Binding(binding)
            if binding.action == Action::Detach && cx.shared.attached_files.len() > 1 =>
        {
            choice::choose_file(cx);
        }
        PaletteEntry::Binding(binding) => cx.request(match binding.command_that_needs_argument() {
            Some(command) => UiRequest::TypeCommand(command),
            None => UiRequest::RunAction(binding.action),
        }),
        PaletteEntry::Template(template) => {
            templates::use_template(template, "", cx);
        }
    }
}

impl Layer for Palette {
    fn action(&self) -> Option<Action> {
        Some(Action::Commands)
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let matches = matching_entries(&self.0.filter(), cx.shared);
        let handled = self.0.key(key, matches.len(), None, cx.shared.keymap);
        if handled != ListKey::Unhandled(LayerKey::Confirm) {
            return handled.handled();
        }
        let Some(entry) = matches.get(self.0.selected(matches.len())) else {
            return Handled::Consumed;
        };
        run_entry(*entry, cx);
        Handled::Closed
    }

    fn paste(&mut self, text: &str, _: &mut UiContext) -> Handled {
        self.0.paste(text);
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, shared: SharedUiState) {
        let count = matching_entries(&self.0.filter(), shared).len();
        self.0.step(rows, count);
    }

    fn click(&mut self, at: Position, cx: &mut UiContext) -> Handled {
        match self.0.click(at, cx.shared.keymap) {
            Some(enter) => self.handle_key(enter, cx),
            None => Handled::Consumed,
        }
    }

    fn popup_rows(&self, shared: SharedUiState) -> Option<u16> {
        Some(entry_count(shared) as u16 + 1)
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        let matches = matching_entries(&self.0.filter(), shared);
        let title = ListTitle {
            title: "Commands",
            total: entry_count(shared),
            empty: "",
            shows_empty_when_filtered: false,
        };
        self.0
            .draw(area.popup, &title, &matches, pen, |entry, row, pen| {
                draw_entry(*entry, row, shared, pen);
            })
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let count = matching_entries(&self.0.filter(), shared).len();
        self.0.hints(count, "run", Vec::new(), shared.keymap)
    }
}
