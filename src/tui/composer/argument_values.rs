//! The values of command arguments that the program already knows: models, personas, notes,
//! prompts, servers and their resources, running calls, and the fixed words of the command table.
//! Sends no requests.

use crate::commands::arguments::{ArgumentKind, ArgumentWord, NOTE_WORDS};
use crate::commands::models;
use crate::domain::model_catalog::{format_size, invalid_name_notice};
use crate::domain::{ListedModel, Server, Think};
use crate::front_end::server_text::status_label;
use crate::text::Clean;
use crate::text::grapheme::bounded_prefix;
use crate::tui::composer::completion::CompletionValue;
use crate::tui::layer::SharedUiState;
use crate::tui::settings::theme_note;
use crate::tui::{server_content, templates};
use std::collections::BTreeSet;

/// Limits for a call's arguments in a description.
const ARGUMENTS_CLUSTERS_MAX: usize = 200;
const ARGUMENTS_BYTES_MAX: usize = 1_000;

/// The values for an argument of this kind. Each comes with the byte offset in `argument`
/// where the text that it completes begins.
pub fn argument_values(
    kind: ArgumentKind,
    argument: &str,
    shared: SharedUiState,
) -> Vec<(usize, CompletionValue)> {
    let values = match kind {
        ArgumentKind::Free => return Vec::new(),
        ArgumentKind::Words(words) => return words_or_next_argument(words, argument, shared),
        ArgumentKind::Server(verbs) => return servers_and_verbs(verbs, argument, shared),
        ArgumentKind::Note => notes(argument, shared),
        ArgumentKind::ConfiguredModel => configured_models(shared),
        ArgumentKind::StoredModel => stored_models(shared),
        ArgumentKind::Think => think_values(shared),
        ArgumentKind::Persona => personas(shared),
        ArgumentKind::Theme => themes(shared),
        ArgumentKind::RunningCall => running_calls(shared),
        ArgumentKind::AttachedFile => attached_files(shared),
        ArgumentKind::ServerPrompt => server_prompts(shared),
        ArgumentKind::ServerResource => server_resources(shared),
    };
    values.into_iter().map(|value| (0, value)).collect()
}

/// The words, or once a word is typed, the values of the argument that follows it.
fn words_or_next_argument(
    words: &'static [ArgumentWord],
    argument: &str,
    shared: SharedUiState,
) -> Vec<(usize, CompletionValue)> {
    let Some((typed, _)) = argument.split_once(char::is_whitespace) else {
        return word_values(words).map(|value| (0, value)).collect();
    };
    let Some(word) = words.iter().find(|word| word.word == typed) else {
        return Vec::new();
    };
    let start = fragment_start(argument, typed.len());
    let next = argument_values(word.next, &argument[start..], shared);
    next.into_iter()
        .map(|(offset, value)| (start + offset, value))
        .collect()
}

/// Byte offset of the text that follows a word of `word_len` bytes and the spaces after it.
fn fragment_start(argument: &str, word_len: usize) -> usize {
    argument.len() - argument[word_len..].trim_start().len()
}

fn word_values(words: &'static [ArgumentWord]) -> impl Iterator<Item = CompletionValue> {
    words.iter().map(|word| CompletionValue {
        value: word.word.to_owned(),
        aliases: Vec::new(),
        label: Clean::from_static(word.word),
        description: Clean::from_static(word.description),
        takes_more: word.next != ArgumentKind::Free,
    })
}

/// The servers and, once a server is typed, the words that may follow it. Both are offered then,
/// because a name may contain spaces: a longer name may begin with the typed one.
fn servers_and_verbs(
    verbs: &'static [ArgumentWord],
    argument: &str,
    shared: SharedUiState,
) -> Vec<(usize, CompletionValue)> {
    let mut numbers = 1..;
    let server_values = shared
        .servers
        .iter()
        .zip(&mut numbers)
        .map(|(server, number)| {
            let tools = match server.available_tools().count() {
                1 => "1 tool".to_owned(),
                count => format!("{count} tools"),
            };
            let description = match status_label(server) {
                "connected" => format!("connected, {tools}"),
                status => status.to_owned(),
            };
            let value = numbered(
                number,
                shared.servers.len(),
                server.id.as_str(),
                &description,
            );
            let takes_more = !verbs.is_empty();
            (
                0,
                CompletionValue {
                    takes_more,
                    ..value
                },
            )
        });
    let mut values: Vec<_> = server_values.collect();
    let servers = shared.servers.iter().enumerate();
    let ends = servers.filter_map(|(index, server)| typed_server_end(server, index + 1, argument));
    if let Some(end) = ends.max() {
        let start = fragment_start(argument, end);
        values.extend(word_values(verbs).map(|value| (start, value)));
    }
    values
}

