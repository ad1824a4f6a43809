//! The servers pane as rows. They are made when something changes, not with every
//! frame: 5,000 tools and 50 servers scroll as fast as one. The row that the person
//! stands on stays theirs, whatever comes and goes above it.

mod details;
mod folding;
mod report;

use crate::tui::servers::state::details::RowFormat;
pub use crate::tui::servers::state::details::{
    BYTES_PER_TOKEN, SERVER_INDENT, TOOL_INDENT, failure_reason, status_label,
};

use crate::domain::trust::InstructionsConsent;
use crate::domain::{Server, ServerId, Tool};
use crate::text::Clean;
use jiff::Timestamp;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// Columns of rows before the pane was drawn for the first time.
const COLUMNS_AT_FIRST: u16 = 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextTone {
    Plain,
    Dim,
    Failure,
    Attention,
}

/// A row of the servers pane; servers and tools by their index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServersPaneRow {
    Server(usize),
    Tool(usize, usize),
    /// A row of text below a server, or below one of its tools.
    Text {
        server: usize,
        tool: Option<usize>,
        tone: TextTone,
        text: String,
    },
    /// There is more of this text than the pane shows.
    More {
        server: usize,
        tool: Option<usize>,
    },
}

impl ServersPaneRow {
    pub fn server(&self) -> usize {
        match self {
            Self::Server(server)
            | Self::Tool(server, _)
            | Self::Text { server, .. }
            | Self::More { server, .. } => *server,
        }
    }

    /// The tool that it is, or that it tells of.
    pub fn tool(&self) -> Option<usize> {
        match self {
            Self::Server(_) => None,
            Self::Tool(_, tool) => Some(*tool),
            Self::Text { tool, .. } | Self::More { tool, .. } => *tool,
        }
    }
}

/// What the row of a server says at its right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServerToolCost {
    /// Tools on offer, and about how many tokens they take in each request.
    pub tools: usize,
    pub tokens: usize,
}

#[derive(Debug, Clone)]
pub struct ServersPane {
    pub servers: Vec<Server>,
    costs: Vec<ServerToolCost>,
    unfolded_servers: HashSet<ServerId>,
    unfolded_tools: HashSet<(ServerId, String)>,
    rows: Vec<ServersPaneRow>,
    format: RowFormat,
    /// Instructions that are sent.
    accepted_instructions: Vec<InstructionsConsent>,
    /// The row that keys act on.
    pub selected: usize,
    /// The first row in view.
    top: usize,
    /// The last row of what was just unfolded: it comes into view where it can.
    reveal_row: Option<usize>,
    /// Servers that the person switched on or reaches anew: what comes of it is said.
    pub announce_outcome: HashSet<ServerId>,
    /// Failures that were told, and when.
    pub announced_failures: HashMap<ServerId, (String, Duration)>,
}

/// A row by what it is, so that it is found again among others.
struct RowIdentity {
    server: ServerId,
    tool: Option<String>,
    /// Rows below the first of its server or tool.
    rows_below: usize,
}

impl ServersPane {
    /// `dot` stands between facts.
    pub fn new(dot: &'static str) -> Self {
        Self {
            servers: Vec::new(),
            costs: Vec::new(),
            unfolded_servers: HashSet::new(),
            unfolded_tools: HashSet::new(),
            rows: Vec::new(),
            format: RowFormat {
                columns: COLUMNS_AT_FIRST,
                separator: dot,
            },
            accepted_instructions: Vec::new(),
            selected: 0,
            top: 0,
            reveal_row: None,
            announce_outcome: HashSet::new(),
            announced_failures: HashMap::new(),
        }
    }

    pub fn rows(&self) -> &[ServersPaneRow] {
        &self.rows
    }

    pub fn cost(&self, server: usize) -> ServerToolCost {
        self.costs.get(server).copied().unwrap_or_default()
    }

    pub fn is_unfolded(&self, server: &ServerId) -> bool {
        self.unfolded_servers.contains(server)
    }

    pub fn is_tool_unfolded(&self, server: &ServerId, tool: &str) -> bool {
        // A pair of borrowed names is no key of the set; few tools are unfolded.
        let mut unfolded = self.unfolded_tools.iter();
        unfolded.any(|(of, name)| of == server && name == tool)
    }

    pub fn find(&self, id: &ServerId) -> Option<&Server> {
        self.servers.iter().find(|server| server.id == *id)
    }

    /// All servers, in the order of the file.
    pub fn set_servers(&mut self, servers: Vec<Server>) {
        let stand = self.row_identity();
        self.costs = servers.iter().map(cost).collect();
        self.servers = servers;
        self.lay_out(stand);
    }

    /// One server; the snapshot that was known of it.
    pub fn upsert(&mut self, server: Server) -> Option<Server> {
        let known = self.servers.iter().position(|known| known.id == server.id);
        let stand = self.row_identity();
        let cost = cost(&server);
        let before = match known {
            Some(index) => {
                self.costs[index] = cost;
                Some(std::mem::replace(&mut self.servers[index], server))
            }
            None => {
                self.costs.push(cost);
                self.servers.push(server);
                None
            }
        };
        self.lay_out(stand);
        before
    }

    /// These instructions are sent to the model, and no others.
    pub fn set_accepted_instructions(&mut self, agreed: Vec<InstructionsConsent>) {
        if agreed != self.accepted_instructions {
            let stand = self.row_identity();
            self.accepted_instructions = agreed;
            self.lay_out(stand);
        }
    }

    /// Are a server's instructions sent to the model, as they are now?
    fn sends_instructions(&self, server: &Server) -> bool {
        let Some(text) = &server.instructions else {
            return false;
        };
        let now = InstructionsConsent::new(&server.id, &server.launch, text, Timestamp::UNIX_EPOCH);
        self.accepted_instructions
            .iter()
            .any(|agreed| agreed.is_same(&now))
    }

