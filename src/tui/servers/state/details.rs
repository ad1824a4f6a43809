//! Details below an unfolded server or tool: peer, failure, skipped tools, description.
//! The pane shows a few rows of each text; Enter opens the full text.

use crate::domain::{Server, ServerStatus, Tool};
use crate::front_end::advice;
use crate::front_end::server_text::one_line;
use crate::text::Clean;
use crate::text::wrap::wrap;
use crate::tui::servers::state::{ServersPaneRow, TextTone};
use std::num::NonZeroU16;

/// Estimated bytes of a tool definition per token.
pub const BYTES_PER_TOKEN: usize = 4;
/// Maximum number of rows of one text in the pane. Failures and texts about tools get more.
const ROWS_MAX: usize = 3;
const LONG_TEXT_ROWS_MAX: usize = 8;
/// Maximum number of lines about skipped tools.
const OMISSIONS_MAX: usize = 4;
/// Indent of the texts below a server and below a tool.
pub const SERVER_INDENT: u16 = 2;
pub const TOOL_INDENT: u16 = 4;

#[derive(Debug, Clone, Copy)]
pub struct RowFormat {
    pub columns: u16,
    pub separator: &'static str,
}

struct DetailRowBuilder<'a> {
    server: usize,
    tool: Option<usize>,
    columns: u16,
    rows: &'a mut Vec<ServersPaneRow>,
    rows_max: usize,
    is_truncated: bool,
}

impl DetailRowBuilder<'_> {
    fn add(&mut self, tone: TextTone, raw: &str) {
        let columns = NonZeroU16::new(self.columns).unwrap_or(NonZeroU16::MIN);
        // Do not sanitize text far beyond the last row, to bound the cost.
        let rows_max = match tone {
            TextTone::Failure => LONG_TEXT_ROWS_MAX,
            _ => self.rows_max,
        };
        let bytes_max = rows_max * usize::from(columns.get()) * 16;
        let start = &raw[..raw.floor_char_boundary(bytes_max)];
        let clean = Clean::escaped(start.trim());
        let text = clean.as_str();
        let wrapped_rows = wrap(text, columns);
        self.is_truncated |= wrapped_rows.len() > rows_max || start.len() < raw.len();
        for row in wrapped_rows.into_iter().take(rows_max) {
            self.rows.push(ServersPaneRow::Text {
                server: self.server,
                tool: self.tool,
                tone,
                text: text[row].trim_end().to_owned(),
            });
        }
    }

    fn finish(self) {
        if self.is_truncated {
            let (server, tool) = (self.server, self.tool);
            self.rows.push(ServersPaneRow::More { server, tool });
        }
    }
}

/// Adds a server's details. `is_sent`: its instructions are sent to the model.
pub fn push_server_details(
    (index, server): (usize, &Server),
    is_sent: bool,
    format: RowFormat,
    rows: &mut Vec<ServersPaneRow>,
) {
    let mut rows = DetailRowBuilder {
        server: index,
        tool: None,
        columns: format.columns.saturating_sub(SERVER_INDENT),
        rows,
        rows_max: ROWS_MAX,
        is_truncated: false,
    };
    for (tone, text) in server_texts(server, is_sent, format.separator) {
        rows.add(tone, &text);
    }
    rows.is_truncated |= server.omissions.len() > OMISSIONS_MAX;
    rows.finish();
}

/// Texts about a server: why it failed comes first.
fn server_texts(server: &Server, is_sent: bool, separator: &str) -> Vec<(TextTone, String)> {
    let mut texts = Vec::new();
    if let Some((tone, why)) = failure_reason(server) {
        texts.push((tone, why));
    }
    if let Some(line) = peer_line(server, separator) {
        texts.push((TextTone::Dim, line));
    }
    if let Some(description) = &server.description {
        texts.push((TextTone::Dim, description.clone()));
    }
    if server.status == ServerStatus::Connected && server.tools.is_empty() {
        texts.push((TextTone::Dim, "No tools.".to_owned()));
    }
    let withheld_count = server.withheld_tools.len();
    if withheld_count > 0 {
        // The hint line names the keys, which the user can change.
        let text = match withheld_count {
            1 => "1 tool is withheld because it changed.".to_owned(),
            count => format!("{count} tools are withheld because they changed."),
        };
        texts.push((TextTone::Attention, text));
    }
    let omissions = server.omissions.iter().take(OMISSIONS_MAX);
    texts.extend(omissions.map(|line| (TextTone::Attention, format!("skipped: {line}"))));
    if server.instructions.is_some() {
        let text = match is_sent {
            true => "Its instructions are sent to the model.",
            false => "Its instructions are not sent to the model.",
        };
        texts.push((TextTone::Dim, text.to_owned()));
    }
    texts
}

