//! First-run choice of a model. Arrows only select, and Enter confirms. A digit chooses its item
//! unless another key follows soon: a message that starts with a digit must not write settings.

use crate::commands::models::MODELS;
use crate::domain::{ModelCatalog, Notice};
use crate::protocol::Command;
use crate::tui::input::decode::typed_char;
use crate::tui::keymap::Action;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::{Handled, UiContext, UiRequest};
use crate::tui::models::add_form::AddModelForm;
use crate::tui::models::rows::{FirstRunItem, first_run_items};
use crossterm::event::KeyEvent;
use std::time::Duration;

/// An item can be chosen only after it has been visible this long.
const READING_TIME_MIN: Duration = Duration::from_millis(500);

/// A digit chooses its item after this long without another key.
const DIGIT_PAUSE: Duration = Duration::from_millis(800);

#[derive(Debug, Default)]
pub struct FirstRun {
    /// The item that the user selected; `None` means the first one, whichever that is.
    selected: Option<usize>,
    /// The digits that selected the item. If other characters follow, the digits belong to
    /// a message.
    typed: String,
    /// The user postponed the choice.
    is_closed: bool,
    typed_at: Duration,
    /// When the list last changed or appeared, or an item was chosen. Soon afterwards, neither Enter
    /// nor a digit chooses an item.
    changed_at: Duration,
}

impl FirstRun {
    pub fn selected(&self) -> usize {
        self.selected.unwrap_or(0)
    }

    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Shows the choice again after Esc. Returns false if it was open.
    pub fn reopen(&mut self, now: Duration) -> bool {
        let was_closed = std::mem::take(&mut self.is_closed);
        if was_closed {
            self.ignore_choices(now);
        }
        was_closed
    }

    /// Lets neither Enter nor digits choose for a moment: they may repeat the key that led here.
    pub fn ignore_choices(&mut self, now: Duration) {
        self.changed_at = now;
    }

    fn was_read(&self, now: Duration) -> bool {
        now >= self.changed_at + READING_TIME_MIN
    }

    fn select(&mut self, at: usize) {
        self.selected = Some(at);
        self.typed.clear();
    }

    /// Keeps the user's item selected when the list changes.
    pub fn follow(&mut self, before: &ModelCatalog, after: &ModelCatalog, now: Duration) {
        let (before, after) = (first_run_items(before), first_run_items(after));
        if before == after {
            return;
        }
        self.changed_at = now;
        let selected = self.selected.and_then(|at| before.get(at));
        self.selected = selected.and_then(|item| after.iter().position(|other| other == item));
    }

    pub fn key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let count = first_run_items(&cx.shared.engine.catalog).len();
        let at = self.selected();
        match cx.shared.keymap.layer_key(key, &[KeyContext::FirstRun]) {
            Some(LayerKey::Back) => {
                self.is_closed = true;
                self.typed.clear();
                cx.notify(Notice::info("Skipped. /models brings this back."));
            }
            Some(LayerKey::Up) => self.select(at.saturating_sub(1)),
            Some(LayerKey::Down) => self.select((at + 1).min(count - 1)),
            Some(LayerKey::Erase) if self.typed.pop().is_some() => self.selected = None,
            Some(LayerKey::Confirm) => self.choose(at, cx),
            _ => return self.digit_key(key, count, cx.shared.now),
        }
        Handled::Consumed
    }

    fn digit_key(&mut self, key: KeyEvent, count: usize, now: Duration) -> Handled {
        let Some(c @ '1'..='9') = typed_char(key) else {
            return Handled::PassedOn;
        };
        let at = usize::from(c as u8 - b'1');
        if at >= count || !self.was_read(now) {
            return Handled::PassedOn;
        }
        self.selected = Some(at);
        self.typed.push(c);
        self.typed_at = now;
        Handled::Consumed
    }

    /// When the typed digit chooses its item; `None` unless exactly one digit is typed and its item
    /// is still listed.
    pub fn digit_due_at(&self) -> Option<Duration> {
        let is_due = self.typed.len() == 1 && self.selected.is_some();
        is_due.then_some(self.typed_at + DIGIT_PAUSE)
    }

    /// Chooses the item of a digit that no other key has followed.
    pub fn take_due_digit(&mut self, cx: &mut UiContext) {
        if self.digit_due_at().is_some_and(|due| cx.shared.now >= due) {
            self.choose(self.selected(), cx);
        }
    }

    /// Returns the typed digits as the beginning of a message, and clears the selection.
    pub fn take_typed(&mut self) -> Option<String> {
        let typed = std::mem::take(&mut self.typed);
        if typed.is_empty() {
            return None;
        }
        self.selected = None;
        Some(typed)
    }

    fn choose(&mut self, at: usize, cx: &mut UiContext) {
        // Ignores repeats of a held key.
        if !self.was_read(cx.shared.now) {
            return;
        }
        self.changed_at = cx.shared.now;
        self.typed.clear();
        match first_run_items(&cx.shared.engine.catalog).get(at) {
            Some(FirstRunItem::Model(server, listed)) => cx.send(Command::UseModel {
                server: (*server).clone(),
                model: listed.name.clone(),
            }),
            Some(FirstRunItem::Pull) => {
                cx.request(UiRequest::RunCommand(&MODELS, "pull".to_owned()));
            }
            Some(FirstRunItem::AnotherServer) => cx.open(AddModelForm::new(cx.shared)),
            Some(FirstRunItem::ImportServers) => {
                cx.request(UiRequest::RunAction(Action::IMPORT));
            }
            Some(FirstRunItem::Demo) => cx.request(UiRequest::StartDemo),
            None => {}
        }
    }
}
