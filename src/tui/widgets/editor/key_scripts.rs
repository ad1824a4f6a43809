//! Key scripts for every editing key: text before, keys, text after. `|` is the cursor, `^` the
//! other end of the selection.

use crate::tui::keymap::{self, Action, Keymap};
use crate::tui::widgets::editor::*;
use crate::tui::widgets::text_field;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::collections::HashSet;

const SCRIPTS: &[(&str, &str, &str)] = &[
    // Moving.
    ("one|", "<Left><Left>", "o|ne"),
    ("서울|", "<Left>", "서|울"),
    ("a👩‍👩‍👧|b", "<Left>", "a|👩‍👩‍👧b"),
    ("e\u{301}|x", "<Left><Left>", "|e\u{301}x"),
    ("|🇰🇷🇯🇵", "<Right>", "🇰🇷|🇯🇵"),
    ("one|\ntwo", "<Right>", "one\n|two"),
    ("one\n|two", "<Left>", "one|\ntwo"),
    ("서울 날씨|", "<Alt+b>", "서울 |날씨"),
    ("서울 날씨|", "<Ctrl+Left><Alt+Left>", "|서울 날씨"),
    ("|one, two", "<Alt+f>", "one|, two"),
    ("|one, two👍 a", "<Ctrl+Right><Alt+Right>", "one, two|👍 a"),
    ("|two👍 a", "<Alt+f><Alt+f>", "two👍| a"),
    ("one\ntwo|", "<Home>", "one\n|two"),
    ("one\ntwo|", "<Ctrl+a>", "one\n|two"),
    ("|한글\ntwo", "<End>", "한글|\ntwo"),
    ("|한글\ntwo", "<Ctrl+e>", "한글|\ntwo"),
    ("one\ntwo|", "<Ctrl+Home>", "|one\ntwo"),
    ("|one\ntwo", "<Ctrl+End>", "one\ntwo|"),
    ("한글\nab|c", "<Up>", "한|글\nabc"),
    ("한|글\nabc", "<Down>", "한글\nab|c"),
    // Typing and deleting.
    ("|", "한글", "한글|"),
    ("one|two", "<Alt+Enter>", "one\n|two"),
    ("one|two", "<Shift+Enter><Ctrl+j>", "one\n\n|two"),
    ("한글|", "<Backspace>", "한|"),
    ("a👩‍👩‍👧|", "<Backspace><Ctrl+h>", "|"),
    ("one\n|two", "<Shift+Backspace>", "one|two"),
    ("|🇰🇷한", "<Del>", "|한"),
    ("one|\ntwo", "<Ctrl+d>", "one|two"),
    // Selecting.
    ("한글|", "<Shift+Left>", "한|글^"),
    ("|👍🏽a", "<Shift+Right>", "^👍🏽|a"),
    ("one\ntwo|", "<Shift+Up>", "one|\ntwo^"),
    ("on|e\ntwo", "<Shift+Down>", "on^e\ntw|o"),
    ("one 서울|", "<Ctrl+Shift+Left>", "one |서울^"),
    (
        "one 서울|",
        "<Alt+Shift+Left><Alt+Shift+Left>",
        "|one 서울^",
    ),
    ("|one 서울", "<Ctrl+Shift+Right>", "^one| 서울"),
    (
        "|one 서울",
        "<Alt+Shift+Right><Alt+Shift+Right>",
        "^one 서울|",
    ),
    ("a\none|", "<Shift+Home>", "a\n|one^"),
    ("o|ne\nb", "<Shift+End>", "o^ne|\nb"),
    ("a\nb|c", "<Ctrl+Shift+Home>", "|a\nb^c"),
    ("a|\nbc", "<Ctrl+Shift+End>", "a^\nbc|"),
    ("한|글\nb", "<Alt+a>", "^한글\nb|"),
    ("one ^two|", "<Left>", "one |two"),
    ("one ^two|", "<Shift+Left><Right>", "one tw|o"),
    ("one |two^ three", "<Alt+f>", "one two| three"),
    ("한|글^", "x", "한x|"),
    ("one ^two👍|", "<Backspace>", "one |"),
    ("^한글\nb|", "<Del>", "|"),
    ("one|^", "<Shift+Left><Shift+Right>x", "onex|"),
    // Killing and yanking.
    ("one 서울|", "<Ctrl+w>", "one |"),
    ("one 👍|", "<Alt+Backspace>", "one |"),
    ("family 👩‍👩‍👧|", "<Ctrl+w>", "family |"),
    ("family 👩‍👩‍👧|", "<Alt+Backspace>", "family |"),
    ("a 🇰🇷🇯🇵|", "<Alt+Backspace>", "a 🇰🇷|"),
    ("see ./a/b-c.txt  |", "<Ctrl+w>", "see |"),
    (
        "see ./a/b-c.txt|",
        "<Alt+Backspace><Alt+Backspace>",
        "see ./a/b-|",
    ),
    ("cafe\u{301}s|", "<Alt+Backspace>", "|"),
    ("one\n|two", "<Ctrl+w>", "one|two"),
    (
        "one 서울|",
        "<Ctrl+Backspace><Ctrl+y><Ctrl+y>",
        "one 서울서울|",
    ),
    ("one two|", "<Ctrl+w><Ctrl+w><Ctrl+y>", "one two|"),
    ("|서울 one", "<Alt+d>", "| one"),
    ("|서울 one", "<Ctrl+Del><Alt+Del><Ctrl+y>", "서울 one|"),
    ("한글| one", "<Ctrl+u>", "| one"),
    ("한글| one", "<Ctrl+k>", "한글|"),
    (
        "한글|\none",
        "<Ctrl+k><Ctrl+k><Ctrl+k><Ctrl+y>",
        "한글\none|",
    ),
    ("|a b c", "<Alt+d><Right><Alt+d><Ctrl+y>", " b| c"),
    ("|a b c", "<Alt+d><Right><Alt+d><Ctrl+y><Alt+y>", " a| c"),
    (
        "|a b c",
        "<Alt+d><Right><Alt+d><Ctrl+y><Alt+y><Alt+y>",
        " b| c",
    ),
    ("one|", "<Ctrl+u><Ctrl+y>x<Alt+y>", "onex|"),
    (
        "|서울 b c",
        "<Alt+d><Right><Alt+d><Ctrl+y><Alt+y><Ctrl+_>",
        " b| c",
    ),
    (
        "|서울 b c",
        "<Alt+d><Right><Alt+d><Ctrl+y><Alt+y><Ctrl+_><Ctrl+_>",
        " | c",
    ),
    (
        "|서울 b c",
        "<Alt+d><Right><Alt+d><Ctrl+y><Alt+y><Ctrl+_><Ctrl+_><Alt+_><Alt+_>",
        " 서울| c",
    ),
    ("one ^서울|", "<Ctrl+x>", "one |"),
    ("one ^서울|", "<Ctrl+x><Home><Ctrl+y>", "서울|one "),
    ("one ^👩‍👩‍👧|", "<Alt+w>", "one ^👩‍👩‍👧|"),
    ("one ^👩‍👩‍👧|", "<Alt+w><Ctrl+y><Ctrl+y>", "one 👩‍👩‍👧👩‍👩‍👧|"),
    ("^one| two", "<Ctrl+k><End><Ctrl+y>", " twoone|"),
    // Undoing.
    ("|", "one two<Ctrl+_>", "one |"),
    ("|", "one two<Ctrl+_><Ctrl+/>", "|"),
    ("|", "서울 날씨<Ctrl+_><Alt+_>", "서울 날씨|"),
    ("|", "one two<Ctrl+_>x<Alt+_>", "one x|"),
    (
        "one two|",
        "<Backspace><Backspace><Backspace><Ctrl+7>",
        "one two|",
    ),
    ("|one two", "<Del><Del><Del><Ctrl+_>", "|one two"),
    ("a ^한글| b", "x<Ctrl+_>", "a ^한글| b"),
    ("👍🏽|", "<Backspace><Ctrl+_>", "👍🏽|"),
    ("one two|", "<Ctrl+w><Ctrl+_>", "one two|"),
    ("one two|", "<Ctrl+w><Ctrl+y><Ctrl+_>", "one |"),
    ("one|", "<Alt+Enter>two<Ctrl+_><Ctrl+_>", "one|"),
    ("한글|", "<Ctrl+_>", "한글|"),
];

