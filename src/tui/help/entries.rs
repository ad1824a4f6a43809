//! The contents of the help: one entry per action and group, with all its keys and commands.

use crate::tui::keymap::{Binding, BindingGroup, Chord, Keymap, all_bindings};

#[derive(Debug, PartialEq, Eq)]
pub struct HelpGroup {
    pub title: &'static str,
    pub entries: Vec<HelpEntry>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct HelpEntry {
    /// Keys, then commands with their arguments.
    pub names: Vec<String>,
    pub description: &'static str,
    /// The names of the actions in the settings, which the filter finds too.
    pub actions: Vec<&'static str>,
}

/// The groups with the entries that contain every word of `filter` in their keys, commands,
/// description or action names. A word that occurs in the title of a group matches all its entries.
pub fn matching_groups(filter: &str, keymap: &Keymap) -> Vec<HelpGroup> {
    let filter = filter.to_lowercase();
    let words: Vec<&str> = filter.split_whitespace().collect();
    let groups = BindingGroup::ALL.into_iter().map(|group| HelpGroup {
        title: group.title(),
        entries: entries(group, keymap)
            .into_iter()
            .filter(|entry| !entry.names.is_empty() && entry.matches(group.title(), &words))
            .collect(),
    });
    groups.filter(|group| !group.entries.is_empty()).collect()
}

/// The entries of a group. Bindings of one action are one entry, so aliases occur once. An action
/// without keys and commands is omitted.
fn entries(group: BindingGroup, keymap: &Keymap) -> Vec<HelpEntry> {
    let bindings: Vec<&Binding> = all_bindings().filter(|row| row.group == group).collect();
    let is_first = |index: usize| {
        let earlier = &bindings[..index];
        earlier
            .iter()
            .all(|row| row.action != bindings[index].action)
    };
    let first_bindings = (0..bindings.len()).filter(|index| is_first(*index));
    first_bindings
        .map(|index| {
            let first = bindings[index];
            let same_action = || bindings.iter().filter(|row| row.action == first.action);
            let keys = same_action().flat_map(|row| keymap.keys(row).iter().map(Chord::to_string));
            let commands = same_action().filter_map(|row| {
                let command = format!("{} {}", row.command?, row.usage);
                Some(command.trim_end().to_owned())
            });
            HelpEntry {
                names: keys.chain(commands).collect(),
                description: first.description,
                actions: same_action().map(|row| row.name).collect(),
            }
        })
        .collect()
}

impl HelpEntry {
    fn matches(&self, title: &str, words: &[&str]) -> bool {
        let (names, actions) = (self.names.join(" "), self.actions.join(" "));
        let text = format!("{title} {names} {} {actions}", self.description);
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_key_and_command_is_listed() {
        let groups = matching_groups("", &Keymap::default());
        let entries = groups.iter().flat_map(|group| &group.entries);
        let listed: Vec<&String> = entries.flat_map(|entry| &entry.names).collect();
        let keys: usize = all_bindings().map(|row| row.default_keys.len()).sum();
        let commands = all_bindings().filter(|row| row.command.is_some()).count();
        assert_eq!(listed.len(), keys + commands);
        let titles: BTreeSet<_> = groups.iter().map(|group| group.title).collect();
        assert_eq!(titles.len(), BindingGroup::ALL.len());
    }

    #[test]
    fn aliases_share_an_entry() {
        let found = matching_groups("/clear", &Keymap::default());
        let names = ["/new".to_owned(), "/clear".to_owned()];
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].entries.len(), 1);
        assert_eq!(found[0].entries[0].names, names);
    }

    #[test]
    fn every_action_is_found_by_its_name() {
        let keymap = Keymap::default();
        for binding in all_bindings() {
            let has_name = !keymap.keys(binding).is_empty() || binding.command.is_some();
            let groups = matching_groups(binding.name, &keymap);
            let mut found = groups.iter().flat_map(|group| &group.entries);
            let is_found = found.any(|entry| entry.description == binding.description);
            assert!(is_found || !has_name, "{}", binding.name);
        }
    }

    #[test]
    fn every_word_of_the_filter_has_to_match() {
        let count = |filter| -> usize {
            let groups = matching_groups(filter, &Keymap::default());
            groups.iter().map(|group| group.entries.len()).sum()
        };
        assert_eq!(count("ctrl+w"), 1);
        assert_eq!(count("WORD delete"), 2, "to the left and to the right");
        assert_eq!(count("delete nonsense"), 0);
        assert_eq!(count("undo-edit"), 1, "the name of an action matches");
        assert!(count("servers pane") >= 9, "the title of a group matches");
    }
}
