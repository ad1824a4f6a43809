//! The keys of the list, form or question that the help was opened over. They come first.

use crate::tui::help::entries::{HelpEntry, HelpGroup};
use crate::tui::keymap::{Action, BindingGroup as G};

#[derive(Debug, Default)]
pub struct KeysHere {
    /// The hints of what is open, such as `Enter resume`.
    hints: Vec<String>,
    /// The groups with the keys of what is open.
    first: &'static [G],
}

impl KeysHere {
    /// `below` is the action of the layer below, which a form or a text does not have.
    pub fn new(hints: &[String], below: Option<Action>, is_over_layer: bool) -> Self {
        let first: &[G] = match below {
            Some(Action::Sessions | Action::Export | Action::DeleteSession) => {
                &[G::Conversations, G::Lists, G::Scrolling]
            }
            Some(Action::Models) => &[G::ModelList, G::Lists, G::Scrolling],
            Some(Action::Mcp | Action::Tools) => &[G::ServerList, G::Lists, G::Texts],
            Some(Action::ImportServers) => &[G::Imports, G::Lists, G::Scrolling],
            Some(Action::Trust) => &[G::Decisions, G::Lists, G::Scrolling],
            Some(Action::LeftTasks) => &[G::TaskList, G::Lists, G::Scrolling],
            Some(Action::Log) => &[G::LogView, G::Texts, G::Scrolling],
            Some(_) => &[G::Lists, G::Numbers, G::Scrolling],
            None if is_over_layer => &[G::Forms, G::Fields, G::Lists, G::Texts],
            None if !hints.is_empty() => &[G::Answers, G::Questions],
            None => &[],
        };
        Self {
            hints: hints.to_vec(),
            first,
        }
    }

    /// Puts the groups with the keys of what is open first, after its hints.
    pub fn put_first(&self, groups: &mut Vec<HelpGroup>) {
        let rank = |group: &HelpGroup| {
            let mut first = self.first.iter();
            first.position(|first| first.title() == group.title)
        };
        groups.sort_by_key(|group| rank(group).unwrap_or(usize::MAX));
        if !self.hints.is_empty() {
            let entries = self.hints.iter().filter_map(|hint| entry(hint)).collect();
            let title = "What is open now";
            groups.insert(0, HelpGroup { title, entries });
        }
    }
}

/// `Enter resume` as an entry.
fn entry(hint: &str) -> Option<HelpEntry> {
    let (key, effect) = hint.split_once(' ')?;
    let mut letters = effect.chars();
    let description = letters.next()?.to_uppercase().chain(letters).collect();
    Some(HelpEntry {
        names: vec![key.to_owned()],
        description,
        found_by: Vec::new(),
    })
}
