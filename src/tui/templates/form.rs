//! The form that asks for the values of a template's fields.

use crate::domain::{Notice, TemplateBody};
use crate::text::Clean;
use crate::tui::keymap::layers::{KeyContext, LayerKey, hint_list};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext, UiRequest};
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::labeled_fields::{DrawnFields, FieldLabel, draw_labeled_fields};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::text_field;
use crate::tui::widgets::window::draw_window;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;

#[derive(Debug)]
pub struct TemplateForm {
    /// Raw name of the template.
    name: String,
    body: TemplateBody,
    /// One field for each of the body's fields, in the same order.
    fields: Vec<Editor>,
    focused: usize,
    drawn: DrawnFields,
}

impl TemplateForm {
    /// Fills the first fields with `values`. The next one gets the focus.
    pub(super) fn new(name: String, body: TemplateBody, values: &[String]) -> Self {
        let value = |index: usize| values.get(index).map_or("", String::as_str);
        Self {
            name,
            fields: (0..body.fields().len())
                .map(|index| Editor::new(value(index)))
                .collect(),
            focused: values.len().min(body.fields().len().saturating_sub(1)),
            body,
            drawn: DrawnFields::default(),
        }
    }

    fn last_field(&self) -> usize {
        self.fields.len().saturating_sub(1)
    }

    fn has_empty_field(&self) -> bool {
        self.fields.iter().any(Editor::is_blank)
    }

    /// Sends the filled text. With an empty field, the text goes into the message instead, for
    /// the user to complete.
    fn finish(&self, cx: &mut UiContext) -> Handled {
        let values: Vec<String> = self
            .fields
            .iter()
            .map(|field| field.text().trim().to_owned())
            .collect();
        let text = self.body.fill(&values);
        let fields = self.body.fields().iter().zip(&self.fields);
        let blank = fields.filter(|(_, value)| value.is_blank());
        let blank: Vec<String> = blank.map(|(field, _)| format!("{{{{{field}}}}}")).collect();
        if blank.is_empty() {
            cx.request(UiRequest::SubmitPrompt(text));
            return Handled::Closed;
        }
        cx.request(UiRequest::SetMessage(text));
        let notice = Notice::info("The message is not sent yet.");
        let notice = notice.with_advice(format!("Replace or delete {}.", blank.join(" and ")));
        cx.request(UiRequest::NotifyAboutMessage(notice));
        Handled::Closed
    }
}

impl Layer for TemplateForm {
    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        match cx.shared.keymap.layer_key(key, &[KeyContext::Form]) {
            Some(LayerKey::Back) => return Handled::Closed,
            Some(LayerKey::Confirm) if self.focused == self.last_field() => return self.finish(cx),
            Some(LayerKey::Up) => self.focused = self.focused.saturating_sub(1),
            Some(LayerKey::Down | LayerKey::Confirm) => {
                self.focused = (self.focused + 1).min(self.last_field())
            }
            Some(LayerKey::Switch) => self.focused = (self.focused + 1) % self.fields.len().max(1),
            _ => {
                if let Some(field) = self.fields.get_mut(self.focused) {
                    text_field::handle_line_key(field, key, cx.shared.keymap);
                }
            }
        }
        Handled::Consumed
    }

    fn paste(&mut self, text: &str, _: &mut UiContext) -> Handled {
        if let Some(field) = self.fields.get_mut(self.focused) {
            text_field::paste_line(field, text);
        }
        Handled::Consumed
    }

    fn click(&mut self, at: Position, _: &mut UiContext) -> Handled {
        self.focused = self.drawn.field_at(at).unwrap_or(self.focused);
        Handled::Consumed
    }

    fn popup_rows(&self, _: SharedUiState) -> Option<u16> {
        u16::try_from(self.fields.len()).ok()
    }

    fn draw(&mut self, area: LayerArea, _: SharedUiState, pen: &mut Painter) -> Option<Position> {
        let name = Clean::single_line(&format!("/{}", self.name));
        let area = draw_window(area.popup, name.as_str(), "", pen);
        let labels = self.body.fields().iter().map(|name| FieldLabel {
            name,
            is_required: false,
        });
        let cursor;
        (self.drawn, cursor) =
            draw_labeled_fields(labels, &mut self.fields, self.focused, area, pen);
        cursor
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let effect = match (self.focused == self.last_field(), self.has_empty_field()) {
            (false, _) => "next",
            (true, false) => "send",
            (true, true) => "fill in later, in the message",
        };
        let hint = |key, effect| shared.keymap.layer_hint(KeyContext::Form, key, effect);
        hint_list([
            hint(LayerKey::Confirm, effect),
            hint(LayerKey::Back, "cancel"),
        ])
    }
}
