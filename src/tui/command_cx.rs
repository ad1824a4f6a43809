//! How the screen runs commands: it opens a list, a field or a view for what is missing.

use crate::commands::{CommandCx, CommandState, PickList, Wanted, WantedView};
use crate::domain::{Notice, ServerId};
use crate::protocol::Command;
use crate::tui::keymap::Action;
use crate::tui::layer::{UiContext, UiRequest};
use crate::tui::log::state::{self as log, LogTab};
use crate::tui::models::layer as models;
use crate::tui::servers::{commands as servers, sign_in, stderr_log, variables, viewer};
use crate::tui::sessions::commands::{DeleteLayer, export};
use crate::tui::trust::layer::TrustList;
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::list_layer::ListSource;
use crate::tui::widgets::picker::{Picker, PickerRow};
use crate::tui::{imports, server_content, sessions, settings};

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
                self.notify(Notice::info(row.usage_line()));
            }
            Wanted::Deletion { session, title } => self.open(DeleteLayer { session, title }),
            Wanted::Copy { name, text } => self.copy(&name, text),
            Wanted::Export { arguments, is_open } => export(arguments, is_open, self),
            Wanted::View(view) => show_view(view, self),
            other => self.request(UiRequest::CarryOut(other)),
        }
    }

    fn await_server(&mut self, id: &ServerId) {
        self.request(UiRequest::AwaitServer(id.clone()));
    }
}

/// Opens the layer.
fn show_view(view: WantedView, cx: &mut UiContext) {
    match view {
        WantedView::Sessions(words) => sessions::layer::open(&words, cx),
        WantedView::Models => models::open(None, cx),
        WantedView::ConfiguredModels => models::open_configured(cx),
        WantedView::PulledModel => models::open(Some(Editor::default()), cx),
        WantedView::Servers => viewer::open(None, cx),
        WantedView::Server(id) => viewer::open(Some(&id), cx),
        WantedView::AddServer(server) => servers::add(&server, cx),
        WantedView::ServerLog(id) => stderr_log::open(&id, cx),
        WantedView::SignIn(id) => sign_in::open(&id, cx),
        WantedView::Variables(id) => {
            let mut servers = cx.shared.servers.iter();
            if let Some(server) = servers.find(|server| server.id == id) {
                variables::open(server, cx);
            }
        }
        WantedView::Tools(words) => viewer::open_tools(&words, cx),
        WantedView::ServerImport => imports::open(cx),
        WantedView::Trust => TrustList::default().open(cx),
        WantedView::ServerPrompts(argument) => {
            server_content::run_prompt_command(&argument, cx);
        }
        WantedView::Resources(argument) => server_content::run_resource_command(&argument, cx),
        WantedView::Log => log::open(LogTab::Log, cx),
        WantedView::ReplyTrace => log::open(LogTab::LastAnswer, cx),
        WantedView::Theme(name) => settings::set_theme(&name, cx),
    }
}

fn picker(list: PickList) -> Picker {
    let rows = list.rows.into_iter().map(PickerRow::from);
    Picker::new(list.title, list.keep, rows).starting_at(list.current)
}
