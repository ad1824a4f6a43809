//! Decoding of single sequences. crossterm's parser gave the same events, except where a comment
//! says otherwise.

use super::*;
use crate::tui::input::tokenizer::Tokenizer;
use crossterm::event::{MediaKeyCode, ModifierKeyCode, MouseButton, MouseEvent, MouseEventKind};
use std::time::Duration;

const NONE: KeyModifiers = KeyModifiers::NONE;
const SHIFT: KeyModifiers = KeyModifiers::SHIFT;
const ALT: KeyModifiers = KeyModifiers::ALT;
const CONTROL: KeyModifiers = KeyModifiers::CONTROL;

fn reports(bytes: &[u8]) -> Vec<TerminalReport> {
    let mut tokenizer = Tokenizer::new(false);
    let mut tokens = Vec::new();
    tokenizer.feed(bytes, Duration::ZERO, &mut tokens);
    tokenizer.expire(Duration::from_secs(60), &mut tokens);
    let mut reports = Vec::new();
    for token in tokens {
        decode(token, &mut reports);
    }
    reports
}

fn events(bytes: &[u8]) -> Vec<Event> {
    let event = |report| match report {
        TerminalReport::Event(event) => event,
        other => panic!("{other:?}"),
    };
    reports(bytes).into_iter().map(event).collect()
}

fn assert_key(bytes: &str, code: KeyCode, modifiers: KeyModifiers) {
    let expected = Event::Key(KeyEvent::new(code, modifiers));
    assert_eq!(events(bytes.as_bytes()), [expected], "{bytes:?}");
}

#[test]
fn single_bytes_are_keys() {
    let cases = [
        ("a", KeyCode::Char('a'), NONE),
        ("A", KeyCode::Char('A'), SHIFT),
        ("Ž", KeyCode::Char('Ž'), SHIFT),
        ("한", KeyCode::Char('한'), NONE),
        ("\r", KeyCode::Enter, NONE),
        ("\n", KeyCode::Char('j'), CONTROL),
        ("\t", KeyCode::Tab, NONE),
        ("\x7f", KeyCode::Backspace, NONE),
        ("\x08", KeyCode::Char('h'), CONTROL),
        ("\0", KeyCode::Char(' '), CONTROL),
        ("\x01", KeyCode::Char('a'), CONTROL),
        ("\x1a", KeyCode::Char('z'), CONTROL),
        ("\x1c", KeyCode::Char('4'), CONTROL),
        ("\x1f", KeyCode::Char('7'), CONTROL),
        ("\x1b", KeyCode::Esc, NONE),
        ("\x1bc", KeyCode::Char('c'), ALT),
        ("\x1bH", KeyCode::Char('H'), ALT | SHIFT),
        ("\x1b\r", KeyCode::Enter, ALT),
        ("\x1b\x7f", KeyCode::Backspace, ALT),
        ("\x1b\x14", KeyCode::Char('t'), ALT | CONTROL),
        ("\x1b]", KeyCode::Char(']'), ALT),
    ];
    for (bytes, code, modifiers) in cases {
        assert_key(bytes, code, modifiers);
    }
}

