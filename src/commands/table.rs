//! All commands.

use super::{
    CommandRow, calls, conversation, models, notes, screen, servers, settings, turns, writing,
};
use crate::domain::{Notice, PromptTemplates};
use crate::front_end::advice::notice_line;
use crate::text::Clean;
use crate::text::suggest::nearest;

/// In the order of the palette and the completion list: the most used first.
pub static COMMANDS: &[&CommandRow] = &[
    &models::SET_MODEL,
    &models::MODELS,
    &conversation::SESSIONS,
    &conversation::NEW,
    &screen::HELP,
    &screen::KEYS,
    &settings::SET_TOOL_MODE,
    &servers::MCP,
    &servers::TOOLS,
    &servers::IMPORT,
    &turns::ANSWER,
    &turns::RETRY,
    &turns::EDIT,
    &turns::COPY,
    &screen::FIND,
    &turns::UNDO,
    &notes::NOTE,
    &notes::NOTES,
    &turns::CHAT,
    &models::THINK,
    &settings::PERSONA,
    &servers::TRUST,
    &servers::TOGGLE_MCP,
    &turns::CONTINUE,
    &settings::CONTEXT,
    &turns::COMPACT,
    &writing::ATTACH,
    &writing::PROMPT,
    &writing::RESOURCE,
    &writing::DETACH,
    &conversation::RENAME,
    &conversation::FORK,
    &conversation::EXPORT,
    &conversation::DELETE,
    &conversation::BRANCHES,
    &conversation::PRIVATE,
    &screen::SIDEBAR,
    &screen::THINKING,
    &screen::RAW,
    &calls::CANCEL,
    &calls::LEAVE,
    &screen::LOG,
    &screen::THEME,
    &screen::MOUSE,
    &settings::RELOAD,
    &settings::PROBE,
    &settings::SYSTEM_PROMPT,
    &screen::EXIT,
];

/// The command of this name, in any letter case.
pub fn find_command(name: &str) -> Option<&'static CommandRow> {
    let name = name.to_lowercase();
    let mut rows = COMMANDS.iter().copied();
    rows.find(|row| row.names().any(|own| own == name))
}

/// The answer to a name, with its slash, that neither a command nor a template has.
pub fn unknown_command(name: &str, templates: &PromptTemplates) -> Notice {
    let name = name.to_lowercase();
    if name == "/" {
        let notice = Notice::info("Type the name of a command after the slash.");
        return notice.with_advice("/help lists them all.");
    }
    let notice = Notice::warning(format!("Unknown command {name}."));
    if let Some(problem) = &templates.problem {
        return notice.with_reason(notice_line(problem));
    }
    let templates = templates.list.iter();
    let templates: Vec<String> = templates
        .map(|template| format!("/{}", template.name))
        .collect();
    let commands = COMMANDS.iter().flat_map(|row| row.names());
    let names = commands.map(|name: &str| name);
    let names = names.chain(templates.iter().map(String::as_str));
    let similar = nearest(&name, names).or_else(|| command_with_meaning(&name[1..]));
    notice.with_advice(match similar {
        Some(similar) => format!("Did you mean {}?", Clean::single_line(similar).as_str()),
        None if name[1..].contains('/') => "To send a path, put a space before it.".to_owned(),
        None => "/help lists them all.".to_owned(),
    })
}

/// The command that has this word in its description or among its search words.
fn command_with_meaning(word: &str) -> Option<&'static str> {
    let words = |text: &'static str| text.split(|letter: char| !letter.is_alphanumeric());
    let found = COMMANDS.iter().copied().find(|row| {
        let mut all = words(row.search_words).chain(words(row.description));
        all.any(|other| other.eq_ignore_ascii_case(word))
    });
    found.map(|row| row.name)
}
