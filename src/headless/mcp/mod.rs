//! The output of `humble mcp`. Text from servers is sanitized here, except in JSON.

pub mod call;
pub mod candidates;
pub mod tools;

use super::advice;
pub use super::lines::{clean_line, notice_line};
use crate::domain::server::{RemoteTransport, ServerTransport};
use crate::domain::{LaunchConfig, Server, ServerConfig, ServerStatus, Tool};
use crate::text::Clean;
use crate::text::columns::Columns;
use crate::text::grapheme::width;
use crate::text::wrap::wrap;
use serde_json::{Value, json};
use std::num::NonZeroU16;

/// Approximate bytes per token of a tool definition, as in the servers pane.
const BYTES_PER_TOKEN: usize = 4;
const INDENT: usize = 4;
/// Text is never wrapped narrower than this.
const COLUMNS_MIN: u16 = 10;

/// A server's configuration and its state after connecting.
#[derive(Debug, Clone)]
pub struct ServerReport {
    pub config: ServerConfig,
    pub server: Server,
    /// Why humble stopped waiting for the server.
    pub gave_up_reason: Option<String>,
}

impl ServerReport {
    /// Whether the server is connected, or intentionally off.
    pub fn is_ok(&self) -> bool {
        self.server.status == ServerStatus::Connected || self.is_off()
    }

    fn is_off(&self) -> bool {
        !self.server.enabled || self.server.status == ServerStatus::Off
    }

    fn state_text(&self) -> &'static str {
        match self.server.status {
            _ if !self.server.enabled => "off",
            ServerStatus::Off => "off",
            ServerStatus::Starting => "no answer",
            ServerStatus::Connected => "connected",
            ServerStatus::Failed(_) => "failed",
            ServerStatus::NeedsSignIn(_) => "needs sign-in",
            ServerStatus::Misconfigured(_) => "misconfigured",
        }
    }

    /// The server's problem as a sentence, not sanitized.
    pub fn problem(&self) -> Option<String> {
        match &self.server.status {
            _ if self.is_off() && !matches!(self.server.status, ServerStatus::Misconfigured(_)) => {
                None
            }
            ServerStatus::Failed(notice) | ServerStatus::NeedsSignIn(notice) => {
                Some(advice::notice_line(notice))
            }
            ServerStatus::Misconfigured(why) => Some(format!("mcp-servers.json: {why}.")),
            ServerStatus::Starting => self.gave_up_reason.clone(),
            ServerStatus::Off | ServerStatus::Connected => None,
        }
    }

    /// The transport in use, or the configured one if the server is not connected.
    fn transport(&self) -> Option<ServerTransport> {
        if let Some(peer) = &self.server.peer {
            return Some(peer.transport);
        }
        match &self.config.launch {
            LaunchConfig::BuiltIn => Some(ServerTransport::InMemory),
            LaunchConfig::Stdio { .. } => Some(ServerTransport::Stdio),
            LaunchConfig::Remote { transport, .. } => match transport {
                RemoteTransport::Auto => None,
                RemoteTransport::Sse => Some(ServerTransport::Sse),
                RemoteTransport::Http => Some(ServerTransport::Http),
            },
            LaunchConfig::Misconfigured { .. } => None,
        }
    }

    /// Number of available tools, number of all tools, and estimated tokens of the available tools.
    fn tool_counts(&self) -> (usize, usize, usize) {
        let available_count = self.server.available_tools().count();
        let tokens = self.server.available_tools().map(token_estimate).sum();
        (available_count, self.server.tools.len(), tokens)
    }

    fn tool_count_texts(&self) -> [String; 2] {
        let (available_count, total_count, tokens) = self.tool_counts();
        let out_of = if available_count == total_count {
            String::new()
        } else {
            format!(" of {total_count}")
        };
        let plural = if available_count == 1 && available_count == total_count {
            ""
        } else {
            "s"
        };
        [
            format!("{available_count}{out_of} tool{plural}"),
            format!("~{tokens} tokens"),
        ]
    }

    fn row(&self) -> [String; 5] {
        let name = Clean::name(self.server.id.as_str());
        let mut row = vec![name.into(), self.state_text().to_owned()];
        let transport = self
            .transport()
            .map(ServerTransport::label)
            .unwrap_or_default();
        match &self.server.peer {
            Some(peer) => {
                row.extend(self.tool_count_texts());
                row.push(format!("{transport} {}", peer.protocol));
            }
            None => row.extend([String::new(), String::new(), transport.to_owned()]),
        }
        let mut cells = row.into_iter().map(|cell| clean_line(&cell));
        std::array::from_fn(|_| cells.next().unwrap_or_default())
    }

    fn remarks(&self) -> Vec<String> {
        let omissions = self.server.omissions.iter();
        let mut remarks: Vec<String> = omissions
            .map(|reason| format!("Left out: {}", Clean::escaped(reason)))
            .collect();
        remarks.extend(self.problem());
        if !self.server.withheld_tools.is_empty() {
            let names = self.server.withheld_tools.iter();
            let names: Vec<String> = names.map(|name| Clean::name(name).into()).collect();
            let names = names.join(", ");
            remarks.push(format!(
                "Withheld because their definitions changed: {names}."
            ));
        }
        remarks
    }

    pub fn to_json(&self) -> Value {
        let (available_count, total_count, tokens) = self.tool_counts();
        let mut value = json!({
            "name": self.server.id,
            "description": self.config.description,
            "state": self.state_text().replace([' ', '-'], "_"),
            "transport": self.transport().map(transport_name),
            "protocol": self.server.peer.as_ref().map(|peer| &peer.protocol),
            "tools": total_count,
            "tools_on": available_count,
            "tokens": tokens,
        });
        if let Some(peer) = &self.server.peer {
            value["server"] = json!({ "name": peer.name, "version": peer.version });
        }
        if !self.server.omissions.is_empty() {
            value["left_out"] = json!(self.server.omissions);
        }
        if !self.server.withheld_tools.is_empty() {
            value["withheld"] = json!(self.server.withheld_tools);
        }
        if let Some(problem) = self.problem() {
            value["error"] = json!(problem);
        }
        value
    }
}

