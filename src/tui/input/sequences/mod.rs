//! Decodes terminal sequences into keys, mouse reports and replies, in crossterm's types. Sources:
//! xterm's control sequences and the kitty keyboard protocol. Drops unknown sequences.

use super::kitty_keys::{functional_key, modifier_bit};
use super::mouse::{sgr_mouse, urxvt_mouse, x10_mouse};
use super::tokenizer::InputToken;
use crate::tui::theme::TerminalBackground;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyEventState, KeyModifiers};

/// A decoded key, mouse report, paste or reply.
#[derive(Debug, Clone, PartialEq)]
pub enum TerminalReport {
    Event(Event),
    /// The reply to the background query (`OSC 11 ; ?`).
    Background(TerminalBackground),
    /// Whether the kitty protocol is on, from the reply to `CSI ? u`: Esc then arrives as a
    /// sequence.
    KittyKeys(bool),
}

/// Decodes a token and appends the result.
pub fn decode(token: InputToken, reports: &mut Vec<TerminalReport>) {
    let report = match token {
        InputToken::Char { c, has_alt } => Some(key_report(char_key(c, has_alt))),
        InputToken::Csi { body, has_alt } => return decode_sequence(csi(&body), has_alt, reports),
        InputToken::Ss3 { body, has_alt } => {
            return decode_sequence(ss3(&body).map(key_report), has_alt, reports);
        }
        InputToken::X10Mouse(report) => {
            x10_mouse(report).map(|mouse| TerminalReport::Event(Event::Mouse(mouse)))
        }
        InputToken::Paste(text) => Some(TerminalReport::Event(Event::Paste(text))),
        InputToken::Osc(body) => background(&body).map(TerminalReport::Background),
    };
    reports.extend(report);
}

/// A second ESC before a key is Alt. Before anything else it was the key Esc.
fn decode_sequence(
    report: Option<TerminalReport>,
    has_alt: bool,
    reports: &mut Vec<TerminalReport>,
) {
    match report {
        Some(TerminalReport::Event(Event::Key(mut key))) if has_alt => {
            key.modifiers |= KeyModifiers::ALT;
            reports.push(key_report(key));
        }
        report => {
            if has_alt {
                reports.push(key_report(KeyCode::Esc.into()));
            }
            reports.extend(report);
        }
    }
}

fn key_report(key: KeyEvent) -> TerminalReport {
    TerminalReport::Event(Event::Key(key))
}

fn char_key(c: char, has_alt: bool) -> KeyEvent {
    let from = |first: char, code: u8| char::from(first as u8 + code);
    let (code, modifiers) = match c {
        '\r' => (KeyCode::Enter, KeyModifiers::NONE),
        '\t' => (KeyCode::Tab, KeyModifiers::NONE),
        '\u{1b}' => (KeyCode::Esc, KeyModifiers::NONE),
        '\u{7f}' => (KeyCode::Backspace, KeyModifiers::NONE),
        '\0' => (KeyCode::Char(' '), KeyModifiers::CONTROL),
        '\u{1}'..='\u{1a}' => (KeyCode::Char(from('a', c as u8 - 1)), KeyModifiers::CONTROL),
        '\u{1c}'..='\u{1f}' => (
            KeyCode::Char(from('4', c as u8 - 0x1c)),
            KeyModifiers::CONTROL,
        ),
        c if c.is_uppercase() => (KeyCode::Char(c), KeyModifiers::SHIFT),
        c => (KeyCode::Char(c), KeyModifiers::NONE),
    };
    let alt = match has_alt {
        true => KeyModifiers::ALT,
        false => KeyModifiers::NONE,
    };
    KeyEvent::new(code, modifiers | alt)
}

/// Parses numbers by field (`;`) and subfield (`:`). A missing number is 0. Returns `None` for any
/// other text.
fn numbers(text: &str) -> Option<Vec<Vec<u32>>> {
    let number = |digits: &str| match digits {
        "" => Some(0),
        digits => digits.parse().ok(),
    };
    let field = |field: &str| field.split(':').map(number).collect();
    text.split(';').map(field).collect()
}

fn csi(body: &[u8]) -> Option<TerminalReport> {
    let text = str::from_utf8(body).ok()?;
    let (last, _) = text.char_indices().next_back()?;
    let (parameters, final_byte) = text.split_at(last);
    let event = match (parameters, final_byte) {
        ("", "I") => Event::FocusGained,
        ("", "O") => Event::FocusLost,
        ("[", letter) => Event::Key(console_key(letter)?),
        // `CSI row ; column R` is a cursor position.
        (_, "R") => return None,
        (_, "~") => Event::Key(tilde_key(&numbers(parameters)?)?),
        (_, "u") => match parameters.strip_prefix('?') {
            Some(flags) => {
                let flags: u32 = flags.parse().ok()?;
                return Some(TerminalReport::KittyKeys(flags & 1 != 0));
            }
            None => Event::Key(kitty_key(&numbers(parameters)?)?),
        },
        (_, "M" | "m") => match parameters.strip_prefix('<') {
            Some(report) => Event::Mouse(sgr_mouse(&numbers(report)?, final_byte == "m")?),
            None if final_byte == "m" => return None,
            None => Event::Mouse(urxvt_mouse(&numbers(parameters)?)?),
        },
        _ => Event::Key(letter_key(&numbers(parameters)?, final_byte)?),
    };
    Some(TerminalReport::Event(event))
}

fn ss3(body: &[u8]) -> Option<KeyEvent> {
    let text = str::from_utf8(body).ok()?;
    let (last, _) = text.char_indices().next_back()?;
    let (parameters, final_byte) = text.split_at(last);
    letter_key(&numbers(parameters)?, final_byte)
}

