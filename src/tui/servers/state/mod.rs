//! State of the servers pane. Rows are built when something changes, not per frame, so
//! 50 servers with 5,000 tools scroll as fast as one. The selection stays on its server or
//! tool when rows above it change.

mod details;
mod folding;

use crate::front_end::server_text::failure_headline;
use crate::tui::servers::state::details::RowFormat;
pub use crate::tui::servers::state::details::{
    BYTES_PER_TOKEN, SERVER_INDENT, TOOL_INDENT, annotation_line, distinct_title, failure_reason,
    full_tool_text, peer_line,
};

use crate::domain::trust::InstructionsConsent;
use crate::domain::{Server, ServerId, ServerStatus, Tool};
use crate::text::Clean;
use jiff::Timestamp;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// The assumed width of the rows before the first frame.
const INITIAL_COLUMNS: u16 = 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextTone {
    Plain,
    Dim,
    Failure,
    Attention,
}

/// A row of the servers pane. Servers and tools are given by their index.
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
    /// Offers the full text, because the pane shows only part of it.
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

    /// Index of the tool that the row belongs to, if any.
    pub fn tool(&self) -> Option<usize> {
        match self {
            Self::Server(_) => None,
            Self::Tool(_, tool) => Some(*tool),
            Self::Text { tool, .. } | Self::More { tool, .. } => *tool,
        }
    }
}

/// The numbers at the right end of a server's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServerToolCost {
    /// Number of available tools.
    pub tools: usize,
    /// Number of available tools that requests leave out.
    pub held_back: usize,
    /// Estimated tokens that the other available tools add to each request.
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
    /// Instructions that are sent to the model.
    accepted_instructions: Vec<InstructionsConsent>,
    /// Index of the selected row.
    pub selected: usize,
    /// The first visible row.
    top: usize,
    /// The last row of a server or tool that was just unfolded. The next frame scrolls to show it.
    reveal_row: Option<usize>,
    /// Servers that the user enabled or reconnected. The outcome is announced, even a success.
    pub awaited_outcomes: HashSet<ServerId>,
    /// The last announced failure of each server, with its time.
    pub announced_failures: HashMap<ServerId, (String, Duration)>,
}

/// Identifies a row, to find it again after a rebuild.
struct RowIdentity {
    server: ServerId,
    tool: Option<String>,
    /// How many rows it is below the first row of its server or tool.
    rows_below: usize,
}

impl ServersPane {
    /// `separator` is placed between the details in a row.
    pub fn new(separator: &'static str) -> Self {
        Self {
            servers: Vec::new(),
            costs: Vec::new(),
            unfolded_servers: HashSet::new(),
            unfolded_tools: HashSet::new(),
            rows: Vec::new(),
            format: RowFormat {
                columns: INITIAL_COLUMNS,
                separator,
            },
            accepted_instructions: Vec::new(),
            selected: 0,
            top: 0,
            reveal_row: None,
            awaited_outcomes: HashSet::new(),
            announced_failures: HashMap::new(),
        }
    }

    pub fn rows(&self) -> &[ServersPaneRow] {
        &self.rows
    }

    /// Whether there is more to show than the one row of the built-in tools.
    pub fn has_content(&self) -> bool {
        self.rows.len() > 1
    }

    pub fn cost(&self, server: usize) -> ServerToolCost {
        self.costs.get(server).copied().unwrap_or_default()
    }

    pub fn is_unfolded(&self, server: &ServerId) -> bool {
        self.unfolded_servers.contains(server)
    }

    pub fn is_tool_unfolded(&self, server: &ServerId, tool: &str) -> bool {
        // The set's keys are owned pairs, so borrowed names cannot be looked up. The set is small.
        let mut unfolded = self.unfolded_tools.iter();
        unfolded.any(|(owner, name)| owner == server && name == tool)
    }

    pub fn find(&self, id: &ServerId) -> Option<&Server> {
        self.servers.iter().find(|server| server.id == *id)
    }

    /// Replaces all servers, in the order of the file.
    pub fn set_servers(&mut self, servers: Vec<Server>) {
        let selection = self.row_identity();
        self.costs = servers.iter().map(cost).collect();
        self.servers = servers;
        self.lay_out(selection);
    }

