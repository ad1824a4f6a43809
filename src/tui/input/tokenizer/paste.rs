//! The text of a bracketed paste, up to its end marker.

use super::InputToken;

/// A longer paste arrives in several pieces.
const PASTE_BYTES_MAX: usize = 16 << 20;
const PASTE_END: &[u8] = b"\x1b[201~";

pub(super) fn paste(bytes: &[u8]) -> InputToken {
    InputToken::Paste(String::from_utf8_lossy(bytes).into_owned())
}

/// Adds bytes to a paste. If they end it, returns those after its end.
pub(super) fn extend_paste<'a>(
    pasted: &mut Vec<u8>,
    bytes: &'a [u8],
    tokens: &mut Vec<InputToken>,
) -> Option<&'a [u8]> {
    // The end may have begun in an earlier read.
    let search_from = (pasted.len() + 1).saturating_sub(PASTE_END.len());
    pasted.extend_from_slice(bytes);
    let mut windows = pasted[search_from..].windows(PASTE_END.len());
    if let Some(at) = windows.position(|window| window == PASTE_END) {
        let text_len = search_from + at;
        let unread_len = pasted.len() - text_len - PASTE_END.len();
        tokens.push(paste(&pasted[..text_len]));
        return Some(&bytes[bytes.len() - unread_len..]);
    }
    if pasted.len() > PASTE_BYTES_MAX {
        // Keep the start of a possible end, and do not split a character.
        let is_boundary = |at: &usize| pasted[*at] & 0xc0 != 0x80;
        let limit = pasted.len() - PASTE_END.len();
        let cut = (0..=limit).rev().find(is_boundary).unwrap_or(limit);
        tokens.push(paste(&pasted[..cut]));
        pasted.drain(..cut);
    }
    None
}