#[test]
fn letters_and_numbers_after_csi_and_ss3_are_keys() {
    let cases = [
        ("\x1b[A", KeyCode::Up, NONE),
        ("\x1b[B", KeyCode::Down, NONE),
        ("\x1b[C", KeyCode::Right, NONE),
        ("\x1b[D", KeyCode::Left, NONE),
        ("\x1b[F", KeyCode::End, NONE),
        ("\x1b[H", KeyCode::Home, NONE),
        ("\x1b[Z", KeyCode::BackTab, SHIFT),
        ("\x1b[P", KeyCode::F(1), NONE),
        ("\x1b[Q", KeyCode::F(2), NONE),
        ("\x1b[S", KeyCode::F(4), NONE),
        ("\x1b[[A", KeyCode::F(1), NONE),
        ("\x1b[[E", KeyCode::F(5), NONE),
        ("\x1b[2D", KeyCode::Left, SHIFT),
        ("\x1b[1;5C", KeyCode::Right, CONTROL),
        ("\x1b[1;10A", KeyCode::Up, SHIFT | KeyModifiers::SUPER),
        ("\x1b[1;5P", KeyCode::F(1), CONTROL),
        ("\x1bOA", KeyCode::Up, NONE),
        ("\x1bOH", KeyCode::Home, NONE),
        ("\x1bOP", KeyCode::F(1), NONE),
        ("\x1bOR", KeyCode::F(3), NONE),
        ("\x1b[1~", KeyCode::Home, NONE),
        ("\x1b[7~", KeyCode::Home, NONE),
        ("\x1b[2~", KeyCode::Insert, NONE),
        ("\x1b[3;2~", KeyCode::Delete, SHIFT),
        ("\x1b[4~", KeyCode::End, NONE),
        ("\x1b[8~", KeyCode::End, NONE),
        ("\x1b[5~", KeyCode::PageUp, NONE),
        ("\x1b[6;5~", KeyCode::PageDown, CONTROL),
        ("\x1b[11~", KeyCode::F(1), NONE),
        ("\x1b[15~", KeyCode::F(5), NONE),
        ("\x1b[17~", KeyCode::F(6), NONE),
        ("\x1b[21~", KeyCode::F(10), NONE),
        ("\x1b[24;2~", KeyCode::F(12), SHIFT),
        ("\x1b[26~", KeyCode::F(14), NONE),
        ("\x1b[29~", KeyCode::F(14), NONE),
        ("\x1b[34~", KeyCode::F(17), NONE),
        // crossterm typed the `[A` or dropped these.
        ("\x1b\x1b[A", KeyCode::Up, ALT),
        ("\x1bO5P", KeyCode::F(1), CONTROL),
        ("\x1b[27;5;13~", KeyCode::Enter, CONTROL),
        ("\x1b[27;6;67~", KeyCode::Char('C'), CONTROL | SHIFT),
    ];
    for (bytes, code, modifiers) in cases {
        assert_key(bytes, code, modifiers);
    }
}

#[test]
fn kitty_sequences_are_keys() {
    let cases = [
        ("\x1b[97u", KeyCode::Char('a'), NONE),
        ("\x1b[97;2u", KeyCode::Char('A'), SHIFT),
        ("\x1b[97;7u", KeyCode::Char('a'), ALT | CONTROL),
        ("\x1b[97;9u", KeyCode::Char('a'), KeyModifiers::SUPER),
        ("\x1b[97;17u", KeyCode::Char('a'), KeyModifiers::HYPER),
        ("\x1b[97;33u", KeyCode::Char('a'), KeyModifiers::META),
        ("\x1b[97;;97u", KeyCode::Char('a'), NONE),
        ("\x1b[13u", KeyCode::Enter, NONE),
        ("\x1b[13;2u", KeyCode::Enter, SHIFT),
        ("\x1b[27u", KeyCode::Esc, NONE),
        ("\x1b[9;2u", KeyCode::BackTab, SHIFT),
        ("\x1b[127;5u", KeyCode::Backspace, CONTROL),
        ("\x1b[57358u", KeyCode::CapsLock, NONE),
        ("\x1b[57363u", KeyCode::Menu, NONE),
        ("\x1b[57376u", KeyCode::F(13), NONE),
        ("\x1b[57398u", KeyCode::F(35), NONE),
        ("\x1b[57428u", KeyCode::Media(MediaKeyCode::Play), NONE),
        (
            "\x1b[57440u",
            KeyCode::Media(MediaKeyCode::MuteVolume),
            NONE,
        ),
        (
            "\x1b[57441u",
            KeyCode::Modifier(ModifierKeyCode::LeftShift),
            SHIFT,
        ),
        (
            "\x1b[57449u",
            KeyCode::Modifier(ModifierKeyCode::RightAlt),
            ALT,
        ),
        (
            "\x1b[57454u",
            KeyCode::Modifier(ModifierKeyCode::IsoLevel5Shift),
            NONE,
        ),
        ("\x1b[128512u", KeyCode::Char('😀'), NONE),
        // With the shifted key, Shift is already applied.
        ("\x1b[57:40;4u", KeyCode::Char('('), ALT),
        ("\x1b[45:95;4u", KeyCode::Char('_'), ALT),
    ];
    for (bytes, code, modifiers) in cases {
        assert_key(bytes, code, modifiers);
    }
}

