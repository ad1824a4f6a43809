//! The options of a field: the selected ones, the cursor, and the keys. A long list is filtered by
//! typing; in a short one, a letter goes to the next option that begins with it.

use crate::domain::elicitation::FieldOption;
use crate::tui::input::decode::typed_char;
use crate::tui::keymap::Keymap;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crossterm::event::{KeyCode, KeyEvent};

/// Lists with more options can be filtered.
const UNFILTERED_OPTIONS_MAX: usize = 7;
const FILTER_CHARS_MAX: usize = 100;

#[derive(Debug, Clone, Default)]
pub struct OptionList {
    /// Indices, ascending.
    pub selected: Vec<usize>,
    /// The option at the cursor.
    pub at: usize,
    filter: String,
}

impl OptionList {
    pub fn new(selected: Vec<usize>) -> Self {
        Self {
            at: selected.first().copied().unwrap_or(0),
            selected,
            filter: String::new(),
        }
    }

    /// Whether letters filter the options instead of choosing one.
    pub fn is_filterable(options: &[FieldOption]) -> bool {
        options.len() > UNFILTERED_OPTIONS_MAX
    }

    pub fn filter(&self) -> &str {
        &self.filter
    }

    pub fn clear_filter(&mut self) {
        self.filter.clear();
    }

    /// The indices of the options that contain the filter.
    pub fn matching(&self, options: &[FieldOption]) -> Vec<usize> {
        let filter = self.filter.to_lowercase();
        let options = options.iter().enumerate();
        options
            .filter(|(_, option)| {
                [option.label(), &option.value]
                    .iter()
                    .any(|text| text.to_lowercase().contains(&filter))
            })
            .map(|(index, _)| index)
            .collect()
    }

    /// Handles a key of a field that takes one option.
    pub fn choose_one(&mut self, options: &[FieldOption], key: KeyEvent, keymap: &Keymap) {
        let was_empty = self.selected.is_empty();
        let before = self.at;
        if self.edit_filter(options, key) {
            if self.is_at_match(options) && !self.filter.is_empty() {
                self.selected = vec![self.at];
            }
        } else if self.move_cursor(options, key, keymap) {
            let is_arrow = keymap.layer_key(key, &[KeyContext::Form]).is_some();
            if was_empty && is_arrow && self.filter.is_empty() {
                // The first arrow key selects the option at the cursor.
                self.at = before;
            }
            self.selected = vec![self.at];
        } else if typed_char(key) == Some(' ') && self.is_at_match(options) {
            self.selected = vec![self.at];
        } else if is_erasing(key) {
            self.selected.clear();
        }
    }

    /// Handles a key of a field that takes several options.
    pub fn choose_several(&mut self, options: &[FieldOption], key: KeyEvent, keymap: &Keymap) {
        if self.edit_filter(options, key) || self.move_cursor(options, key, keymap) {
            return;
        }
        if typed_char(key) == Some(' ') && self.is_at_match(options) {
            match self.selected.binary_search(&self.at) {
                Ok(place) => {
                    self.selected.remove(place);
                }
                Err(place) => self.selected.insert(place, self.at),
            }
        } else if is_erasing(key) {
            self.selected.clear();
        }
    }

    fn is_at_match(&self, options: &[FieldOption]) -> bool {
        self.matching(options).contains(&self.at)
    }

    /// Adds a typed letter to the filter or erases one, and goes to the best match. Returns false
    /// if the key does something else.
    fn edit_filter(&mut self, options: &[FieldOption], key: KeyEvent) -> bool {
        if !Self::is_filterable(options) {
            return false;
        }
        match typed_char(key) {
            Some(letter) if letter != ' ' => {
                if self.filter.chars().count() < FILTER_CHARS_MAX {
                    self.filter.push(letter);
                }
            }
            _ if key.code == KeyCode::Backspace && self.filter.pop().is_some() => {
                if self.is_at_match(options) {
                    return true;
                }
            }
            _ => return false,
        }
        self.go_to_best_match(options);
        true
    }

    /// Adds pasted text to the filter.
    pub fn paste(&mut self, options: &[FieldOption], text: &str) {
        if Self::is_filterable(options) {
            let line = text.lines().next().unwrap_or_default().trim();
            let room = FILTER_CHARS_MAX.saturating_sub(self.filter.chars().count());
            self.filter.extend(line.chars().take(room));
            self.go_to_best_match(options);
        }
    }

    fn go_to_best_match(&mut self, options: &[FieldOption]) {
        let matching = self.matching(options);
        let filter = self.filter.to_lowercase();
        let begins = |index: &&usize| options[**index].label().to_lowercase().starts_with(&filter);
        let best = matching.iter().find(begins).or(matching.first());
        self.at = best.copied().unwrap_or(self.at);
    }

    /// Returns false if the key does something else.
    fn move_cursor(&mut self, options: &[FieldOption], key: KeyEvent, keymap: &Keymap) -> bool {
        let matching = self.matching(options);
        let Some(count) = Some(matching.len()).filter(|count| *count > 0) else {
            return false;
        };
        let place = matching.iter().position(|index| *index == self.at);
        let place = match (keymap.layer_key(key, &[KeyContext::Form]), typed_char(key)) {
            (Some(LayerKey::Left), _) => place.map_or(0, |place| (place + count - 1) % count),
            (Some(LayerKey::Right), _) => place.map_or(0, |place| (place + 1) % count),
            // The next option that begins with the letter.
            (_, Some(letter)) if letter != ' ' => {
                let begins = |place: &usize| {
                    let first = options[matching[*place]].label().chars().next();
                    first.is_some_and(|first| first.to_lowercase().eq(letter.to_lowercase()))
                };
                let mut later = (1..=count).map(|step| (place.unwrap_or(0) + step) % count);
                match later.find(begins) {
                    Some(place) => place,
                    None => return false,
                }
            }
            _ => return false,
        };
        self.at = matching[place];
        true
    }
}

fn is_erasing(key: KeyEvent) -> bool {
    matches!(key.code, KeyCode::Backspace | KeyCode::Delete)
}
