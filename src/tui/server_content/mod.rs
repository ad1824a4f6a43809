//! Server prompts and resources: `/prompt` and `/resource` list them, `/SERVER:PROMPT` uses a
//! prompt, a form asks for arguments, and a prompt is reviewed before it is sent.

mod argument_completion;
mod argument_form;
pub mod mention;
mod picker;
mod review;

use crate::commands::{CommandCx, Wanted};
use crate::domain::{ContentArgument, Notice, Server, ServerId, ServerPrompt, ServerResource};
use crate::protocol::{Command, ServerContentCommand};
use crate::text::Clean;
use crate::tui::layer::{SharedUiState, UiContext};
use crate::tui::templates;
use crate::tui::widgets::list_layer::ListSource;
use argument_form::{ArgumentForm, FormTarget};
use picker::{ContentKind, ContentPicker};
use review::PromptReview;

/// Maximum number of prompts or resources that the completion list offers.
const COMPLETED_MAX: usize = 500;

#[derive(Debug, Clone, Copy)]
pub struct OfferedPrompt<'a> {
    pub server: &'a Server,
    pub prompt: &'a ServerPrompt,
}

impl OfferedPrompt<'_> {
    /// The name that identifies the prompt among all servers, raw.
    pub fn full_name(self) -> String {
        format!("{}:{}", self.server.id, self.prompt.name)
    }

    /// Whether the name can be typed as a command.
    fn is_typable(&self) -> bool {
        let is_word = |name: &str| !name.contains(|c: char| c.is_whitespace() || c.is_control());
        is_word(self.server.id.as_str()) && is_word(&self.prompt.name)
    }

    /// Title and description in one line.
    pub fn description(self) -> Clean {
        describe(
            self.prompt.title.as_deref(),
            self.prompt.description.as_deref(),
        )
    }

    /// The arguments as the syntax of a command, such as `CITY [UNIT]`.
    pub fn usage(self) -> Clean {
        let names = self.prompt.arguments.iter().map(|argument| {
            let name = argument.name.to_uppercase();
            match argument.is_required {
                true => name,
                false => format!("[{name}]"),
            }
        });
        Clean::single_line(&names.collect::<Vec<_>>().join(" "))
    }
}

fn describe(title: Option<&str>, description: Option<&str>) -> Clean {
    let parts: Vec<&str> = title.into_iter().chain(description).collect();
    Clean::single_line(&parts.join(": "))
}

/// All prompts of the servers that are switched on.
pub fn offered_prompts<'a>(
    shared: SharedUiState<'a>,
) -> impl Iterator<Item = OfferedPrompt<'a>> + use<'a> {
    let servers = shared.servers.iter().filter(|server| server.enabled);
    servers.flat_map(|server| {
        let prompts = server.content.prompts.iter();
        prompts.map(move |prompt| OfferedPrompt { server, prompt })
    })
}

/// The prompts that can be typed as commands.
pub fn typable_prompts<'a>(
    shared: SharedUiState<'a>,
) -> impl Iterator<Item = OfferedPrompt<'a>> + use<'a> {
    let prompts = offered_prompts(shared).filter(OfferedPrompt::is_typable);
    prompts.take(COMPLETED_MAX)
}

/// Finds a prompt by its `SERVER:PROMPT` name, ignoring case. An exact match takes precedence.
fn find_prompt<'a>(name: &str, shared: SharedUiState<'a>) -> Option<OfferedPrompt<'a>> {
    let exact = offered_prompts(shared).find(|offered| offered.full_name() == name);
    let lowercase = name.to_lowercase();
    let has_name = |offered: &OfferedPrompt| offered.full_name().to_lowercase() == lowercase;
    exact.or_else(|| offered_prompts(shared).find(has_name))
}

/// `/prompt [SERVER:PROMPT [VALUES]]`.
pub fn run_prompt_command(argument: &str, cx: &mut UiContext) {
    if argument.is_empty() {
        cx.send(Command::ServerContent(ServerContentCommand::Refresh));
        return ContentPicker::new(ContentKind::Prompts).open(cx);
    }
    let (name, values) = split_name(argument);
    if run_typed_prompt(name, values, cx) {
        return;
    }
    if let Some(template) = cx.shared.engine.templates.find(name) {
        templates::use_template(template, values, cx);
        return;
    }
    let name = Clean::single_line(name);
    let notice = Notice::warning(format!("There is no prompt `{}`.", name.as_str()));
    cx.notify(notice.with_advice("/prompt lists all server prompts."));
}

fn split_name(argument: &str) -> (&str, &str) {
    let (name, values) = argument
        .split_once(char::is_whitespace)
        .unwrap_or((argument, ""));
    (name, values.trim())
}

