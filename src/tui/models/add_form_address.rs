//! The address in the form for a model.

use crate::domain::server_address::with_scheme;
use crate::tui::input::decode::typed_char;
use crate::tui::models::add_form::AddModelForm;
use crossterm::event::KeyEvent;

impl AddModelForm {
    /// Adds a missing scheme, so that the user sees the whole address before anything is sent there.
    pub(super) fn complete_address(&mut self) {
        if let Some(address) = with_scheme(&self.address.text()) {
            self.address.set(&address);
        }
    }
}

/// Whether a key on the provider row is text for the address below. Digits choose a provider.
pub(super) fn starts_address(key: KeyEvent) -> bool {
    typed_char(key).is_some_and(|c| !c.is_ascii_digit() && c != ' ')
}
