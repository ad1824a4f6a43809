//! The plain-text report on all servers: failed servers come first, with the reason and their
//! last lines on stderr; every tool is listed with its full description.

use crate::domain::{Server, Tool};
use crate::tui::servers::state::ServersPane;
use crate::tui::servers::state::details::{failure_reason, status_label};
use crate::tui::theme::Glyphs;

/// Maximum number of stderr lines shown for a failed server.
const STDERR_LINES_MAX: usize = 10;

impl ServersPane {
    /// The report as raw text; the caller must sanitize it before display.
    pub fn report(&self, glyphs: &Glyphs) -> String {
        if self.servers.is_empty() {
            return "No MCP servers are configured. Add them to mcp-servers.json.".to_owned();
        }
        let has_failed = |server: &&Server| failure_reason(server).is_some();
        let failed = self.servers.iter().filter(has_failed);
        let others = self.servers.iter().filter(|server| !has_failed(server));
        let sections = failed
            .chain(others)
            .map(|server| server_section(server, glyphs));
        sections.collect::<Vec<_>>().join("\n\n")
    }
}

fn server_section(server: &Server, glyphs: &Glyphs) -> String {
    let id = one_line(server.id.as_str());
    let mut text = format!(
        "{} {id}: {}",
        status_glyph(server, glyphs),
        status_line(server)
    );
    if let Some((_, reason)) = failure_reason(server) {
        push_indented(&mut text, 2, &reason);
        let first_shown = server.stderr.len().saturating_sub(STDERR_LINES_MAX);
        if first_shown < server.stderr.len() {
            push_indented(&mut text, 2, "Last lines on stderr:");
        }
        for line in &server.stderr[first_shown..] {
            push_indented(&mut text, 4, line);
        }
    }
    if let Some(description) = &server.description {
        push_indented(&mut text, 2, description);
    }
    for rejected in &server.rejected_tools {
        push_indented(&mut text, 2, &format!("skipped: {rejected}"));
    }
    for tool in server.tools.iter() {
        text.push('\n');
        let suffix = tool_suffix(server, tool);
        push_indented(&mut text, 2, &format!("{}{suffix}", one_line(&tool.name)));
        match tool.description.as_deref().map(str::trim) {
            Some(description) if !description.is_empty() => {
                push_indented(&mut text, 4, description)
            }
            _ => push_indented(&mut text, 4, "No description."),
        }
    }
    text
}

fn status_glyph(server: &Server, glyphs: &Glyphs) -> &'static str {
    match failure_reason(server) {
        Some(_) => glyphs.failed,
        None if status_label(server) == "connected" => glyphs.connected,
        None => glyphs.off,
    }
}

/// For example `connected, 3 of 5 tools available`.
fn status_line(server: &Server) -> String {
    let status = status_label(server);
    let (available, total) = (server.offered_tools().count(), server.tools.len());
    match total {
        0 => status.to_owned(),
        1 if available == total => format!("{status}, 1 tool"),
        _ if available == total => format!("{status}, {total} tools"),
        _ => format!("{status}, {available} of {total} tools available"),
    }
}

fn tool_suffix(server: &Server, tool: &Tool) -> &'static str {
    if server.withheld_tools.contains(&tool.name) {
        " (changed; withheld until you accept it)"
    } else if server.disabled_tools.contains(&tool.name) {
        " (off)"
    } else {
        ""
    }
}

/// Appends `addition` on new, indented lines. The indent prevents a line of a description from
/// looking like the heading of a server or a tool.
fn push_indented(text: &mut String, indent: usize, addition: &str) {
    for line in addition.trim_end().split(['\n', '\r']) {
        text.push('\n');
        text.push_str(&" ".repeat(indent));
        text.push_str(line);
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
