//! Queue of dialogs, one for each open question of the engine. Only the first is shown. It accepts
//! keys only after a quiet time, so that keys meant for the message never answer it.

use crate::domain::{AskId, CallId, Notice, ServerId};
use crate::protocol::{Command, Event, Question, UserAnswer};
use crate::questions::UNFINISHED_KINDS;
use crate::tui::dialog::choices::choice_index;
use crate::tui::dialog::held_letter::{HeldAs, HeldLetter};
use crate::tui::dialog::state::{Dialog, DialogMode, QUIET_TIME};
use crate::tui::dialog::{argument_check, hints, keys, view};
use crate::tui::elicitation::form_state::FormState;
use crate::tui::input::key_repeat::KeyRepeatGuard;
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext};
use crate::tui::widgets::painter::Painter;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;
use std::time::Duration;

#[derive(Debug, Default)]
pub struct Dialogs {
    queue: Vec<Dialog>,
    /// Questions from servers that arrived while no turn was running, or were open when one ended.
    /// They accept no keys until the user opens them.
    waiting: Vec<Dialog>,
    /// The question whose field `$EDITOR` edits.
    pub(super) edited_externally: Option<AskId>,
    /// The last key that decided, or closed a field or page, ignored while it repeats because it is held
    /// down.
    pub(super) decision_key: Option<KeyRepeatGuard>,
    held_letter: Option<HeldLetter>,
    /// When a question was closed by the engine while the user typed into its field.
    closed_while_typing_at: Option<Duration>,
}

impl Dialogs {
    /// All questions except those that wait for the user to open them.
    pub fn queued(&self) -> &[Dialog] {
        &self.queue
    }

    #[cfg(test)]
    pub fn queued_mut(&mut self) -> &mut [Dialog] {
        &mut self.queue
    }

    /// The question whose dialog is shown.
    pub fn current(&self) -> Option<&Dialog> {
        self.queue.first()
    }

    pub(super) fn current_mut(&mut self) -> Option<&mut Dialog> {
        self.queue.first_mut()
    }

    /// Whether the current dialog accepts keys.
    pub fn accepts_keys(&self) -> bool {
        self.current().is_some_and(|dialog| dialog.accepts_keys)
    }

    /// Whether the current dialog is about tool calls.
    pub fn is_approval(&self) -> bool {
        self.current().is_some_and(|dialog| dialog.call().is_some())
    }

    /// Whether a question about an unfinished turn of an earlier run is open.
    pub fn asks_about_unfinished_turn(&self) -> bool {
        let kinds = self.queue.iter().map(|dialog| dialog.question.kind);
        kinds
            .into_iter()
            .any(|kind| UNFINISHED_KINDS.contains(&kind))
    }

    /// Makes the dialog accept keys once it has been drawn and no key has been pressed for
    /// [`QUIET_TIME`].
    pub fn accept_keys_if_quiet(&mut self, last_key: Duration, now: Duration) {
        if let Some(dialog) = self.queue.first_mut().filter(|dialog| dialog.is_drawn) {
            dialog.accepts_keys |= now >= dialog.quiet_since.max(last_key) + QUIET_TIME;
        }
    }

    /// Keeps a letter until it is clear whether a further one follows.
    pub fn hold_letter(&mut self, key: KeyEvent, held_as: HeldAs, now: Duration) {
        let question = self.current().map(|dialog| dialog.id);
        self.held_letter = question.map(|id| HeldLetter::new(id, key, held_as, now));
    }

    /// When the held letter has waited long enough.
    pub fn letter_due_at(&self) -> Option<Duration> {
        self.held_letter.as_ref().map(|held| held.due_at)
    }

    /// Takes the held letter, and whether its question is still the current one.
    pub fn take_held_letter(&mut self) -> Option<(HeldLetter, bool)> {
        let held = self.held_letter.take()?;
        let current = self.current().map(|dialog| dialog.id);
        let is_current = current == Some(held.question);
        Some((held, is_current))
    }

