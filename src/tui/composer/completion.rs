//! The completion list of a typed command: which commands or arguments match, and which one
//! is selected. Labels are sanitized; what is inserted is the raw value.

use crate::text::Clean;
use crate::tui::composer::argument_values::argument_values;
use crate::tui::composer::state::{CompletionState, Composer};
use crate::tui::keymap;
use crate::tui::keymap::Binding;
use crate::tui::layer::SharedUiState;
use icu_normalizer::DecomposingNormalizerBorrowed;

/// How well a value matches the typed text, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompletionMatch {
    /// Nothing was typed yet.
    Unfiltered,
    Exact,
    /// Begins with the typed digits. They are an argument of their own: a row's number.
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
    pub usage: &'static str,
    pub quality: CompletionMatch,
    /// An argument may follow, so a space is added and the list goes on.
    pub takes_more: bool,
}

/// The rows that match the message, best match first.
#[derive(Debug)]
pub struct CompletionList {
    pub title: &'static str,
    pub rows: Vec<CompletionRow>,
    /// `None` if Enter runs the message as it is: nothing, or only a number, is typed after the
    /// command, and the user selected nothing.
    pub selected: Option<usize>,
}

/// A value that may follow what is typed.
#[derive(Debug)]
pub struct CompletionValue {
    /// Raw, as it is inserted.
    pub value: String,
    /// Other spellings that the command accepts, such as a number.
    pub aliases: Vec<String>,
    pub label: Clean,
    pub description: Clean,
    pub takes_more: bool,
}

/// A command and its argument, both raw.
struct TypedCommand<'a> {
    binding: &'static Binding,
    /// The command with the space behind it.
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
            Some(typed) => (typed.binding.description, argument_rows(&typed, shared)),
            None if typed.contains(char::is_whitespace) => return None,
            None => ("Commands", command_rows(typed)),
        };
        // The order of equal matches is that of the values.
        rows.sort_by_key(|row| row.quality);
        let first = rows.first()?;
        // A fully typed value needs no list, unless an argument may follow it.
        let is_complete = first.quality == CompletionMatch::Exact && !first.takes_more;
        if is_complete && rows.len() == 1 {
            return None;
        }
        use CompletionMatch::{Digits, Unfiltered};
        let selected = match self.completion {
            CompletionState::Selected(at) => Some(at.min(rows.len() - 1)),
            _ => (!matches!(first.quality, Unfiltered | Digits)).then_some(0),
        };
        Some(CompletionList {
            title,
            rows,
            selected,
        })
    }
}

/// Splits a message at the first space, if a known command is before it.
fn split_command(typed: &str) -> Option<TypedCommand<'_>> {
    let end = typed.find(char::is_whitespace)?;
    let (command, rest) = typed.split_at(end);
    let argument = rest.trim_start();
    let (_, binding) = keymap::find_command(command)?;
    Some(TypedCommand {
        binding,
        command: &typed[..typed.len() - argument.len()],
        argument,
    })
}

fn command_rows(typed: &str) -> Vec<CompletionRow> {
    let typed_name = &typed[1..];
    let listed = keymap::listed_commands().filter_map(|(command, binding)| {
        let aliases = keymap::command_aliases(binding);
        let names = std::iter::once(command).chain(aliases);
        let quality = names.filter_map(|name| match_quality(&name[1..], typed_name));
        // A command is chosen by the start of its words: letters inside would list too many.
        let quality = quality
            .min()
            .filter(|found| *found < CompletionMatch::Inside)?;
        Some(CompletionRow {
            message: command.to_owned(),
            label: Clean::from_static(command),
            description: Clean::from_static(binding.description),
            usage: binding.usage,
            quality,
            takes_more: !binding.usage.is_empty(),
        })
    });
    listed.collect()
}

fn argument_rows(typed: &TypedCommand, shared: SharedUiState) -> Vec<CompletionRow> {
    let values = argument_values(typed.binding.argument, typed.argument, shared);
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
            usage: "",
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
    let found = name.match_indices(&typed).filter_map(|(at, _)| {
        let before = name[..at].chars().next_back();
        match before {
            None if is_number => Some(CompletionMatch::Digits),
            Some(_) if is_number => None,
            None => Some(CompletionMatch::Prefix),
            Some(c) if !c.is_alphanumeric() => Some(CompletionMatch::WordStart),
            Some(_) => Some(CompletionMatch::Inside),
        }
    });
    found.min()
}

/// Compatibility decomposition, so that a syllable being typed matches, and file names that a
/// system stores decomposed match as well.
fn comparison_key(text: &str) -> String {
    let decomposed = const { DecomposingNormalizerBorrowed::new_nfkd() }.normalize(text);
    decomposed.to_lowercase()
}
