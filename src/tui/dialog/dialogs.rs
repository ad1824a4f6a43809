//! Queue of the engine's open questions. Only the first has a dialog. It accepts keys only
//! after a quiet time, so that keys typed for the message never answer it.

use crate::domain::{AskId, CallId};
use crate::protocol::{Answer, Ask, Command, Event};
use crate::tui::dialog::state::{Form, OpenAsk, QUIET};
use crate::tui::dialog::{edit_check, keys, view};
use crate::tui::input::key_repeat::Held;
use crate::tui::layer::{Cx, Handled, Layer, LayerArea, Shared};
use crate::tui::widgets::numbers::rows_words;
use crate::tui::widgets::painter::Painter;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;
use std::time::Duration;

#[derive(Debug, Default)]
pub struct Dialogs {
    asks: Vec<OpenAsk>,
    /// The last deciding key, ignored while it repeats because it is held down.
    pub(super) decided_by: Option<Held>,
}

impl Dialogs {
    pub fn asks(&self) -> &[OpenAsk] {
        &self.asks
    }

    #[cfg(test)]
    pub fn asks_mut(&mut self) -> &mut [OpenAsk] {
        &mut self.asks
    }

    /// The question whose dialog is shown.
    pub fn shown(&self) -> Option<&OpenAsk> {
        self.asks.first()
    }

    pub(super) fn shown_mut(&mut self) -> Option<&mut OpenAsk> {
        self.asks.first_mut()
    }

    /// Does the current dialog accept keys?
    pub fn is_armed(&self) -> bool {
        self.shown().is_some_and(|ask| ask.armed)
    }

    /// Is the current dialog about tool calls?
    pub fn approves(&self) -> bool {
        self.shown()
            .is_some_and(|ask| matches!(ask.question, Ask::Approve(_)))
    }

    /// The dialog accepts keys once it has been drawn and no key was pressed for
    /// [`QUIET_TIME`].
    pub fn arm(&mut self, last_key: Duration, now: Duration) {
        if let Some(ask) = self.asks.first_mut().filter(|ask| ask.is_seen) {
            ask.armed |= now >= ask.opened.max(last_key) + QUIET;
        }
    }

    /// When the current dialog starts to accept keys, unless another key is pressed.
    pub fn arms_at(&self, last_key: Duration) -> Option<Duration> {
        let ask = self.shown().filter(|ask| ask.is_seen && !ask.armed)?;
        Some(ask.opened.max(last_key) + QUIET)
    }

    fn open(&mut self, id: AskId, question: Ask, now: Duration) {
        if self.asks.iter().all(|open| open.id != id) {
            self.asks.push(OpenAsk::new(id, question, now));
        }
    }

    /// Removes a question. The next one waits for its own quiet time.
    fn close(&mut self, id: AskId, now: Duration) {
        let first = self.shown().map(|ask| ask.id);
        self.asks.retain(|ask| ask.id != id);
        if let Some(next) = self.asks.first_mut().filter(|ask| Some(ask.id) != first) {
            next.opened = now;
            next.is_seen = false;
        }
    }

    /// Answers the current question and closes it without waiting for its `AskClosed`.
    pub fn answer(&mut self, answer: Answer, cx: &mut Cx) {
        if let Some(ask) = self.shown().map(|ask| ask.id) {
            cx.send(Command::Answer { ask, answer });
            self.close(ask, cx.shared.now);
        }
    }

    /// Discards the layout of dialogs about a call that changed.
    pub fn call_changed(&mut self, call: CallId) {
        self.asks.iter_mut().for_each(|ask| ask.changed(call));
    }

    /// The dialog's height: its preferred height, at most `room`. If `room` is too small for
    /// a frame, the height may reach `most`; without a frame it is `most`.
    pub fn rows(&mut self, shared: Shared, columns: u16, room: u16, most: u16) -> u16 {
        self.shown_mut()
            .map_or(0, |ask| view::rows(shared, ask, columns, room, most))
    }
}

impl Layer for Dialogs {
    fn key(&mut self, key: KeyEvent, cx: &mut Cx) -> Handled {
        keys::press(self, key, cx);
        Handled::Consumed
    }

    fn paste(&mut self, text: &str, _: &mut Cx) -> Handled {
        match self.asks.first_mut() {
            Some(ask) => keys::paste(ask, text),
            None => Handled::PassedOn,
        }
    }

    fn scroll(&mut self, rows: isize, _: Shared) {
        if let Some(ask) = self.asks.first_mut() {
            ask.scroll_by(rows);
        }
    }

    fn event(&mut self, event: &Event, cx: &mut Cx) -> Handled {
        let now = cx.shared.now;
        match event {
            Event::Asked { ask, question, .. } => self.open(*ask, question.clone(), now),
            Event::AskClosed(ask) => self.close(*ask, now),
            Event::ArgumentsChecked { query, check } => {
                edit_check::checked(self, *query, check, cx);
            }
            _ => return Handled::PassedOn,
        }
        Handled::Consumed
    }

    fn draw(&mut self, area: LayerArea, shared: Shared, pen: &mut Painter) -> Option<Position> {
        view::draw(shared, self.asks.first_mut()?, area.body, pen)
    }

    fn hints(&self, _: Shared) -> Vec<String> {
        let Some(ask) = self.shown() else {
            return Vec::new();
        };
        let say = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        if !ask.armed {
            return say(&["Typing goes to the message; pause to answer"]);
        }
        let left = ask.rows_left;
        match ask.form {
            Form::Choosing if left > 0 && ask.call().is_some() => {
                let more = format!("{}: PgDn or y", rows_words(left, "more"));
                vec![more, "A letter or number decides".to_owned()]
            }
            Form::Choosing if ask.calls().len() > 1 => say(&[
                "A letter or number decides",
                "Left/Right other calls",
                "PgUp/PgDn scroll",
            ]),
            Form::Choosing if ask.ends_unread() => {
                say(&["PgDn to the end, then accept", "A letter or number decides"])
            }
            Form::Choosing => say(&["A letter or number decides", "PgUp/PgDn scroll"]),
            Form::Word(_) => say(&["Enter deny", "Esc back"]),
            Form::Unread(_) => say(&["Enter run", "Esc back"]),
            Form::Arguments {
                is_pattern: true, ..
            } => say(&["Enter run and remember", "Alt+Enter newline", "Esc back"]),
            Form::Arguments { .. } => say(&["Enter run", "Alt+Enter newline", "Esc back"]),
        }
    }
}
