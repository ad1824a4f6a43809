//! Questions about the user's files: edited settings, an outdated system prompt, the notes folder.

use super::{C, code, paragraph, question, row, with_alias};
use crate::domain::trust::DiffSign;
use crate::domain::{ChangeImpact, SettingsChange};
use crate::protocol::{Block, ChoiceRow, Question};
use crate::text::Clean;

const CHANGES_MAX: usize = 200;
/// Per value.
const LINES_MAX: usize = 2_000;

pub(super) const EXTERNAL_EDIT: &[ChoiceRow] = &[
    with_alias(row(C::ApplyChanges, 'y', "apply", "Apply the changes"), 'f'),
    row(
        C::Stop,
        'n',
        "do not use them now",
        "Do not use them; the files are not touched",
    ),
];

pub(super) const REPLACE_PROMPT: &[ChoiceRow] = &[
    with_alias(
        row(C::Replace, 'y', "replace", "Replace it and keep a copy"),
        'p',
    ),
    row(C::Stop, 'n', "keep the file", "Keep the file"),
];

pub(super) const NOTES_FOLDER: &[ChoiceRow] = &[
    row(C::Save, 'y', "use it", "Save it in config.json and use it"),
    row(C::Stop, 'n', "change nothing", "Change nothing"),
];

pub(super) const NEW_NOTES_FOLDER: &[ChoiceRow] = &[
    row(
        C::Save,
        'y',
        "create and use",
        "Create it, save it in config.json and use it",
    ),
    row(C::Stop, 'n', "change nothing", "Change nothing"),
];

/// Whether to apply external edits to the settings files. Each shows the current value and the value in
/// the file.
pub fn external_edit(changes: &[SettingsChange]) -> Question {
    let mut blocks = vec![paragraph(
        "Settings files were edited while humble was running. Changes you reject are not used, and the \
         next start asks again:",
    )];
    let (need_consent, applied): (Vec<&SettingsChange>, Vec<&SettingsChange>) = changes
        .iter()
        .partition(|change| change.impact == ChangeImpact::NeedsConsent);
    for change in need_consent.iter().take(CHANGES_MAX) {
        let before = value_lines(DiffSign::Removed, change.before.as_deref());
        let after = value_lines(DiffSign::Added, change.after.as_deref());
        blocks.push(Block::Diff {
            heading: Clean::escaped_line(&format!("{}: {}", change.file, change.what)),
            lines: [before, after].concat(),
        });
    }
    let omitted = need_consent.len().saturating_sub(CHANGES_MAX);
    if omitted > 0 {
        blocks.push(paragraph(&format!(
            "… and {omitted} more, not shown here. Read the file before you apply them."
        )));
    }
    let applied = applied.iter().take(CHANGES_MAX);
    let applied = applied.map(|change| format!("{}: {}", change.file, change.what));
    let applied: Vec<String> = applied
        .map(|entry| Clean::escaped_line(&entry).to_string())
        .collect();
    blocks.extend(code("Already applied:", &applied.join("\n")));
    Question {
        read_first: true,
        ..question(
            "outside_edit",
            "Settings changed",
            "Apply the changes?",
            EXTERNAL_EDIT,
            blocks,
        )
    }
}

/// The lines of a value, so that no line can be mistaken for another value.
fn value_lines(sign: DiffSign, value: Option<&str>) -> Vec<(DiffSign, Clean)> {
    let mut rest = value.into_iter().flat_map(|value| value.split('\n'));
    let shown = rest.by_ref().take(LINES_MAX);
    let mut lines: Vec<(DiffSign, Clean)> = shown
        .map(|line| match line {
            "" => (sign, Clean::from_static("(empty)")),
            line => (sign, Clean::unambiguous(line)),
        })
        .collect();
    let omitted = rest.count();
    if omitted > 0 {
        let note = format!("… {omitted} more, not shown here. Read the file first.");
        lines.push((DiffSign::Same, Clean::single_line(&note)));
    }
    lines
}

/// Whether to replace an outdated system prompt, whose text is shown, with the bundled one.
pub fn replace_prompt(path: &str, text: &str) -> Question {
    let blocks = vec![
        paragraph(&format!(
            "{} teaches an outdated format for tool calls:",
            Clean::escaped_line(path)
        )),
        Block::Diff {
            heading: Clean::default(),
            lines: value_lines(DiffSign::Removed, Some(text)),
        },
        paragraph(
            "The built-in prompt would replace it. A copy is kept next to it as system_prompt.txt.bak, \
             with a number added if that name is taken.",
        ),
    ];
    question(
        "replace_prompt",
        "System prompt",
        "Replace it?",
        REPLACE_PROMPT,
        blocks,
    )
}

/// Whether to use this folder of notes instead of `previous` and to store it in `config.json`. `folder`
/// is absolute, without symbolic links; `is_new`: it does not exist, so it is created.
pub fn notes_folder(folder: &str, previous: Option<&str>, is_new: bool) -> Question {
    let mut blocks = vec![paragraph(Clean::escaped_line(folder).as_str())];
    if is_new {
        blocks.push(paragraph(
            "This folder does not exist yet. It will be created.",
        ));
    }
    blocks.push(paragraph(
        "Its Markdown files become your notes: prompts and tools can search them and create new ones. No \
         existing note is changed.",
    ));
    if let Some(previous) = previous {
        blocks.push(paragraph(&format!(
            "Your current notes folder is\n{}",
            Clean::escaped_line(previous)
        )));
    }
    let (prompt, choices) = match is_new {
        true => ("Create and use it?", NEW_NOTES_FOLDER),
        false => ("Use it?", NOTES_FOLDER),
    };
    question("notes_folder", "Notes folder", prompt, choices, blocks)
}