/// The end of this server's name or number, if the argument begins with either and a space.
fn typed_server_end(server: &Server, number: usize, argument: &str) -> Option<usize> {
    let number = number.to_string();
    let is_followed_by_space = |end: &usize| argument[*end..].starts_with(char::is_whitespace);
    let end_of = |name: &str| {
        let typed = argument.get(..name.len())?;
        (typed.to_lowercase() == name.to_lowercase()).then_some(name.len())
    };
    let by_name = end_of(server.id.as_str()).filter(is_followed_by_space);
    by_name.or_else(|| end_of(&number).filter(is_followed_by_space))
}

/// The fixed words, and the notes that the engine found for the typed path; no notes if its answer
/// may lack some that match now.
fn notes(argument: &str, shared: SharedUiState) -> Vec<CompletionValue> {
    let (fragment, found) = &shared.engine.note_paths;
    let covers_typed =
        argument == fragment || !found.is_partial && argument.starts_with(fragment.as_str());
    let paths = found.paths.iter().filter(|_| covers_typed);
    let values = paths.map(|path| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        CompletionValue {
            value: path.clone(),
            aliases: vec![name.to_owned(), stem.to_owned()],
            label: Clean::single_line(path),
            description: Clean::default(),
            takes_more: false,
        }
    });
    word_values(NOTE_WORDS).chain(values).collect()
}

fn think_values(shared: SharedUiState) -> Vec<CompletionValue> {
    let values = models::think_values(shared.engine.selected.as_ref());
    let value = |think: &Think| CompletionValue {
        value: think.word().to_owned(),
        aliases: Vec::new(),
        label: Clean::from_static(think.word()),
        description: Clean::from_static(models::think_note(*think)),
        takes_more: false,
    };
    values.iter().map(value).collect()
}

fn configured_models(shared: SharedUiState) -> Vec<CompletionValue> {
    let engine = shared.engine;
    let rows = engine.models.iter().zip(1..).map(|(entry, number)| {
        let mut description = entry.provider.to_string();
        if entry.name != entry.model {
            description = format!("{description} {}", entry.model);
        }
        if engine.selected.as_ref() == Some(entry) {
            description.push_str(", in use");
        }
        numbered(number, engine.models.len(), &entry.name, &description)
    });
    rows.collect()
}

/// The models on the disks of servers that manage their models. For a server that has not
/// answered yet, the configured models are offered.
fn stored_models(shared: SharedUiState) -> Vec<CompletionValue> {
    let mut seen = BTreeSet::new();
    let mut values = Vec::new();
    let servers = shared.engine.catalog.servers.iter();
    for catalog in servers.filter(|catalog| catalog.server.provider.manages_models()) {
        let host = catalog.server.host();
        let mut add = |name: &str, bytes: Option<u64>| {
            // The engine would refuse an invalid name.
            if invalid_name_notice(name).is_some() || !seen.insert(name.to_owned()) {
                return;
            }
            let size = bytes.map(|bytes| format!("{}, ", format_size(bytes)));
            let description = format!("{}{host}", size.unwrap_or_default());
            let without_tag = name.strip_suffix(":latest").map(str::to_owned);
            values.push(CompletionValue {
                value: name.to_owned(),
                aliases: without_tag.into_iter().collect(),
                label: Clean::name(name),
                description: Clean::single_line(&description),
                takes_more: false,
            });
        };
        match catalog.listed() {
            Some(listed) => {
                let models = listed.models.iter();
                models.for_each(|ListedModel { name, bytes, .. }| add(name, *bytes));
            }
            None => {
                let models = catalog.configured.iter();
                models.for_each(|entry| add(&entry.model, None));
            }
        }
    }
    values
}

