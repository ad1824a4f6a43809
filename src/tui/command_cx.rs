//! How the screen runs commands: it opens a list, a field or a view for what is missing.

use crate::commands::{CommandCx, CommandState, PickList, Wanted, WantedView};
use crate::domain::Notice;
use crate::protocol::Command;
use crate::tui::keymap::Action;
use crate::tui::layer::{PickedItem, UiContext, UiRequest};
use crate::tui::models::layer as models;
use crate::tui::sessions::commands::DeleteLayer;
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::list_layer::ListSource;
use crate::tui::widgets::picker::{Picker, PickerRow};

impl CommandCx for UiContext<'_> {
    fn state(&self) -> CommandState<'_> {
        CommandState {
            engine: self.shared.engine,
            conversation: self.shared.conversation,
            transcript: self.shared.transcript,
        }
    }

    fn send(&mut self, command: Command) {
        self.request(UiRequest::Send(command));
    }

    fn notify(&mut self, notice: Notice) {
        self.request(UiRequest::Notify(notice));
    }

    fn has_to_wait(&mut self) -> bool {
        let Some(busy) = self.shared.busy else {
            return false;
        };
        let stop = self.shared.keymap.hint(Action::Interrupt, "stops it.");
        let notice = Notice::info(busy.reason);
        let notice = match busy.can_be_stopped {
            true => notice.with_advice(stop.unwrap_or_default()),
            false => notice,
        };
        self.request(UiRequest::NotifyAboutActivity(notice));
        true
    }

    fn ask_for(&mut self, wanted: Wanted) {
        match wanted {
            Wanted::Row(list) => picker(list).open(self),
            Wanted::Argument { row, .. } => {
                self.request(UiRequest::TypeCommand(row.name));
                self.notify(row.usage_notice());
            }
            Wanted::Deletion { session, title } => self.open(DeleteLayer { session, title }),
            Wanted::View(WantedView::Models) => models::open(None, self),
            Wanted::View(WantedView::ConfiguredModels) => models::open_configured(self),
            Wanted::View(WantedView::PulledModel) => models::open(Some(Editor::default()), self),
        }
    }
}

fn picker(list: PickList) -> Picker {
    let rows = list.rows.into_iter().map(|row| {
        let (name, note) = (row.name.clone(), row.note.clone());
        PickerRow::new(PickedItem::Row(Box::new(row)), &name, &note)
    });
    Picker::new(list.title, list.keep, rows).starting_at(list.current)
}