fn marked(editor: &Editor) -> String {
    let selection = editor.selected_range();
    let raw = |from, to| editor.chips.expand(&editor.raw_text(from..to)).into_owned();
    let (start, end) = (TextPosition::default(), editor.end());
    let (first, last) = match editor.has_selection() {
        false => ("|", ""),
        true if editor.cursor == selection.start => ("|", "^"),
        true => ("^", "|"),
    };
    [
        raw(start, selection.start).as_str(),
        first,
        &raw(selection.start, selection.end),
        last,
        &raw(selection.end, end),
    ]
    .concat()
}

/// An editor with the marked text, as if it had been opened with it.
fn with_marks(marked: &str) -> Editor {
    let text = marked.replace(['|', '^'], "");
    let position = |mark: char| {
        let before = &marked[..marked.find(mark)?];
        Some(TextPosition::default().after(&before.replace(['|', '^'], "")))
    };
    let mut editor = Editor::new(&text);
    editor.cursor = position('|').expect("a cursor");
    editor.anchor = position('^');
    editor
}

fn parse_key(name: &str) -> KeyEvent {
    let mut modifiers = KeyModifiers::NONE;
    let mut rest = name;
    for (prefix, modifier) in [
        ("Ctrl+", KeyModifiers::CONTROL),
        ("Alt+", KeyModifiers::ALT),
        ("Shift+", KeyModifiers::SHIFT),
    ] {
        if let Some(after) = rest.strip_prefix(prefix) {
            (rest, modifiers) = (after, modifiers | modifier);
        }
    }
    let code = match rest {
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "Del" => KeyCode::Delete,
        "Backspace" => KeyCode::Backspace,
        "Enter" => KeyCode::Enter,
        c => KeyCode::Char(c.chars().next().expect("a key")),
    };
    KeyEvent::new(code, modifiers)
}