fn transport_name(transport: ServerTransport) -> &'static str {
    match transport {
        ServerTransport::InMemory => "in_memory",
        ServerTransport::Stdio => "stdio",
        ServerTransport::Http => "http",
        ServerTransport::Sse => "sse",
    }
}

/// Estimated tokens that a tool's definition adds to each request.
pub fn token_estimate(tool: &Tool) -> usize {
    tool.bytes / BYTES_PER_TOKEN
}

/// The table of `humble mcp list`. `columns` is the width of the terminal, if there is one; wider
/// rows are folded, never truncated.
pub fn render_table(reports: &[ServerReport], columns: Option<u16>) -> String {
    let rows: Vec<[String; 5]> = reports.iter().map(ServerReport::row).collect();
    let table = Columns::fit(&rows);
    let fits = columns.is_none_or(|columns| table.total_width() <= usize::from(columns));
    let mut out = String::new();
    for (row, report) in rows.iter().zip(reports) {
        match fits {
            true => out += &format!("{}\n", table.format_row(row)),
            false => out += &folded_row(row, columns),
        }
        for remark in report.remarks() {
            out += &wrap_lines(&clean_line(&remark), INDENT, columns);
        }
    }
    out
}

fn folded_row(row: &[String; 5], columns: Option<u16>) -> String {
    let [name, state, details @ ..] = row;
    let details: Vec<&str> = details
        .iter()
        .map(String::as_str)
        .filter(|cell| !cell.is_empty())
        .collect();
    let mut out = wrap_lines(&format!("{name}  {state}"), 0, columns);
    if !details.is_empty() {
        out += &wrap_lines(&details.join(", "), INDENT, columns);
    }
    out
}

/// Wraps text into lines that end with a newline. Without a width, the text stays on one line.
pub fn wrap_lines(text: &str, indent: usize, columns: Option<u16>) -> String {
    let margin = " ".repeat(indent);
    let Some(columns) = columns else {
        return format!("{margin}{text}\n");
    };
    let available_columns = columns.saturating_sub(indent as u16).max(COLUMNS_MIN);
    let available_columns = NonZeroU16::new(available_columns).unwrap_or(NonZeroU16::MIN);
    let rows = wrap(text, available_columns).into_iter();
    rows.map(|row| format!("{margin}{}\n", text[row].trim_end()))
        .collect()
}

/// Packs names into rows without splitting a name.
pub fn pack_names(names: &[Clean], columns: Option<u16>) -> String {
    let available_columns = columns.map_or(usize::MAX, |columns| {
        usize::from(columns).saturating_sub(INDENT)
    });
    let mut rows: Vec<String> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let comma = if index + 1 == names.len() { "" } else { "," };
        let name = format!("{name}{comma}");
        match rows.last_mut() {
            Some(row) if width(row) + 1 + width(&name) <= available_columns => {
                row.push(' ');
                row.push_str(&name);
            }
            _ => rows.push(name),
        }
    }
    let margin = " ".repeat(INDENT);
    rows.iter().map(|row| format!("{margin}{row}\n")).collect()
}

pub fn render_json(reports: &[ServerReport]) -> Value {
    let servers: Vec<Value> = reports.iter().map(ServerReport::to_json).collect();
    json!({ "servers": servers })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_never_split_across_rows() {
        let names = ["get-sum", "읽기", "a-name-that-is-longer-than-the-row"].map(Clean::name);
        assert_eq!(
            pack_names(&names, Some(20)),
            "    get-sum, 읽기,\n    a-name-that-is-longer-than-the-row\n"
        );
        assert_eq!(pack_names(&names[..2], None), "    get-sum, 읽기\n");
        assert_eq!(pack_names(&[], Some(20)), "");
        let hidden = ["se\u{200B}nd", "send", " "].map(Clean::name);
        assert_eq!(pack_names(&hidden, None), "    se⟨U+200B⟩nd, send, \" \"\n");
    }

    #[test]
    fn output_of_humble_mcp_wraps_at_the_terminal_width() {
        assert_eq!(
            wrap_lines("하나 둘 셋 넷", 2, Some(12)),
            "  하나 둘 셋\n  넷\n"
        );
        assert_eq!(wrap_lines("one line", 2, None), "  one line\n");
        assert_eq!(wrap_lines("ab cd", 4, Some(0)), "    ab cd\n");
    }
}
