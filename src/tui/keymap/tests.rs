//! Tests that the table of actions is consistent, that keys of other layouts find their actions, and
//! that the user's keys are combined with the defaults.

use super::*;
use crate::domain::KeySettings;
use crate::fixtures::key_settings;
use crossterm::event::KeyModifiers;
use std::collections::HashSet;
use std::sync::Arc;

#[test]
fn no_key_has_two_actions_in_one_scope() {
    let mut seen = HashSet::new();
    for binding in TABLE.iter() {
        for key in binding.default_keys {
            assert!(
                seen.insert((key.to_string(), format!("{:?}", binding.scope))),
                "{key}"
            );
        }
    }
}

#[test]
fn binding_names_are_unique() {
    let names: HashSet<_> = all_bindings().map(|binding| binding.name).collect();
    assert_eq!(names.len(), all_bindings().count());
}

#[test]
fn control_with_jamo_matches_the_latin_key() {
    let event = KeyEvent::new(KeyCode::Char('ㅊ'), KeyModifiers::CONTROL);
    let keymap = Keymap::default();
    assert_eq!(keymap.find_action(event, |_| true), Some(A::Interrupt));
}

pub(super) fn keymap(settings: KeySettings) -> Keymap {
    Keymap::new(Arc::new(settings), KeyProtocol::Legacy)
}

pub(super) fn keys(keymap: &Keymap, name: &str) -> String {
    let binding = all_bindings().find(|binding| binding.name == name);
    let keys = keymap.keys(binding.expect("a binding")).iter();
    keys.map(Chord::to_string).collect::<Vec<_>>().join(" ")
}

pub(super) fn banners(keymap: &Keymap) -> Vec<String> {
    let banners = keymap.banners().iter();
    banners
        .map(|banner| crate::front_end::advice::notice_line(&banner.notice))
        .collect()
}

pub(super) fn refusal(action: &str, names: &[&str], protocol: KeyProtocol) -> String {
    let settings = key_settings(&[(action, names)]);
    let keymap = Keymap::new(Arc::new(settings), protocol);
    for binding in all_bindings() {
        assert_eq!(keymap.keys(binding), binding.default_keys, "{action}");
    }
    let [banner] = banners(&keymap).try_into().expect("one banner");
    let prefix = format!("config.json, line 3: `keys.{action}`: ");
    banner.strip_prefix(&prefix).expect(&banner).to_owned()
}

#[test]
fn a_chosen_key_is_taken_from_the_default_of_another_action() {
    let keymap = keymap(key_settings(&[("commands", &["ctrl-k"])]));
    assert_eq!(banners(&keymap), [""; 0]);
    assert_eq!(keys(&keymap, "commands"), "Ctrl+K");
    assert_eq!(keys(&keymap, "delete-to-end"), "");
    let pressed = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
    assert_eq!(keymap.global_action(pressed('k')), Some(A::Commands));
    assert_eq!(keymap.global_action(pressed('ㅏ')), Some(A::Commands));
    assert_eq!(keymap.text_field_action(pressed('k')), None);
    assert_eq!(keymap.find_action(pressed('p'), |_| true), None);
}

#[test]
fn an_action_keeps_the_other_keys_of_its_default() {
    let keymap = keymap(key_settings(&[("help", &["Ctrl+A", "F1"])]));
    assert_eq!(keys(&keymap, "help"), "Ctrl+A F1");
    assert_eq!(keys(&keymap, "line-start"), "Home");
    assert_eq!(keymap.key_name(A::HELP).as_deref(), Some("Ctrl+A"));
}

#[test]
fn an_empty_list_of_keys_leaves_an_action_without_keys() {
    let keymap = keymap(key_settings(&[("commands", &[]), ("sidebar", &[])]));
    assert_eq!(banners(&keymap), [""; 0]);
    assert_eq!(keymap.hint(A::Commands, "commands"), None);
    assert_eq!(keymap.hint(A::SIDEBAR, "servers"), None);
}

#[test]
fn the_second_of_two_entries_with_the_same_key_keeps_its_default() {
    let keymap = keymap(key_settings(&[
        ("commands", &["Ctrl+K"]),
        ("retry", &["Ctrl+ㅏ"]),
        ("log", &["Alt+L"]),
    ]));
    let expected = "config.json, line 4: `keys.retry`: line 3 gives Ctrl+K to `commands`. \
                    Until you correct it, its key is Alt+R.";
    assert_eq!(banners(&keymap), [expected]);
    assert_eq!(keys(&keymap, "commands"), "Ctrl+K");
    assert_eq!(keys(&keymap, "retry"), "Alt+R");
    assert_eq!(keys(&keymap, "log"), "Alt+L");
}