#[test]
fn kitty_sequences_report_kind_keypad_and_locks() {
    let (press, none) = (KeyEventKind::Press, KeyEventState::NONE);
    let cases = [
        (
            "\x1b[97;1:2u",
            KeyCode::Char('a'),
            KeyEventKind::Repeat,
            none,
        ),
        (
            "\x1b[97;1:3u",
            KeyCode::Char('a'),
            KeyEventKind::Release,
            none,
        ),
        ("\x1b[1;1:3B", KeyCode::Down, KeyEventKind::Release, none),
        ("\x1b[;1:3B", KeyCode::Down, KeyEventKind::Release, none),
        ("\x1b[5;1:3~", KeyCode::PageUp, KeyEventKind::Release, none),
        (
            "\x1b[57399u",
            KeyCode::Char('0'),
            press,
            KeyEventState::KEYPAD,
        ),
        ("\x1b[57414u", KeyCode::Enter, press, KeyEventState::KEYPAD),
        (
            "\x1b[57416u",
            KeyCode::Char(','),
            press,
            KeyEventState::KEYPAD,
        ),
        ("\x1b[57419u", KeyCode::Up, press, KeyEventState::KEYPAD),
        (
            "\x1b[57427u",
            KeyCode::KeypadBegin,
            press,
            KeyEventState::KEYPAD,
        ),
        (
            "\x1b[97;65u",
            KeyCode::Char('a'),
            press,
            KeyEventState::CAPS_LOCK,
        ),
        (
            "\x1b[49;129u",
            KeyCode::Char('1'),
            press,
            KeyEventState::NUM_LOCK,
        ),
    ];
    for (bytes, code, kind, state) in cases {
        let key = KeyEvent::new_with_kind_and_state(code, NONE, kind, state);
        assert_eq!(events(bytes.as_bytes()), [Event::Key(key)], "{bytes:?}");
    }
}

#[test]
fn mouse_reports_are_read_in_three_encodings() {
    use MouseEventKind::{Down, Drag, Moved, ScrollDown, ScrollUp, Up};
    let left = MouseButton::Left;
    let cases = [
        ("\x1b[<0;20;10M", Down(left), (19, 9), NONE),
        ("\x1b[<0;20;10m", Up(left), (19, 9), NONE),
        ("\x1b[<0;20;10;M", Down(left), (19, 9), NONE),
        ("\x1b[<2;1;1M", Down(MouseButton::Right), (0, 0), NONE),
        ("\x1b[<36;3;4M", Drag(left), (2, 3), SHIFT),
        ("\x1b[<35;3;4M", Moved, (2, 3), NONE),
        ("\x1b[<64;10;5M", ScrollUp, (9, 4), NONE),
        ("\x1b[<81;300;5M", ScrollDown, (299, 4), CONTROL),
        ("\x1b[32;30;40;M", Down(left), (29, 39), NONE),
    ];
    for (bytes, kind, (column, row), modifiers) in cases {
        let mouse = MouseEvent {
            kind,
            column,
            row,
            modifiers,
        };
        assert_eq!(events(bytes.as_bytes()), [Event::Mouse(mouse)], "{bytes:?}");
    }
    let x10 = MouseEvent {
        kind: Down(left),
        column: 191,
        row: 79,
        modifiers: CONTROL,
    };
    assert_eq!(events(b"\x1b[M0\xe0\x70"), [Event::Mouse(x10)]);
    // Columns and rows begin with 1, all three numbers are needed, and there is no button 999.
    for bytes in ["\x1b[<0;0;1M", "\x1b[<0;1M", "\x1b[<999;1;1M", "\x1b[M  !"] {
        assert_eq!(events(bytes.as_bytes()), [], "{bytes:?}");
    }
}

#[test]
fn focus_and_pastes_are_events() {
    assert_eq!(events(b"\x1b[I"), [Event::FocusGained]);
    assert_eq!(events(b"\x1b[O"), [Event::FocusLost]);
    let pasted = Event::Paste("o\u{1b}[2D 글".into());
    assert_eq!(events("\x1b[200~o\x1b[2D 글\x1b[201~".as_bytes()), [pasted]);
    let damaged = Event::Paste("a\u{fffd}b".into());
    assert_eq!(events(b"\x1b[200~a\xffb\x1b[201~"), [damaged]);
}

#[test]
fn replies_about_background_and_keys_are_read() {
    let background = |reply: &str| reports(reply.as_bytes());
    let light = [TerminalReport::Background(TerminalBackground::Light)];
    let dark = [TerminalReport::Background(TerminalBackground::Dark)];
    assert_eq!(background("\x1b]11;rgb:ffff/FFFF/ffff\x1b\\"), light);
    assert_eq!(background("\x1b]11;rgba:f/f/f/f\x07"), light);
    assert_eq!(background("\x1b]11;rgb:10/10/10\x07"), dark);
    assert_eq!(background("\x1b]10;rgb:10/10/10\x07"), []);
    assert_eq!(background("\x1b]11;rgb:1/2\x07"), []);
    assert_eq!(reports(b"\x1b[?3u"), [TerminalReport::KittyKeys(true)]);
    assert_eq!(reports(b"\x1b[?0u"), [TerminalReport::KittyKeys(false)]);
    assert_eq!(reports(b"\x1b[?62;4c"), []);
}
