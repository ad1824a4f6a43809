//! The keys of lists, forms, texts and questions: their defaults are consistent, and changed ones
//! keep everything usable.

use super::layers::{KeyContext, LayerKey};
use super::tests::{banners, keymap, keys, refusal};
use super::*;
use crate::fixtures::key_settings;
use crossterm::event::KeyModifiers;

fn press(name: &str) -> KeyEvent {
    let chord: Chord = name.parse().expect(name);
    KeyEvent::new(chord.code, chord.modifiers)
}

#[test]
fn no_default_key_has_two_actions_in_layers_that_are_open_together() {
    for (index, row) in LAYER_TABLE.iter().enumerate() {
        for other in &LAYER_TABLE[..index] {
            let is_nested = row.is_exception_to(other) || other.is_exception_to(row);
            let shared = row
                .default_keys
                .iter()
                .find(|key| other.default_keys.contains(key));
            let clashes = row.competes_with(other) && !is_nested;
            assert!(
                shared.is_none() || !clashes,
                "{} and {}",
                row.name,
                other.name
            );
        }
    }
}

#[test]
fn the_settings_review_recognizes_all_actions_that_answer_questions() {
    for row in LAYER_TABLE {
        let answers = [
            KeyContext::Question,
            KeyContext::QuestionText,
            KeyContext::Answer,
            KeyContext::Confirmation,
        ];
        let settings = key_settings(&[(row.name, &["x"])]);
        let is_answer = answers.map(BindingScope::Layer).contains(&row.scope);
        assert_eq!(
            settings.answer_entries().count() > 0,
            is_answer,
            "{}",
            row.name
        );
    }
}

#[test]
fn a_changed_key_acts_only_where_it_was_changed() {
    let keymap = keymap(key_settings(&[("scroll.down", &["Down", "Ctrl+P"])]));
    assert_eq!(banners(&keymap), [""; 0]);
    let list = [KeyContext::ScrollableList, KeyContext::SearchList];
    let down = Some(LayerKey::Down);
    assert_eq!(keymap.layer_key(press("Ctrl+P"), &list), down);
    assert_eq!(keymap.layer_key(press("Down"), &list), down);
    assert_eq!(keymap.layer_key(press("Ctrl+P"), &[KeyContext::Form]), None);
    // In the chat, the key still opens the palette.
    assert_eq!(
        keymap.global_action(press("Ctrl+P")),
        Some(Action::Commands)
    );
    assert_eq!(keys(&keymap, "commands"), "Ctrl+P");
}

#[test]
fn named_keys_act_with_any_modifiers_but_letters_do_not() {
    let keymap = keymap(key_settings(&[("text.page-down", &["Space", "f"])]));
    let text = [KeyContext::PagedText, KeyContext::Text];
    let find = |name| keymap.layer_key(press(name), &text);
    assert_eq!(find("Shift+Space"), Some(LayerKey::PageDown));
    assert_eq!(find("Ctrl+End"), Some(LayerKey::End));
    assert_eq!(find("f"), Some(LayerKey::PageDown));
    assert_eq!(find("Ctrl+F"), None);
    let control_y = KeyEvent::new(KeyCode::Char('y'), KeyModifiers::CONTROL);
    assert_eq!(keymap.layer_key(control_y, &text), None);
}

#[test]
fn the_rows_of_one_list_may_use_a_key_of_all_lists() {
    let settings = [
        ("sessions.delete", ["j"].as_slice()),
        ("models.pull", &["d"]),
    ];
    let keymap = keymap(key_settings(&settings));
    assert_eq!(banners(&keymap), [""; 0]);
    let rows = |own| [KeyContext::SearchList, KeyContext::SearchListRows, own];
    let find = |key, own| keymap.layer_key(press(key), &rows(own));
    assert_eq!(find("j", KeyContext::Sessions), Some(LayerKey::Delete));
    assert_eq!(find("j", KeyContext::Trust), Some(LayerKey::Down));
    // Another action in the same rows loses its default key.
    assert_eq!(find("d", KeyContext::Models), Some(LayerKey::Pull));
    assert_eq!(keys(&keymap, "models.delete"), "");
}