#[test]
fn a_default_key_that_another_entry_took_does_not_come_back() {
    let keymap = keymap(key_settings(&[
        ("commands", &["Alt+R"]),
        ("retry", &["Nonsense"]),
    ]));
    assert_eq!(keys(&keymap, "retry"), "");
    let [banner] = banners(&keymap).try_into().expect("one banner");
    assert!(banner.ends_with("until then it has no key."), "{banner}");
}

#[test]
fn two_actions_can_swap_their_keys() {
    let settings = [
        ("send", ["Alt+Enter"].as_slice()),
        ("newline", &["Enter", "Ctrl+J"]),
    ];
    let keymap = keymap(key_settings(&settings));
    assert_eq!(banners(&keymap), [""; 0]);
    let enter = |modifiers| KeyEvent::new(KeyCode::Enter, modifiers);
    let newline = Some(A::Edit(Edit::Newline));
    assert_eq!(keymap.text_field_action(enter(KeyModifiers::NONE)), newline);
    assert_eq!(keymap.text_field_action(enter(ALT)), Some(A::Send));
    // In panes, Enter still unfolds.
    let in_pane = keymap.find_action(enter(KeyModifiers::NONE), |scope| scope == Scope::Pane);
    assert_eq!(in_pane, Some(A::ToggleFold));
    let hint = keymap.field_hint(A::Edit(Edit::Newline), "newline");
    assert_eq!(hint.as_deref(), Some("Ctrl+J newline"));
}

#[test]
fn a_key_may_act_differently_on_a_selected_row_than_in_the_rest_of_its_pane() {
    let keymap = keymap(key_settings(&[
        ("next-line", &["j"]),
        ("open-call", &["j"]),
    ]));
    assert_eq!(banners(&keymap), [""; 0]);
    let pressed = KeyEvent::new(KeyCode::Char('j'), KeyModifiers::NONE);
    let on_call = keymap.find_action(pressed, |scope| !matches!(scope, Scope::Layer(_)));
    assert_eq!(on_call, Some(A::OpenCall));
    let in_pane = keymap.find_action(pressed, |scope| scope == Scope::Pane);
    assert_eq!(in_pane, Some(A::NextLine));
}

#[test]
fn entries_that_would_make_the_program_unusable_are_refused() {
    for (action, names, expected) in [
        (
            "interrupt",
            ["F9"].as_slice(),
            "Ctrl+C must remain one of its keys, to stop a turn and to quit. \
             Until you correct it, its key is Ctrl+C.",
        ),
        (
            "back",
            &[],
            "Esc must remain one of its keys, to close lists and dialogs. \
             Until you correct it, its key is Esc.",
        ),
        (
            "send",
            &[],
            "without a key, no message could be sent. Until you correct it, its key is Enter.",
        ),
        (
            "copy",
            &["Ctrl+C"],
            "Ctrl+C always stops the turn and quits. Until you correct it, its key is Ctrl+Y.",
        ),
        (
            "log",
            &["Esc"],
            "Esc always closes lists and dialogs. Until you correct it, its key is F12.",
        ),
        (
            "retry",
            &["y"],
            "y types text into the message. Until you correct it, its key is Alt+R.",
        ),
        (
            "word-left",
            &["ㅏ"],
            "k types text into the message. \
             Until you correct it, its key is Alt+B or Ctrl+Left or Alt+Left.",
        ),
        (
            "suspend",
            &["Enter"],
            "Enter is used by lists, questions and the message. Use a function key, or a character \
             with Ctrl or Alt. Until you correct it, its key is Ctrl+Z.",
        ),
        (
            "newline",
            &["Enter"],
            "no key would be left to send the message. Give `send` one besides Enter. \
             Until you correct it, its key is Alt+Enter or Shift+Enter or Ctrl+J.",
        ),
    ] {
        assert_eq!(refusal(action, names, KeyProtocol::Legacy), expected);
    }
}

