//! The items of `/mcp` and `/tools`: failed servers first, then the others, each followed by its
//! tools. The rows of an item are laid out only while it is near the view.

use crate::domain::{Server, ServerStatus, Tool};
use crate::front_end::advice;
use crate::front_end::server_text::status_label;
use crate::text::Clean;
use crate::text::wrap::wrap;
use crate::tui::servers::state::{
    TextTone, annotation_line, distinct_title, failure_reason, full_tool_text, peer_line,
};
use std::num::NonZeroU16;

/// Maximum number of stderr lines shown for a failed server.
const STDERR_LINES_MAX: usize = 10;
/// Maximum number of bytes shown of one text. Enter opens all of it.
const TEXT_BYTES_MAX: usize = 16 << 10;
/// Maximum number of bytes that the filter searches in a description or a failure, and that a row
/// shows of a description.
const SEARCHED_BYTES_MAX: usize = 4 << 10;
/// Maximum number of notes about skipped tools.
const OMISSIONS_MAX: usize = 20;
/// Indents of the rows below a server, below its stderr heading, and below a tool.
const SERVER_INDENT: u16 = 4;
const STDERR_INDENT: u16 = 6;
const TOOL_INDENT: u16 = 6;

/// The contents of the viewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewerScope {
    /// All servers with all details (`/mcp`).
    Servers,
    /// The tools of running servers, one row of text each (`/tools`).
    Tools,
}

impl ViewerScope {
    pub fn includes(self, server: &Server) -> bool {
        match self {
            Self::Servers => true,
            Self::Tools => server.enabled && !server.tools.is_empty(),
        }
    }
}

/// A server or one of its tools, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewerItem {
    pub server: usize,
    pub tool: Option<usize>,
}

impl ViewerItem {
    pub fn tool<'a>(&self, server: &'a Server) -> Option<&'a Tool> {
        server.tools.get(self.tool?)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub enum ViewerRow {
    /// Separates a server from the row above it.
    Blank,
    Heading,
    Text {
        indent: u16,
        tone: TextTone,
        text: String,
    },
}