/// The personas with their numbers in the picker, whose first row is the plain system prompt.
fn personas(shared: SharedUiState) -> Vec<CompletionValue> {
    let personas = &shared.engine.personas;
    let count = personas.len() + 1;
    let off = numbered(1, count, "off", "Use system_prompt.txt");
    // A persona named `off` takes precedence.
    let is_off_taken = personas.iter().any(|persona| persona.name == "off");
    let rows = personas.iter().zip(2..).map(|(persona, number)| {
        let is_used = shared.engine.persona.as_ref() == Some(&persona.name);
        let mark = if is_used { "In use. " } else { "" };
        let description = format!("{mark}{}", persona.description);
        numbered(number, count, &persona.name, &description)
    });
    let off = (!is_off_taken).then_some(off);
    off.into_iter().chain(rows).collect()
}

fn themes(shared: SharedUiState) -> Vec<CompletionValue> {
    let choices = shared.themes.choices();
    let rows = choices.iter().zip(1..).map(|(choice, number)| {
        let is_used = *choice == shared.themes.choice;
        let mark = if is_used { "In use. " } else { "" };
        let description = format!("{mark}{}", theme_note(choice));
        numbered(number, choices.len(), choice.name(), &description)
    });
    rows.collect()
}

/// In the order in which `/cancel` numbers them.
fn running_calls(shared: SharedUiState) -> Vec<CompletionValue> {
    let calls: Vec<_> = shared.running_calls().collect();
    let rows = calls.iter().zip(1..).map(|(call, number)| {
        let arguments = serde_json::to_string(&call.arguments).unwrap_or_default();
        let arguments = bounded_prefix(&arguments, ARGUMENTS_CLUSTERS_MAX, ARGUMENTS_BYTES_MAX);
        let description = format!("{}  {arguments}", Clean::name(call.server.as_str()));
        let mut value = numbered(number, calls.len(), &call.tool, &description);
        // A name that several calls share selects the first of them, so the others need numbers.
        let is_first = calls.iter().position(|other| other.tool == call.tool) == Some(number - 1);
        if !is_first {
            value.value = number.to_string();
        }
        value
    });
    rows.collect()
}

fn attached_files(shared: SharedUiState) -> Vec<CompletionValue> {
    let files = shared.attached_files;
    let rows = files.iter().zip(1..).map(|(file, number)| {
        let mut value = numbered(number, files.len(), &file.name, "");
        // A name that several files share selects the first of them, so the others need numbers.
        if files[..number - 1]
            .iter()
            .any(|earlier| earlier.name == file.name)
        {
            value.value = number.to_string();
        }
        value
    });
    rows.collect()
}

fn server_prompts(shared: SharedUiState) -> Vec<CompletionValue> {
    let prompts = server_content::typable_prompts(shared);
    let values = prompts.map(|offered| content_value(offered.full_name(), offered.description()));
    let templates = templates::listed_templates(shared).map(|template| {
        let description = format!("template  {}", templates::description(template).as_str());
        content_value(template.name.clone(), Clean::single_line(&description))
    });
    values.chain(templates).collect()
}

fn server_resources(shared: SharedUiState) -> Vec<CompletionValue> {
    let resources = server_content::typable_resources(shared);
    let values = resources.map(|(name, description)| content_value(name, description));
    values.collect()
}

fn content_value(value: String, description: Clean) -> CompletionValue {
    CompletionValue {
        aliases: Vec::new(),
        label: Clean::name(&value),
        description,
        takes_more: false,
        value,
    }
}

/// A value that can be chosen by its name or by its number (1 to `count`). The number is inserted
/// if the name cannot be typed: a command's argument is one line without spaces around it.
fn numbered(number: usize, count: usize, name: &str, description: &str) -> CompletionValue {
    let digits = count.to_string().len();
    let mut label = Clean::single_line(&format!("{number:>digits$}  "));
    label.append(&Clean::name(name));
    let is_typable = !name.is_empty() && name.trim() == name && !name.contains(['\n', '\r']);
    CompletionValue {
        value: if is_typable {
            name.to_owned()
        } else {
            number.to_string()
        },
        aliases: vec![number.to_string(), name.to_owned()],
        label,
        description: Clean::single_line(description),
        takes_more: false,
    }
}