    /// The letter that is about to answer the current question.
    pub fn answering_letter(&self) -> Option<KeyEvent> {
        let held = self.held_letter.as_ref()?;
        let is_current = self.current()?.id == held.question;
        (held.answers && is_current).then_some(held.key)
    }

    /// Whether a key was meant for the field of a question that the engine has just closed.
    /// `last_key` is the time of the key before it.
    pub fn discards_key(&mut self, last_key: Duration, now: Duration) -> bool {
        let closed_at = self.closed_while_typing_at;
        let discards = closed_at.is_some_and(|at| now < at.max(last_key) + QUIET_TIME);
        if !discards {
            self.closed_while_typing_at = None;
        }
        discards
    }

    /// Lets questions from servers wait until the user opens them. Called when a turn ends.
    pub fn set_aside_server_questions(&mut self, now: Duration) {
        let is_of_server = |dialog: &mut Dialog| dialog.question.server.is_some();
        let set_aside: Vec<Dialog> = self.queue.extract_if(.., is_of_server).collect();
        self.waiting.extend(set_aside);
        if let Some(next) = self.current_mut() {
            next.wait_for_quiet(now);
            next.is_drawn = false;
        }
    }

    /// Makes the dialog accept keys only after it has been drawn again and another quiet time has
    /// passed.
    pub fn wait_for_quiet(&mut self, now: Duration) {
        if let Some(dialog) = self.current_mut() {
            dialog.wait_for_quiet(now);
            dialog.is_drawn = false;
        }
    }

    /// When the current dialog starts to accept keys, unless another key is pressed.
    pub fn accepts_keys_at(&self, last_key: Duration) -> Option<Duration> {
        let dialog = self
            .current()
            .filter(|dialog| dialog.is_drawn && !dialog.accepts_keys)?;
        Some(dialog.quiet_since.max(last_key) + QUIET_TIME)
    }

    fn open(&mut self, id: AskId, question: Question, shared: SharedUiState) {
        if self
            .queue
            .iter()
            .chain(&self.waiting)
            .any(|open| open.id == id)
        {
            return;
        }
        let is_expected = shared.transcript.running_turn().is_some();
        let list = match question.server {
            Some(_) if !is_expected => &mut self.waiting,
            _ => &mut self.queue,
        };
        list.push(Dialog::new(id, question, shared.now));
    }

    /// The servers whose questions wait until the user opens them, oldest first.
    pub fn waiting_servers(&self) -> impl Iterator<Item = &ServerId> {
        let questions = self.waiting.iter().map(|dialog| &dialog.question);
        questions.filter_map(|question| question.server.as_ref())
    }

    /// Opens the questions that wait. Returns whether there were any.
    pub fn open_waiting(&mut self, now: Duration) -> bool {
        for dialog in &mut self.waiting {
            dialog.wait_for_quiet(now);
            dialog.is_drawn = false;
        }
        let any_waited = !self.waiting.is_empty();
        self.queue.append(&mut self.waiting);
        any_waited
    }

    /// The next question waits for its own quiet time.
    fn close(&mut self, id: AskId, now: Duration) {
        let first = self.current().map(|dialog| dialog.id);
        self.queue.retain(|dialog| dialog.id != id);
        self.waiting.retain(|dialog| dialog.id != id);
        if let Some(next) = self
            .queue
            .first_mut()
            .filter(|dialog| Some(dialog.id) != first)
        {
            // It may have accepted keys before it was set aside.
            next.wait_for_quiet(now);
            next.is_drawn = false;
        }
    }

    /// Whether the user has filled in the form of this open question.
    fn has_edited_form(&self, ask: AskId) -> bool {
        let mut open = self.queue.iter().chain(&self.waiting);
        let form = open
            .find(|dialog| dialog.id == ask)
            .and_then(|dialog| dialog.form.as_ref());
        form.is_some_and(FormState::is_edited)
    }

