//! Asks for the values of variables that a server lacks. They are shown as dots, and stored in the
//! server's entry in mcp-servers.json.

use crate::domain::model::Secret;
use crate::domain::{Server, ServerId};
use crate::protocol::{Command, NewServerCommand};
use crate::text::Clean;
use crate::tui::keymap::layers::{KeyContext, LayerKey, hint_list};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext};
use crate::tui::widgets::editor::{Editor, with_newlines};
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use crate::tui::widgets::text_field;
use crate::tui::widgets::window::draw_window;
use crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};

#[derive(Debug)]
pub struct VariablesLayer {
    server: ServerId,
    names: Vec<String>,
    /// The values of the first names.
    values: Vec<(String, Secret)>,
    field: MaskedField,
}

/// A field that never shows its text, not even in a debug output.
#[derive(Default)]
struct MaskedField(String);

impl std::fmt::Debug for MaskedField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MaskedField(…)")
    }
}

pub fn open(server: &Server, cx: &mut UiContext) {
    cx.open(VariablesLayer {
        server: server.id.clone(),
        names: server.missing_variables.clone(),
        values: Vec::new(),
        field: MaskedField::default(),
    });
}

impl VariablesLayer {
    fn name(&self) -> &str {
        self.names.get(self.values.len()).map_or("", String::as_str)
    }

    /// Goes on to the next variable. After the last one, sends all values.
    fn confirm(&mut self, cx: &mut UiContext) -> Handled {
        let value = std::mem::take(&mut self.field.0);
        let value = value.trim();
        if value.is_empty() {
            return Handled::Consumed;
        }
        self.values
            .push((self.name().to_owned(), Secret::new(value)));
        if self.values.len() < self.names.len() {
            return Handled::Consumed;
        }
        let values = std::mem::take(&mut self.values);
        let command = NewServerCommand::SetVariables(self.server.clone(), values);
        cx.send(Command::NewServer(command));
        Handled::Closed
    }
}

impl Layer for VariablesLayer {
    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        match cx.shared.keymap.layer_key(key, &[KeyContext::Form]) {
            Some(LayerKey::Back) => return Handled::Closed,
            Some(LayerKey::Confirm) => return self.confirm(cx),
            _ => {
                // The text is not shown, so its cursor is always at the end.
                let mut editor = Editor::new(&self.field.0);
                text_field::handle_line_key(&mut editor, key, cx.shared.keymap);
                self.field.0 = editor.text();
            }
        }
        Handled::Consumed
    }

    fn paste(&mut self, text: &str, _: &mut UiContext) -> Handled {
        self.field.0.push_str(&with_newlines(text.trim()));
        Handled::Consumed
    }

    fn draw(&mut self, area: LayerArea, _: SharedUiState, pen: &mut Painter) -> Option<Position> {
        let server = Clean::name(self.server.as_str());
        let area = draw_window(area.body, &format!("Values for {server}"), "", pen);
        let name = Clean::name(self.name());
        let of = match self.names.len() {
            1 => String::new(),
            count => format!(" ({} of {count})", self.values.len() + 1),
        };
        let text = format!(
            "Server `{server}` needs a value for {name}{of}. It is stored in mcp-servers.json, which \
             only you can read, and the server is switched on. To use an environment variable \
             instead, close this and set it before you start humble."
        );
        let field_y = area.y + area.height.saturating_sub(1);
        for (row, y) in wrapped_rows(&Clean::new(&text), area.width)
            .iter()
            .zip(area.y..field_y)
        {
            pen.put(area.x, y, row, pen.theme.plain, area.width);
        }
        let field = Rect {
            y: field_y,
            height: area.height.min(1),
            ..area
        };
        let mut dots = Editor::new(&"•".repeat(self.field.0.chars().count()));
        let label = format!("{name}:");
        let label = (label.as_str(), pen.theme.dim);
        Some(text_field::draw_line(&mut dots, label, field, pen))
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let hint = |key, effect| shared.keymap.layer_hint(KeyContext::Form, key, effect);
        let is_last = self.values.len() + 1 == self.names.len();
        let effect = match is_last {
            true => "store it and switch the server on",
            false => "next value",
        };
        let confirm = hint(LayerKey::Confirm, effect).filter(|_| !self.field.0.is_empty());
        hint_list([confirm, hint(LayerKey::Back, "cancel")])
    }
}