#[test]
fn unknown_names_of_actions_and_keys_are_refused_with_advice() {
    let refusal = |action, names| refusal(action, names, KeyProtocol::Legacy);
    assert_eq!(
        refusal("comands", &["Ctrl+K"]),
        "there is no such action. Did you mean `commands`? \
         Correct it in the file; the other keys apply."
    );
    assert_eq!(
        refusal("help", &["F1", "Cmd+K"]),
        "`Cmd+K` is not a key: terminals do not pass this modifier on. \
         Until you correct it, its key is F1."
    );
}

#[test]
fn keys_that_the_terminal_cannot_send_are_refused() {
    let reason = refusal("find", &["Ctrl+I"], KeyProtocol::Legacy);
    let expected = "this terminal sends Ctrl+I as Tab, because it lacks the enhanced keyboard \
                    protocol. Until you correct it, its key is Ctrl+F.";
    assert_eq!(reason, expected);
    let settings = Arc::new(key_settings(&[("find", &["Ctrl+I"])]));
    let mut keymap = Keymap::new(settings, KeyProtocol::Enhanced);
    assert_eq!(banners(&keymap), [""; 0]);
    assert_eq!(keys(&keymap, "find"), "Ctrl+I");
    keymap.set_protocol(KeyProtocol::Legacy);
    assert_eq!(banners(&keymap).len(), 1);
    assert_eq!(keys(&keymap, "find"), "Ctrl+F");
}

#[test]
fn control_with_punctuation_is_found_as_a_legacy_terminal_reports_it() {
    let keymap = keymap(key_settings(&[("undo", &["Ctrl+\\"])]));
    for reported in ['\\', '4'] {
        let event = KeyEvent::new(KeyCode::Char(reported), KeyModifiers::CONTROL);
        assert_eq!(
            keymap.global_action(event),
            Some(A::Command(&crate::commands::turns::UNDO)),
            "{reported}"
        );
    }
}

#[test]
fn banners_about_unusable_entries_are_limited_in_number() {
    let names: Vec<String> = (0..50).map(|number| format!("action-{number}")).collect();
    let entries: Vec<(&str, &[&str])> = names.iter().map(|name| (name.as_str(), &[][..])).collect();
    let settings = KeySettings {
        unread_entries: 7,
        ..key_settings(&entries)
    };
    let banners = banners(&keymap(settings));
    assert_eq!(banners.len(), 5);
    let last = banners.last().expect("five");
    assert!(last.contains("53 more entries"), "{last}");
    assert!(last.contains("F12 lists every problem."), "{last}");
}

#[test]
fn key_settings_equal_to_the_defaults_change_nothing() {
    let names: Vec<(&str, Vec<String>)> = all_bindings()
        .map(|row| {
            let keys = row.default_keys.iter().map(Chord::to_string);
            (row.name, keys.collect())
        })
        .collect();
    let entries = names.iter().enumerate();
    let entries = entries.map(|(index, (action, keys))| crate::domain::KeyEntry {
        action: (*action).to_owned(),
        keys: Ok(keys.clone()),
        line: index + 1,
    });
    let settings = KeySettings {
        entries: entries.collect(),
        ..KeySettings::default()
    };
    let keymap = keymap(settings);
    assert_eq!(banners(&keymap), [""; 0]);
    for binding in all_bindings() {
        assert_eq!(keymap.keys(binding), binding.default_keys);
    }
}

#[test]
fn every_key_of_a_command_is_one() {
    for row in crate::commands::COMMANDS {
        let named: Vec<String> = row.keys.iter().map(|key| (*key).to_owned()).collect();
        let mut bindings = all_bindings();
        let binding = bindings.find(|binding| binding.action == A::Command(row));
        let keys = binding.expect("a binding").default_keys.iter();
        assert_eq!(keys.map(Chord::to_string).collect::<Vec<_>>(), named);
    }
}

#[test]
fn a_command_gets_its_keys_by_each_of_its_names() {
    for name in ["exit", "quit"] {
        let keymap = keymap(key_settings(&[(name, &["Ctrl+Q"])]));
        assert_eq!(banners(&keymap), [""; 0]);
        assert_eq!(keymap.key_name(A::EXIT).as_deref(), Some("Ctrl+Q"));
    }
    let both = keymap(key_settings(&[("quit", &["F6"]), ("exit", &["Ctrl+Q"])]));
    assert_eq!(banners(&both), [""; 0]);
    assert_eq!(keys(&both, "exit"), "F6 Ctrl+Q");
}
