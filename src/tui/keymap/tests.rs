//! The table of actions is consistent, and keys of other layouts find their actions.

use super::*;
use crossterm::event::KeyModifiers;
use std::collections::HashSet;

#[test]
fn no_key_has_two_actions_in_one_scope() {
    let mut seen = HashSet::new();
    for binding in TABLE.iter().filter(|binding| binding.scope != W::Servers) {
        for key in binding.keys {
            assert!(
                seen.insert((key.to_string(), format!("{:?}", binding.scope))),
                "{key}"
            );
        }
    }
}

#[test]
fn binding_names_are_unique() {
    let names: HashSet<_> = TABLE.iter().map(|binding| binding.name).collect();
    assert_eq!(names.len(), TABLE.len());
}

#[test]
fn control_with_jamo_matches_the_latin_key() {
    let event = KeyEvent::new(KeyCode::Char('ㅊ'), KeyModifiers::CONTROL);
    assert_eq!(find_action(event, |_| true), Some(A::Interrupt));
}
