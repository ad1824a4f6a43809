//! The lists of all prompts and of all resources, with a filter.

use super::argument_form::{ArgumentForm, FormTarget};
use super::{describe_resource, full_uri, offered_prompts, use_prompt};
use crate::domain::{ResourceTemplate, Server, ServerResource};
use crate::protocol::Event;
use crate::text::Clean;
use crate::tui::keymap::Action;
use crate::tui::keymap::layers::LayerKey;
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext, UiRequest};
use crate::tui::server_content::OfferedPrompt;
use crate::tui::widgets::list::{ListKey, ListRow, ListTitle, SearchList};
use crate::tui::widgets::painter::Painter;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;

const ROWS_MAX: u16 = 16;
const GAP: u16 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListedContent {
    Prompts,
    Resources,
}

#[derive(Debug)]
pub(super) struct ContentPicker {
    listed: ListedContent,
    list: SearchList,
    /// The name of the selected row, to keep it selected when a server changes its list.
    selected_name: Option<String>,
}

#[derive(Debug, Clone, Copy)]
enum ContentRow<'a> {
    Prompt(OfferedPrompt<'a>),
    Resource(&'a Server, &'a ServerResource),
    Template(&'a Server, &'a ResourceTemplate),
}

impl ContentRow<'_> {
    /// The name of the row, unique in its list; raw.
    fn name(self) -> String {
        match self {
            Self::Prompt(offered) => offered.full_name(),
            Self::Resource(server, resource) => full_uri(&server.id, &resource.uri),
            Self::Template(server, template) => {
                full_uri(&server.id, template.uri_template.as_str())
            }
        }
    }

    /// The displayed name. The URI of a resource is part of the description.
    fn label(self) -> Clean {
        Clean::name(&match self {
            Self::Prompt(offered) => offered.full_name(),
            Self::Resource(server, resource) => full_uri(&server.id, resource.label()),
            Self::Template(server, template) => full_uri(&server.id, template.label()),
        })
    }

    fn description(self) -> Clean {
        match self {
            Self::Prompt(offered) => offered.description(),
            Self::Resource(server, resource) => describe_resource(server, resource, &resource.uri),
            Self::Template(_, template) => {
                let mut parts = vec!["template"];
                parts.extend(template.mime_type.as_deref());
                let uri = Clean::name(template.uri_template.as_str());
                parts.push(uri.as_str());
                parts.extend(template.description.as_deref());
                Clean::single_line(&parts.join(", "))
            }
        }
    }

    fn matches(self, words: &[&str]) -> bool {
        let (label, description) = (self.label(), self.description());
        // The label of an item with a title does not contain the name.
        let own_name = match self {
            Self::Template(_, template) => template.name.as_str(),
            Self::Resource(_, resource) => resource.name.as_str(),
            Self::Prompt(_) => "",
        };
        let text = format!("{} {own_name} {label} {description}", self.name()).to_lowercase();
        words.iter().all(|word| text.contains(word))
    }
}

fn all_rows<'a>(listed: ListedContent, shared: SharedUiState<'a>) -> Vec<ContentRow<'a>> {
    if listed == ListedContent::Prompts {
        return offered_prompts(shared).map(ContentRow::Prompt).collect();
    }
    let servers = shared.servers.iter().filter(|server| server.enabled);
    let rows = servers.flat_map(|server| {
        let resources = server.content.resources.iter();
        let templates = server.content.templates.iter();
        resources
            .map(move |resource| ContentRow::Resource(server, resource))
            .chain(templates.map(move |template| ContentRow::Template(server, template)))
    });
    rows.collect()
}

fn matching_rows<'a>(
    listed: ListedContent,
    filter: &str,
    shared: SharedUiState<'a>,
) -> Vec<ContentRow<'a>> {
    let filter = filter.to_lowercase();
    let words: Vec<&str> = filter.split_whitespace().collect();
    let mut rows = all_rows(listed, shared);
    if !words.is_empty() {
        rows.retain(|row| row.matches(&words));
    }
    rows
}

impl ContentPicker {
    pub fn prompts() -> Self {
        Self::new(ListedContent::Prompts)
    }

    pub fn resources() -> Self {
        Self::new(ListedContent::Resources)
    }

    fn new(listed: ListedContent) -> Self {
        Self {
            listed,
            list: SearchList::default(),
            selected_name: None,
        }
    }