fn parse_keys(script: &str) -> Vec<KeyEvent> {
    let mut keys = Vec::new();
    let mut rest = script;
    while let Some(c) = rest.chars().next() {
        let end = rest.find('>').filter(|_| c == '<');
        keys.push(match end {
            Some(end) => parse_key(&rest[1..end]),
            None => KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE),
        });
        rest = &rest[end.map_or(c.len_utf8(), |end| end + 1)..];
    }
    keys
}

fn press(editor: &mut Editor, script: &str) {
    for key in parse_keys(script) {
        text_field::handle_key(editor, key, &Keymap::default());
    }
}

#[test]
fn editing_keys_change_text_cursor_and_selection_as_expected() {
    for (before, keys, after) in SCRIPTS {
        let mut editor = with_marks(before);
        press(&mut editor, keys);
        assert_eq!(marked(&editor), *after, "{before:?} {keys}");
    }
}

#[test]
fn every_editing_key_has_a_script() {
    let in_message = |scope| scope == keymap::BindingScope::Message;
    let keys = SCRIPTS.iter().flat_map(|(_, keys, _)| parse_keys(keys));
    let used: HashSet<String> = keys
        .map(|key| keymap::normalize_chord(key).to_string())
        .collect();
    let bindings = keymap::TABLE.iter().filter(|binding| {
        in_message(binding.scope)
            && matches!(binding.action, Action::Edit(edit) if edit != Edit::Unfold)
    });
    let keys = bindings.flat_map(|binding| binding.default_keys);
    let unused: Vec<String> = keys
        .map(ToString::to_string)
        .filter(|key| !used.contains(key))
        .collect();
    assert_eq!(unused, Vec::<String>::new());
}

