//! An action on a row of the browser: deleting, renaming or exporting its session.
//! The question or the text field replaces the row.

use crate::domain::{SessionId, SessionSummary};
use crate::protocol::{Command, Event, SavedSessionCommand};
use crate::text::Clean;
use crate::tui::keymap::Keymap;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::{Handled, UiContext};
use crate::tui::sessions::export_form::ExportForm;
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::list::ListRow;
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::text_field;
use crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};

#[derive(Debug)]
pub struct RowAction {
    session: SessionId,
    kind: RowActionKind,
}

#[derive(Debug)]
enum RowActionKind {
    Delete { title: String },
    Rename(Box<Editor>),
    Export(Box<ExportForm>),
}

/// The title, or the session's file name if it has none.
pub fn shown_title(hit: &SessionSummary) -> Clean {
    Clean::single_line(hit.title_or_file_name())
}

impl RowAction {
    pub fn delete(hit: &SessionSummary) -> Self {
        let title = shown_title(hit).as_str().to_owned();
        Self::new(hit, RowActionKind::Delete { title })
    }

    pub fn rename(hit: &SessionSummary) -> Self {
        let title = Editor::new(&hit.title);
        Self::new(hit, RowActionKind::Rename(Box::new(title)))
    }

    pub fn export(hit: &SessionSummary) -> Self {
        let form = ExportForm::new(Some(hit.id.clone()), &hit.title);
        Self::new(hit, RowActionKind::Export(Box::new(form)))
    }

    fn new(hit: &SessionSummary, kind: RowActionKind) -> Self {
        let session = hit.id.clone();
        Self { session, kind }
    }

    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Returns `Closed` once the action is finished.
    pub fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        match &mut self.kind {
            RowActionKind::Delete { .. } => {
                let meaning = |contexts: &[KeyContext]| cx.shared.keymap.layer_key(key, contexts);
                let row_contexts = [KeyContext::Sessions, KeyContext::SearchListRows];
                if meaning(&[KeyContext::Confirmation]) == Some(LayerKey::Yes) {
                    cx.send(Command::DeleteSession(self.session.clone()));
                } else if meaning(&row_contexts) == Some(LayerKey::Delete) {
                    // The key that opened the question does not answer it, even if held.
                    return Handled::Consumed;
                }
                Handled::Closed
            }
            RowActionKind::Rename(editor) => {
                match cx.shared.keymap.layer_key(key, &[KeyContext::InputLine]) {
                    Some(LayerKey::Back) => return Handled::Closed,
                    // A blank title is not accepted; the user can keep typing.
                    Some(LayerKey::Confirm) if editor.is_blank() => {}
                    Some(LayerKey::Confirm) => {
                        let (session, title) = (self.session.clone(), editor.text());
                        let rename = SavedSessionCommand::Rename { session, title };
                        cx.send(Command::SavedSession(rename));
                        return Handled::Closed;
                    }
                    _ => {
                        text_field::handle_line_key(editor, key, cx.shared.keymap);
                    }
                }
                Handled::Consumed
            }
            RowActionKind::Export(form) => form.handle_key(key, cx),
        }
    }

    /// A paste never confirms anything.
    pub fn paste(&mut self, text: &str) {
        match &mut self.kind {
            RowActionKind::Delete { .. } => {}
            RowActionKind::Rename(editor) => text_field::paste_line(editor, text),
            RowActionKind::Export(form) => form.paste(text),
        }
    }

    pub fn handle_event(&mut self, event: &Event) -> Handled {
        match &mut self.kind {
            RowActionKind::Export(form) => form.handle_event(event),
            RowActionKind::Delete { .. } | RowActionKind::Rename(_) => Handled::PassedOn,
        }
    }

    /// Draws the action in place of its row. Returns the cursor position of a text field.
    pub fn draw(&mut self, row: &ListRow, keymap: &Keymap, pen: &mut Painter) -> Option<Position> {
        let (line, style) = (row.text_area(), pen.theme.attention);
        pen.clear(row.line);
        pen.put(row.line.x, line.y, pen.glyphs.cursor, style, 1);
        match &mut self.kind {
            RowActionKind::Delete { title } => {
                draw_delete_question(title, line, keymap, pen);
                None
            }
            RowActionKind::Rename(editor) => {
                let used = pen.put(line.x, line.y, "Title: ", style, line.width);
                let rest = Rect {
                    x: line.x + used,
                    width: line.width - used,
                    ..line
                };
                Some(text_field::draw_text(editor, rest, pen))
            }
            RowActionKind::Export(form) => form.draw(line, keymap, pen),
        }
    }

    pub fn hints(&self, keymap: &Keymap) -> Vec<String> {
        match &self.kind {
            RowActionKind::Delete { .. } => keymap.confirmation_hints("delete"),
            RowActionKind::Rename(_) => keymap.line_hints("rename", "cancel"),
            RowActionKind::Export(form) => form.hints(keymap),
        }
    }
}

fn draw_delete_question(title: &str, line: Rect, keymap: &Keymap, pen: &mut Painter) {
    let style = pen.theme.attention;
    let suffix = format!("\"? {}", keymap.confirmation_letters());
    let used = pen.put(line.x, line.y, "Delete \"", style, line.width);
    let room = line.width.saturating_sub(used + suffix.len() as u16);
    let used = used + pen.put_words(line.x + used, line.y, title, style, room);
    pen.put(line.x + used, line.y, &suffix, style, line.width - used);
}
