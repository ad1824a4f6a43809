//! Search in earlier prompts (Ctrl+R).

use crate::text::Clean;
use crate::text::grapheme::truncate_to_width;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::keymap::{Action, layers};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext, UiRequest};
use crate::tui::widgets::list::SearchList;
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::window::draw_window;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;

/// Maximum number of prompts in the list.
const RESULTS_MAX: usize = 200;

#[derive(Debug, Default)]
pub struct HistorySearch(SearchList);

/// The prompts that contain every word of `filter`, newest first.
fn matching_prompts<'a>(prompts: &'a [String], filter: &str) -> Vec<&'a str> {
    let filter = filter.to_lowercase();
    let words: Vec<&str> = filter.split_whitespace().collect();
    let contains_all_words = |prompt: &&String| {
        let prompt = prompt.to_lowercase();
        words.iter().all(|word| prompt.contains(word))
    };
    prompts
        .iter()
        .rev()
        .filter(contains_all_words)
        .take(RESULTS_MAX)
        .map(String::as_str)
        .collect()
}

impl Layer for HistorySearch {
    fn action(&self) -> Option<Action> {
        Some(Action::SearchHistory)
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        if layers::row_step(key).is_some() {
            return Handled::PassedOn;
        }
        if layers::find_key(key, &[KeyContext::InputLine]) == Some(LayerKey::Confirm) {
            let matches = matching_prompts(cx.shared.prompts, &self.0.filter());
            if let Some(prompt) = matches.get(self.0.selected(matches.len())) {
                let prompt = (*prompt).to_owned();
                cx.request(UiRequest::SetMessage(prompt));
            }
            return Handled::Closed;
        }
        self.0.search_key(key)
    }

    fn paste(&mut self, text: &str, _: &mut UiContext) -> Handled {
        self.0.paste(text);
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, shared: SharedUiState) {
        let count = matching_prompts(shared.prompts, &self.0.filter()).len();
        self.0.step(rows, count);
    }

    fn popup_rows(&self, shared: SharedUiState) -> Option<u16> {
        Some((shared.prompts.len().min(12) as u16).max(1) + 2)
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        let matches = matching_prompts(shared.prompts, &self.0.filter());
        let area = draw_window(area.popup, "Prompt history", "", pen);
        let cursor = self.0.draw(&matches, area, pen, |prompt, row, pen| {
            let line = row.line;
            let start = truncate_to_width(prompt, 2 * usize::from(line.width));
            let preview = Clean::single_line(start);
            let columns = line.width.saturating_sub(2);
            pen.put_truncated(line.x + 2, line.y, preview.as_str(), row.style, columns);
        });
        Some(cursor)
    }

    fn hints(&self, _: SharedUiState) -> Vec<String> {
        vec![
            layers::hint(KeyContext::InputLine, LayerKey::Confirm, "select"),
            layers::hint(KeyContext::InputLine, LayerKey::Back, "close"),
        ]
    }
}
