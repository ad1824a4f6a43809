//! The form that asks for the arguments of a prompt or the variables of a resource template.

use super::argument_completion::FieldCompletion;
use super::describe;
use super::review::PromptReview;
use crate::commands::{CommandCx, Wanted};
use crate::domain::{
    ArgumentCompletion, ArgumentOwner, ContentArgument, Notice, ResourceTemplate, ServerId,
    ServerPrompt,
};
use crate::protocol::{Command, Event, ServerContentCommand, ServerContentEvent};
use crate::text::Clean;
use crate::tui::keymap::Keymap;
use crate::tui::keymap::layers::{KeyContext, LayerKey, hint_list};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext};
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::labeled_fields::{DrawnFields, FieldLabel, draw_labeled_fields};
use crate::tui::widgets::list::rows_in_view;
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::text_field;
use crate::tui::widgets::window::{content_area, draw_window};
use crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};
use std::time::Duration;

/// Maximum number of visible completions.
const VALUE_ROWS_MAX: u16 = 5;

#[derive(Debug, Clone)]
pub(super) enum FormTarget {
    Prompt(ServerPrompt),
    Template(ResourceTemplate),
}

#[derive(Debug)]
pub(super) struct ArgumentForm {
    server: ServerId,
    target: FormTarget,
    arguments: Vec<ContentArgument>,
    /// One field for each argument, in the same order.
    fields: Vec<Editor>,
    focused: usize,
    /// Whether the server completes arguments.
    completes: bool,
    completion: FieldCompletion,
    drawn: DrawnFields,
}

impl FormTarget {
    fn arguments(&self) -> Vec<ContentArgument> {
        match self {
            Self::Prompt(prompt) => prompt.arguments.clone(),
            Self::Template(template) => {
                let variables = template.uri_template.variables().into_iter();
                let variables = variables.map(|name| ContentArgument {
                    name: name.to_owned(),
                    title: None,
                    description: None,
                    is_required: false,
                });
                variables.collect()
            }
        }
    }

    fn owner(&self) -> ArgumentOwner {
        match self {
            Self::Prompt(prompt) => ArgumentOwner::Prompt(prompt.name.clone()),
            Self::Template(template) => {
                ArgumentOwner::Template(template.uri_template.as_str().to_owned())
            }
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Prompt(prompt) => &prompt.name,
            Self::Template(template) => template.uri_template.as_str(),
        }
    }
}

impl ArgumentForm {
    /// Fills the first fields with `values`. The first empty field gets the focus.
    pub fn new(
        server: ServerId,
        target: FormTarget,
        values: Vec<String>,
        completes: bool,
        cx: &UiContext,
    ) -> Self {
        let arguments = target.arguments();
        let value = |index: usize| values.get(index).map_or("", String::as_str);
        let fields: Vec<Editor> = (0..arguments.len())
            .map(|index| Editor::new(value(index)))
            .collect();
        let mut form = Self {
            server,
            target,
            focused: fields.iter().position(Editor::is_empty).unwrap_or(0),
            fields,
            arguments,
            completes,
            completion: FieldCompletion::default(),
            drawn: DrawnFields::default(),
        };
        form.reset_completion(cx.shared.now);
        form
    }

    fn last_field(&self) -> usize {
        self.fields.len().saturating_sub(1)
    }

    fn focus(&mut self, field: usize, now: Duration) {
        self.focused = field.min(self.last_field());
        self.reset_completion(now);
    }

    fn reset_completion(&mut self, now: Duration) {
        self.completion.reset(now, self.completes);
    }

    fn values(&self) -> Vec<String> {
        let fields = self.fields.iter();
        fields.map(|field| field.text().trim().to_owned()).collect()
    }

    fn request_values(&mut self, cx: &mut UiContext) {
        let Some(argument) = self.arguments.get(self.focused) else {
            return;
        };
        let all = self.arguments.iter().zip(self.values());
        let others = all
            .filter(|(other, value)| other.name != argument.name && !value.is_empty())
            .map(|(other, value)| (other.name.clone(), value));
        let completion = ArgumentCompletion {
            server: self.server.clone(),
            owner: self.target.owner(),
            argument: argument.name.clone(),
            value: self.fields[self.focused].text(),
            others: others.collect(),
        };
        let query = cx.next_query_id();
        self.completion.set_requested(query);
        let command = ServerContentCommand::CompleteArgument { query, completion };
        cx.send(Command::ServerContent(command));
    }

