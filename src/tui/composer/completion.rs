//! The completion list of a typed command: which commands or arguments match, and which one
//! is selected. Labels are sanitized; inserted values are raw.

use crate::commands::arguments::ArgumentKind;
use crate::commands::{COMMANDS, CommandRow, find_command};
use crate::domain::PromptTemplate;
use crate::text::Clean;
use crate::text::comparison::comparison_key;
use crate::tui::composer::argument_values::argument_values;
use crate::tui::composer::state::{CompletionState, Composer};
use crate::tui::layer::SharedUiState;
use crate::tui::{server_content, templates};

/// Minimum length in bytes of a typed word that is looked up among the commands' search words.
const SEARCH_WORD_BYTES_MIN: usize = 3;

/// How well a value matches the typed text, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompletionMatch {
    /// Nothing was typed yet.
    Unfiltered,
    Exact,
    /// Begins with the typed digits, which Enter takes for the number of a row.
    Digits,
    Prefix,
    WordStart,
    Inside,
}

#[derive(Debug)]
pub struct CompletionRow {
    /// The whole message after completion, raw.
    pub message: String,
    pub label: Clean,
    pub description: Clean,
    /// Argument syntax of a command.
    pub usage: Clean,
    pub quality: CompletionMatch,
    /// Whether an argument may follow. Completion then adds a space, and the list stays open.
    pub takes_more: bool,
}

/// The rows that match the message, best match first.
#[derive(Debug)]
pub struct CompletionList {
    pub title: &'static str,
    pub rows: Vec<CompletionRow>,
    /// `None` if Enter runs the message as it is. That is so if the user selected no row, and typed
    /// - only a slash, or a command and a space without an argument,
    /// - the path of a note, or
    /// - digits that begin a row's number or name, but match none exactly.
    pub selected: Option<usize>,
    /// What Enter does with the selected row.
    pub confirm_hint: &'static str,
}

/// A value that completes the typed text.
#[derive(Debug)]
pub struct CompletionValue {
    /// The raw value that is inserted.
    pub value: String,
    /// Other spellings that the command accepts, such as a number.
    pub aliases: Vec<String>,
    pub label: Clean,
    pub description: Clean,
    pub takes_more: bool,
}

/// A command and its argument, both raw.
struct TypedCommand<'a> {
    row: &'static CommandRow,
    /// The command and the spaces after it.
    command: &'a str,
    argument: &'a str,
}

impl Composer {
    /// The completions of the message; `None` if there are none or the list was closed.
    pub fn completions(&self, shared: SharedUiState) -> Option<CompletionList> {
        let typed = self
            .editor
            .one_line()
            .filter(|line| line.starts_with('/'))?;
        if matches!(self.completion, CompletionState::Closed) {
            return None;
        }
        let (title, mut rows) = match split_command(typed) {
            Some(typed) => (typed.row.description, argument_rows(&typed, shared)),
            None if typed.contains(char::is_whitespace) => return None,
            None => ("Commands", command_rows(typed, shared)),
        };
        if rows.is_empty() {
            rows = rows_by_search_words(typed, shared);
        }
        // The sort is stable: equal matches keep the order of the values.
        rows.sort_by_key(|row| row.quality);
        let first = rows.first()?;
        // A fully typed value needs no list, unless an argument may follow it.
        let is_complete = first.quality == CompletionMatch::Exact && !first.takes_more;
        if is_complete && rows.len() == 1 {
            return None;
        }
        use CompletionMatch::{Digits, Unfiltered};
        let selected = match self.completion {
            CompletionState::Selected(row) => Some(row.min(rows.len() - 1)),
            // A typed path may also match a part of other paths, which the user does not mean.
            _ if self.typed_note_path().is_some() => None,
            _ => (!matches!(first.quality, Unfiltered | Digits)).then_some(0),
        };
        Some(CompletionList {
            title,
            rows,
            selected,
            confirm_hint: "run",
        })
    }
}

impl Composer {
    /// The path that is being typed as the argument of a command that opens a note.
    pub fn typed_note_path(&self) -> Option<&str> {
        let typed = self.editor.one_line()?;
        let typed = split_command(typed).filter(|_| typed.starts_with('/'))?;
        (typed.row.argument == ArgumentKind::Note).then_some(typed.argument)
    }
}

/// `None` if no known command followed by a space is typed.
fn split_command(typed: &str) -> Option<TypedCommand<'_>> {
    let end = typed.find(char::is_whitespace)?;
    let (command, rest) = typed.split_at(end);
    let argument = rest.trim_start();
    let row = find_command(command)?;
    Some(TypedCommand {
        row,
        command: &typed[..typed.len() - argument.len()],
        argument,
    })
}