/// The items to list, failed servers first, and the index of the first one that contains all words of
/// the filter. A server that matches is listed with all its tools; a tool is listed below its server,
/// even if the server itself does not match.
pub fn matching_items(
    servers: &[Server],
    scope: ViewerScope,
    filter: &str,
) -> (Vec<ViewerItem>, usize) {
    let filter = filter.to_lowercase();
    let words: Vec<&str> = filter.split_whitespace().collect();
    let has_words = |text: &str| {
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let has_failed = |index: &usize| failure_reason(&servers[*index]).is_some();
    let listed = || (0..servers.len()).filter(|index| scope.includes(&servers[*index]));
    let failed = listed().filter(has_failed);
    let others = listed().filter(|index| !has_failed(index));
    let (mut items, mut first_match) = (Vec::new(), None);
    for index in failed.chain(others) {
        let server = &servers[index];
        let is_match = words.is_empty() || has_words(&searched_server_text(server));
        let heading = items.len();
        items.push(ViewerItem {
            server: index,
            tool: None,
        });
        let tools = server.tools.iter().enumerate();
        let tools =
            tools.filter(|(_, tool)| is_match || has_words(&searched_tool_text(server, tool)));
        items.extend(tools.map(|(tool, _)| ViewerItem {
            server: index,
            tool: Some(tool),
        }));
        match (is_match, items.len() > heading + 1) {
            (true, _) => first_match = first_match.or(Some(heading)),
            (false, true) => first_match = first_match.or(Some(heading + 1)),
            (false, false) => items.truncate(heading),
        }
    }
    (items, first_match.unwrap_or(0))
}

fn searched_server_text(server: &Server) -> String {
    let reason = failure_reason(server).map(|(_, reason)| reason);
    let (description, reason) = (
        server.description.as_deref().unwrap_or_default(),
        reason.as_deref().unwrap_or_default(),
    );
    format!(
        "{} {} {} {}",
        server.id,
        status_label(server),
        bounded(description, SEARCHED_BYTES_MAX),
        bounded(reason, SEARCHED_BYTES_MAX)
    )
}

fn searched_tool_text(server: &Server, tool: &Tool) -> String {
    let description = tool.description.as_deref().unwrap_or_default();
    // `destructive` must not find the tools that are labeled as not destructive.
    let mut labels = tool.annotations.labels();
    labels.retain(|label| !label.starts_with("not "));
    format!(
        "{} {} {} {} {} {}",
        server.id,
        tool.name,
        tool_note(server, tool),
        distinct_title(tool).unwrap_or_default(),
        labels.join(" "),
        bounded(description, SEARCHED_BYTES_MAX)
    )
}

fn bounded(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// The rows of an item in `columns` columns. Never empty.
pub fn item_rows(
    servers: &[Server],
    item: ViewerItem,
    scope: ViewerScope,
    (columns, separator): (u16, &str),
) -> Vec<ViewerRow> {
    let Some(server) = servers.get(item.server) else {
        return vec![ViewerRow::Blank];
    };
    let mut rows = match item.tool {
        None => vec![ViewerRow::Blank, ViewerRow::Heading],
        Some(_) => vec![ViewerRow::Heading],
    };
    let texts = match (scope, item.tool(server)) {
        (ViewerScope::Servers, Some(tool)) => tool_texts(tool, separator),
        (ViewerScope::Servers, None) => server_texts(server, separator, OMISSIONS_MAX),
        (ViewerScope::Tools, Some(tool)) => {
            rows.extend(first_line_row(tool, columns));
            return rows;
        }
        (ViewerScope::Tools, None) => return rows,
    };
    for text in texts {
        push_text(&mut rows, columns, text);
    }
    rows
}

fn first_line_row(tool: &Tool, columns: u16) -> Option<ViewerRow> {
    let description = tool.description.as_deref().unwrap_or_default();
    let line = description.lines().find(|line| !line.trim().is_empty())?;
    let mut rows = Vec::new();
    let text = bounded(line.trim(), SEARCHED_BYTES_MAX).to_owned();
    push_text(&mut rows, columns, (TOOL_INDENT, TextTone::Dim, text));
    let has_more = rows.len() > 1 || line.len() < description.trim().len();
    match rows.into_iter().next()? {
        ViewerRow::Text { indent, tone, text } => Some(ViewerRow::Text {
            indent,
            tone,
            text: if has_more { text + " …" } else { text },
        }),
        _ => None,
    }
}

type IndentedText = (u16, TextTone, String);

fn push_text(rows: &mut Vec<ViewerRow>, columns: u16, (indent, tone, raw): IndentedText) {
    let columns = NonZeroU16::new(columns.saturating_sub(indent)).unwrap_or(NonZeroU16::MIN);
    let shown = bounded(&raw, TEXT_BYTES_MAX);
    let clean = Clean::escaped(shown.trim_end());
    let text = clean.as_str();
    let wrapped = wrap(text, columns).into_iter();
    rows.extend(wrapped.map(|row| ViewerRow::Text {
        indent,
        tone,
        text: text[row].trim_end().to_owned(),
    }));
    if shown.len() < raw.len() {
        rows.push(ViewerRow::Text {
            indent,
            tone: TextTone::Dim,
            text: "The full text has the rest.".to_owned(),
        });
    }
}

/// The texts about a server, without its tools: why it failed, its last lines on stderr, then its
/// identity, description and folders, and at most `omissions_max` of the tools that were skipped.
fn server_texts(server: &Server, separator: &str, omissions_max: usize) -> Vec<IndentedText> {
    let mut texts = Vec::new();
    let mut add = |indent, tone, text: String| texts.push((indent, tone, text));
    match &server.status {
        _ if !server.enabled => {}
        ServerStatus::Failed(notice) | ServerStatus::NeedsSignIn(notice) => {
            let why = notice.to_sentence(|_| None);
            add(SERVER_INDENT, TextTone::Failure, why);
            if let Some(advice) = advice::advice_line(&notice.advice) {
                add(SERVER_INDENT, TextTone::Plain, advice);
            }
        }
        ServerStatus::Misconfigured(why) => add(SERVER_INDENT, TextTone::Failure, why.clone()),
        ServerStatus::Off | ServerStatus::Starting | ServerStatus::Connected => {}
    }
    let first_shown = server.stderr.len().saturating_sub(STDERR_LINES_MAX);
    let last_lines = &server.stderr[first_shown..];
    if failure_reason(server).is_some() && !last_lines.is_empty() {
        let heading = "Last lines on stderr:".to_owned();
        add(SERVER_INDENT, TextTone::Dim, heading);
        for line in last_lines {
            add(STDERR_INDENT, TextTone::Plain, line.clone());
        }
    }
    if let Some(line) = peer_line(server, separator) {
        add(SERVER_INDENT, TextTone::Dim, line);
    }
    if let Some(description) = &server.description {
        add(SERVER_INDENT, TextTone::Dim, description.clone());
    }
    if !server.roots.is_empty() {
        let folders = server.roots.iter();
        let folders: Vec<_> = folders.map(|folder| folder.display().to_string()).collect();
        let text = format!("May ask for your folders: {}", folders.join(", "));
        add(SERVER_INDENT, TextTone::Dim, text);
    }
    let omissions = &server.omissions;
    for line in omissions.iter().take(omissions_max) {
        add(
            SERVER_INDENT,
            TextTone::Attention,
            format!("skipped: {line}"),
        );
    }
    if omissions.len() > omissions_max {
        let text = format!("and {} more", omissions.len() - omissions_max);
        add(SERVER_INDENT, TextTone::Attention, text);
    }
    if server.status == ServerStatus::Connected && server.tools.is_empty() {
        add(SERVER_INDENT, TextTone::Dim, "No tools.".to_owned());
    }
    texts
}

fn tool_texts(tool: &Tool, separator: &str) -> Vec<IndentedText> {
    let mut texts = Vec::new();
    if let Some(title) = distinct_title(tool) {
        texts.push((TOOL_INDENT, TextTone::Plain, title.to_owned()));
    }
    texts.push(match tool.description.as_deref().map(str::trim) {
        Some(text) if !text.is_empty() => (TOOL_INDENT, TextTone::Dim, text.to_owned()),
        _ => (TOOL_INDENT, TextTone::Dim, "No description.".to_owned()),
    });
    if let Some(annotations) = annotation_line(tool, separator) {
        texts.push((TOOL_INDENT, TextTone::Dim, annotations));
    }
    texts
}

/// The raw text of an item: for a server, its status and the texts about it; for a tool, its
/// definition.
pub fn full_text(server: &Server, item: ViewerItem, separator: &str) -> String {
    if let Some(tool) = item.tool(server) {
        return full_tool_text(server, tool, separator);
    }
    let mut text = format!("{}: {}", server.id, status_line(server));
    for (indent, _, part) in server_texts(server, separator, usize::MAX) {
        let blanks = match indent {
            STDERR_INDENT => "  ",
            _ => "",
        };
        text.push_str(&format!("\n{blanks}{part}"));
    }
    text
}

/// For example `connected, 3 of 5 tools available`.
pub fn status_line(server: &Server) -> String {
    let status = status_label(server);
    let (available, total) = (server.available_tools().count(), server.tools.len());
    match total {
        0 => status.to_owned(),
        1 if available == total => format!("{status}, 1 tool"),
        _ if available == total => format!("{status}, {total} tools"),
        _ => format!("{status}, {available} of {total} tools available"),
    }
}

/// Whether requests offer a tool to the model, and why; empty if nothing is special about it.
pub fn tool_note(server: &Server, tool: &Tool) -> &'static str {
    if server.withheld_tools.contains(&tool.name) {
        "changed; withheld until you accept it"
    } else if server.disabled_tools.contains(&tool.name) {
        match server.always_offered.contains(&tool.name) {
            true => "off, pinned",
            false => "off",
        }
    } else if server.always_offered.contains(&tool.name) {
        "pinned"
    } else if server.held_back_tools.contains(&tool.name) {
        "held back"
    } else {
        ""
    }
}
