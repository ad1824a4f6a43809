//! Shows a prompt as its server returned it. Nothing is sent until the user confirms, because the
//! text comes from the server and not from the user.

use super::argument_form::{ArgumentForm, FormTarget};
use crate::domain::attachment::ReadAttachment;
use crate::domain::{LoadedPrompt, QueryId, ServerId, ServerPrompt};
use crate::protocol::{Command, Event, ServerContentCommand, ServerContentEvent};
use crate::text::Clean;
use crate::tui::keymap::Action;
use crate::tui::keymap::layers::{KeyContext, LayerKey, hint_list};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext, UiRequest};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::text_viewer::TextViewer;
use crate::tui::widgets::window::draw_window;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;
use std::sync::Arc;
use std::time::Duration;

/// Keys that send or edit are ignored for this long after the prompt appears, because they may have
/// been meant for the form.
const KEY_GUARD: Duration = Duration::from_millis(500);

const NAME_CHARS_MAX: usize = 50;

#[derive(Debug)]
pub(super) struct PromptReview {
    query: QueryId,
    server: ServerId,
    prompt: ServerPrompt,
    /// In the order of the prompt's arguments.
    values: Vec<String>,
    loaded: Option<ShownPrompt>,
}

#[derive(Debug)]
struct ShownPrompt {
    prompt: Arc<LoadedPrompt>,
    viewer: TextViewer,
    shown_at: Duration,
}

impl PromptReview {
    /// Requests the prompt and opens the layer that will show it.
    pub fn load(server: ServerId, prompt: ServerPrompt, values: Vec<String>, cx: &mut UiContext) {
        let query = cx.next_query_id();
        let names = prompt
            .arguments
            .iter()
            .map(|argument| argument.name.clone());
        let arguments = names.zip(values.iter().cloned());
        let command = ServerContentCommand::LoadPrompt {
            query,
            server: server.clone(),
            prompt: prompt.name.clone(),
            arguments: arguments.filter(|(_, value)| !value.is_empty()).collect(),
        };
        cx.send(Command::ServerContent(command));
        cx.open(Self {
            query,
            server,
            prompt,
            values,
            loaded: None,
        });
    }

    fn title(&self) -> String {
        let name = format!("{}:{}", self.server, self.prompt.name);
        Clean::name(&name).into()
    }

    fn show(&mut self, prompt: &Arc<LoadedPrompt>, now: Duration) {
        let mut text = prompt.text.clone();
        let mut own_lines = prompt.heading_lines.clone();
        for file in &prompt.files {
            let name = truncated_name(&file.attachment.name);
            let size = crate::domain::model_catalog::format_size(file.attachment.bytes);
            own_lines.extend([text.len() + 1, text.len() + 2]);
            text.push_str(&format!("\n\n@ {name}, {size}"));
            if let Some(contents) = file.attachment.text() {
                text.push_str(&format!("\n{contents}"));
            }
        }
        self.loaded = Some(ShownPrompt {
            prompt: Arc::clone(prompt),
            viewer: TextViewer::new(self.title(), text).marking_server_text(own_lines),
            shown_at: now,
        });
    }

    /// Sends the prompt, or puts it into the message to be edited.
    fn accept(&self, is_sent: bool, cx: &mut UiContext) -> Handled {
        let Some(shown) = &self.loaded else {
            return Handled::Consumed;
        };
        if cx.shared.now.saturating_sub(shown.shown_at) < KEY_GUARD {
            return Handled::Consumed;
        }
        let files: Vec<ReadAttachment> = shown.prompt.files.clone();
        let text = match shown.prompt.text.trim() {
            "" => self.prompt.label().to_owned(),
            _ => shown.prompt.text.clone(),
        };
        cx.request(UiRequest::TakeServerPrompt {
            text,
            files,
            is_sent,
        });
        Handled::Closed
    }

    /// Reopens the form after a failure, so that its values are not lost.
    fn reopen_form(&mut self, cx: &mut UiContext) {
        if self.prompt.arguments.is_empty() {
            return;
        }
        let mut servers = cx.shared.servers.iter();
        let server = servers.find(|server| server.id == self.server);
        let completes = server.is_some_and(|server| server.content.completes_arguments);
        let values = std::mem::take(&mut self.values);
        let target = FormTarget::Prompt(self.prompt.clone());
        let form = ArgumentForm::new(self.server.clone(), target, values, completes, cx);
        cx.open(form);
    }
}

/// The name of a file on one row. The rows after it would look like text of the program.
fn truncated_name(raw: &str) -> String {
    let name = Clean::name(raw);
    let mut chars = name.as_str().chars();
    let mut start: String = chars.by_ref().take(NAME_CHARS_MAX).collect();
    if chars.next().is_some() {
        start.push('…');
    }
    start
}

impl Layer for PromptReview {
    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        match cx.shared.keymap.layer_key(key, &[KeyContext::PromptReview]) {
            Some(LayerKey::Confirm) => self.accept(true, cx),
            Some(LayerKey::Edit) => self.accept(false, cx),
            _ => match &mut self.loaded {
                Some(shown) => shown.viewer.handle_key(key, cx),
                None => Handled::PassedOn,
            },
        }
    }

    fn scroll(&mut self, rows: isize, shared: SharedUiState) {
        if let Some(shown) = &mut self.loaded {
            shown.viewer.scroll(rows, shared);
        }
    }

    fn handle_event(&mut self, event: &Event, cx: &mut UiContext) -> Handled {
        let Event::ServerContent(ServerContentEvent::PromptLoaded { query, result }) = event else {
            return Handled::PassedOn;
        };
        if *query != self.query {
            return Handled::PassedOn;
        }
        match result {
            Ok(prompt) => {
                self.show(prompt, cx.shared.now);
                Handled::PassedOn
            }
            Err(notice) => {
                self.reopen_form(cx);
                cx.notify(notice.clone());
                Handled::Closed
            }
        }
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        if let Some(shown) = &mut self.loaded {
            return shown.viewer.draw(area, shared, pen);
        }
        let area = draw_window(area.body, &self.title(), "", pen);
        let dim = pen.theme.dim;
        pen.put(area.x, area.y, "Loading", dim, area.width);
        None
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let hint = |key, effect| {
            let context = KeyContext::PromptReview;
            shared.keymap.layer_hint(context, key, effect)
        };
        let back = |effect| shared.keymap.hint(Action::Back, effect);
        match &self.loaded {
            Some(_) => hint_list([
                hint(LayerKey::Confirm, "send"),
                hint(LayerKey::Edit, "edit first"),
                back("discard"),
            ]),
            None => hint_list([back("cancel")]),
        }
    }
}