/// F1 to F5 of the Linux console.
fn console_key(letter: &str) -> Option<KeyEvent> {
    let number = "ABCDE".find(letter)? + 1;
    u8::try_from(number)
        .ok()
        .map(|number| KeyCode::F(number).into())
}

/// `CSI 1 ; modifiers letter` and its short forms.
fn letter_key(fields: &[Vec<u32>], letter: &str) -> Option<KeyEvent> {
    let code = match letter {
        "A" => KeyCode::Up,
        "B" => KeyCode::Down,
        "C" => KeyCode::Right,
        "D" => KeyCode::Left,
        "F" => KeyCode::End,
        "H" => KeyCode::Home,
        "P" => KeyCode::F(1),
        "Q" => KeyCode::F(2),
        "R" => KeyCode::F(3),
        "S" => KeyCode::F(4),
        "Z" => KeyCode::BackTab,
        _ => return None,
    };
    let mut key = modified(code, fields.get(1).or(fields.first()));
    if code == KeyCode::BackTab {
        key.modifiers |= KeyModifiers::SHIFT;
    }
    Some(key)
}

/// `CSI number ; modifiers ~`, and `CSI 27 ; modifiers ; character ~` of `modifyOtherKeys`.
fn tilde_key(fields: &[Vec<u32>]) -> Option<KeyEvent> {
    let number = *fields.first()?.first()?;
    let function_keys = |first: u32| u8::try_from(number - first).ok().map(KeyCode::F);
    let code = match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => function_keys(10)?,
        17..=21 => function_keys(11)?,
        23..=26 => function_keys(12)?,
        27 => return character_key(fields.get(2)?, fields.get(1)),
        28..=29 => function_keys(15)?,
        31..=34 => function_keys(17)?,
        _ => return None,
    };
    Some(modified(code, fields.get(1)))
}

/// `CSI character : shifted character ; modifiers : kind u`.
fn kitty_key(fields: &[Vec<u32>]) -> Option<KeyEvent> {
    let character = fields.first()?;
    let Some((code, state)) = functional_key(*character.first()?) else {
        return character_key(character, fields.get(1));
    };
    let mut key = modified(code, fields.get(1));
    key.state |= state;
    key.modifiers |= match code {
        KeyCode::Modifier(modifier) => modifier_bit(modifier),
        _ => KeyModifiers::NONE,
    };
    Some(key)
}

/// The key of a character, and with Shift of its shifted character if the terminal reports it.
fn character_key(character: &[u32], modifiers: Option<&Vec<u32>>) -> Option<KeyEvent> {
    let code = match char::from_u32(*character.first()?)? {
        '\u{1b}' => KeyCode::Esc,
        '\r' => KeyCode::Enter,
        '\t' => KeyCode::Tab,
        '\u{7f}' => KeyCode::Backspace,
        c => KeyCode::Char(c),
    };
    let mut key = modified(code, modifiers);
    if !key.modifiers.contains(KeyModifiers::SHIFT) {
        return Some(key);
    }
    let shifted = character.get(1).filter(|shifted| **shifted != 0);
    if let Some(shifted) = shifted.and_then(|shifted| char::from_u32(*shifted)) {
        key.code = KeyCode::Char(shifted);
        key.modifiers -= KeyModifiers::SHIFT;
    } else if code == KeyCode::Tab {
        key.code = KeyCode::BackTab;
    }
    Some(key)
}

/// A key with the field `modifiers : kind`.
fn modified(code: KeyCode, field: Option<&Vec<u32>>) -> KeyEvent {
    let number = |at: usize| field.and_then(|field| field.get(at)).copied().unwrap_or(0);
    let mask = number(0).saturating_sub(1);
    let bits = [
        (1, KeyModifiers::SHIFT),
        (2, KeyModifiers::ALT),
        (4, KeyModifiers::CONTROL),
        (8, KeyModifiers::SUPER),
        (16, KeyModifiers::HYPER),
        (32, KeyModifiers::META),
    ];
    let is_set = |(bit, modifier): (u32, KeyModifiers)| (mask & bit != 0).then_some(modifier);
    let modifiers = bits.into_iter().filter_map(is_set).collect();
    let kind = match number(1) {
        2 => KeyEventKind::Repeat,
        3 => KeyEventKind::Release,
        _ => KeyEventKind::Press,
    };
    let locks = [
        (64, KeyEventState::CAPS_LOCK),
        (128, KeyEventState::NUM_LOCK),
    ];
    let is_on = |(bit, lock): (u32, KeyEventState)| (mask & bit != 0).then_some(lock);
    let state = locks.into_iter().filter_map(is_on).collect();
    KeyEvent::new_with_kind_and_state(code, modifiers, kind, state)
}

/// `11 ; rgb:RRRR/GGGG/BBBB` with one to four digits each (xterm's control sequences).
fn background(body: &[u8]) -> Option<TerminalBackground> {
    let colors = str::from_utf8(body).ok()?.strip_prefix("11;")?;
    let colors = colors.split_once(':')?.1;
    let mut components = colors.split('/').map(|digits| {
        let max = 16_u32.checked_pow(digits.len() as u32)?.checked_sub(1)?;
        let value = u32::from_str_radix(digits, 16).ok()?;
        (max > 0).then(|| f64::from(value) / f64::from(max))
    });
    let mut next_component = || components.next().flatten();
    let (red, green, blue) = (next_component()?, next_component()?, next_component()?);
    let brightness = 0.299 * red + 0.587 * green + 0.114 * blue;
    Some(match brightness > 0.5 {
        true => TerminalBackground::Light,
        false => TerminalBackground::Dark,
    })
}

#[cfg(test)]
mod tests;