    /// The pane has another width.
    pub fn set_width(&mut self, columns: u16) {
        if columns != self.format.columns {
            let stand = self.row_identity();
            self.format.columns = columns;
            self.lay_out(stand);
        }
    }

    /// Moves by so many rows, of whatever kind.
    pub fn scroll(&mut self, rows: isize) {
        let last = self.rows.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(rows).min(last);
    }

    /// Moves to the next row that keys act on. Text between is passed over where it
    /// stays in view, and else read a window at a time.
    pub fn select_next(&mut self, direction: isize, height: usize) {
        let window = height.saturating_sub(1).max(1);
        let mut at = self.selected;
        for _ in 0..window {
            let next = at.checked_add_signed(direction);
            let Some(next) = next.filter(|next| *next < self.rows.len()) else {
                // Below the last of them there may be text to see.
                break;
            };
            at = next;
            if !matches!(self.rows[at], ServersPaneRow::Text { .. }) {
                break;
            }
        }
        self.selected = at;
    }

    pub fn selected_row(&self) -> Option<&ServersPaneRow> {
        self.rows.get(self.selected)
    }

    pub fn selected_server(&self) -> Option<&Server> {
        self.servers.get(self.selected_row()?.server())
    }

    /// All that is known of the server that the person stands on, raw.
    pub fn selected_full_text(&self) -> Option<(String, String)> {
        let dot = self.format.separator;
        if let Some((server, tool)) = self.selected_tool() {
            let name = Clean::name(&tool.name).into();
            return Some((name, details::full_tool_text(server, tool, dot)));
        }
        let server = self.selected_server()?;
        let sent = self.sends_instructions(server);
        let text = details::full_server_text(server, sent, dot);
        Some((Clean::name(server.id.as_str()).into(), text))
    }

    /// The tool in whose rows the person stands.
    pub fn selected_tool(&self) -> Option<(&Server, &Tool)> {
        let server = self.selected_server()?;
        let tool = self.selected_row()?.tool()?;
        Some((server, server.tools.get(tool)?))
    }

    /// The rows in view, and the index of the first. Scrolls as little as shows the
    /// chosen row.
    pub fn rows_in_view(&mut self, height: usize) -> (usize, &[ServersPaneRow]) {
        let last = self.rows.len().saturating_sub(height);
        let unfolded = self.reveal_row.take().unwrap_or(0);
        let unfolded = (unfolded + 1).saturating_sub(height).min(self.selected);
        let least = (self.selected + 1).saturating_sub(height).max(unfolded);
        self.top = self.top.clamp(least, self.selected.max(least)).min(last);
        let end = (self.top + height).min(self.rows.len());
        (self.top, &self.rows[self.top..end])
    }

    fn row_identity(&self) -> Option<RowIdentity> {
        let row = self.selected_row()?;
        let server = self.servers.get(row.server())?;
        let tool = row.tool().and_then(|tool| server.tools.get(tool));
        let first = self.first_row(row.server(), row.tool());
        Some(RowIdentity {
            server: server.id.clone(),
            tool: tool.map(|tool| tool.name.clone()),
            rows_below: self.selected - first.unwrap_or(self.selected).min(self.selected),
        })
    }

    fn first_row(&self, server: usize, tool: Option<usize>) -> Option<usize> {
        let first = match tool {
            Some(tool) => ServersPaneRow::Tool(server, tool),
            None => ServersPaneRow::Server(server),
        };
        self.rows.iter().position(|row| *row == first)
    }

    fn lay_out(&mut self, stand: Option<RowIdentity>) {
        let mut rows = Vec::new();
        for (index, server) in self.servers.iter().enumerate() {
            rows.push(ServersPaneRow::Server(index));
            if !self.unfolded_servers.contains(&server.id) {
                continue;
            }
            let sent = self.sends_instructions(server);
            details::push_server_details((index, server), sent, self.format, &mut rows);
            for (at, tool) in server.tools.iter().enumerate() {
                rows.push(ServersPaneRow::Tool(index, at));
                if self.is_tool_unfolded(&server.id, &tool.name) {
                    details::push_tool_details((index, at), tool, self.format, &mut rows);
                }
            }
        }
        let above = self.selected.saturating_sub(self.top);
        self.rows = rows;
        self.selected = self.find_row(stand).unwrap_or(self.selected);
        self.scroll(0);
        // What is looked at stays where it is on the screen.
        self.top = self.selected.saturating_sub(above);
    }

    fn find_row(&self, stand: Option<RowIdentity>) -> Option<usize> {
        let stand = stand?;
        let server = self.servers.iter().position(|s| s.id == stand.server)?;
        let tools: &Arc<Vec<Tool>> = &self.servers[server].tools;
        let tool = stand.tool.as_ref();
        let tool = tool.and_then(|name| tools.iter().position(|tool| tool.name == *name));
        let first = self.first_row(server, tool)?;
        let is_there = stand.tool.is_none() || tool.is_some();
        let below = if is_there { stand.rows_below } else { 0 };
        let same = |at: &usize| {
            let row = &self.rows[*at];
            row.server() == server && row.tool() == tool
        };
        (first..self.rows.len())
            .take(below + 1)
            .take_while(same)
            .last()
    }
}

fn cost(server: &Server) -> ServerToolCost {
    let tokens = |tool: &Tool| tool.bytes / BYTES_PER_TOKEN;
    ServerToolCost {
        tools: server.offered_tools().count(),
        tokens: server.offered_tools().map(tokens).sum(),
    }
}
