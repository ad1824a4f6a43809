//! The list of `/tasks`: use the result of a task, ask its server again, cancel it, or remove it.

use super::view::{TaskColumns, matching_rows};
use crate::domain::{LeftTask, LeftTaskState, Notice};
use crate::protocol::{Command, LeftTaskCommand};
use crate::tui::keymap::Action;
use crate::tui::keymap::layers::{KeyContext, LayerKey, hint_list};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext, UiRequest};
use crate::tui::widgets::list::{ListKey, ListTitle, SearchList};
use crate::tui::widgets::painter::Painter;
use crossterm::event::{KeyEvent, KeyEventKind};
use ratatui::layout::Position;

const NO_TASKS: &str = "No task was left running. While a call runs as a task on its server, \
    /leave continues without it and lists the task here.";
const EMPTY_ROWS: u16 = 3;

#[derive(Debug, Default)]
struct LeftTasksLayer {
    list: SearchList,
}

/// Opens the list, and requests the current ages.
pub fn open(cx: &mut UiContext) {
    cx.send(Command::LeftTask(LeftTaskCommand::List));
    cx.open(LeftTasksLayer::default());
}

impl LeftTasksLayer {
    fn selected<'a>(&self, tasks: &'a [LeftTask]) -> Option<&'a LeftTask> {
        let rows = matching_rows(tasks, &self.list.filter());
        rows.get(self.list.selected(rows.len())).map(|row| row.task)
    }

    /// Starts a turn that waits for the selected task, or says why that is not possible.
    fn use_result(&self, cx: &mut UiContext) -> Handled {
        let Some(task) = self.selected(&cx.shared.engine.left_tasks) else {
            return Handled::Consumed;
        };
        match &task.state {
            LeftTaskState::NotFollowed { why } => {
                let key = cx
                    .shared
                    .keymap
                    .layer_key_name(KeyContext::Tasks, LayerKey::Refresh);
                let advice = key.map(|key| format!("In the rows, {key} asks its server again."));
                let notice = Notice::warning(why.clone());
                cx.notify(notice.with_advice(advice.unwrap_or_default()));
            }
            LeftTaskState::Awaited => cx.notify(Notice::info("A turn is waiting for this task.")),
            _ if cx.shared.transcript.running_turn().is_some() => {
                let text = "A turn is running. Use the result once the turn has ended.";
                cx.notify(Notice::info(text));
            }
            _ => {
                cx.request(UiRequest::UseLeftTask(task.id));
                return Handled::Closed;
            }
        }
        Handled::Consumed
    }

    fn row_key(&self, key: LayerKey, cx: &mut UiContext) {
        let Some(task) = self.selected(&cx.shared.engine.left_tasks) else {
            return;
        };
        let id = task.id;
        let command = match key {
            LayerKey::Refresh => match task.state {
                LeftTaskState::NotFollowed { .. } => LeftTaskCommand::Follow(id),
                _ => LeftTaskCommand::List,
            },
            LayerKey::CancelTask => LeftTaskCommand::Cancel(id),
            LayerKey::Delete => LeftTaskCommand::Remove(id),
            _ => return,
        };
        cx.send(Command::LeftTask(command));
    }
}

impl Layer for LeftTasksLayer {
    fn action(&self) -> Option<Action> {
        Some(Action::LeftTasks)
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let is_repeat =
            key.kind == KeyEventKind::Repeat && cx.shared.keymap.row_step(key).is_none();
        // A held key must not cancel or remove several tasks.
        if is_repeat && self.list.has_row_focus() {
            return Handled::Consumed;
        }
        let count = matching_rows(&cx.shared.engine.left_tasks, &self.list.filter()).len();
        let keymap = cx.shared.keymap;
        match self.list.key(key, count, Some(KeyContext::Tasks), keymap) {
            ListKey::Unhandled(LayerKey::Confirm) if is_repeat => {}
            ListKey::Unhandled(LayerKey::Confirm) => return self.use_result(cx),
            ListKey::Unhandled(key) => self.row_key(key, cx),
            handled => return handled.handled(),
        }
        Handled::Consumed
    }

    fn paste(&mut self, text: &str, _: &mut UiContext) -> Handled {
        self.list.paste(text);
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, shared: SharedUiState) {
        let count = matching_rows(&shared.engine.left_tasks, &self.list.filter()).len();
        self.list.step(rows, count);
    }

    fn click(&mut self, at: Position, cx: &mut UiContext) -> Handled {
        match self.list.click(at, cx.shared.keymap) {
            Some(enter) => self.handle_key(enter, cx),
            None => Handled::Consumed,
        }
    }

    fn popup_rows(&self, shared: SharedUiState) -> Option<u16> {
        let count = u16::try_from(shared.engine.left_tasks.len()).unwrap_or(u16::MAX);
        let rows = if count == 0 { EMPTY_ROWS } else { count };
        Some(rows.saturating_add(1))
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        let tasks = shared.engine.left_tasks.as_slice();
        let rows = matching_rows(tasks, &self.list.filter());
        let title = ListTitle {
            title: "Tasks",
            total: tasks.len(),
            empty: NO_TASKS,
            shows_empty_when_filtered: false,
        };
        let columns = TaskColumns::new(&rows);
        self.list
            .draw(area.popup, &title, &rows, pen, |shown, row, pen| {
                columns.draw(shown, row, pen);
            })
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let keymap = shared.keymap;
        let tasks = shared.engine.left_tasks.as_slice();
        let hint = |key, word| keymap.layer_hint(KeyContext::Tasks, key, word);
        let state = self.selected(tasks).map(|task| &task.state);
        let enter = match state {
            Some(LeftTaskState::NotFollowed { .. }) => "why",
            Some(LeftTaskState::Running { .. }) => "wait for it",
            _ => "use its result",
        };
        let is_lost = matches!(state, Some(LeftTaskState::NotFollowed { .. }));
        let row_hints = hint_list([
            hint(LayerKey::Refresh, "ask again").filter(|_| is_lost),
            hint(LayerKey::CancelTask, "cancel it"),
            hint(LayerKey::Delete, "forget it"),
        ]);
        let count = matching_rows(tasks, &self.list.filter()).len();
        self.list.hints(count, enter, row_hints, keymap)
    }
}
