//! The servers pane as rows. They are made when something changes, not with every
//! frame: 5,000 tools and 50 servers scroll as fast as one. The row that the person
//! stands on stays theirs, whatever comes and goes above it.

mod folding;
mod report;
mod words;

use crate::tui::servers::state::words::Look;
pub use crate::tui::servers::state::words::{
    BYTES_PER_TOKEN, SERVER_INDENT, TOOL_INDENT, state_words, why_failed,
};

use crate::domain::trust::Agreed;
use crate::domain::{Server, ServerId, Tool};
use crate::text::Clean;
use jiff::Timestamp;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// Columns of rows before the pane was drawn for the first time.
const COLUMNS_AT_FIRST: u16 = 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Dim,
    Failure,
    Attention,
}

/// A row of the servers pane; servers and tools by their index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SideRow {
    Server(usize),
    Tool(usize, usize),
    /// A row of text below a server, or below one of its tools.
    Text {
        server: usize,
        tool: Option<usize>,
        tone: Tone,
        text: String,
    },
    /// There is more of this text than the pane shows.
    More {
        server: usize,
        tool: Option<usize>,
    },
}

impl SideRow {
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
pub struct Cost {
    /// Tools on offer, and about how many tokens they take in each request.
    pub tools: usize,
    pub tokens: usize,
}

#[derive(Debug, Clone)]
pub struct Sidebar {
    pub servers: Vec<Server>,
    costs: Vec<Cost>,
    unfolded: HashSet<ServerId>,
    tools_unfolded: HashSet<(ServerId, String)>,
    rows: Vec<SideRow>,
    look: Look,
    /// Instructions that are sent.
    agreed: Vec<Agreed>,
    /// The row that keys act on.
    pub chosen: usize,
    /// The first row in view.
    top: usize,
    /// The last row of what was just unfolded: it comes into view where it can.
    unfolded_to: Option<usize>,
    /// Servers that the person switched on or reaches anew: what comes of it is said.
    pub awaited: HashSet<ServerId>,
    /// Failures that were told, and when.
    pub told: HashMap<ServerId, (String, Duration)>,
}

/// A row by what it is, so that it is found again among others.
struct Stand {
    server: ServerId,
    tool: Option<String>,
    /// Rows below the first of its server or tool.
    below: usize,
}

impl Sidebar {
    /// `dot` stands between facts.
    pub fn new(dot: &'static str) -> Self {
        Self {
            servers: Vec::new(),
            costs: Vec::new(),
            unfolded: HashSet::new(),
            tools_unfolded: HashSet::new(),
            rows: Vec::new(),
            look: Look {
                columns: COLUMNS_AT_FIRST,
                dot,
            },
            agreed: Vec::new(),
            chosen: 0,
            top: 0,
            unfolded_to: None,
            awaited: HashSet::new(),
            told: HashMap::new(),
        }
    }

    pub fn rows(&self) -> &[SideRow] {
        &self.rows
    }

    pub fn cost(&self, server: usize) -> Cost {
        self.costs.get(server).copied().unwrap_or_default()
    }

    pub fn is_unfolded(&self, server: &ServerId) -> bool {
        self.unfolded.contains(server)
    }

    pub fn is_tool_unfolded(&self, server: &ServerId, tool: &str) -> bool {
        // A pair of borrowed names is no key of the set; few tools are unfolded.
        let mut unfolded = self.tools_unfolded.iter();
        unfolded.any(|(of, name)| of == server && name == tool)
    }

    pub fn find(&self, id: &ServerId) -> Option<&Server> {
        self.servers.iter().find(|server| server.id == *id)
    }

    /// All servers, in the order of the file.
    pub fn replace(&mut self, servers: Vec<Server>) {
        let stand = self.stand();
        self.costs = servers.iter().map(cost).collect();
        self.servers = servers;
        self.lay_out(stand);
    }

