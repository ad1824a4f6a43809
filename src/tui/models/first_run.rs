//! The offer of a first run. A digit or an arrow only points; Enter takes, so that a message
//! which begins with a digit writes no settings.

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

/// How long an item must have been in view before it is chosen.
const READ: Duration = Duration::from_millis(500);

#[derive(Debug, Default)]
pub struct FirstRun {
    /// The arrows' row. Nothing is preselected.
    pointed: Option<usize>,
    /// The digits that pointed to it: where letters follow, they were the beginning of
    /// a message.
    typed: String,
    /// Put off until later.
    closed: bool,
    /// When it changed last: what could not be read yet is not chosen.
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

    /// The servers have other models now.
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
                let notice = Notice::info("Later then: /models shows this choice again.");
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

    /// A digit points to its item.
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

    /// The digits that pointed, which were the beginning of a message.
    pub fn give_back(&mut self) -> Option<String> {
        let typed = std::mem::take(&mut self.typed);
        if typed.is_empty() {
            return None;
        }
        self.pointed = None;
        Some(typed)
    }

    fn take(&mut self, at: usize, cx: &mut UiContext) {
        // A key that is held down chooses once.
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