#[test]
fn entries_whose_layers_are_open_together_must_not_share_a_key() {
    let settings = [
        ("text.copy", ["c"].as_slice()),
        ("text.page-down", &["c"]),
        ("trust.revoke", &["c"]),
        ("redraw", &["Ctrl+E"]),
        ("form.next", &["Ctrl+E"]),
    ];
    let keymap = keymap(key_settings(&settings));
    let expected = [
        "config.json, line 4: `keys.text.page-down`: line 3 gives c to `text.copy`. \
         Until you correct it, its key is Space.",
        "config.json, line 7: `keys.form.next`: line 6 gives Ctrl+E to `redraw`. \
         Until you correct it, its key is Tab.",
    ];
    assert_eq!(banners(&keymap), expected);
    assert_eq!(keys(&keymap, "trust.revoke"), "c");
}

#[test]
fn entries_that_would_make_a_layer_unusable_are_refused() {
    let lists = "Give `list.back` one besides Esc. Until you correct it, its key is Tab.";
    for (action, names, expected) in [
        (
            "list.back",
            [].as_slice(),
            "it needs a key: otherwise nothing could be closed. Until you correct it, its key is Esc.",
        ),
        (
            "form.confirm",
            &[],
            "it needs a key: otherwise nothing could be chosen or confirmed. Until you correct it, its key is Enter.",
        ),
        (
            "list.switch",
            &["Esc"],
            &format!("no key would be left for `list.back`. {lists}"),
        ),
        (
            "text.copy",
            &["Esc"],
            "Esc always closes a text or a list. Until you correct it, its key is y.",
        ),
        (
            "scroll.down",
            &["j"],
            "j types text there. Until you correct it, its key is Down.",
        ),
        (
            "form.next",
            &["Backspace"],
            "Backspace deletes text there. Until you correct it, its key is Tab.",
        ),
        (
            "list.choose",
            &["Ctrl+C"],
            "Ctrl+C always stops the turn and quits. Until you correct it, its key is Enter.",
        ),
        (
            "list.chose",
            &["Ctrl+N"],
            "there is no such action. Did you mean `list.choose`? Correct it in the file; the other keys apply.",
        ),
    ] {
        assert_eq!(
            refusal(action, names, KeyProtocol::Legacy),
            expected,
            "{action}"
        );
    }
    // With another key to close a list, Esc is free.
    let keymap = keymap(key_settings(&[
        ("list.back", &["Ctrl+Q"]),
        ("list.switch", &["Tab", "Esc"]),
    ]));
    assert_eq!(banners(&keymap), [""; 0]);
    let found = keymap.layer_key(press("Esc"), &[KeyContext::SearchList]);
    assert_eq!(found, Some(LayerKey::Switch));
}

#[test]
fn only_letters_answer_questions() {
    for name in ["Enter", "Space", "F5", "Ctrl+Y", "Tab", "1", ";", "Shift+Y"] {
        for action in ["answer.yes", "answer.session", "confirm.yes"] {
            let reason = refusal(action, &[name], KeyProtocol::Enhanced);
            let expected = "is easily pressed by accident. Only a letter can answer a question.";
            assert!(reason.contains(expected), "{action} {name}: {reason}");
        }
    }
    let reason = refusal("confirm.yes", &["n"], KeyProtocol::Legacy);
    assert_eq!(reason, "n declines. Until you correct it, its key is y.");
    let reason = refusal("question.choose", &["y"], KeyProtocol::Legacy);
    assert_eq!(
        reason,
        "y types text there. Until you correct it, its key is Enter."
    );
}

#[test]
fn a_letter_that_declines_in_one_question_grants_nothing_in_another() {
    let settings = [
        ("answer.session", ["n"].as_slice()),
        ("answer.until-exit", &["c"]),
    ];
    let keymap = keymap(key_settings(&settings));
    assert_eq!(banners(&keymap), [""; 0]);
    assert_eq!(keys(&keymap, "answer.no"), "");
    assert_eq!(keys(&keymap, "answer.cancel"), "");
    assert_eq!(keys(&keymap, "answer.send-anyway"), "");
    // Answers that no question offers together share a letter by default, and keep it.
    assert_eq!(keys(&keymap, "answer.full-height"), "o");
}

#[test]
fn changed_chat_keys_take_none_from_layers_except_for_global_actions() {
    let settings = [
        ("commands", ["Ctrl+Y"].as_slice()),
        ("up", &["Ctrl+U"]),
        ("suspend", &["Ctrl+O"]),
    ];
    let keymap = keymap(key_settings(&settings));
    assert_eq!(banners(&keymap), [""; 0]);
    assert_eq!(keys(&keymap, "sign-in.copy"), "Ctrl+Y");
    // Suspending works everywhere, so its new key is lost to the sign-in.
    assert_eq!(keys(&keymap, "sign-in.open"), "");
    assert_eq!(keys(&keymap, "scroll.up"), "Up");
}
