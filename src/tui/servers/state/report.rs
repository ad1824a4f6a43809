//! Report of all servers as one text: failed servers first, with the reason and their last
//! stderr lines, and every tool with its full description.

use crate::domain::{Server, Tool};
use crate::tui::servers::state::ServersPane;
use crate::tui::servers::state::details::{failure_reason, status_label};
use crate::tui::theme::Glyphs;

/// Lines of stderr shown for a failed server.
const STDERR_LINES_MAX: usize = 10;

impl ServersPane {
    /// Raw text; the caller must sanitize it before display.
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
    if let Some((_, why)) = failure_reason(server) {
        push_indented(&mut text, 2, &why);
        let from = server.stderr.len().saturating_sub(STDERR_LINES_MAX);
        if from < server.stderr.len() {
            push_indented(&mut text, 2, "Its last lines on standard error:");
        }
        for line in &server.stderr[from..] {
            push_indented(&mut text, 4, line);
        }
    }
    if let Some(description) = &server.description {
        push_indented(&mut text, 2, description);
    }
    for line in &server.rejected_tools {
        push_indented(&mut text, 2, &format!("skipped: {line}"));
    }
    for tool in server.tools.iter() {
        text.push('\n');
        let state = tool_suffix(server, tool);
        push_indented(&mut text, 2, &format!("{}{state}", one_line(&tool.name)));
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

/// `connected, 3 of 5 tools available`.
fn status_line(server: &Server) -> String {
    let words = status_label(server);
    let (on, all) = (server.offered_tools().count(), server.tools.len());
    match all {
        0 => words.to_owned(),
        1 if on == all => format!("{words}, 1 tool"),
        _ if on == all => format!("{words}, {all} tools"),
        _ => format!("{words}, {on} of {all} tools available"),
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

/// Adds text on new, indented lines. The indent keeps a line of a description from passing
/// for a server or a tool.
fn push_indented(text: &mut String, columns: usize, added: &str) {
    for line in added.trim_end().split(['\n', '\r']) {
        text.push('\n');
        text.push_str(&" ".repeat(columns));
        text.push_str(line);
    }
}

fn one_line(name: &str) -> String {
    name.replace(['\n', '\r'], " ")
}
