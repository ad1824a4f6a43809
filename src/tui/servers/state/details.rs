//! Details below an unfolded server or tool: peer, failure, skipped tools, description.
//! The pane shows a few rows of each text; Enter opens the full text.

use crate::domain::{Server, ServerStatus, Tool};
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::text::wrap::wrap;
use crate::tui::advice;
use crate::tui::servers::state::{ServersPaneRow, TextTone};
use std::num::NonZeroU16;

/// Estimated bytes of a tool definition per token.
pub const BYTES_PER_TOKEN: usize = 4;
/// Rows of one text in the pane; urgent texts get more.
const ROWS_MAX: usize = 3;
const URGENT_ROWS_MAX: usize = 8;
/// Lines about skipped tools.
const REJECTED_TOOLS_MAX: usize = 4;
/// Indent of texts below a server, and below a tool.
pub const SERVER_INDENT: u16 = 2;
pub const TOOL_INDENT: u16 = 4;

/// Format of the rows.
#[derive(Debug, Clone, Copy)]
pub struct RowFormat {
    pub columns: u16,
    pub separator: &'static str,
}

/// Builds the detail rows of one server or tool.
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
        // Text far beyond the last row is not sanitized, to bound the cost.
        let rows_max = match tone {
            TextTone::Failure => URGENT_ROWS_MAX,
            _ => self.rows_max,
        };
        let far = rows_max * usize::from(columns.get()) * 16;
        let start = &raw[..raw.floor_char_boundary(far)];
        let clean = Clean::escaped(start.trim());
        let text = clean.as_str();
        let all = wrap(text, columns);
        self.is_truncated |= all.len() > rows_max || start.len() < raw.len();
        for row in all.into_iter().take(rows_max) {
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

/// Adds a server's details. `sent`: its instructions are sent to the model.
pub fn push_server_details(
    (index, server): (usize, &Server),
    sent: bool,
    look: RowFormat,
    rows: &mut Vec<ServersPaneRow>,
) {
    let mut rows = DetailRowBuilder {
        server: index,
        tool: None,
        columns: look.columns.saturating_sub(SERVER_INDENT),
        rows,
        rows_max: ROWS_MAX,
        is_truncated: false,
    };
    for (tone, text) in server_texts(server, sent, look.separator) {
        rows.add(tone, &text);
    }
    let left_out = server.rejected_tools.len();
    rows.is_truncated |= left_out > REJECTED_TOOLS_MAX;
    rows.finish();
}

/// Texts about a server, most urgent first.
fn server_texts(server: &Server, sent: bool, dot: &str) -> Vec<(TextTone, String)> {
    let mut texts = Vec::new();
    if let Some((tone, why)) = failure_reason(server) {
        texts.push((tone, why));
    }
    if let Some(peer) = &server.peer {
        let who = match peer.name.trim() {
            "" => peer.version.clone(),
            name => format!("{name} {}", peer.version),
        };
        let transport = peer.transport.label();
        texts.push((
            TextTone::Dim,
            format!(
                "{} {dot} {} {dot} {transport}",
                one_line(&who),
                peer.protocol
            ),
        ));
    }
    if let Some(description) = &server.description {
        texts.push((TextTone::Dim, description.clone()));
    }
    if server.status == ServerStatus::Connected && server.tools.is_empty() {
        texts.push((TextTone::Dim, "No tools.".to_owned()));
    }
    let withheld = server.withheld_tools.len();
    if withheld > 0 {
        let tools = match withheld {
            1 => "1 tool".to_owned(),
            many => format!("{many} tools"),
        };
        texts.push((
            TextTone::Attention,
            format!("{tools} changed and withheld. Press w to review."),
        ));
    }
    let left_out = server.rejected_tools.iter().take(REJECTED_TOOLS_MAX);
    texts.extend(left_out.map(|line| (TextTone::Attention, format!("skipped: {line}"))));
    if server.instructions.is_some() {
        let words = match sent {
            true => "Instructions are sent. Press i to read them.",
            false => "Instructions are not sent. Press i to read them.",
        };
        texts.push((TextTone::Dim, words.to_owned()));
    }
    texts
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

/// A server's status in one or two words.
pub fn status_label(server: &Server) -> &'static str {
    match (&server.status, server.enabled) {
        (_, false) => "off",
        (ServerStatus::Connected, _) => "connected",
        (ServerStatus::Starting, _) => "starting",
        (ServerStatus::Off, _) => "not started",
        (ServerStatus::Failed(_), _) => "failed",
        (ServerStatus::NeedsSignIn(_), _) => "needs sign-in",
        (ServerStatus::Misconfigured(_), _) => "misconfigured",
    }
}

/// Adds a tool's details. `index` is the server's and the tool's.
pub fn push_tool_details(
    index: (usize, usize),
    tool: &Tool,
    look: RowFormat,
    rows: &mut Vec<ServersPaneRow>,
) {
    let mut rows = DetailRowBuilder {
        server: index.0,
        tool: Some(index.1),
        columns: look.columns.saturating_sub(TOOL_INDENT),
        rows,
        rows_max: URGENT_ROWS_MAX,
        is_truncated: false,
    };
    if let Some(title) = distinct_title(tool) {
        rows.add(TextTone::Plain, title);
    }
    match tool.description.as_deref().map(str::trim) {
        Some(text) if !text.is_empty() => rows.add(TextTone::Dim, text),
        _ => rows.add(TextTone::Dim, "No description."),
    }
    if let Some(manners) = annotation_line(tool, look.separator) {
        rows.add(TextTone::Dim, &manners);
    }
    rows.finish();
}

/// The title, unless it repeats the name.
fn distinct_title(tool: &Tool) -> Option<&str> {
    let title = tool.title.as_deref().map(str::trim);
    title.filter(|title| !title.is_empty() && *title != tool.name)
}

/// `read-only · idempotent (the server says)`: displayed, never trusted.
fn annotation_line(tool: &Tool, dot: &str) -> Option<String> {
    let words = tool.annotations.labels();
    let words = words.join(&format!(" {dot} "));
    (!words.is_empty()).then(|| format!("{words} (the server says)"))
}

/// A tool's full definition as raw text.
pub fn full_tool_text(server: &Server, tool: &Tool, dot: &str) -> String {
    let mut text = format!("{} of server {}\n", tool.name, server.id);
    if let Some(title) = distinct_title(tool) {
        text.push_str(&format!("{title}\n"));
    }
    if let Some(manners) = annotation_line(tool, dot) {
        text.push_str(&format!("{manners}\n"));
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
pub fn full_server_text(server: &Server, sent: bool, dot: &str) -> String {
    let mut lines: Vec<String> = server_texts(server, sent, dot)
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    let rest = server.rejected_tools.iter().skip(REJECTED_TOOLS_MAX);
    lines.extend(rest.map(|line| format!("skipped: {line}")));
    lines.join("\n\n")
}

/// Replaces line breaks, so that a name cannot pass for two lines.
fn one_line(raw: &str) -> String {
    const COLUMNS_MAX: usize = 120;
    let line = raw.replace(['\n', '\r'], " ");
    let line = line.trim();
    if width(line) <= COLUMNS_MAX {
        return line.to_owned();
    }
    let kept = crate::text::grapheme::truncate_to_width(line, COLUMNS_MAX);
    format!("{kept}…")
}