/// `everything 1.0 · 2025-11-25 · stdio`, while the server is connected.
pub fn peer_line(server: &Server, separator: &str) -> Option<String> {
    let peer = server.peer.as_ref()?;
    let peer_name = match peer.name.trim() {
        "" => peer.version.clone(),
        name => format!("{name} {}", peer.version),
    };
    let (name, transport) = (one_line(&peer_name), peer.transport.label());
    Some(format!(
        "{name} {separator} {} {separator} {transport}",
        peer.protocol
    ))
}

/// Why an enabled server has no session.
pub fn failure_reason(server: &Server) -> Option<(TextTone, String)> {
    match &server.status {
        _ if !server.enabled => None,
        ServerStatus::Failed(notice) => Some((TextTone::Failure, advice::notice_line(notice))),
        ServerStatus::NeedsSignIn(notice) => {
            Some((TextTone::Attention, advice::notice_line(notice)))
        }
        ServerStatus::Misconfigured(why) => Some((TextTone::Failure, why.clone())),
        ServerStatus::Off | ServerStatus::Starting | ServerStatus::Connected => None,
    }
}

/// Adds a tool's details. The indexes are those of its server and of the tool.
pub fn push_tool_details(
    (server_index, tool_index): (usize, usize),
    tool: &Tool,
    format: RowFormat,
    rows: &mut Vec<ServersPaneRow>,
) {
    let mut rows = DetailRowBuilder {
        server: server_index,
        tool: Some(tool_index),
        columns: format.columns.saturating_sub(TOOL_INDENT),
        rows,
        rows_max: LONG_TEXT_ROWS_MAX,
        is_truncated: false,
    };
    if let Some(title) = distinct_title(tool) {
        rows.add(TextTone::Plain, title);
    }
    match tool.description.as_deref().map(str::trim) {
        Some(text) if !text.is_empty() => rows.add(TextTone::Dim, text),
        _ => rows.add(TextTone::Dim, "No description."),
    }
    if let Some(annotations) = annotation_line(tool, format.separator) {
        rows.add(TextTone::Dim, &annotations);
    }
    rows.finish();
}

/// The title, unless it repeats the name.
pub fn distinct_title(tool: &Tool) -> Option<&str> {
    let title = tool.title.as_deref().map(str::trim);
    title.filter(|title| !title.is_empty() && *title != tool.name)
}

/// `read-only · idempotent (the server says)`: displayed, never trusted.
pub fn annotation_line(tool: &Tool, separator: &str) -> Option<String> {
    let labels = tool.annotations.labels().join(&format!(" {separator} "));
    (!labels.is_empty()).then(|| format!("{labels} (the server says)"))
}

/// A tool's full definition as raw text.
pub fn full_tool_text(server: &Server, tool: &Tool, separator: &str) -> String {
    let mut text = format!("{} of server {}\n", tool.name, server.id);
    if let Some(title) = distinct_title(tool) {
        text.push_str(&format!("{title}\n"));
    }
    if let Some(annotations) = annotation_line(tool, separator) {
        text.push_str(&format!("{annotations}\n"));
    }
    let tokens = tool.bytes / BYTES_PER_TOKEN;
    text.push_str(&format!("about {tokens} tokens in each request\n"));
    let description = tool.description.as_deref().unwrap_or("none");
    text.push_str(&format!("\ndescription\n{description}\n"));
    let schema = serde_json::to_string_pretty(&tool.input_schema).unwrap_or_default();
    text.push_str(&format!("\narguments (JSON schema)\n{schema}"));
    text
}

/// All details of a server as raw text.
pub fn full_server_text(server: &Server, is_sent: bool, separator: &str) -> String {
    let mut lines: Vec<String> = server_texts(server, is_sent, separator)
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    let rest = server.omissions.iter().skip(OMISSIONS_MAX);
    lines.extend(rest.map(|line| format!("skipped: {line}")));
    lines.join("\n\n")
}