    /// Puts the selected value into the field; without a selection, the first one if `takes_first`.
    /// Returns false if there is none.
    fn take_value(&mut self, takes_first: bool) -> bool {
        let Some(value) = self.completion.choice(takes_first) else {
            return false;
        };
        if let Some(field) = self.fields.get_mut(self.focused) {
            field.set("");
            text_field::paste_line(field, &value);
        }
        self.completion.close();
        true
    }

    /// Returns false if the key belongs to the form.
    fn handle_list_key(&mut self, key: KeyEvent, keymap: &Keymap) -> bool {
        if self.completion.values().is_empty() {
            return false;
        }
        match keymap.layer_key(key, &[KeyContext::Completions]) {
            Some(LayerKey::Down) => self.completion.select_next(),
            Some(LayerKey::Up) => return self.completion.select_previous(),
            Some(LayerKey::Complete) => return self.take_value(true),
            Some(LayerKey::Confirm) => return self.take_value(false),
            Some(LayerKey::Back) => self.completion.close(),
            _ => return false,
        }
        true
    }

    fn finish(&mut self, cx: &mut UiContext) -> Handled {
        let values = self.values();
        let mut required = self.arguments.iter().zip(&values);
        let missing =
            required.position(|(argument, value)| argument.is_required && value.is_empty());
        if let Some(missing) = missing {
            let label = Clean::single_line(self.arguments[missing].label());
            let text = format!("`{}` is required.", label.as_str());
            cx.notify_about_key(Notice::info(text));
            self.focus(missing, cx.shared.now);
            return Handled::Consumed;
        }
        match &self.target {
            FormTarget::Prompt(prompt) => {
                PromptReview::load(self.server.clone(), prompt.clone(), values, cx);
            }
            FormTarget::Template(template) => {
                let names = self.arguments.iter().map(|argument| argument.name.clone());
                let uri = template.uri_template.expand(&names.zip(values).collect());
                let server = self.server.clone();
                cx.ask_for(Wanted::resource(server, uri));
            }
        }
        Handled::Closed
    }

    fn description(&self) -> Clean {
        let Some(argument) = self.arguments.get(self.focused) else {
            return Clean::default();
        };
        describe(argument.title.as_deref(), argument.description.as_deref())
    }

    fn draw_values(&self, area: Rect, pen: &mut Painter) {
        let selected = self.completion.selected();
        let count = self.completion.values().len();
        let first = selected.map_or(0, |at| (at + 1).saturating_sub(area.height.into()));
        for row in rows_in_view(count, selected, first, area, pen) {
            row.put_mark(pen);
            let text = row.text_area();
            let value = Clean::unambiguous_line(&self.completion.values()[row.index]);
            pen.put_truncated(text.x, text.y, value.as_str(), row.style, text.width);
        }
    }

    fn value_rows(&self) -> u16 {
        if self.completes { VALUE_ROWS_MAX } else { 0 }
    }
}

