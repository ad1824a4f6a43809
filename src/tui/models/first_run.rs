//! First-run offer of models. Digits and arrows only select; Enter confirms, so a message
//! that starts with a digit cannot write settings.

use crate::domain::{ModelCatalog, Notice};
use crate::protocol::Command;
use crate::tui::input::decode::typed_char;
use crate::tui::keymap::layers;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::{Handled, UiContext, UiRequest};
use crate::tui::models::add_form::AddModelForm;
use crate::tui::models::rows::{FirstRunItem, first_run_items};
use crossterm::event::KeyEvent;
use std::time::Duration;

/// An item can be chosen only after it has been visible this long.
const READ: Duration = Duration::from_millis(500);

#[derive(Debug, Default)]
pub struct FirstRun {
    /// The selected item. Nothing is preselected.
    pointed: Option<usize>,
    /// The digits that selected the item. If other characters follow, the digits belong to
    /// a message.
    typed: String,
    /// The user postponed the offer.
    closed: bool,
    /// When the list last changed, to ignore keys before the user could read it.
    changed: Duration,
}

impl FirstRun {
    pub fn pointed(&self) -> Option<usize> {
        self.pointed
    }

    pub fn is_closed(&self) -> bool {
        self.closed
    }

    fn was_read(&self, now: Duration) -> bool {
        now >= self.changed + READ
    }

    fn point(&mut self, at: usize) {
        self.pointed = Some(at);
        self.typed.clear();
    }

    /// Resets the selection when the list of models changed.
    pub fn follow(&mut self, before: &ModelCatalog, after: &ModelCatalog, now: Duration) {
        if first_run_items(before).len() != first_run_items(after).len() {
            self.changed = now;
            self.pointed = None;
        }
    }

    pub fn key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let count = first_run_items(&cx.shared.engine.catalog).len();
        match layers::find_key(key, &[KeyContext::FirstRun]) {
            Some(LayerKey::Back) => {
                self.closed = true;
                self.typed.clear();
                let notice = Notice::info("Skipped. Choose a model later with /models.");
                cx.notify(notice);
            }
            Some(LayerKey::Up) => self.point(self.pointed.unwrap_or(count).saturating_sub(1)),
            Some(LayerKey::Down) => {
                self.point(self.pointed.map_or(0, |at| (at + 1).min(count - 1)));
            }
            Some(LayerKey::Erase) if self.typed.pop().is_some() => self.pointed = None,
            Some(LayerKey::Confirm) => match self.pointed {
                Some(at) => self.take(at, cx),
                None => return Handled::PassedOn,
            },
            _ => return self.digit(key, count, cx.shared.now),
        }
        Handled::Consumed
    }

    /// A digit selects its item.
    fn digit(&mut self, key: KeyEvent, count: usize, now: Duration) -> Handled {
        let Some(c @ '1'..='9') = typed_char(key) else {
            return Handled::PassedOn;
        };
        let at = usize::from(c as u8 - b'1');
        if at >= count || !self.was_read(now) {
            return Handled::PassedOn;
        }
        self.pointed = Some(at);
        self.typed.push(c);
        Handled::Consumed
    }

    /// Returns the typed digits as the beginning of a message, and clears the selection.
    pub fn give_back(&mut self) -> Option<String> {
        let typed = std::mem::take(&mut self.typed);
        if typed.is_empty() {
            return None;
        }
        self.pointed = None;
        Some(typed)
    }

    fn take(&mut self, at: usize, cx: &mut UiContext) {
        // Ignores repeats of a held key.
        if !self.was_read(cx.shared.now) {
            return;
        }
        self.changed = cx.shared.now;
        self.typed.clear();
        match first_run_items(&cx.shared.engine.catalog).get(at) {
            Some(FirstRunItem::Model(server, listed)) => cx.send(Command::UseModel {
                server: (*server).clone(),
                model: listed.name.clone(),
            }),
            Some(FirstRunItem::AnotherServer) => cx.open(AddModelForm::new(cx.shared)),
            Some(FirstRunItem::Demo) => cx.request(UiRequest::StartDemo),
            None => {}
        }
    }
}
