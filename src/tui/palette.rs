//! The command palette: all commands, filtered as the user types.

use crate::tui::keymap::layers::{LayerKey, Place};
use crate::tui::keymap::{Action, Binding, Chord, TABLE, layers};
use crate::tui::layer::{Cx, Handled, Layer, LayerArea, Request, Shared};
use crate::tui::widgets::list::SearchList;
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::window::window;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;

#[derive(Debug, Default)]
pub struct Palette(SearchList);

/// The commands whose text contains the letters of the filter in order.
fn found(filter: &str) -> Vec<&'static Binding> {
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
            matches(&searched.to_lowercase(), &wanted)
        })
        .collect()
}

fn matches(text: &str, wanted: &str) -> bool {
    let mut letters = text.chars();
    wanted
        .chars()
        .all(|wanted| letters.any(|letter| letter == wanted))
}

impl Layer for Palette {
    fn action(&self) -> Option<Action> {
        Some(Action::Commands)
    }

    fn key(&mut self, key: KeyEvent, cx: &mut Cx) -> Handled {
        if layers::step(key).is_some() {
            return Handled::PassedOn;
        }
        if layers::find(key, &[Place::Line]) == Some(LayerKey::Take) {
            let found = found(&self.0.filter());
            if let Some(binding) = found.get(self.0.selected(found.len())) {
                cx.ask(Request::Run(binding.action));
            }
            return Handled::Closed;
        }
        self.0.type_key(key)
    }

    fn paste(&mut self, text: &str, _: &mut Cx) -> Handled {
        self.0.paste(text);
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, _: Shared) {
        self.0.step(rows, found(&self.0.filter()).len());
    }

    fn draw(&mut self, area: LayerArea, _: Shared, pen: &mut Painter) -> Option<Position> {
        let found = found(&self.0.filter());
        let all = self::found("").len() as u16;
        let area = window(area.chat, "Commands", "", (72, all + 2), pen);
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
            pen.put_cut(line.x + 2, line.y, binding.description, row.style, columns);
        });
        Some(cursor)
    }

    fn hints(&self, _: Shared) -> Vec<String> {
        vec![
            layers::hint(Place::Line, LayerKey::Take, "run"),
            layers::hint(Place::Line, LayerKey::Back, "close"),
        ]
    }
}
