//! The contents of the help: first the commands, then one entry per action and group, with its keys.

use crate::commands::{COMMANDS, CommandRow};
use crate::tui::help::here::KeysHere;
use crate::tui::keymap::{Binding, BindingGroup, BindingScope, Chord, Keymap, all_bindings};

#[derive(Debug, PartialEq, Eq)]
pub struct HelpGroup {
    pub title: &'static str,
    pub entries: Vec<HelpEntry>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct HelpEntry {
    /// Keys, or a command with its arguments and its aliases.
    pub names: Vec<String>,
    pub description: String,
    /// The names of the actions in the settings, and other words that the filter finds too.
    pub found_by: Vec<&'static str>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HelpTopic {
    #[default]
    Everything,
    /// All actions with their names in the settings.
    ChangingKeys,
}

/// The groups with the entries that contain every word of `filter` in their keys, commands,
/// description or other words. A word that occurs in the title of a group matches all its entries.
/// `home` is the program's folder.
pub fn matching_groups(
    topic: HelpTopic,
    filter: &str,
    home: &str,
    keymap: &Keymap,
    here: &KeysHere,
) -> Vec<HelpGroup> {
    let filter = filter.to_lowercase();
    let words: Vec<&str> = filter.split_whitespace().collect();
    let files = file_group(topic, home);
    let bindings = BindingGroup::ALL.into_iter().map(|group| HelpGroup {
        title: group.title(),
        entries: match (topic, group) {
            (HelpTopic::Everything, BindingGroup::Conversations) => {
                let keys = entries(topic, group, keymap);
                session_filters().into_iter().chain(keys).collect()
            }
            _ => entries(topic, group, keymap),
        },
    });
    let mut groups: Vec<HelpGroup> = match topic {
        HelpTopic::Everything => std::iter::once(command_group())
            .chain(bindings)
            .chain([files])
            .collect(),
        HelpTopic::ChangingKeys => std::iter::once(files).chain(bindings).collect(),
    };
    here.put_first(&mut groups);
    let matching = groups.into_iter().map(|mut group| {
        let title = group.title;
        group
            .entries
            .retain(|entry| !entry.names.is_empty() && entry.matches(title, &words));
        group
    });
    matching.filter(|group| !group.entries.is_empty()).collect()
}

/// All commands, those that are used most first.
fn command_group() -> HelpGroup {
    let entries = COMMANDS.iter().map(|row| {
        let usage = format!("{} {}", row.name, row.usage);
        let aliases = row.aliases.iter().map(|alias| (*alias).to_owned());
        HelpEntry {
            names: std::iter::once(usage.trim_end().to_owned())
                .chain(aliases)
                .collect(),
            description: row.description.to_owned(),
            found_by: vec![row.binding, row.search_words],
        }
    });
    HelpGroup {
        title: "Commands",
        entries: entries.collect(),
    }
}

/// The files in which the user changes keys and adds prompt templates.
fn file_group(topic: HelpTopic, home: &str) -> HelpGroup {
    let path = |name: &str| match home {
        "" => name.to_owned(),
        home => format!("{home}/{name}"),
    };
    let keys = HelpEntry {
        names: vec![path("config.json")],
        description: "Changes keys: \"keys\": { \"commands\": \"Ctrl+K\", \"retry\": [\"F6\", \
                      \"Alt+R\"] }. Applies when the file is saved. /keys lists the names of all \
                      actions."
            .to_owned(),
        found_by: vec!["shortcuts rebind remap keybinding customize settings"],
    };
    let templates = HelpEntry {
        names: vec![path("prompts/NAME.md")],
        description: "A prompt template of yours: /NAME sends its text, after asking for fields \
                      such as {{language}}."
            .to_owned(),
        found_by: vec!["own saved snippet"],
    };
    HelpGroup {
        title: "Your files",
        entries: match topic {
            HelpTopic::Everything => vec![keys, templates],
            HelpTopic::ChangingKeys => vec![keys],
        },
    }
}

/// What can be typed into the list of conversations, besides words.
fn session_filters() -> [HelpEntry; 2] {
    let found_by = vec!["filter search find date day"];
    [
        HelpEntry {
            names: vec!["model:NAME".to_owned()],
            description: "Typed in the list: filters by a part of the model's name".to_owned(),
            found_by: found_by.clone(),
        },
        HelpEntry {
            names: vec!["after:DAY".to_owned(), "before:DAY".to_owned()],
            description: "Typed in the list: filters by the last change. DAY is 2026-11-01, \
                          2026-11, today, \"last month\" or an age such as 7d or 3m."
                .to_owned(),
            found_by,
        },
    ]
}

/// The entries of a group. Bindings of one action are one entry. In the general help, an action
/// without keys has an entry without names, which [`matching_groups`] drops.
fn entries(topic: HelpTopic, group: BindingGroup, keymap: &Keymap) -> Vec<HelpEntry> {
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
            HelpEntry {
                names: match topic {
                    HelpTopic::Everything => keys.collect(),
                    HelpTopic::ChangingKeys => std::iter::once(format!("\"{}\"", first.name))
                        .chain(keys)
                        .collect(),
                },
                description: description(first),
                found_by: same_action().flat_map(found_by).collect(),
            }
        })
        .collect()
}