/// Uses the prompt with this `SERVER:PROMPT` name. Returns false if there is none.
pub fn run_typed_prompt(name: &str, argument: &str, cx: &mut UiContext) -> bool {
    let Some(offered) = find_prompt(name, cx.shared) else {
        return false;
    };
    let values = split_values(argument, &offered.prompt.arguments);
    use_prompt(offered, values, cx);
    true
}

/// The typed words as values, in the order of the arguments. The last argument takes the rest.
fn split_values(argument: &str, arguments: &[ContentArgument]) -> Vec<String> {
    let mut values = Vec::new();
    let mut rest = argument.trim();
    while !rest.is_empty() && values.len() < arguments.len() {
        let is_last = values.len() + 1 == arguments.len();
        let (value, after) = match is_last {
            true => (rest, ""),
            false => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        values.push(value.to_owned());
        rest = after.trim_start();
    }
    values
}

/// Loads the prompt. Opens the form first if a required argument is missing, or if the prompt has
/// arguments and none were typed.
fn use_prompt(offered: OfferedPrompt, values: Vec<String>, cx: &mut UiContext) {
    let (server, prompt) = (offered.server.id.clone(), offered.prompt.clone());
    let is_complete = prompt.has_required(&values) && !values.is_empty();
    if is_complete || prompt.arguments.is_empty() {
        return PromptReview::load(server, prompt, values, cx);
    }
    let completes = offered.server.content.completes_arguments;
    let form = ArgumentForm::new(server, FormTarget::Prompt(prompt), values, completes, cx);
    cx.open(form);
}

/// `/resource [SERVER:URI]`.
pub fn run_resource_command(argument: &str, cx: &mut UiContext) {
    if argument.is_empty() {
        cx.send(Command::ServerContent(ServerContentCommand::Refresh));
        return ContentPicker::new(ContentKind::Resources).open(cx);
    }
    let servers = cx.shared.servers.iter();
    let typed = servers.filter_map(|server| {
        let uri = argument
            .strip_prefix(server.id.as_str())?
            .strip_prefix(':')?;
        Some((server.id.clone(), uri.to_owned()))
    });
    // A server's name may contain a colon, so several names may match. The longest one wins.
    match typed.max_by_key(|(server, _)| server.as_str().len()) {
        Some((server, uri)) if !uri.is_empty() => {
            cx.ask_for(Wanted::resource(server, uri));
        }
        _ => {
            let name = Clean::single_line(argument);
            let notice = Notice::warning(format!("No server matches `{}`.", name.as_str()));
            cx.notify(notice.with_advice("/resource lists all resources."));
        }
    }
}

/// The full URIs and descriptions of the resources that can be typed as an argument.
pub fn typable_resources(shared: SharedUiState) -> impl Iterator<Item = (String, Clean)> {
    let servers = shared.servers.iter().filter(|server| server.enabled);
    let resources = servers.flat_map(|server| {
        let resources = server.content.resources.iter();
        resources.map(move |resource| {
            let name = full_uri(&server.id, &resource.uri);
            (name, describe_resource(server, resource, resource.label()))
        })
    });
    // A name with hidden characters would not be what the user reads.
    let is_typable = |(name, _): &(String, Clean)| Clean::unambiguous_line(name).as_str() == name;
    resources.filter(is_typable).take(COMPLETED_MAX)
}

/// The type, size, `name` and description of a resource in one line. Starts with a note if the
/// resource changed since the user attached it.
fn describe_resource(server: &Server, resource: &ServerResource, name: &str) -> Clean {
    let size = resource
        .bytes
        .map(crate::domain::model_catalog::format_size);
    let is_changed = server.content.changed.contains(&resource.uri);
    let mut parts: Vec<&str> = Vec::new();
    parts.extend(is_changed.then_some("changed since you attached it"));
    parts.extend(resource.mime_type.as_deref());
    parts.extend(size.as_deref());
    let name = Clean::name(name);
    parts.push(name.as_str());
    parts.extend(resource.description.as_deref());
    Clean::single_line(&parts.join(", "))
}

fn full_uri(server: &ServerId, uri: &str) -> String {
    format!("{server}:{uri}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_argument_takes_the_rest_of_the_line() {
        let argument = |name: &str| ContentArgument {
            name: name.to_owned(),
            title: None,
            description: None,
            is_required: true,
        };
        let arguments = [argument("a"), argument("b")];
        assert_eq!(
            split_values("one two three ", &arguments),
            ["one", "two three"]
        );
        assert_eq!(split_values("one", &arguments), ["one"]);
        assert!(split_values("one", &[]).is_empty());
    }
}
