//! Keys, scrolling and the count of the shared list.

use super::*;
use crate::tui::theme::Glyphs;
use crossterm::event::{KeyCode, KeyModifiers};

fn press(list: &mut SearchList, code: KeyCode, modifiers: KeyModifiers) -> ListKey {
    list.key(
        KeyEvent::new(code, modifiers),
        5,
        Some(KeyContext::Trust),
        &Keymap::default(),
    )
}

fn types(list: &mut SearchList, text: &str) {
    for c in text.chars() {
        press(list, KeyCode::Char(c), KeyModifiers::NONE);
    }
}

#[test]
fn two_escapes_in_the_rows_clear_the_filter_and_close_the_list() {
    let mut list = SearchList::default();
    types(&mut list, "ab");
    press(&mut list, KeyCode::Tab, KeyModifiers::NONE);
    let mut escape = || press(&mut list, KeyCode::Esc, KeyModifiers::NONE);
    let steps = [escape(), escape()];
    assert_eq!(steps, [ListKey::Searched, ListKey::Closed]);
    assert_eq!(list.filter(), "");
}

#[test]
fn two_escapes_in_the_rows_of_an_unfiltered_list_close_the_list() {
    let mut list = SearchList::default();
    press(&mut list, KeyCode::Tab, KeyModifiers::NONE);
    let mut escape = || press(&mut list, KeyCode::Esc, KeyModifiers::NONE);
    let steps = [escape(), escape()];
    assert_eq!(steps, [ListKey::Moved, ListKey::Closed]);
}

#[test]
fn line_breaks_in_a_filter_become_spaces() {
    let mut list = SearchList::default();
    types(&mut list, "a");
    press(&mut list, KeyCode::Char('j'), KeyModifiers::CONTROL);
    types(&mut list, "b");
    let entered = press(&mut list, KeyCode::Enter, KeyModifiers::ALT);
    assert_eq!(entered, ListKey::Searched, "Alt+Enter does not act");
    list.paste("c\r\nd\ne");
    assert_eq!(list.filter(), "a b c d e");
}

#[test]
fn view_moves_only_when_the_selection_leaves_it() {
    let mut list = SearchList::default();
    assert_eq!(list.scroll_to(9, 20, 5), 5);
    assert_eq!(list.scroll_to(6, 20, 5), 5, "still in view");
    assert_eq!(list.scroll_to(4, 20, 5), 4);
    assert_eq!(list.scroll_to(2, 3, 5), 0, "a short list has no gap");
    assert_eq!(list.scroll_to(0, 0, 0), 0);
}

#[test]
fn count_shows_matching_rows_and_rows_out_of_view() {
    let glyphs = Glyphs::new(false);
    let count = ListCount {
        listed: 1_204,
        total: 1_204,
        above: 0,
        below: 33,
    };
    assert_eq!(count.note(&glyphs), "1,204, ↓ 33");
    let found = ListCount {
        listed: 30,
        above: 2,
        below: 8,
        ..count
    };
    assert_eq!(found.note(&glyphs), "30 of 1,204, ↑ 2 ↓ 8");
}
