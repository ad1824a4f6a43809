//! A one-line form for exporting a conversation. Asks for the format and the path, and asks again
//! before it replaces an existing file.

use crate::domain::session_export::{ExportArguments, export_file_name};
use crate::domain::{ExportFormat, ExportPart, QueryId, SessionId};
use crate::protocol::{
    Command, Event, ExportFailure, SavedSessionCommand, SavedSessionEvent, SessionExport,
};
use crate::text::Clean;
use crate::tui::keymap::Keymap;
use crate::tui::keymap::layers::{KeyContext, LayerKey, hint_list};
use crate::tui::layer::{Handled, UiContext};
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::text_field;
use crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};

#[derive(Debug)]
pub struct ExportForm {
    /// `None` exports the open conversation.
    session: Option<SessionId>,
    title: String,
    format: ExportFormat,
    part: ExportPart,
    path: Editor,
    /// The export in progress.
    query: Option<QueryId>,
    /// The existing file, while the user is asked whether to replace it.
    existing: Option<String>,
}

impl ExportForm {
    pub fn new(session: Option<SessionId>, title: &str) -> Self {
        let format = ExportFormat::default();
        Self {
            session,
            title: title.to_owned(),
            format,
            part: ExportPart::default(),
            path: Editor::new(&export_file_name(title, format)),
            query: None,
            existing: None,
        }
    }

    /// Fills the form with the arguments of `/export`.
    pub fn with_arguments(title: &str, arguments: ExportArguments) -> Self {
        let format = arguments.format.unwrap_or_default();
        let path = arguments.path;
        Self {
            format,
            part: arguments.part,
            path: Editor::new(&path.unwrap_or_else(|| export_file_name(title, format))),
            ..Self::new(None, title)
        }
    }

    pub fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        if self.existing.take().is_some() {
            if cx.shared.keymap.layer_key(key, &[KeyContext::Confirmation]) == Some(LayerKey::Yes) {
                self.export(true, cx);
            }
            return Handled::Consumed;
        }
        match cx
            .shared
            .keymap
            .layer_key(key, &[KeyContext::InputLine, KeyContext::ExportForm])
        {
            Some(LayerKey::Back) => return Handled::Closed,
            Some(LayerKey::Confirm) => self.export(false, cx),
            Some(LayerKey::Switch) => self.use_next_format(),
            _ => {
                text_field::handle_line_key(&mut self.path, key, cx.shared.keymap);
                self.follow_extension();
            }
        }
        Handled::Consumed
    }

    pub fn paste(&mut self, text: &str) {
        self.existing = None;
        text_field::paste_line(&mut self.path, text);
        self.follow_extension();
    }

    /// Selects the format that the path's extension names, if any.
    fn follow_extension(&mut self) {
        let named = ExportFormat::of_path(&self.path.text());
        self.format = named.unwrap_or(self.format);
    }

    /// Selects the next format. Adapts the extension of the path if it names the current format.
    fn use_next_format(&mut self) {
        let all = ExportFormat::ALL;
        let at = all.iter().position(|format| *format == self.format);
        let next = all[at.map_or(0, |at| (at + 1) % all.len())];
        let path = self.path.text();
        if let Some(stem) = path.strip_suffix(&format!(".{}", self.format.name())) {
            self.path.set(&format!("{stem}.{}", next.name()));
        }
        self.format = next;
    }

    pub fn export(&mut self, replaces: bool, cx: &mut UiContext) {
        let query = cx.next_query_id();
        self.query = Some(query);
        cx.send(Command::SavedSession(SavedSessionCommand::Export(
            SessionExport {
                query,
                session: self.session.clone(),
                format: self.format,
                part: self.part,
                path: self.path.text(),
                replaces,
            },
        )));
    }

    /// Returns `Closed` once the file is written.
    pub fn handle_event(&mut self, event: &Event) -> Handled {
        let Event::SavedSession(SavedSessionEvent::Exported { query, result, .. }) = event else {
            return Handled::PassedOn;
        };
        if self.query != Some(*query) {
            return Handled::PassedOn;
        }
        self.query = None;
        match result {
            Ok(_) => return Handled::Closed,
            Err(ExportFailure::Exists(path)) => self.existing = Some(path.display().to_string()),
            Err(ExportFailure::Failed(_)) => {}
        }
        Handled::Consumed
    }

    /// Draws the form in the first row of `area`. Returns the cursor position.
    pub fn draw(&mut self, area: Rect, keymap: &Keymap, pen: &mut Painter) -> Option<Position> {
        let attention = pen.theme.attention;
        if let Some(existing) = &self.existing {
            let question = format!("Replace it? {} ", keymap.confirmation_letters());
            let columns = area.width.saturating_sub(question.len() as u16);
            let x = area.x + pen.put(area.x, area.y, &question, attention, area.width);
            let path = Clean::single_line(&format!("{existing} exists."));
            pen.put_truncated(x, area.y, path.as_str(), pen.theme.plain, columns);
            return None;
        }
        let label = format!("Export as {} to ", self.format.name());
        let used = pen.put(area.x, area.y, &label, attention, area.width);
        let rest = Rect {
            x: area.x + used,
            width: area.width - used,
            ..area
        };
        Some(text_field::draw_text(&mut self.path, rest, pen))
    }

    pub fn hints(&self, keymap: &Keymap) -> Vec<String> {
        if self.existing.is_some() {
            return keymap.confirmation_hints("replace");
        }
        hint_list([
            keymap.layer_hint(KeyContext::InputLine, LayerKey::Confirm, "export"),
            keymap.layer_hint(KeyContext::ExportForm, LayerKey::Switch, "other format"),
            keymap.layer_hint(KeyContext::InputLine, LayerKey::Back, "cancel"),
        ])
    }

    pub fn title(&self) -> &str {
        &self.title
    }
}
