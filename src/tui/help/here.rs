//! The keys of the list, form or question that the help was opened over. They come first.

use crate::commands::{CommandRow, conversation, models, screen, servers};
use crate::tui::help::entries::{HelpEntry, HelpGroup};
use crate::tui::keymap::{Action, BindingGroup as G, Chord};
use crate::tui::widgets::list::ROW_HINT_PREFIX;

/// The keys of a numbered list.
const NUMBERS: &str = "0-9";

#[derive(Debug, Default)]
pub struct KeysHere {
    /// The hints of what is open, such as `Enter resume`.
    hints: Vec<String>,
    /// The groups with the keys of what is open.
    first: &'static [G],
}

impl KeysHere {
    /// `below` is the action that opens the layer below; most forms and texts have none.
    pub fn new(hints: &[String], below: Option<Action>, is_over_layer: bool) -> Self {
        let first: &[G] = match below {
            Some(Action::Command(row)) => groups_of(row),
            Some(_) => &[G::Lists, G::Numbers, G::Scrolling],
            None if hints.iter().any(|hint| hint.starts_with(NUMBERS)) => {
                &[G::Lists, G::Numbers, G::Scrolling]
            }
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
            let entries = self.hints.iter().flat_map(|hint| entries(hint)).collect();
            let title = "What is open now";
            groups.insert(0, HelpGroup { title, entries });
        }
    }
}

/// The groups with the keys of the layer that this command opens.
fn groups_of(row: &CommandRow) -> &'static [G] {
    const CONVERSATIONS: &[G] = &[G::Conversations, G::Lists, G::Scrolling];
    const SERVERS: &[G] = &[G::ServerList, G::Lists, G::Texts];
    let layers: [(&CommandRow, &'static [G]); 9] = [
        (&conversation::SESSIONS, CONVERSATIONS),
        (&conversation::EXPORT, CONVERSATIONS),
        (&conversation::DELETE, CONVERSATIONS),
        (&models::MODELS, &[G::ModelList, G::Lists, G::Scrolling]),
        (&servers::MCP, SERVERS),
        (&servers::TOOLS, SERVERS),
        (&servers::IMPORT, &[G::Imports, G::Lists, G::Scrolling]),
        (&servers::TRUST, &[G::Decisions, G::Lists, G::Scrolling]),
        (&screen::LOG, &[G::LogView, G::Texts, G::Scrolling]),
    ];
    let found = layers.iter().find(|(command, _)| *command == row);
    found.map_or(&[G::Lists, G::Numbers, G::Scrolling], |(_, groups)| groups)
}

/// The entries of a hint: one for `Enter resume`; two for `Tab then r rename`, the key that goes to
/// the rows and the letter that acts there; none for a hint without a key, such as
/// `Press a key to choose`.
fn entries(hint: &str) -> Vec<HelpEntry> {
    let entry = |names: &[&str], effect: &str| {
        let mut letters = effect.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        HelpEntry {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            description: first.chain(letters).collect(),
            found_by: Vec::new(),
        }
    };
    if let Some((rest, keys)) = hint.split_once(": ") {
        // The keys that scroll to hidden rows: `12 more rows: PgDn or y`.
        let names: Vec<&str> = keys.split(" or ").collect();
        let all_are_keys = names.iter().all(|name| are_keys(name));
        return match all_are_keys {
            true => vec![entry(&names, &format!("read on, {rest}"))],
            false => Vec::new(),
        };
    }
    let Some((keys, effect)) = hint.split_once(' ').filter(|(keys, _)| are_keys(keys)) else {
        return Vec::new();
    };
    match effect.strip_prefix(ROW_HINT_PREFIX) {
        Some(row_hint) => {
            let mut both = vec![entry(&[keys], "go to the rows, where letters act")];
            both.extend(entries(row_hint));
            both
        }
        None if keys == NUMBERS => vec![entry(&[keys], "choose the row with this number")],
        None => vec![entry(&[keys], effect)],
    }
}

/// Whether a part of a hint names keys: `Enter`, `Up/Down` or `0-9`.
fn are_keys(text: &str) -> bool {
    let is_key = |name: &str| name.parse::<Chord>().is_ok();
    text == NUMBERS || is_key(text) || text.split('/').all(is_key)
}
