//! Mouse reports of the three encodings that terminals use.

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

/// `CSI < button ; column ; row M`, or with `m` for a release.
pub fn sgr_mouse(fields: &[Vec<u32>], is_release: bool) -> Option<MouseEvent> {
    let mut event = mouse(fields, 0)?;
    event.kind = match event.kind {
        MouseEventKind::Down(button) if is_release => MouseEventKind::Up(button),
        kind => kind,
    };
    Some(event)
}

/// `CSI button ; column ; row M`.
pub fn urxvt_mouse(fields: &[Vec<u32>]) -> Option<MouseEvent> {
    mouse(fields, 32)
}

/// Button, column and row, each in one byte.
pub fn x10_mouse([button, column, row]: [u8; 3]) -> Option<MouseEvent> {
    let position = |byte: u8| vec![u32::from(byte).saturating_sub(32)];
    mouse(
        &[vec![u32::from(button)], position(column), position(row)],
        32,
    )
}

fn mouse(fields: &[Vec<u32>], button_base: u32) -> Option<MouseEvent> {
    let number = |at: usize| fields.get(at).and_then(|field| field.first()).copied();
    // The first column and row are 1.
    let position = |at: usize| u16::try_from(number(at)?.checked_sub(1)?).ok();
    let button = number(0)?.checked_sub(button_base)?;
    let bits = [
        (4, KeyModifiers::SHIFT),
        (8, KeyModifiers::ALT),
        (16, KeyModifiers::CONTROL),
    ];
    let is_set = |(bit, modifier): (u32, KeyModifiers)| (button & bit != 0).then_some(modifier);
    Some(MouseEvent {
        kind: kind(u8::try_from(button).ok()?)?,
        column: position(1)?,
        row: position(2)?,
        modifiers: bits.into_iter().filter_map(is_set).collect(),
    })
}

fn kind(button: u8) -> Option<MouseEventKind> {
    let is_moving = button & 32 != 0;
    Some(match (button & 3 | (button & 0xc0) >> 4, is_moving) {
        (0, false) => MouseEventKind::Down(MouseButton::Left),
        (1, false) => MouseEventKind::Down(MouseButton::Middle),
        (2, false) => MouseEventKind::Down(MouseButton::Right),
        (0, true) => MouseEventKind::Drag(MouseButton::Left),
        (1, true) => MouseEventKind::Drag(MouseButton::Middle),
        (2, true) => MouseEventKind::Drag(MouseButton::Right),
        (3, false) => MouseEventKind::Up(MouseButton::Left),
        (3..=5, true) => MouseEventKind::Moved,
        (4, false) => MouseEventKind::ScrollUp,
        (5, false) => MouseEventKind::ScrollDown,
        (6, false) => MouseEventKind::ScrollLeft,
        (7, false) => MouseEventKind::ScrollRight,
        _ => return None,
    })
}
