//! The lists of all prompts and of all resources, with a filter.

use super::argument_form::{ArgumentForm, FormTarget};
use super::{describe_resource, full_uri, offered_prompts, use_prompt};
use crate::commands::{CommandCx, Wanted};
use crate::domain::{ResourceTemplate, Server, ServerResource};
use crate::text::Clean;
use crate::tui::keymap::Action;
use crate::tui::layer::{Handled, SharedUiState, UiContext};
use crate::tui::server_content::OfferedPrompt;
use crate::tui::widgets::list::ListRow;
use crate::tui::widgets::list_layer::{ListKind, ListSource};
use crate::tui::widgets::painter::Painter;

const ROWS_MIN: usize = 2;
const ROWS_MAX: usize = 15;
const GAP: u16 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentKind {
    Prompts,
    Resources,
}

#[derive(Debug)]
pub(super) struct ContentPicker {
    listed: ContentKind,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum ContentRow<'a> {
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

fn all_rows<'a>(listed: ContentKind, shared: SharedUiState<'a>) -> Vec<ContentRow<'a>> {
    if listed == ContentKind::Prompts {
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

impl ContentPicker {
    pub fn new(listed: ContentKind) -> Self {
        Self { listed }
    }
}

impl ListSource for ContentPicker {
    type Row<'a> = ContentRow<'a>;

    fn kind(&self) -> ListKind {
        let (action, title, enter) = match self.listed {
            ContentKind::Prompts => (Action::PROMPT, "Prompts", "use"),
            ContentKind::Resources => (Action::RESOURCE, "Resources", "attach"),
        };
        ListKind {
            action: Some(action),
            title,
            enter,
        }
    }

    fn rows<'a>(&self, words: &[&str], shared: SharedUiState<'a>) -> Vec<ContentRow<'a>> {
        let mut rows = all_rows(self.listed, shared);
        if !words.is_empty() {
            rows.retain(|row| row.matches(words));
        }
        rows
    }

    fn total(&self, shared: SharedUiState) -> usize {
        all_rows(self.listed, shared).len()
    }

    fn height(&self, shared: SharedUiState) -> usize {
        self.total(shared).clamp(ROWS_MIN, ROWS_MAX)
    }

    fn empty(&self, _: SharedUiState) -> &'static str {
        match self.listed {
            ContentKind::Prompts => {
                "No server offers prompts. Type /NAME to use your own file prompts/NAME.md."
            }
            ContentKind::Resources => "No connected server offers resources.",
        }
    }

    fn draw_row(&self, content: &ContentRow, row: &ListRow, _: SharedUiState, pen: &mut Painter) {
        let (area, dim) = (row.text_area(), pen.theme.dim);
        let name = content.label();
        let description = content.description();
        let name_max = match description.as_str() {
            "" => area.width,
            _ => area.width * 3 / 5,
        };
        let used = pen.put_truncated(area.x, area.y, name.as_str(), row.style, name_max);
        let used = (used + GAP).min(area.width);
        let (x, room) = (area.x + used, area.width - used);
        match content {
            ContentRow::Prompt(_) => pen.put_words(x, area.y, description.as_str(), dim, room),
            // A URI is one long word. Its beginning is better than nothing.
            ContentRow::Resource(..) | ContentRow::Template(..) => {
                pen.put_truncated(x, area.y, description.as_str(), dim, room)
            }
        };
    }

    fn choose(&mut self, row: ContentRow, cx: &mut UiContext) -> Handled {
        match row {
            ContentRow::Prompt(offered) => use_prompt(offered, Vec::new(), cx),
            ContentRow::Resource(server, resource) => {
                cx.ask_for(Wanted::resource(server.id.clone(), resource.uri.clone()));
            }
            ContentRow::Template(server, template) => {
                if template.uri_template.variables().is_empty() {
                    let (server, uri) = (server.id.clone(), template.uri_template.as_str());
                    let uri = uri.to_owned();
                    cx.ask_for(Wanted::resource(server, uri));
                    return Handled::Closed;
                }
                let target = FormTarget::Template(template.clone());
                let completes = server.content.completes_arguments;
                let server = server.id.clone();
                let form = ArgumentForm::new(server, target, Vec::new(), completes, cx);
                cx.open(form);
            }
        }
        Handled::Closed
    }

    fn identity(&self, row: &ContentRow) -> Option<String> {
        Some(row.name())
    }
}