    /// Answers the current question and closes it without waiting for its `AskClosed`.
    pub fn answer(&mut self, answer: UserAnswer, cx: &mut UiContext) {
        if let Some(ask) = self.current().map(|dialog| dialog.id) {
            cx.send(Command::Answer { ask, answer });
            self.close(ask, cx.shared.now);
        }
    }

    /// Handles the end of `$EDITOR`, which saved `text` unless it failed. Returns false if it edited
    /// no field of a dialog.
    pub fn end_external_edit(&mut self, text: Option<&str>) -> bool {
        let Some(question) = self.edited_externally.take() else {
            return false;
        };
        let dialog = self.current_mut().filter(|dialog| dialog.id == question);
        let mode = dialog.map(|dialog| &mut dialog.mode);
        if let (
            Some(DialogMode::EditArguments {
                editor,
                error,
                check,
                ..
            }),
            Some(text),
        ) = (mode, text)
        {
            editor.set(text);
            (*error, *check) = (None, None);
        }
        true
    }

    /// Discards the layout of dialogs about a call that changed.
    pub fn call_changed(&mut self, call: CallId) {
        self.queue
            .iter_mut()
            .for_each(|dialog| dialog.call_changed(call));
    }

    /// The dialog's height: at most `room`, or up to `height_max` if its horizontal rules need more.
    /// It is `height_max` if there is no space for rules, or if the user enlarged the dialog.
    pub fn height(
        &mut self,
        shared: SharedUiState,
        columns: u16,
        room: u16,
        height_max: u16,
    ) -> u16 {
        self.current_mut().map_or(0, |dialog| {
            view::dialog_height(shared, dialog, columns, room, height_max)
        })
    }
}

impl Layer for Dialogs {
    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let is_typing = |dialog: &Dialog| matches!(dialog.mode, DialogMode::EditForm);
        if self.current().is_some_and(is_typing) {
            // The key of the last decision is no longer held down: others have been typed.
            self.decision_key = None;
        }
        keys::handle_key(self, key, cx);
        Handled::Consumed
    }

    fn paste(&mut self, text: &str, _: &mut UiContext) -> Handled {
        match self.queue.first_mut() {
            Some(dialog) => keys::paste(dialog, text),
            None => Handled::PassedOn,
        }
    }

    fn scroll(&mut self, rows: isize, _: SharedUiState) {
        if let Some(dialog) = self.queue.first_mut() {
            dialog.scroll_by(rows);
        }
    }

    fn handle_event(&mut self, event: &Event, cx: &mut UiContext) -> Handled {
        let now = cx.shared.now;
        match event {
            Event::Asked { ask, question, .. } => self.open(*ask, question.clone(), cx.shared),
            Event::AskClosed(ask) => {
                let closed = self.current().filter(|dialog| dialog.id == *ask);
                let is_typing =
                    closed.is_some_and(|dialog| !matches!(dialog.mode, DialogMode::Choosing));
                if is_typing {
                    self.closed_while_typing_at = Some(now);
                }
                if is_typing || self.has_edited_form(*ask) {
                    // The text may contain secrets, so no copy of it is kept.
                    let text = "The question was closed. The text that you typed was neither sent \
                                nor kept.";
                    cx.notify(Notice::warning(text));
                }
                self.close(*ask, now);
            }
            Event::ArgumentsChecked { query, check } => {
                argument_check::apply_check(self, *query, check, cx);
            }
            _ => return Handled::PassedOn,
        }
        Handled::Consumed
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        let pressed = self.answering_letter();
        let dialog = self.queue.first_mut()?;
        dialog.pressed_choice = pressed.and_then(|key| choice_index(shared, dialog, key));
        view::draw(shared, dialog, area.body, pen)
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let Some(dialog) = self.current() else {
            return Vec::new();
        };
        if !dialog.accepts_keys {
            return vec!["Typing goes to the message; pause to answer".to_owned()];
        }
        hints::dialog_hints(dialog, shared.keymap)
    }
}
