//! State of the servers pane. Rows are built when something changes, not per frame, so
//! 50 servers with 5,000 tools scroll as fast as one. The selection stays on its server or
//! tool when rows above it change.

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

/// Width of the rows before the first frame.
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
    /// Offers the full text, because the pane shows only part of it.
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

    /// Index of the tool that the row belongs to, if any.
    pub fn tool(&self) -> Option<usize> {
        match self {
            Self::Server(_) => None,
            Self::Tool(_, tool) => Some(*tool),
            Self::Text { tool, .. } | Self::More { tool, .. } => *tool,
        }
    }
}

/// Numbers at the right of a server's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Number of available tools.
    pub tools: usize,
    /// Estimated tokens that they add to each request.
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
    /// Instructions that are sent to the model.
    agreed: Vec<Agreed>,
    /// Index of the selected row.
    pub chosen: usize,
    /// The first visible row.
    top: usize,
    /// The last row of a part that was just unfolded. The next frame scrolls to show it.
    unfolded_to: Option<usize>,
    /// Servers that the user enabled or reconnected; their outcome is announced.
    pub awaited: HashSet<ServerId>,
    /// Announced failures, with their time.
    pub told: HashMap<ServerId, (String, Duration)>,
}

/// Identifies a row, to find it again after a rebuild.
struct Stand {
    server: ServerId,
    tool: Option<String>,
    /// Number of rows below the first row of its server or tool.
    below: usize,
}

impl Sidebar {
    /// `dot` separates facts.
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
        // The set's keys are owned pairs, so borrowed names cannot be looked up. The set is small.
        let mut unfolded = self.tools_unfolded.iter();
        unfolded.any(|(owner, name)| owner == server && name == tool)
    }

    pub fn find(&self, id: &ServerId) -> Option<&Server> {
        self.servers.iter().find(|server| server.id == *id)
    }

    /// Replaces all servers, in the order of the file.
    pub fn replace(&mut self, servers: Vec<Server>) {
        let stand = self.stand();
        self.costs = servers.iter().map(cost).collect();
        self.servers = servers;
        self.lay_out(stand);
    }

    /// Adds or replaces one server. Returns its previous snapshot.
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

    /// Sets the instructions that are sent to the model.
    pub fn agree(&mut self, agreed: Vec<Agreed>) {
        if agreed != self.agreed {
            let stand = self.stand();
            self.agreed = agreed;
            self.lay_out(stand);
        }
    }

    /// Are the server's current instructions sent to the model?
    fn sends_instructions(&self, server: &Server) -> bool {
        let Some(text) = &server.instructions else {
            return false;
        };
        let now = Agreed::to(&server.id, &server.launch, text, Timestamp::UNIX_EPOCH);
        self.agreed.iter().any(|agreed| agreed.is_same(&now))
    }

    /// Rebuilds the rows if the pane's width changed.
    pub fn fit(&mut self, columns: u16) {
        if columns != self.look.columns {
            let stand = self.stand();
            self.look.columns = columns;
            self.lay_out(stand);
        }
    }

    /// Moves the selection by rows of any kind.
    pub fn scroll(&mut self, rows: isize) {
        let last = self.rows.len().saturating_sub(1);
        self.chosen = self.chosen.saturating_add_signed(rows).min(last);
    }

    /// Moves the selection to the next server or tool. Text longer than the window is
    /// scrolled through one window at a time.
    pub fn step(&mut self, direction: isize, height: usize) {
        let window = height.saturating_sub(1).max(1);
        let mut at = self.chosen;
        for _ in 0..window {
            let next = at.checked_add_signed(direction);
            let Some(next) = next.filter(|next| *next < self.rows.len()) else {
                // The last item may have text below it.
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

    /// Title and full raw text of the selected tool or server.
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

    /// The tool that the selected row belongs to, with its server.
    pub fn chosen_tool(&self) -> Option<(&Server, &Tool)> {
        let server = self.chosen_server()?;
        let tool = self.chosen_row()?.tool()?;
        Some((server, server.tools.get(tool)?))
    }

    /// The visible rows and the index of the first. Scrolls as little as needed to show the
    /// selected row.
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
        // The selected row keeps its position on the screen.
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