impl Layer for ArgumentForm {
    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let now = cx.shared.now;
        if self.handle_list_key(key, cx.shared.keymap) {
            return Handled::Consumed;
        }
        match cx.shared.keymap.layer_key(key, &[KeyContext::Form]) {
            Some(LayerKey::Back) => return Handled::Closed,
            Some(LayerKey::Confirm) if self.focused == self.last_field() => return self.finish(cx),
            Some(LayerKey::Up) => self.focus(self.focused.saturating_sub(1), now),
            Some(LayerKey::Down | LayerKey::Confirm) => self.focus(self.focused + 1, now),
            Some(LayerKey::Switch) => {
                self.focus((self.focused + 1) % self.fields.len().max(1), now)
            }
            _ => {
                let Some(field) = self.fields.get_mut(self.focused) else {
                    return Handled::Consumed;
                };
                let before = field.text();
                text_field::handle_line_key(field, key, cx.shared.keymap);
                if field.text() != before {
                    self.reset_completion(now);
                }
            }
        }
        Handled::Consumed
    }

    fn paste(&mut self, text: &str, cx: &mut UiContext) -> Handled {
        if let Some(field) = self.fields.get_mut(self.focused) {
            text_field::paste_line(field, text);
        }
        self.reset_completion(cx.shared.now);
        Handled::Consumed
    }

    fn click(&mut self, at: Position, cx: &mut UiContext) -> Handled {
        if let Some(field) = self.drawn.field_at(at) {
            self.focus(field, cx.shared.now);
        }
        Handled::Consumed
    }

    fn handle_event(&mut self, event: &Event, _: &mut UiContext) -> Handled {
        if let Event::ServerContent(ServerContentEvent::ArgumentCompleted { query, values }) = event
            && let Some(field) = self.fields.get(self.focused)
        {
            self.completion.handle_values(*query, values, &field.text());
        }
        Handled::PassedOn
    }

    fn wake_at(&self) -> Option<Duration> {
        self.completion.due_at()
    }

    fn tick(&mut self, cx: &mut UiContext) {
        if self.completion.take_due(cx.shared.now) {
            self.request_values(cx);
        }
    }

    fn popup_rows(&self, _: SharedUiState) -> Option<u16> {
        let fields = u16::try_from(self.fields.len()).ok()?;
        Some(fields.saturating_add(1 + self.value_rows()))
    }

    fn draw(&mut self, area: LayerArea, _: SharedUiState, pen: &mut Painter) -> Option<Position> {
        let title = format!("{}:{}", self.server, self.target.name());
        let title = Clean::name(&title);
        let content = content_area(area.popup);
        let wanted = u16::try_from(self.fields.len()).unwrap_or(u16::MAX);
        let below = (1 + self.value_rows()).min(content.height.saturating_sub(1));
        let field_rows = wanted.min(content.height - below);
        // Not all fields may be in view.
        let position = match field_rows < wanted {
            true => format!("{} of {wanted}", self.focused + 1),
            false => String::new(),
        };
        let area = draw_window(area.popup, title.as_str(), &position, pen);
        let fields = Rect {
            height: field_rows,
            ..area
        };
        let labels = self.arguments.iter().map(|argument| FieldLabel {
            name: &argument.name,
            is_required: argument.is_required,
        });
        let cursor;
        (self.drawn, cursor) =
            draw_labeled_fields(labels, &mut self.fields, self.focused, fields, pen);
        if field_rows < area.height {
            let (y, dim) = (area.y + field_rows, pen.theme.dim);
            let text = self.description();
            let x = area.x + 2.min(area.width);
            pen.put_words(x, y, text.as_str(), dim, area.width.saturating_sub(2));
        }
        let taken = (field_rows + 1).min(area.height);
        let values = Rect {
            y: area.y + taken,
            height: area.height - taken,
            ..area
        };
        self.draw_values(values, pen);
        cursor
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let effect = match (&self.target, self.focused == self.last_field()) {
            (_, false) => "next",
            (FormTarget::Prompt(_), true) => "show the prompt",
            (FormTarget::Template(_), true) => "attach",
        };
        let hint = |context, key, effect| shared.keymap.layer_hint(context, key, effect);
        let confirm = hint(KeyContext::Form, LayerKey::Confirm, effect);
        if self.completion.values().is_empty() {
            let back = hint(KeyContext::Form, LayerKey::Back, "cancel");
            return hint_list([confirm, back]);
        }
        let complete = hint(KeyContext::Completions, LayerKey::Complete, "complete");
        // A selected value takes the key for confirming.
        let confirm = match self.completion.selected() {
            Some(_) => hint(KeyContext::Completions, LayerKey::Confirm, "use the value"),
            None => confirm,
        };
        // The key closes the list first. Only then does it close the form.
        let back = hint(KeyContext::Completions, LayerKey::Back, "hide values");
        hint_list([complete, confirm, back])
    }
}
