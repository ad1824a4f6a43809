//! How the screen runs commands: it opens a list, a field or a view for what is missing.

use crate::commands::{CommandCx, CommandState, PickList, Wanted, WantedView};
use crate::domain::{Notice, ServerId};
use crate::protocol::Command;
use crate::tui::keymap::Action;
use crate::tui::layer::{PickedItem, UiContext, UiRequest};
use crate::tui::models::layer as models;
use crate::tui::servers::{commands as servers, sign_in, stderr_log, variables, viewer};
use crate::tui::sessions::commands::DeleteLayer;
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::list_layer::ListSource;
use crate::tui::widgets::picker::{Picker, PickerRow};

impl CommandCx for UiContext<'_> {
    fn state(&self) -> CommandState<'_> {
        CommandState {
            engine: self.shared.engine,
            servers: self.shared.servers,
            conversation: self.shared.conversation,
            transcript: self.shared.transcript,
            selected_call: self.shared.selected_call,
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
            Wanted::View(view) => open_view(view, self),
        }
    }

    fn await_server(&mut self, id: &ServerId) {
        self.request(UiRequest::AwaitServer(id.clone()));
    }
}

fn open_view(view: WantedView, cx: &mut UiContext) {
    match view {
        WantedView::Models => models::open(None, cx),
        WantedView::ConfiguredModels => models::open_configured(cx),
        WantedView::PulledModel => models::open(Some(Editor::default()), cx),
        WantedView::Servers => viewer::open(None, cx),
        WantedView::Server(id) => viewer::open(Some(&id), cx),
        WantedView::HideServers => cx.request(UiRequest::HideServers),
        WantedView::AddServer(server) => servers::add(&server, cx),
        WantedView::ServerLog(id) => stderr_log::open(&id, cx),
        WantedView::SignIn(id) => sign_in::open(&id, cx),
        WantedView::Variables(id) => {
            let mut servers = cx.shared.servers.iter();
            if let Some(server) = servers.find(|server| server.id == id) {
                variables::open(server, cx);
            }
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
