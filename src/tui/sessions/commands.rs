//! The one-row popups of `/export` and `/delete`, which act on the open conversation.

use crate::commands::conversation;
use crate::domain::SessionId;
use crate::domain::session_export::ExportArguments;
use crate::protocol::{Command, Event};
use crate::text::Clean;
use crate::tui::keymap::Action;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext};
use crate::tui::sessions::export_form::ExportForm;
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::window::draw_titled;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;

/// Opens the form of `/export`, filled with its arguments. Exports at once if there are any.
pub fn export(arguments: ExportArguments, is_open: bool, cx: &mut UiContext) {
    let mut form = ExportForm::with_arguments(&cx.shared.conversation.title, arguments);
    if !is_open {
        form.export(false, cx);
    }
    cx.open(ExportLayer { form });
}

#[derive(Debug)]
struct ExportLayer {
    form: ExportForm,
}

impl Layer for ExportLayer {
    fn action(&self) -> Option<Action> {
        Some(Action::EXPORT)
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        self.form.handle_key(key, cx)
    }

    fn paste(&mut self, text: &str, _: &mut UiContext) -> Handled {
        self.form.paste(text);
        Handled::Consumed
    }

    fn handle_event(&mut self, event: &Event, _: &mut UiContext) -> Handled {
        self.form.handle_event(event)
    }

    fn popup_rows(&self, _: SharedUiState) -> Option<u16> {
        Some(1)
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        let title = Clean::single_line(self.form.title());
        let title = format!("Export \"{}\"", title.as_str());
        let area = draw_titled(area.popup, &title, "", pen);
        self.form.draw(area, shared.keymap, pen)
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        self.form.hints(shared.keymap)
    }
}

/// Asks before the open conversation is deleted.
#[derive(Debug)]
pub struct DeleteLayer {
    pub session: SessionId,
    pub title: String,
}

impl Layer for DeleteLayer {
    fn action(&self) -> Option<Action> {
        Some(Action::Command(&conversation::DELETE))
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        if cx.shared.keymap.layer_key(key, &[KeyContext::Confirmation]) == Some(LayerKey::Yes) {
            cx.send(Command::DeleteSession(self.session.clone()));
        }
        Handled::Closed
    }

    fn popup_rows(&self, _: SharedUiState) -> Option<u16> {
        Some(1)
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        let area = draw_titled(area.popup, "Delete this conversation?", "", pen);
        let title = Clean::single_line(&self.title);
        let attention = pen.theme.attention;
        let letters = format!("{} ", shared.keymap.confirmation_letters());
        let used = pen.put(area.x, area.y, &letters, attention, area.width);
        let plain = pen.theme.plain;
        pen.put_truncated(
            area.x + used,
            area.y,
            title.as_str(),
            plain,
            area.width - used,
        );
        None
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        shared.keymap.confirmation_hints("delete")
    }
}