/// The names and search words by which the filter finds a binding.
fn found_by(binding: &&Binding) -> Vec<&'static str> {
    let command = binding.command().into_iter();
    let names = command.flat_map(CommandRow::names);
    names.chain([binding.name, binding.search_words]).collect()
}

/// The description. The same key may do something else in the message, so the help says where a key of
/// the panes works, unless its group does.
fn description(binding: &Binding) -> String {
    let names_place = matches!(
        binding.group,
        BindingGroup::Chat | BindingGroup::ServersPane
    );
    match binding.scope == BindingScope::Pane && !names_place {
        true => format!("{} (the key: outside the message)", binding.description),
        false => binding.description.to_owned(),
    }
}

impl HelpEntry {
    fn matches(&self, title: &str, words: &[&str]) -> bool {
        let (names, others) = (self.names.join(" "), self.found_by.join(" "));
        let text = format!("{title} {names} {} {others}", self.description);
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn everything(filter: &str, keymap: &Keymap) -> Vec<HelpGroup> {
        let here = KeysHere::default();
        matching_groups(HelpTopic::Everything, filter, "", keymap, &here)
    }

    #[test]
    fn every_key_and_command_is_listed() {
        let groups = everything("", &Keymap::default());
        let entries = groups.iter().flat_map(|group| &group.entries);
        let listed: Vec<&String> = entries.flat_map(|entry| &entry.names).collect();
        let keys: usize = all_bindings().map(|row| row.default_keys.len()).sum();
        let commands: usize = COMMANDS.iter().map(|row| row.names().count()).sum();
        let (files, session_filters) = (2, 3);
        assert_eq!(listed.len(), keys + commands + files + session_filters);
        let titles: BTreeSet<_> = groups.iter().map(|group| group.title).collect();
        assert_eq!(titles.len(), groups.len());
        let has_keys = |group: &BindingGroup| {
            let mut bindings = all_bindings().filter(|row| row.group == *group);
            bindings.any(|row| !row.default_keys.is_empty())
        };
        let with_keys = BindingGroup::ALL.iter().filter(|group| has_keys(group));
        assert_eq!(titles.len(), with_keys.count() + 2);
    }

    #[test]
    fn the_help_starts_with_the_commands_and_a_sentence_for_each() {
        let groups = everything("", &Keymap::default());
        assert_eq!(groups[0].title, "Commands");
        let is_command = |name: &String| name.starts_with('/');
        for (index, group) in groups.iter().enumerate() {
            for entry in &group.entries {
                assert_eq!(entry.names.iter().any(is_command), index == 0, "{entry:?}");
                assert!(!entry.description.is_empty(), "{entry:?}");
            }
        }
        let found = everything("/exit", &Keymap::default());
        assert_eq!(found[0].entries[0].names, ["/exit", "/quit"]);
        let sentence = "Quit; all MCP sessions are closed";
        assert_eq!(found[0].entries[0].description, sentence);
    }

    #[test]
    fn aliases_of_a_command_share_an_entry_of_the_help() {
        let found = everything("/clear", &Keymap::default());
        let names = ["/new".to_owned(), "/clear".to_owned()];
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].entries.len(), 1);
        assert_eq!(found[0].entries[0].names, names);
    }

    #[test]
    fn every_action_is_found_by_its_name() {
        let keymap = Keymap::default();
        for binding in all_bindings() {
            let has_name = !keymap.keys(binding).is_empty() || binding.command().is_some();
            let groups = everything(binding.name, &keymap);
            let mut found = groups.iter().flat_map(|group| &group.entries);
            let is_found = found.any(|entry| entry.description.starts_with(binding.description));
            assert!(is_found || !has_name, "{}", binding.name);
        }
    }

    #[test]
    fn help_names_the_place_of_keys_that_do_something_else_in_the_message() {
        let place = "(the key: outside the message)";
        let found = everything("clipboard yank last answer", &Keymap::default());
        assert!(found[1].entries[0].description.ends_with(place));
        let groups = everything(place, &Keymap::default());
        let found = groups.iter().flat_map(|group| &group.entries);
        assert_eq!(found.count(), 3, "copying, and both ends of the chat");
    }

    #[test]
    fn every_word_of_the_filter_has_to_match() {
        let count = |filter| -> usize {
            let groups = everything(filter, &Keymap::default());
            groups.iter().map(|group| group.entries.len()).sum()
        };
        assert_eq!(count("ctrl+w"), 1);
        assert_eq!(count("WORD delete"), 3, "two to the left, one to the right");
        assert_eq!(count("delete nonsense"), 0);
        assert_eq!(count("undo-edit"), 1, "the name of an action matches");
        assert!(count("servers pane") >= 9, "the title of a group matches");
    }
}