    /// One server; the snapshot that was known of it.
    pub fn put(&mut self, server: Server) -> Option<Server> {
        let known = self.servers.iter().position(|known| known.id == server.id);
        let stand = self.stand();
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
    pub fn agree(&mut self, agreed: Vec<Agreed>) {
        if agreed != self.agreed {
            let stand = self.stand();
            self.agreed = agreed;
            self.lay_out(stand);
        }
    }

    /// Are a server's instructions sent to the model, as they are now?
    fn sends_instructions(&self, server: &Server) -> bool {
        let Some(text) = &server.instructions else {
            return false;
        };
        let now = Agreed::to(&server.id, &server.launch, text, Timestamp::UNIX_EPOCH);
        self.agreed.iter().any(|agreed| agreed.is_same(&now))
    }

    /// The pane has another width.
    pub fn fit(&mut self, columns: u16) {
        if columns != self.look.columns {
            let stand = self.stand();
            self.look.columns = columns;
            self.lay_out(stand);
        }
    }

    /// Moves by so many rows, of whatever kind.
    pub fn scroll(&mut self, rows: isize) {
        let last = self.rows.len().saturating_sub(1);
        self.chosen = self.chosen.saturating_add_signed(rows).min(last);
    }

    /// Moves to the next row that keys act on. Text between is passed over where it
    /// stays in view, and else read a window at a time.
    pub fn step(&mut self, direction: isize, height: usize) {
        let window = height.saturating_sub(1).max(1);
        let mut at = self.chosen;
        for _ in 0..window {
            let next = at.checked_add_signed(direction);
            let Some(next) = next.filter(|next| *next < self.rows.len()) else {
                // Below the last of them there may be text to see.
                break;
            };
            at = next;
            if !matches!(self.rows[at], SideRow::Text { .. }) {
                break;
            }
        }
        self.chosen = at;
    }

    pub fn chosen_row(&self) -> Option<&SideRow> {
        self.rows.get(self.chosen)
    }

    pub fn chosen_server(&self) -> Option<&Server> {
        self.servers.get(self.chosen_row()?.server())
    }

    /// All that is known of the server that the person stands on, raw.
    pub fn chosen_in_full(&self) -> Option<(String, String)> {
        let dot = self.look.dot;
        if let Some((server, tool)) = self.chosen_tool() {
            let name = Clean::name(&tool.name).into();
            return Some((name, words::tool_in_full(server, tool, dot)));
        }
        let server = self.chosen_server()?;
        let sent = self.sends_instructions(server);
        let text = words::server_in_full(server, sent, dot);
        Some((Clean::name(server.id.as_str()).into(), text))
    }

    /// The tool in whose rows the person stands.
    pub fn chosen_tool(&self) -> Option<(&Server, &Tool)> {
        let server = self.chosen_server()?;
        let tool = self.chosen_row()?.tool()?;
        Some((server, server.tools.get(tool)?))
    }

    /// The rows in view, and the index of the first. Scrolls as little as shows the
    /// chosen row.
    pub fn view(&mut self, height: usize) -> (usize, &[SideRow]) {
        let last = self.rows.len().saturating_sub(height);
        let unfolded = self.unfolded_to.take().unwrap_or(0);
        let unfolded = (unfolded + 1).saturating_sub(height).min(self.chosen);
        let least = (self.chosen + 1).saturating_sub(height).max(unfolded);
        self.top = self.top.clamp(least, self.chosen.max(least)).min(last);
        let end = (self.top + height).min(self.rows.len());
        (self.top, &self.rows[self.top..end])
    }

    fn stand(&self) -> Option<Stand> {
        let row = self.chosen_row()?;
        let server = self.servers.get(row.server())?;
        let tool = row.tool().and_then(|tool| server.tools.get(tool));
        let first = self.first_row(row.server(), row.tool());
        Some(Stand {
            server: server.id.clone(),
            tool: tool.map(|tool| tool.name.clone()),
            below: self.chosen - first.unwrap_or(self.chosen).min(self.chosen),
        })
    }

    fn first_row(&self, server: usize, tool: Option<usize>) -> Option<usize> {
        let first = match tool {
            Some(tool) => SideRow::Tool(server, tool),
            None => SideRow::Server(server),
        };
        self.rows.iter().position(|row| *row == first)
    }

    fn lay_out(&mut self, stand: Option<Stand>) {
        let mut rows = Vec::new();
        for (index, server) in self.servers.iter().enumerate() {
            rows.push(SideRow::Server(index));
            if !self.unfolded.contains(&server.id) {
                continue;
            }
            let sent = self.sends_instructions(server);
            words::about_server((index, server), sent, self.look, &mut rows);
            for (at, tool) in server.tools.iter().enumerate() {
                rows.push(SideRow::Tool(index, at));
                if self.is_tool_unfolded(&server.id, &tool.name) {
                    words::about_tool((index, at), tool, self.look, &mut rows);
                }
            }
        }
        let above = self.chosen.saturating_sub(self.top);
        self.rows = rows;
        self.chosen = self.find_stand(stand).unwrap_or(self.chosen);
        self.scroll(0);
        // What is looked at stays where it is on the screen.
        self.top = self.chosen.saturating_sub(above);
    }

    fn find_stand(&self, stand: Option<Stand>) -> Option<usize> {
        let stand = stand?;
        let server = self.servers.iter().position(|s| s.id == stand.server)?;
        let tools: &Arc<Vec<Tool>> = &self.servers[server].tools;
        let tool = stand.tool.as_ref();
        let tool = tool.and_then(|name| tools.iter().position(|tool| tool.name == *name));
        let first = self.first_row(server, tool)?;
        let is_there = stand.tool.is_none() || tool.is_some();
        let below = if is_there { stand.below } else { 0 };
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

fn cost(server: &Server) -> Cost {
    let tokens = |tool: &Tool| tool.bytes / BYTES_PER_TOKEN;
    Cost {
        tools: server.offered().count(),
        tokens: server.offered().map(tokens).sum(),
    }
}