#[test]
fn a_long_paste_is_one_chip() {
    let lines = "줄\n".repeat(240);
    let mut editor = with_marks("see | end");
    editor.paste(&lines);
    assert_eq!(editor.text(), format!("see {lines} end"));
    let view = editor.view(60, 3);
    assert_eq!(view.rows, ["see [Pasted 240 lines] end"]);
    assert_eq!(view.cursor, (22, 0));
    assert_eq!(view.spans[0].text, "[Pasted 240 lines]");
    press(&mut editor, "<Left>");
    assert_eq!(editor.view(60, 3).cursor, (4, 0), "it is one step wide");
    press(&mut editor, "<Right><Backspace>");
    assert_eq!(marked(&editor), "see | end");
    press(&mut editor, "<Ctrl+_>");
    assert_eq!(editor.view(60, 3).rows, ["see [Pasted 240 lines] end"]);
    press(&mut editor, "<Ctrl+_>");
    assert_eq!(marked(&editor), "see | end");
    press(&mut editor, "<Alt+_><Ctrl+w><Ctrl+w>");
    assert_eq!(marked(&editor), "| end", "it is a word of its own");
    press(&mut editor, "<Ctrl+y>");
    assert_eq!(marked(&editor), format!("see {lines}| end"));
}

#[test]
fn chips_of_one_size_keep_their_texts() {
    let (first, second) = ("a\n".repeat(20), "b\n".repeat(20));
    let mut editor = Editor::new("");
    editor.paste(&first);
    editor.paste(&second);
    assert_eq!(
        editor.view(60, 1).rows,
        ["[Pasted 20 lines][Pasted 20 lines]"]
    );
    assert_eq!(editor.text(), format!("{first}{second}"));
    press(&mut editor, "<Left><Backspace>");
    assert_eq!(editor.text(), second);
    press(&mut editor, "<Alt+u>");
    assert!(!editor.has_chip());
    assert_eq!(
        marked(&editor),
        format!("|{second}"),
        "its start is visible"
    );
    press(&mut editor, "<Ctrl+_>");
    assert_eq!(editor.view(60, 1).rows, ["[Pasted 20 lines]"]);
    assert!(!editor.is_in_unfolded_paste(), "for the hint");
}

#[test]
fn short_pastes_stay_text() {
    let mut editor = Editor::new("");
    editor.paste(&"x\n".repeat(chips::PASTE_LINES_MAX));
    editor.paste(&"가".repeat(chips::PASTE_CHARS_MAX));
    assert!(!editor.has_chip());
    editor.paste(&"가".repeat(chips::PASTE_CHARS_MAX + 1));
    let expected = "[Pasted 2,001 characters]";
    assert!(editor.view(400, 90).rows.concat().ends_with(expected));
}

#[test]
fn private_use_characters_are_not_taken_for_chips() {
    let mut editor = Editor::new("\u{10FFFD}");
    editor.paste(&"line\n".repeat(20));
    editor.insert("\u{10FFFD}\u{10FFFC}\u{10FFFC}");
    let expected = format!(
        "\u{10FFFD}{}\u{10FFFD}\u{10FFFC}\u{10FFFC}",
        "line\n".repeat(20)
    );
    assert_eq!(editor.text(), expected);
    press(&mut editor, "<Alt+u>");
    assert_eq!(editor.text(), expected);
    assert!(!editor.has_chip());
}

#[test]
fn undo_stays_within_its_memory_budget() {
    let mut editor = Editor::new("");
    let megabyte = "word ".repeat(200_000);
    for _ in 0..8 {
        editor.paste(&megabyte);
        press(&mut editor, "<Backspace>");
    }
    let mut undone = 0;
    while editor.edit(Edit::Undo) {
        undone += 1;
    }
    assert_eq!(undone, 4, "4 MB of 16 MB");
    let chips = editor.chips.clone();
    editor.drop_unused_chips();
    assert!(!chips.is_empty());
    let kept = chips.expanded_len("\u{10FFFD}\u{10FFFC}\u{10FFFB}\u{10FFFA}\u{10FFF9}");
    assert!(kept < 6_000_000, "{kept}");
}