fn command_rows(typed: &str, shared: SharedUiState) -> Vec<CompletionRow> {
    let typed_name = &typed[1..];
    let rows = COMMANDS.iter().filter_map(|row| {
        let quality = row
            .names()
            .filter_map(|name| match_quality(&name[1..], typed_name));
        // Matches inside a word would list too many commands.
        let quality = quality
            .min()
            .filter(|best| *best < CompletionMatch::Inside)?;
        Some(command_row(row, quality))
    });
    rows.chain(template_rows(typed_name, shared))
        .chain(prompt_rows(typed_name, shared))
        .collect()
}

/// The commands that have this search word, and then the user's own templates for words such as
/// `/template`.
fn rows_by_search_words(typed: &str, shared: SharedUiState) -> Vec<CompletionRow> {
    let word = typed[1..].to_lowercase();
    if word.len() < SEARCH_WORD_BYTES_MIN || word.contains(char::is_whitespace) {
        return Vec::new();
    }
    let has_word = |words: &str| words.split_whitespace().any(|own| own.starts_with(&word));
    let commands = COMMANDS.iter().filter(|row| has_word(row.search_words));
    let rows = commands.map(|row| command_row(row, CompletionMatch::Inside));
    let templates = templates::listed_templates(shared).filter(|_| has_word("templates prompts"));
    rows.chain(templates.map(|template| template_row(template, CompletionMatch::Inside)))
        .collect()
}

fn command_row(row: &'static CommandRow, quality: CompletionMatch) -> CompletionRow {
    CompletionRow {
        message: row.name.to_owned(),
        label: Clean::from_static(row.name),
        description: Clean::from_static(row.description),
        usage: Clean::from_static(row.usage),
        quality,
        takes_more: !row.usage.is_empty(),
    }
}

fn template_row(template: &PromptTemplate, quality: CompletionMatch) -> CompletionRow {
    let command = templates::command(template);
    CompletionRow {
        label: Clean::single_line(&command),
        message: command,
        description: templates::description(template),
        usage: templates::usage(template),
        quality,
        takes_more: template
            .body
            .as_ref()
            .is_ok_and(|body| !body.fields().is_empty()),
    }
}

fn template_rows(typed_name: &str, shared: SharedUiState) -> impl Iterator<Item = CompletionRow> {
    templates::listed_templates(shared).filter_map(move |template| {
        let quality = match_quality(&template.name, typed_name);
        let quality = quality.filter(|quality| *quality < CompletionMatch::Inside)?;
        Some(template_row(template, quality))
    })
}

/// Server prompts as `/SERVER:PROMPT`.
fn prompt_rows(typed_name: &str, shared: SharedUiState) -> impl Iterator<Item = CompletionRow> {
    server_content::typable_prompts(shared).filter_map(move |offered| {
        let name = offered.full_name();
        let quality = match_quality(&name, typed_name);
        let command = format!("/{name}");
        Some(CompletionRow {
            label: Clean::single_line(&command),
            message: command,
            description: offered.description(),
            usage: offered.usage(),
            quality: quality.filter(|quality| *quality < CompletionMatch::Inside)?,
            takes_more: !offered.prompt.arguments.is_empty(),
        })
    })
}

fn argument_rows(typed: &TypedCommand, shared: SharedUiState) -> Vec<CompletionRow> {
    let values = argument_values(typed.row.argument, typed.argument, shared);
    let rows = values.into_iter().filter_map(|(start, value)| {
        let (before, fragment) = typed.argument.split_at(start);
        let names = std::iter::once(&value.value).chain(&value.aliases);
        let quality = names
            .filter_map(|name| match_quality(name, fragment))
            .min()?;
        Some(CompletionRow {
            message: format!("{}{before}{}", typed.command, value.value),
            label: value.label,
            description: value.description,
            usage: Clean::default(),
            quality,
            takes_more: value.takes_more,
        })
    });
    rows.collect()
}

/// How `typed` matches `name`; `None` if it does not. Letter case, full-width forms and the
/// composition of Hangul do not matter: `나` is a prefix of `날씨`.
fn match_quality(name: &str, typed: &str) -> Option<CompletionMatch> {
    let (name, typed) = (comparison_key(name), comparison_key(typed));
    if typed.is_empty() {
        return Some(CompletionMatch::Unfiltered);
    }
    if name == typed {
        return Some(CompletionMatch::Exact);
    }
    // A number means a row of the list, never a part of a name.
    let is_number = typed.chars().all(|c| c.is_ascii_digit());
    let matches = name.match_indices(&typed).filter_map(|(start, _)| {
        let before = name[..start].chars().next_back();
        match before {
            None if is_number => Some(CompletionMatch::Digits),
            Some(_) if is_number => None,
            None => Some(CompletionMatch::Prefix),
            Some(c) if !c.is_alphanumeric() => Some(CompletionMatch::WordStart),
            Some(_) => Some(CompletionMatch::Inside),
        }
    });
    matches.min()
}