    /// Adds or replaces one server. Returns its previous snapshot.
    pub fn upsert(&mut self, server: Server) -> Option<Server> {
        let index = self.servers.iter().position(|old| old.id == server.id);
        let selection = self.row_identity();
        let cost = cost(&server);
        let previous = match index {
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
        self.lay_out(selection);
        previous
    }

    /// Sets the instructions that are sent to the model.
    pub fn set_accepted_instructions(&mut self, consents: Vec<InstructionsConsent>) {
        if consents != self.accepted_instructions {
            let selection = self.row_identity();
            self.accepted_instructions = consents;
            self.lay_out(selection);
        }
    }

    fn sends_instructions(&self, server: &Server) -> bool {
        let Some(text) = &server.instructions else {
            return false;
        };
        let current =
            InstructionsConsent::new(&server.id, &server.launch, text, Timestamp::UNIX_EPOCH);
        self.accepted_instructions
            .iter()
            .any(|consent| consent.is_same(&current))
    }

    /// Rebuilds the rows if the pane's width changed.
    pub fn set_width(&mut self, columns: u16) {
        if columns != self.format.columns {
            let selection = self.row_identity();
            self.format.columns = columns;
            self.lay_out(selection);
        }
    }

    /// Moves the selection by rows of any kind.
    pub fn scroll(&mut self, rows: isize) {
        let last = self.rows.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(rows).min(last);
    }

    /// Moves the selection to the next row that is not text, or with a `direction` of -1 to the
    /// previous one. Text longer than the window is scrolled through one window at a time.
    pub fn select_next(&mut self, direction: isize, height: usize) {
        let window = height.saturating_sub(1).max(1);
        let mut row = self.selected;
        for _ in 0..window {
            let next = row.checked_add_signed(direction);
            let Some(next) = next.filter(|next| *next < self.rows.len()) else {
                // The last item may have text below it.
                break;
            };
            row = next;
            if !matches!(self.rows[row], ServersPaneRow::Text { .. }) {
                break;
            }
        }
        self.selected = row;
    }

    pub fn selected_row(&self) -> Option<&ServersPaneRow> {
        self.rows.get(self.selected)
    }

    pub fn selected_server(&self) -> Option<&Server> {
        self.servers.get(self.selected_row()?.server())
    }

    /// Title and full raw text of the selected tool or server.
    pub fn selected_full_text(&self) -> Option<(String, String)> {
        let separator = self.format.separator;
        if let Some((server, tool)) = self.selected_tool() {
            let name = Clean::name(&tool.name).into();
            return Some((name, details::full_tool_text(server, tool, separator)));
        }
        let server = self.selected_server()?;
        let is_sent = self.sends_instructions(server);
        let text = details::full_server_text(server, is_sent, separator);
        Some((Clean::name(server.id.as_str()).into(), text))
    }

    /// The tool that the selected row belongs to, with its server.
    pub fn selected_tool(&self) -> Option<(&Server, &Tool)> {
        let server = self.selected_server()?;
        let tool = self.selected_row()?.tool()?;
        Some((server, server.tools.get(tool)?))
    }

    /// The visible rows and the index of the first. Scrolls as little as needed to show the
    /// selected row.
    pub fn rows_in_view(&mut self, height: usize) -> (usize, &[ServersPaneRow]) {
        let top_max = self.rows.len().saturating_sub(height);
        let reveal_row = self.reveal_row.take().unwrap_or(0);
        let top_to_reveal = (reveal_row + 1).saturating_sub(height).min(self.selected);
        let top_min = (self.selected + 1)
            .saturating_sub(height)
            .max(top_to_reveal);
        let top = self.top.clamp(top_min, self.selected.max(top_min));
        self.top = top.min(top_max);
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

    /// Rebuilds the rows and restores the selection.
    fn lay_out(&mut self, selection: Option<RowIdentity>) {
        let mut rows = Vec::new();
        for (index, server) in self.servers.iter().enumerate() {
            rows.push(ServersPaneRow::Server(index));
            if !self.unfolded_servers.contains(&server.id) {
                rows.extend(reason_row(index, server));
                continue;
            }
            let is_sent = self.sends_instructions(server);
            details::push_server_details((index, server), is_sent, self.format, &mut rows);
            for (tool_index, tool) in server.tools.iter().enumerate() {
                rows.push(ServersPaneRow::Tool(index, tool_index));
                if self.is_tool_unfolded(&server.id, &tool.name) {
                    details::push_tool_details((index, tool_index), tool, self.format, &mut rows);
                }
            }
        }
        let rows_above = self.selected.saturating_sub(self.top);
        self.rows = rows;
        self.selected = self.find_row(selection).unwrap_or(self.selected);
        self.scroll(0);
        // The selected row keeps its position on the screen.
        self.top = self.selected.saturating_sub(rows_above);
    }

    fn find_row(&self, selection: Option<RowIdentity>) -> Option<usize> {
        let selection = selection?;
        let server = self
            .servers
            .iter()
            .position(|server| server.id == selection.server)?;
        let tools: &Arc<Vec<Tool>> = &self.servers[server].tools;
        let tool = selection.tool.as_ref();
        let tool = tool.and_then(|name| tools.iter().position(|tool| tool.name == *name));
        let first = self.first_row(server, tool)?;
        let is_still_listed = selection.tool.is_none() || tool.is_some();
        let rows_below = if is_still_listed {
            selection.rows_below
        } else {
            0
        };
        let is_same_item = |index: &usize| {
            let row = &self.rows[*index];
            row.server() == server && row.tool() == tool
        };
        (first..self.rows.len())
            .take(rows_below + 1)
            .take_while(is_same_item)
            .last()
    }
}

/// The row below a folded server that failed: the first line of the reason. A server that needs sign-in
/// shows that in its own row.
fn reason_row(index: usize, server: &Server) -> Option<ServersPaneRow> {
    if let ServerStatus::NeedsSignIn(_) = server.status {
        return None;
    }
    let headline = failure_headline(server)?;
    Some(ServersPaneRow::Text {
        server: index,
        tool: None,
        tone: TextTone::Dim,
        text: headline.into(),
    })
}

fn cost(server: &Server) -> ServerToolCost {
    let tokens = |tool: &Tool| tool.bytes / BYTES_PER_TOKEN;
    ServerToolCost {
        tools: server.available_tools().count(),
        held_back: server.held_back_tools.len(),
        tokens: server
            .available_tools()
            .filter(|tool| !server.held_back_tools.contains(&tool.name))
            .map(tokens)
            .sum(),
    }
}
