//! Snapshots with changed keys: the hint line and a banner, the help, the palette.

use super::at_two_sizes;
use crate::support::fixtures::key_settings;
use crate::support::screen_harness::ScreenHarness;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use humble::protocol::Event;
use humble::tui::UiInput;
use std::sync::Arc;

fn change_keys(story: &mut ScreenHarness) {
    let settings = key_settings(&[
        ("commands", &["Ctrl+K"]),
        ("help", &["F9", "F1"]),
        ("sidebar", &["Alt+S"]),
        ("mouse", &[]),
        ("retry", &["ctrl-ㅏ"]),
    ]);
    story.event(Event::KeysChanged(Arc::new(settings)));
}

#[test]
fn a_clash_of_two_changed_keys() {
    insta::assert_snapshot!(at_two_sizes(change_keys));
}

#[test]
fn help_with_changed_keys() {
    insta::assert_snapshot!(at_two_sizes(|story| {
        change_keys(story);
        story.key(KeyCode::F(9));
    }));
}

#[test]
fn palette_with_changed_keys() {
    insta::assert_snapshot!(at_two_sizes(|story| {
        change_keys(story);
        let key = KeyEvent::new(KeyCode::Char('k'), KeyModifiers::CONTROL);
        story.input(UiInput::Key(key));
    }));
}