    fn rows<'a>(&self, shared: SharedUiState<'a>) -> Vec<ContentRow<'a>> {
        matching_rows(self.listed, &self.list.filter(), shared)
    }

    fn remember_selected(&mut self, rows: &[ContentRow]) {
        let selected = rows.get(self.list.selected(rows.len()));
        self.selected_name = selected.map(|row| row.name());
    }

    /// Keeps the same row selected after a server changed its list. Returns false if the row is gone.
    fn reselect(&mut self, rows: &[ContentRow]) -> bool {
        let Some(name) = &self.selected_name else {
            return true;
        };
        let selected = self.list.selected(rows.len());
        if rows.get(selected).is_some_and(|row| row.name() == *name) {
            return true;
        }
        let position = rows.iter().position(|row| row.name() == *name);
        if let Some(position) = position {
            self.list.select(position);
        }
        position.is_some()
    }

    fn use_row(row: ContentRow, cx: &mut UiContext) {
        match row {
            ContentRow::Prompt(offered) => use_prompt(offered, Vec::new(), cx),
            ContentRow::Resource(server, resource) => cx.request(UiRequest::AttachResource {
                server: server.id.clone(),
                uri: resource.uri.clone(),
            }),
            ContentRow::Template(server, template) => {
                if template.uri_template.variables().is_empty() {
                    let (server, uri) = (server.id.clone(), template.uri_template.as_str());
                    let uri = uri.to_owned();
                    return cx.request(UiRequest::AttachResource { server, uri });
                }
                let target = FormTarget::Template(template.clone());
                let completes = server.content.completes_arguments;
                let server = server.id.clone();
                let form = ArgumentForm::new(server, target, Vec::new(), completes, cx);
                cx.open(form);
            }
        }
    }
}

fn draw_row(content: &ContentRow, row: &ListRow, pen: &mut Painter) {
    let (area, dim) = (row.text_area(), pen.theme.dim);
    let name = content.label();
    let name_max = match content.description().as_str() {
        "" => area.width,
        _ => area.width * 3 / 5,
    };
    let used = pen.put_truncated(area.x, area.y, name.as_str(), row.style, name_max);
    let used = (used + GAP).min(area.width);
    let description = content.description();
    let room = area.width - used;
    let x = area.x + used;
    match content {
        ContentRow::Prompt(_) => pen.put_words(x, area.y, description.as_str(), dim, room),
        // A URI is one long word. Its beginning is better than nothing.
        ContentRow::Resource(..) | ContentRow::Template(..) => {
            pen.put_truncated(x, area.y, description.as_str(), dim, room)
        }
    };
}

impl Layer for ContentPicker {
    fn action(&self) -> Option<Action> {
        Some(match self.listed {
            ListedContent::Prompts => Action::ServerPrompt,
            ListedContent::Resources => Action::Resource,
        })
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let rows = self.rows(cx.shared);
        let handled = self.list.key(key, rows.len(), None, cx.shared.keymap);
        if handled != ListKey::Unhandled(LayerKey::Confirm) {
            let rows = self.rows(cx.shared);
            self.remember_selected(&rows);
            return handled.handled();
        }
        let is_still_listed = self.reselect(&rows);
        let Some(row) = rows.get(self.list.selected(rows.len())).copied() else {
            return Handled::Consumed;
        };
        if !is_still_listed {
            // The selected row is gone; the key was not meant for the one in its place.
            self.remember_selected(&rows);
            return Handled::Consumed;
        }
        Self::use_row(row, cx);
        Handled::Closed
    }

    fn paste(&mut self, text: &str, cx: &mut UiContext) -> Handled {
        self.list.paste(text);
        let rows = self.rows(cx.shared);
        self.remember_selected(&rows);
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, shared: SharedUiState) {
        let listed = self.rows(shared);
        self.list.step(rows, listed.len());
        self.remember_selected(&listed);
    }

    fn click(&mut self, at: Position, cx: &mut UiContext) -> Handled {
        match self.list.click(at, cx.shared.keymap) {
            Some(enter) => self.handle_key(enter, cx),
            None => {
                let rows = self.rows(cx.shared);
                self.remember_selected(&rows);
                Handled::Consumed
            }
        }
    }

    fn handle_event(&mut self, event: &Event, cx: &mut UiContext) -> Handled {
        // Layers get an event before it is applied, so these are still the old rows.
        if matches!(event, Event::ServerChanged(_) | Event::ServersListed(_))
            && self.selected_name.is_none()
        {
            let rows = self.rows(cx.shared);
            self.remember_selected(&rows);
        }
        Handled::PassedOn
    }

    fn popup_rows(&self, shared: SharedUiState) -> Option<u16> {
        let rows = u16::try_from(all_rows(self.listed, shared).len()).unwrap_or(u16::MAX);
        Some(rows.saturating_add(1).clamp(3, ROWS_MAX))
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        let rows = self.rows(shared);
        self.reselect(&rows);
        let (title, empty) = match self.listed {
            ListedContent::Prompts => (
                "Prompts",
                "No server offers prompts. Type /NAME to use your own file prompts/NAME.md.",
            ),
            ListedContent::Resources => ("Resources", "No connected server offers resources."),
        };
        let title = ListTitle {
            title,
            total: all_rows(self.listed, shared).len(),
            empty,
            shows_empty_when_filtered: false,
        };
        self.list.draw(area.popup, &title, &rows, pen, draw_row)
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let effect = match self.listed {
            ListedContent::Prompts => "use",
            ListedContent::Resources => "attach",
        };
        self.list
            .hints(self.rows(shared).len(), effect, Vec::new(), shared.keymap)
    }
}
